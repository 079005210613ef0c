// Parameters of kernels, and what this installation can do.
#include "base/compile_params.h"
#include "base/launch_params.h"
#include "bindings.h"
#include "device_arg.h"
#include "runtime/cuda_driver.h"
#include "runtime/doctor.h"

namespace nvfuser::python {
namespace {

// Copies and pickles: a state holds plain values, so that it needs no other package to be read.

/// gdimx, gdimy, gdimz, bdimx, bdimy, bdimz, bytes of shared memory, blocks of a cluster; -1:
/// unset.
using LaunchState =
    std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>;

LaunchState launch_state(const LaunchParams& params) {
  const auto& [gdimx, gdimy, gdimz] = params.dims().grid;
  const auto& [bdimx, bdimy, bdimz] = params.dims().block;
  return {gdimx, gdimy, gdimz, bdimx, bdimy, bdimz, params.smem_bytes(), params.cluster_size()};
}

void set_launch_state(LaunchParams& params, const LaunchState& state) {
  const auto& [gdimx, gdimy, gdimz, bdimx, bdimy, bdimz, smem_bytes, cluster_size] = state;
  new (&params) LaunchParams(gdimx, gdimy, gdimz, bdimx, bdimy, bdimz);
  params.set_smem_bytes(smem_bytes);
  params.set_cluster_size(cluster_size);
}

/// The fields of CompileParams in their order; the device is the index of one of CUDA, -1 for the
/// CPU, None for none.
using CompileState = std::tuple<
    std::optional<DataType>,
    int64_t,
    bool,
    bool,
    std::optional<int32_t>,
    std::vector<std::string>>;

CompileState compile_state(const CompileParams& params) {
  std::optional<int32_t> device;
  if (params.device.has_value()) {
    device = params.device->is_cuda() ? params.device->index : -1;
  }
  return {
      params.index_type,
      params.maxrregcount,
      params.enable_magic_zero,
      params.enable_ptxas_verbose,
      device,
      params.include_paths};
}

void set_compile_state(CompileParams& params, const CompileState& state) {
  const auto& [index_type, maxrregcount, magic_zero, ptxas_verbose, device, include_paths] = state;
  new (&params) CompileParams{
      .index_type = index_type,
      .maxrregcount = checked_register_cap(maxrregcount),
      .enable_magic_zero = magic_zero,
      .enable_ptxas_verbose = ptxas_verbose,
      .device = std::nullopt,
      .include_paths = include_paths};
  if (device.has_value()) {
    params.device = *device < 0 ? Device::cpu() : Device::cuda(*device);
  }
}

void bind_launch_params(nb::module_& m) {
  nb::class_<LaunchParams> cls(m, "LaunchParams", "The size of a grid and of its blocks.");
  cls.def(nb::init<>(), "All sizes unset.")
      .def(
          nb::init<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>(), "gdimx"_a, "gdimy"_a,
          "gdimz"_a, "bdimx"_a, "bdimy"_a, "bdimz"_a,
          R"(Sizes; -1 leaves one unset.

Parameters
----------
gdimx, gdimy, gdimz : int
    Blocks of the grid.
bdimx, bdimy, bdimz : int
    Threads of a block.
)");
  constexpr std::pair<const char*, ParallelType> kDims[] = {
      {"gdimx", ParallelType::BIDx}, {"gdimy", ParallelType::BIDy}, {"gdimz", ParallelType::BIDz},
      {"bdimx", ParallelType::TIDx}, {"bdimy", ParallelType::TIDy}, {"bdimz", ParallelType::TIDz}};
  for (const auto& [name, type] : kDims) {
    cls.def_prop_rw(
        name, [type = type](const LaunchParams& self) { return self.get(type); },
        [type = type](LaunchParams& self, int64_t value) { self.bind(type, value); },
        nb::for_getter("Size of a hardware index; 1 if it is unset. It can be set once."));
  }
  cls.def_prop_ro(
         "cluster_size", &LaunchParams::cluster_size,
         "Blocks of a cluster, all of them along x; 1 if blocks form none. The kernel decides it.")
      .def("__getstate__", &launch_state)
      .def("__setstate__", &set_launch_state)
      .def("__repr__", &LaunchParams::to_string)
      .def(
          "__eq__", [](const LaunchParams& a, const LaunchParams& b) { return a == b; },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
  cls.attr("__hash__") = nb::none();
}

nb::object device_to_python(const std::optional<Device>& device) {
  if (!device.has_value()) {
    return nb::none();
  }
  // The package's own, since it says what is missing where there is no PyTorch.
  nb::module_::import_("nvfuser_direct._pytorch").attr("require_pytorch")("A torch.device");
  return nb::module_::import_("torch").attr("device")(device->str());
}

/// A device of CUDA by its index, also where there is none: compiling needs no GPU.
Device cuda_device(const nb::object& index) {
  int32_t number = -1;
  if (!nb::try_cast(index, number) || number < 0) {
    throw UserError(
        {"Device index must be an int from 0 on, found: ", nb::str(index).c_str()},
        ErrorKind::Value);
  }
  return Device::cuda(number);
}

/// `torch.device(value)`; what PyTorch says if there is none becomes a UserValueError.
nb::object device_of_torch(const nb::object& value) {
  try {
    return nb::module_::import_("torch").attr("device")(value);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_RuntimeError) && !error.matches(PyExc_TypeError) &&
        !error.matches(PyExc_ModuleNotFoundError)) {
      throw;
    }
    throw UserError(
        {.headline = {"No device is called ", nb::repr(value).c_str()},
         .node = Part::none(),
         .expected = "a torch.device, \"cpu\", \"cuda\", \"cuda:0\" or the index of a CUDA device",
         .found = nb::type_name(value.type()).c_str(),
         .fix = Part::none()},
        ErrorKind::Value);
  }
}

/// "cpu", "cuda" and "cuda:1", which need no PyTorch to be understood.
std::optional<Device> device_by_name(const nb::object& value) {
  std::string name;
  if (!nb::isinstance<nb::str>(value) || !nb::try_cast(value, name)) {
    return std::nullopt;
  }
  if (name == "cpu") {
    return Device::cpu();
  }
  if (name == "cuda") {
    return Device::cuda(0);
  }
  constexpr std::string_view kCuda = "cuda:";
  constexpr size_t kMostDigits = 4;
  const std::string digits = name.starts_with(kCuda) ? name.substr(kCuda.size()) : "";
  const bool is_index = !digits.empty() && digits.size() <= kMostDigits &&
                        digits.find_first_not_of("0123456789") == std::string::npos;
  return is_index ? std::optional(Device::cuda(std::stoi(digits))) : std::nullopt;
}

} // namespace

