// Copies of matrices: one statement for all positions of the axes bound to mma.
#include <array>
#include <deque>
#include <unordered_map>

#include "eval/simplify.h"
#include "ir/scalar.h"
#include "lower/analysis/matrix_copies.h"
#include "lower/analysis/memory_layout.h"
#include "lower/statements/statements.h"

namespace nvfuser {
namespace {

constexpr int64_t kRows = 8; // of a matrix, and elements of a row
constexpr int64_t kPair = 2; // elements of a lane
constexpr int64_t kLanesOfRow = 4;
constexpr int64_t kLanesOfWarp = 32;

/// The elements of both sides, as the statement sees them, and the proofs that they lie as the
/// instruction has them.
class MatrixStatement {
 public:
  MatrixStatement(
      Kernel& kernel, const LoopNest& nest, const MatrixCopy& copy, IndexWalk::Shared& walks)
      : kernel_(kernel),
        nest_(nest),
        copy_(copy),
        walks_(walks),
        is_transposed_(is_transposed(kernel, copy)),
        lane_(kernel.parallel_index(ParallelType::TIDx)) {
    if (as_int(copy.lanes->extent()->value()) > kLanesOfWarp) {
      Val* warp = scalar::div(lane_, constant(kLanesOfWarp));
      first_of_warp_ = scalar::mul(warp, constant(kLanesOfWarp));
    }
  }

  void check_rows() {
    if (copies_rows()) {
      stays_in_tile();
    }
  }

  Expr* make() {
    if (!copies_pairs()) {
      return nullptr;
    }
    TensorIndex* of_tile = row_of_lane();
    TensorIndex* of_registers = registers_of(0);
    const bool is_store = copy_.tile == copy_.copy;
    return kernel_.make<LoadStoreOp>(
        {.out = is_store ? of_tile : of_registers,
         .arg = is_store ? of_registers : of_tile,
         .op = is_store ? LoadStoreOpType::StMatrix : LoadStoreOpType::LdMatrix});
  }

 private:
  /// The element of `tensor` with these indices of lanes, pairs and matrices.
  TensorIndex* element(TensorView* tensor, Val* lanes, Val* pair, Val* matrix) {
    std::unordered_map<const Loop*, Val*> indices;
    const auto set = [&](const IterDomain* axis, Val* index) {
      indices[kernel_.loop_model->loop_of(axis)] = index;
    };
    set(copy_.lanes, lanes);
    set(copy_.pair, pair);
    for (size_t i = copy_.matrices.size(); i-- > 0;) {
      Val* extent = copy_.matrices[i]->extent();
      set(copy_.matrices[i], i == 0 ? matrix : scalar::mod(matrix, extent));
      matrix = scalar::div(matrix, extent);
    }
    LoopNest nest = nest_;
    std::deque<Loop> loops;
    for (Loop*& loop : nest) {
      if (const auto found = indices.find(loop); found != indices.end()) {
        loop = &loops.emplace_back(*loop);
        loop->index = found->second;
      }
    }
    StatementContext context(kernel_, nest, copy_.copy, walks_);
    return context.element(tensor);
  }

  Val* constant(int64_t value) {
    return kernel_.new_index(value);
  }

  TensorIndex* registers_of(int64_t matrix) {
    return element(copy_.registers, lane_, kernel_.zero(), constant(matrix));
  }

  /// Element `column` of a row. The row runs along 4 lanes and their pairs, or along 8 lanes.
  TensorIndex* in_row(Val* row, int64_t column, Val* matrix) {
    if (is_transposed_) {
      Val* lanes = scalar::add(constant(column * kLanesOfRow), scalar::div(row, constant(kPair)));
      return element(copy_.tile, of_this_warp(lanes), scalar::mod(row, constant(kPair)), matrix);
    }
    Val* lanes = scalar::add(scalar::mul(row, constant(kLanesOfRow)), constant(column / kPair));
    return element(copy_.tile, of_this_warp(lanes), constant(column % kPair), matrix);
  }

