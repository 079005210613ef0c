// Reduction over blocks of the grid.
//
// Blocks that agree in the grid dimensions that are not reduced form a segment. Within a block,
// values are uniform over the reduced thread dimensions and independent over the others
// ("columns"). Every block stores one partial result per column, indexed
//
//   [entrance][segment][block in segment][column]
//
// and they are combined in the order of this index: the result does not depend on which
// block comes when. Partial results bypass the first-level cache, which is not coherent.
//
// provides: grid_reduce grid_allreduce grid_reduce_welford grid_allreduce_welford
// requires: types thread_index shuffle vector reduce_ops welford grid_sync
#pragma once

template <typename T>
NVF_FUNCTION T load_partial(const T* from) {
  T out;
  load_vector<1, Cache::Global>(&out, from);
  return out;
}

template <typename T>
struct Partials {
  T* data;
  NVF_FUNCTION void store(uint64_t index, T value) const {
    data[index] = value;
  }
  NVF_FUNCTION T load(uint64_t index) const {
    return load_partial(data + index);
  }
};

template <typename T, typename Count>
struct WelfordPartials {
  T* mean;
  T* deviation;
  Count* count;
  NVF_FUNCTION void store(uint64_t index, Welford<T, Count> value) const {
    mean[index] = value.mean;
    deviation[index] = value.deviation;
    count[index] = value.count;
  }
  NVF_FUNCTION Welford<T, Count> load(uint64_t index) const {
    return {
        load_partial(mean + index), load_partial(deviation + index), load_partial(count + index)};
  }
};

template <typename T>
constexpr unsigned kWordsOf = (sizeof(T) + 3) / 4;
/// Partial results that a thread loads before it needs the first: as many as few registers hold.
template <typename T>
constexpr unsigned kPartialsAtOnce = kWordsOf<T> > 16  ? 1
                                     : kWordsOf<T> > 8 ? 2
                                     : kWordsOf<T> > 2 ? 4
                                                       : 8;

/// Which grid dimensions are reduced, and over which thread dimensions the values are uniform.
template <bool kBX, bool kBY, bool kBZ, bool kTX, bool kTY, bool kTZ>
struct GridShape {
  NVF_FUNCTION static unsigned members() {
    return block_count<kBX, kBY, kBZ>();
  }
  NVF_FUNCTION static uint64_t first_slot(uint64_t entrance) {
    const uint64_t segments = block_count<!kBX, !kBY, !kBZ>();
    return (entrance * segments + block_position<!kBX, !kBY, !kBZ>()) * members() * columns() +
           thread_position<!kTX, !kTY, !kTZ>();
  }
  NVF_FUNCTION static unsigned columns() {
    return thread_count<!kTX, !kTY, !kTZ>();
  }

  /// One thread per column stores.
  template <typename Storage, typename T>
  NVF_FUNCTION static void store(const Storage& partials, uint64_t entrance, T value) {
    if (thread_position<kTX, kTY, kTZ>() == 0) {
      const uint64_t block = block_position<kBX, kBY, kBZ>();
      partials.store(first_slot(entrance) + block * columns(), value);
    }
  }