std::optional<Device> device_from_python(const nb::object& value) {
  if (value.is_none()) {
    return std::nullopt;
  }
  if (nb::isinstance<nb::int_>(value)) {
    return cuda_device(value);
  }
  if (const std::optional<Device> named = device_by_name(value)) {
    return named;
  }
  const nb::object device = device_of_torch(value);
  const auto kind = nb::cast<std::string>(device.attr("type"));
  const nb::object index = device.attr("index");
  if (kind == "cpu") {
    return Device::cpu();
  }
  if (kind == "cuda") {
    return Device::cuda(index.is_none() ? 0 : nb::cast<int32_t>(index));
  }
  throw UserError(
      {"nvfuser only supports cuda or meta device, found: ", nb::str(device).c_str()},
      ErrorKind::Value);
}

namespace {

void bind_compile_params(nb::module_& m) {
  nb::class_<CompileParams>(m, "CompileParams", "How a kernel is compiled.")
      .def(
          "__init__",
          [](CompileParams* self, std::optional<DataType> index_type, int64_t maxrregcount,
             bool enable_magic_zero, bool enable_ptxas_verbose, const nb::object& device,
             std::vector<std::string> include_paths) {
            new (self) CompileParams{
                .index_type = index_type,
                .maxrregcount = checked_register_cap(maxrregcount),
                .enable_magic_zero = enable_magic_zero,
                .enable_ptxas_verbose = enable_ptxas_verbose,
                .device = device_from_python(device),
                .include_paths = std::move(include_paths)};
          },
          nb::kw_only(), "index_type"_a = nb::none(), "maxrregcount"_a = 255,
          "enable_magic_zero"_a = true, "enable_ptxas_verbose"_a = false, "device"_a = nb::none(),
          "include_paths"_a = std::vector<std::string>{},
          R"(All parameters are keywords.

Parameters
----------
index_type : DataType, optional
    Int or Int32, for index arithmetic. If not given: on a GPU the narrowest that the sizes of a
    call allow, on a processor Int.
maxrregcount : int
    Registers of a thread, at most; 0: no cap.
enable_magic_zero : bool
    Limit the hoisting of indices out of unrolled loops.
enable_ptxas_verbose : bool
    Print what the assembler reports.
device : torch.device, optional
    Device to compile for.
include_paths : list[str]
    Further folders with headers.

Raises
------
UserValueError
    If `maxrregcount` is negative, or `device` neither CPU nor CUDA.
)")
      .def_rw(
          "index_type", &CompileParams::index_type, nb::arg().none(),
          "Width of index arithmetic; None: decided from sizes.")
      .def_prop_rw(
          "maxrregcount", [](const CompileParams& self) { return self.maxrregcount; },
          [](CompileParams& self, int64_t registers) {
            self.maxrregcount = checked_register_cap(registers);
          },
          "Registers of a thread, at most; 0: no cap.")
      .def_rw(
          "enable_magic_zero", &CompileParams::enable_magic_zero,
          "Limit the hoisting of indices out of unrolled loops.")
      .def_rw(
          "enable_ptxas_verbose", &CompileParams::enable_ptxas_verbose,
          "Print what the assembler reports.")
      .def_prop_rw(
          "device", [](const CompileParams& self) { return device_to_python(self.device); },
          [](CompileParams& self, const nb::object& device) {
            self.device = device_from_python(device);
          },
          nb::for_setter(nb::arg().none()), "Device to compile for; None: that of the arguments.")
      .def_rw("include_paths", &CompileParams::include_paths, "Further folders with headers.")
      .def("__getstate__", &compile_state)
      .def("__setstate__", &set_compile_state)
      .def("__repr__", &CompileParams::to_string)
      .def(
          "__eq__", [](const CompileParams& a, const CompileParams& b) { return a == b; },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .attr("__hash__") = nb::none();
}

void bind_installation(nb::module_& m) {
  nb::class_<DoctorLine>(m, "DoctorLine", "A fact about this installation.")
      .def_ro("topic", &DoctorLine::topic, "The part of the installation that it is about.")
      .def_ro("finding", &DoctorLine::finding, "The state that was found.")
      .def_ro("fix", &DoctorLine::fix, "The way to mend it; empty where all is well.");
  m.def(
      "doctor_report", &doctor_report, "The abilities of this installation, and what is missing.");
}

} // namespace

void bind_runtime(nb::module_& m) {
  bind_launch_params(m);
  bind_compile_params(m);
  bind_installation(m);
}

} // namespace nvfuser::python
