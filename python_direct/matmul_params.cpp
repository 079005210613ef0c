// Params of products of matrices: scripts that choose them can make, edit, print and compare them.
#include "schedule/params/matmul_params.h"

#include "bindings.h"
#include "enum_binding.h"
#include "params_binding.h"

namespace nvfuser::python {

template <>
inline constexpr auto kRenamed<MatmulTilingStrategy> = std::to_array<Renamed>(
    {{"OneTilePerCTA", "one_tile_per_cta"},
     {"DistributeTilesAcrossSMs", "distribute_tiles_across_sms"},
     {"DistributeStagesAcrossSMs", "distribute_stages_across_sms"}});

template <>
inline constexpr auto kRenamed<MatmulBufferingLoopLevel> =
    std::to_array<Renamed>({{"CTATiles", "cta_tiles"}, {"WarpTiles", "warp_tiles"}});

template <>
inline constexpr auto kRenamed<MatmulCircularBufferingStrategy> =
    std::to_array<Renamed>({{"Pipelined", "pipelined"}, {"WarpSpecialized", "warp_specialized"}});

template <>
inline constexpr auto kRenamed<MatmulTileRasterizationOrder> =
    std::to_array<Renamed>({{"RowMajor", "row_major"}, {"ColumnMajor", "column_major"}});

namespace {

/// A record whose fields can be set, with equality and copies.
template <typename Record>
nb::class_<Record> bind_settings(nb::module_& m, const char* name, const char* doc) {
  nb::class_<Record> cls(m, name, doc);
  for_each_field<Record>(
      [&](const auto& field) { cls.def_rw(field.name, field.member, field.doc); });
  cls.def(
         "__eq__", [](const Record& self, const Record& other) { return self == other; },
         nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__copy__", [](const Record& self) { return Record(self); })
      .def(
          "__deepcopy__",
          [](const Record& self, const nb::object& /*memo*/) { return Record(self); }, "memo"_a)
      .def(
          "__getstate__",
          [](const Record& self) {
            nb::dict fields;
            for_each_field<Record>(
                [&](const auto& field) { fields[field.name] = nb::cast(self.*field.member); });
            return nb::typed<nb::dict, nb::str, nb::object>(std::move(fields));
          })
      .def(
          "__setstate__", [](Record& self, const nb::typed<nb::dict, nb::str, nb::object>& fields) {
            auto* record = new (&self) Record();
            for_each_field<Record>([&](const auto& field) {
              using T = typename std::remove_cvref_t<decltype(field)>::Type;
              record->*field.member = nb::cast<T>(fields[field.name]);
            });
          });
  cls.attr("__hash__") = nb::none(); // it can be edited
  return cls;
}

void bind_settings_of_products(nb::module_& m) {
  bind_settings<GemmTile>(m, "GemmTile", "Elements of a tile along the dimensions of a product.")
      .def(nb::init<int64_t, int64_t, int64_t>(), "m"_a, "n"_a, "k"_a)
      .def("__repr__", &GemmTile::to_string);
  bind_settings<MatMulTileOptions>(m, "MatMulTileOptions", "Tiles of a block and of its warps.")
      .def(nb::init<GemmTile, GemmTile>(), "cta_tile"_a, "warp_tile"_a)
      .def("__repr__", &MatMulTileOptions::to_string);
  bind_settings<CircularBufferOptions>(
      m, "CircularBufferOptions", "How operands of a product are loaded ahead.")
      .def(
          nb::init<bool, bool, int64_t, int64_t>(), "circular_buffer_smem_write"_a,
          "circular_buffer_smem_read"_a, "smem_circular_buffer_stage"_a,
          "smem_circular_buffer_prefetch_gap"_a)
      .def("__repr__", &CircularBufferOptions::to_string);
  bind_settings<SupportedVectorization>(
      m, "SupportedVectorization", "Elements of an access that layouts allow.")
      .def(nb::init<int64_t, int64_t, int64_t>(), "a"_a, "b"_a, "epilogue"_a)
      .def("__repr__", &SupportedVectorization::to_string);
  bind_settings<ClusterDims>(m, "ClusterDims", "Blocks of a cluster along both sides of a result.")
      .def(nb::init<int64_t, int64_t>(), "m"_a, "n"_a)
      .def("__repr__", &ClusterDims::to_string);
}

void bind_macros(nb::module_& m) {
  nb::class_<MmaMacro>(
      m, "MmaMacro",
      "An instruction of tensor cores, of which `MmaMacroEncode.mma_macro` makes one.")
      .def_rw("arch", &MmaMacro::arch, "The first architecture that has it.")
      .def_rw("m", &MmaMacro::m, "Rows of the result.")
      .def_rw("n", &MmaMacro::n, "Columns of the result.")
      .def_rw("k", &MmaMacro::k, "Elements that are summed over.")
      .def("__copy__", [](const MmaMacro& self) { return MmaMacro(self); })
      .def(
          "__deepcopy__",
          [](const MmaMacro& self, const nb::object& /*memo*/) { return MmaMacro(self); }, "memo"_a)
      .def("__getstate__", [](const MmaMacro& self) { return self.as_int(); })
      .def(
          "__setstate__",
          [](MmaMacro& self, int64_t packed) { new (&self) MmaMacro(MmaMacro::from_int(packed)); })
      .def(
          "__eq__", [](const MmaMacro& self, const MmaMacro& other) { return self == other; },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", &MmaMacro::to_string)
      .attr("__hash__") = nb::none();
  bind_settings<MmaMacroEncode>(
      m, "MmaMacroEncode", "The parts of an instruction of tensor cores, 16 bits each.")
      .def(nb::init<MmaMacroArch, uint16_t, uint16_t, uint16_t>(), "arch"_a, "m"_a, "n"_a, "k"_a)
      .def("mma_macro", &MmaMacroEncode::mma_macro, "The instruction.");
}

} // namespace

void bind_matmul_params(nb::module_& m) {
  NVF_BIND_ENUM(MatmulTilingStrategy, "How tiles of a product are dealt out to blocks.");
  NVF_BIND_ENUM(MatmulBufferingLoopLevel, "The loop of a product that loads ahead.");
  NVF_BIND_ENUM(MatmulCircularBufferingStrategy, "Which threads of a product load ahead.");
  NVF_BIND_ENUM(MatmulTileRasterizationOrder, "The order in which blocks compute tiles.");
  NVF_BIND_ENUM(MmaMacroArch, "An architecture with tensor cores.");
  bind_settings_of_products(m);
  bind_macros(m);
  bind_params<MatmulChoice>(
      m, "MatmulParams",
      "How a product of matrices is to be computed. Products run through a library: no scheduler "
      "makes or applies these, and they are for scripts that choose, print and compare them.");
}

} // namespace nvfuser::python