  /// Partial results `first`, `first + step`, .. before `end`, of this thread's column. Several
  /// sums in turn, which a tree combines, so that none is the sum of hundreds: that would add up
  /// their roundings.
  template <typename Storage, typename T, typename Op>
  NVF_FUNCTION static T sum_in_place(
      const Storage& partials,
      uint64_t slot,
      unsigned first,
      unsigned step,
      unsigned end,
      T init,
      Op op) {
    constexpr unsigned kValues = kPartialsAtOnce<T>;
    const uint64_t stride = columns();
    T values[kValues];
#pragma unroll
    for (unsigned i = 0; i < kValues; ++i) {
      values[i] = init;
    }
    for (unsigned block = first; block < end; block += kValues * step) {
      T loaded[kValues]; // all of them before the first is needed
#pragma unroll
      for (unsigned i = 0; i < kValues; ++i) {
        const unsigned other = block + i * step;
        loaded[i] = other < end ? partials.load(slot + other * stride) : init;
      }
#pragma unroll
      for (unsigned i = 0; i < kValues; ++i) {
        values[i] = op(values[i], loaded[i]);
      }
    }
#pragma unroll
    for (unsigned count = kValues / 2; count > 0; count /= 2) {
#pragma unroll
      for (unsigned i = 0; i < count; ++i) {
        values[i] = op(values[i], values[i + count]);
      }
    }
    return values[0];
  }
  /// The same as a function, compiled once. Its arguments are in registers: `partials` is a copy.
  template <typename Storage, typename T, typename Op>
  __device__ __noinline__ static T sum_apart(
      Storage partials, uint64_t slot, unsigned first, unsigned step, unsigned end, T init, Op op) {
    return sum_in_place(partials, slot, first, step, end, init, op);
  }
  /// It waits for memory: a call costs nothing beside that. Where there are more addresses than
  /// registers hold, a call would write them to local memory.
  template <typename Storage, typename T, typename Op>
  NVF_FUNCTION static T sum(
      const Storage& partials,
      uint64_t slot,
      unsigned first,
      unsigned step,
      unsigned end,
      T init,
      Op op) {
    if constexpr (kWordsOf<T> > 16) {
      return sum_in_place(partials, slot, first, step, end, init, op);
    } else {
      return sum_apart(partials, slot, first, step, end, init, op);
    }
  }

  /// The result for this thread's column, in any block. Where a warp is uniform its lanes share the
  /// work.
  template <typename Storage, typename T, typename Op>
  NVF_FUNCTION static T combine(const Storage& partials, uint64_t entrance, T init, Op op) {
    const uint64_t slot = first_slot(entrance);
    if (kTX && block_size_x() % kWarpSize == 0) {
      return warp_combine(
          sum(partials, slot, threadIdx.x % kWarpSize, kWarpSize, members(), init, op), op);
    }
    return sum(partials, slot, 0, 1, members(), init, op);
  }

  /// Whether this block is the last of its segment to arrive. `counters`: one per entrance and
  /// segment, at rest before and afterwards.
  template <typename C>
  NVF_FUNCTION static bool arrive(C* counters, uint64_t entrance) {
    const uint64_t segments = block_count<!kBX, !kBY, !kBZ>();
    C* counter = counters + (entrance * segments + block_position<!kBX, !kBY, !kBZ>());
    block_barrier();
    bool is_last = false;
    if (thread_position<true, true, true>() == 0) {
      __threadfence(); // what the block stored comes before, what the last one loads after
      count_arrival(
          reinterpret_cast<unsigned*>(counter), members(), block_position<kBX, kBY, kBZ>() == 0,
          is_last);
      __threadfence();
    }
    is_last = block_barrier_or(is_last);
    return is_last;
  }

  /// In the last block to arrive only, which returns true, `out` is combined with this thread's
  /// share of the result: threads over which values are uniform share the partial results.
  template <typename Storage, typename T, typename Op, typename C>
  NVF_FUNCTION static bool reduce(
      T& out, T value, T init, Op op, const Storage& partials, C* counters, uint64_t entrance) {
    store(partials, entrance, value);
    if (!arrive(counters, entrance)) {
      return false;
    }
    const unsigned share = thread_position<kTX, kTY, kTZ>();
    const unsigned shares = thread_count<kTX, kTY, kTZ>();
    // Where a thread has one sum in turn, it begins with `out`: a step less is less code.
    constexpr bool kIsOne = kPartialsAtOnce<T> == 1;
    const T all =
        sum(partials, first_slot(entrance), share, shares, members(), kIsOne ? out : init, op);
    out = kIsOne ? all : op(out, all);
    return true;
  }