  /// The same of the warp of this thread, for a lane of the first one.
  Val* of_this_warp(Val* lane) {
    return first_of_warp_ == nullptr ? lane : scalar::add(first_of_warp_, lane);
  }

  /// Where the row begins that this lane tells. Lanes that have none tell one of the others'.
  TensorIndex* row_of_lane(int64_t column = 0) {
    Val* matrix = scalar::mod(scalar::div(lane_, constant(kRows)), constant(copy_.count));
    return in_row(scalar::mod(lane_, constant(kRows)), column, matrix);
  }

  bool note(const Part& headline, const Part& expected, const Part& found, const Part& fix) {
    kernel_.note_refusal(refuse(
        {.headline = headline,
         .node = {describe(copy_.copy)},
         .expected = expected,
         .found = found,
         .fix = fix}));
    return false;
  }

  bool copies_pairs() {
    Val* first = registers_of(0)->index();
    for (int64_t matrix = 0; matrix < copy_.count; ++matrix) {
      Val* index = registers_of(matrix)->index();
      if (!kernel_.simplifier->prove_equal(index, scalar::add(first, constant(kPair * matrix)))) {
        return note(
            {"Registers of a copy of matrices are no neighbours"},
            {"matrix ", matrix, " ", kPair * matrix, " elements behind the first"},
            {index->to_inline_string(), " behind ", first->to_inline_string()},
            {"bind the innermost axes of the fragment to mma, and no others"});
      }
    }
    return true;
  }

  bool copies_rows() {
    IndexSimplifier& simplifier = *kernel_.simplifier;
    Val* begin = row_of_lane()->index();
    bool is_row = simplifier.prove_divisible(begin, constant(kRows));
    for (int64_t column = 1; column < kRows && is_row; ++column) {
      is_row = simplifier.prove_equal(
          row_of_lane(column)->index(), scalar::add(begin, constant(column)));
    }
    return is_row ||
           note(
               {"Rows of matrices do not lie in shared memory as the instruction copies them"},
               {"8 neighbours along m, n or k, at a multiple of 16 bytes"},
               {begin->to_inline_string(), " and what follows"},
               {"let 8 elements of an axis of the tile be innermost in shared memory (swizzles "
                "move pieces of 8)"});
  }

  /// Rows are copied without a test.
  void stays_in_tile() {
    Val* begin = row_of_lane()->index();
    Val* size = stored_elements(kernel_, copy_.tile);
    const bool stays =
        kernel_.simplifier->prove_nonnegative(begin) && kernel_.simplifier->prove_lt(begin, size);
    if (!stays) {
      note(
          {"A copy of matrices may leave the tile in shared memory"},
          {"an offset below ", size->to_inline_string()}, {begin->to_inline_string()},
          {"split the axes of the tile and of the fragment alike"});
    }
  }

  Kernel& kernel_;
  const LoopNest& nest_;
  const MatrixCopy& copy_;
  IndexWalk::Shared& walks_;
  bool is_transposed_;
  Val* lane_;
  Val* first_of_warp_ = nullptr; // its first lane, of 128; nullptr: there are 32
};

} // namespace

void StatementBuilder::check_rows(LoadStoreOp& op, const LoopNest& nest) {
  const MatrixCopy copy = matrix_copy_of(static_cast<TensorView*>(op.out));
  MatrixStatement(kernel_, nest, copy, walks_).check_rows();
}

std::vector<Expr*> StatementBuilder::copy_matrices(LoadStoreOp& op, const LoopNest& nest) {
  const MatrixCopy copy = matrix_copy_of(static_cast<TensorView*>(op.out));
  Expr* statement = MatrixStatement(kernel_, nest, copy, walks_).make();
  if (statement == nullptr) { // refused
    return {};
  }
  kernel_.tests[statement] = {}; // holes of tiles are zeros, or have a place in them
  return {statement};
}

} // namespace nvfuser
