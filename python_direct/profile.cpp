// Profiles of runs: what they cost, kernel by kernel.
#include "bindings.h"
#include "gil.h"
#include "runtime/profiler.h"

namespace nvfuser::python {
namespace {

void bind_kernel_profile(nb::module_& m) {
  nb::class_<KernelProfile>(m, "KernelProfile", "One launch of one kernel.")
      .def_ro("name", &KernelProfile::name, "Name of the kernel.")
      .def_ro("segment_id", &KernelProfile::segment_id, "Segment of the fusion.")
      .def_ro("device", &KernelProfile::device, "CUDA device; -1 for the CPU.")
      .def_ro("stream", &KernelProfile::stream, "Handle of the stream; 0 is the default one.")
      .def_ro(
          "correlation_id", &KernelProfile::correlation_id, "Number of the launch in this process.")
      .def_ro(
          "compile_time_ms", &KernelProfile::compile_time_ms,
          "Lowering and compiling; 0 for a kernel that was there before the run.")
      .def_ro("time_ms", &KernelProfile::time_ms, "On the device.")
      .def_ro(
          "effective_bandwidth_gbs", &KernelProfile::effective_bandwidth_gbs,
          "Bytes of inputs and outputs over `time_ms`, GB/s.")
      .def_ro(
          "percentage_peak_bandwidth", &KernelProfile::percentage_peak_bandwidth,
          "Share of the device's peak bandwidth; 0 on the CPU.")
      .def_ro("grid_str", &KernelProfile::grid_str, "``[x, y, z]``, blocks.")
      .def_ro("block_str", &KernelProfile::block_str, "``[x, y, z]``, threads.")
      .def_ro("cluster_str", &KernelProfile::cluster_str, "``[x, y, z]``, blocks.")
      .def_ro("shared_mem_str", &KernelProfile::shared_mem_str, "``[dynamic, static]``, bytes.")
      .def_ro("registers", &KernelProfile::registers, "Registers of a thread; 0 on the CPU.")
      .def_ro("input_bytes", &KernelProfile::input_bytes, "Size of the kernel's inputs.")
      .def_ro("output_bytes", &KernelProfile::output_bytes, "Size of the kernel's outputs.")
      .def_ro("scheduler", &KernelProfile::scheduler, "The scheduler that scheduled it.")
      .def("__repr__", [](const KernelProfile& self) {
        return "KernelProfile{name=" + self.name + "}";
      });
}

void bind_fusion_profile(nb::module_& m) {
  nb::class_<FusionProfile>(m, "FusionProfile", "One run of one fusion.")
      .def_ro("verbose", &FusionProfile::verbose, "Whether all columns were asked for.")
      .def_ro("fusion_id", &FusionProfile::fusion_id, "Number of the fusion.")
      .def_ro("segments", &FusionProfile::segments, "How many segments ran.")
      .def_ro(
          "cuda_evt_time_ms", &FusionProfile::cuda_evt_time_ms,
          "On the device, from the first kernel to the last, gaps included.")
      .def_ro(
          "host_time_ms", &FusionProfile::host_time_ms,
          "In the calling thread, compilation included.")
      .def_ro(
          "compile_time_ms", &FusionProfile::compile_time_ms, "Lowering and compiling all kernels.")
      .def_ro("kernel_time_ms", &FusionProfile::kernel_time_ms, "On the device, all kernels.")
      .def_ro(
          "effective_bandwidth_gbs", &FusionProfile::effective_bandwidth_gbs,
          "Bytes of inputs and outputs over `kernel_time_ms`, GB/s.")
      .def_ro(
          "percentage_peak_bandwith", &FusionProfile::percentage_peak_bandwidth,
          "The old spelling of `percentage_peak_bandwidth`.")
      .def_ro(
          "percentage_peak_bandwidth", &FusionProfile::percentage_peak_bandwidth,
          "Share of the device's peak bandwidth; 0 on the CPU.")
      .def_ro("input_bytes", &FusionProfile::input_bytes, "Size of the fusion's inputs.")
      .def_ro("output_bytes", &FusionProfile::output_bytes, "Size of the fusion's outputs.")
      .def_ro("kernel_profiles", &FusionProfile::kernel_profiles, "Launches, in order.");
}

} // namespace

void bind_profile(nb::module_& m) {
  nb::module_ internal = internal_module(m);
  bind_kernel_profile(m);
  bind_fusion_profile(m);
  m.def(
      "get_fusion_profile", &fusion_profile, nb::call_guard<GilRelease>(),
      R"(The last profiled run of this thread; waits until its kernels have ended.

Returns
-------
FusionProfile
    Its times and bytes.

Raises
------
UserError
    If nothing was profiled, or the run launched no kernel.
)");
  m.def(
      "reset_profiler", &reset_profiler,
      "Forget all profiles of this thread, also of a run that ended with an error.");
  internal.def("start_profiling", &start_profiling, "Measure runs of this thread from now on.");
  internal.def("stop_profiling", &stop_profiling, "Undo one `start_profiling`.");
  internal.def("is_profiling", &is_profiling, "Whether runs of this thread are measured.");
  internal.def(
      "open_profiled_run", &open_profiled_run, "label"_a, "fusion_id"_a = -1,
      "Make one profile of all kernels until `close_profiled_run`, with `label` as scheduler; an "
      "empty one: kernels name theirs.");
  internal.def(
      "is_profiled_run_open", &is_profiled_run_open,
      "Whether this thread is between `open_profiled_run` and `close_profiled_run`.");
  internal.def(
      "begin_profiled_part", &begin_profiled_part, "label"_a = "",
      "Count the segments of what runs next behind those of the open run, with `label` as in "
      "`open_profiled_run`.");
  internal.def("close_profiled_run", &close_profiled_run, "End what `open_profiled_run` began.");
}

} // namespace nvfuser::python