  /// The block's turn to combine its value into the one partial result of its column. The last
  /// block keeps the result in `out` and returns true.
  template <typename T, typename Op>
  NVF_FUNCTION static bool accumulate(T& out, T value, Op op, T* partials, uint64_t entrance) {
    const uint64_t segments = block_count<!kBX, !kBY, !kBZ>();
    T* partial = partials + (entrance * segments + block_position<!kBX, !kBY, !kBZ>()) * columns() +
                 thread_position<!kTX, !kTY, !kTZ>();
    const unsigned turn = block_position<kBX, kBY, kBZ>();
    const bool is_last = turn + 1 == members();
    const bool stores = !is_last && thread_position<kTX, kTY, kTZ>() == 0;
    if (turn > 0 && (is_last || stores)) {
      value = op(load_partial(partial), value);
    }
    if (is_last) {
      out = op(out, value);
    } else if (stores) {
      *partial = value;
    }
    return is_last;
  }

  /// Every block gets the result. Blocks that agree in `entrance` modulo 2 must not be in two
  /// entrances at once, which the barrier itself ensures. `counters`: one per segment.
  template <typename Storage, typename T, typename Op, typename C>
  NVF_FUNCTION static void allreduce(
      T& out, T value, T init, Op op, const Storage& partials, C* counters, uint64_t entrance) {
    store(partials, entrance, value);
    grid_sync<kBX, kBY, kBZ>(counters);
    out = op(out, combine(partials, entrance, init, op));
  }
};

/// If this is the last block, which is returned: out = op(out, a share of `read ? in : init` over
/// the blocks). The block combines the shares of threads over which values are uniform.
template <typename Shape, typename Op, typename T, typename C>
NVF_FUNCTION bool grid_reduce(
    T& out,
    typename Exactly<T>::Type in,
    typename Exactly<T>::Type init,
    bool read,
    T* work,
    C* counters,
    uint64_t entrance) {
  return Shape::reduce(out, read ? in : init, init, Op(), Partials<T>{work}, counters, entrance);
}

template <typename Shape, typename Op, typename T, typename C>
NVF_FUNCTION void grid_allreduce(
    T& out,
    typename Exactly<T>::Type in,
    typename Exactly<T>::Type init,
    bool read,
    T* work,
    C* counters,
    uint64_t entrance) {
  Shape::allreduce(out, read ? in : init, init, Op(), Partials<T>{work}, counters, entrance);
}

template <typename Shape, typename T, typename Count, typename C>
NVF_FUNCTION bool grid_reduce_welford(
    T& mean,
    T& deviation,
    Count& count,
    const Welford<T, Count>& in,
    bool read,
    T* work_mean,
    T* work_deviation,
    Count* work_count,
    C* counters,
    uint64_t entrance) {
  const Welford<T, Count> none = {T(0), T(0), Count(0)};
  Welford<T, Count> out = {mean, deviation, count};
  const bool is_last = Shape::reduce(
      out, read ? in : none, none, WelfordCombine(),
      WelfordPartials<T, Count>{work_mean, work_deviation, work_count}, counters, entrance);
  mean = out.mean;
  deviation = out.deviation;
  count = out.count;
  return is_last;
}

template <typename Shape, typename T, typename Count, typename C>
NVF_FUNCTION void grid_allreduce_welford(
    T& mean,
    T& deviation,
    Count& count,
    const Welford<T, Count>& in,
    bool read,
    T* work_mean,
    T* work_deviation,
    Count* work_count,
    C* counters,
    uint64_t entrance) {
  const Welford<T, Count> none = {T(0), T(0), Count(0)};
  Welford<T, Count> out = {mean, deviation, count};
  Shape::allreduce(
      out, read ? in : none, none, WelfordCombine(),
      WelfordPartials<T, Count>{work_mean, work_deviation, work_count}, counters, entrance);
  mean = out.mean;
  deviation = out.deviation;
  count = out.count;
}
