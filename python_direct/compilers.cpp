// The means behind kernels: the cache on disk, the compilers, the threads.
#include "bindings.h"
#include "gil.h"
#include "runtime/build_id.h"
#include "runtime/compiled_kernel.h"
#include "runtime/cpu_code.h"
#include "runtime/cuda_code.h"
#include "runtime/cuda_driver.h"
#include "runtime/host_compiler.h"
#include "runtime/kernel_cache.h"
#include "runtime/nvrtc.h"

#include "base/thread_pool.h"

namespace nvfuser::python {
namespace {

std::string to_string(const nb::bytes& bytes) {
  return {bytes.c_str(), bytes.size()};
}
nb::bytes to_bytes(const std::string& text) {
  return nb::bytes(text.data(), text.size());
}

nb::dict stats_of(const KernelCache& cache) {
  const KernelCacheStats stats = cache.stats();
  nb::dict result;
  result["hits"] = stats.hits;
  for (size_t i = 0; i < stats.misses.size(); ++i) {
    result[(std::string("misses_") + kCacheMissTexts[i]).c_str()] = stats.misses[i];
  }
  result["stores"] = stats.stores;
  result["failed_stores"] = stats.failed_stores;
  result["evictions"] = stats.evictions;
  return result;
}

void bind_kernel_cache(nb::module_& m) {
  nb::class_<KernelCache>(
      m, "KernelCache",
      "Compiled kernels on disk. NVFUSER_KERNEL_CACHE=0 turns the one of this process off, "
      "NVFUSER_CACHE_DIR places it, NVFUSER_CACHE_MB bounds it.")
      .def(
          nb::init<std::string, int64_t>(), "folder"_a, "max_bytes"_a,
          R"(A cache of its own.

Parameters
----------
folder : str
    Where its files lie.
max_bytes : int
    Bound of their size together.
)")
      .def_static(
          "instance", &KernelCache::instance, nb::rv_policy::reference,
          "The cache of this process.")
      .def_static(
          "facts", &KernelCache::facts, nb::rv_policy::reference,
          R"(The facts of this process, in the same folder and under the same bound.

They say how kernels are launched, so that a process that defines what an earlier one ran lowers
nothing. Files of machine code end with ``.kernel``, those of facts with ``.facts``.
)")
      .def_static(
          "tuned", &KernelCache::tuned, nb::rv_policy::reference,
          R"(The schedules that tuning found, in the same folder and under the same bound.

A file of it, which ends with ``.tuned``, can be copied to the folder of another machine with the
same device, driver, compiler, and build of this library.
)")
      .def(
          "find",
          [](KernelCache& self, const nb::bytes& key) -> std::optional<nb::bytes> {
            const auto found = self.find(to_string(key));
            return found ? std::optional(to_bytes(*found)) : std::nullopt;
          },
          "key"_a, "The payload stored under `key`, if it is there and whole.")
      .def(
          "store",
          [](KernelCache& self, const nb::bytes& key, const nb::bytes& payload) {
            self.store(to_string(key), to_string(payload));
          },
          "key"_a, "payload"_a, "Store a payload; failing to is not an error.")
      .def(
          "path_of",
          [](const KernelCache& self, const nb::bytes& key) {
            return self.path_of(to_string(key));
          },
          "key"_a, "The file of `key`.")
      .def("clear", &KernelCache::clear, "Remove every entry.")
      .def(
          "used_entries",
          [](const KernelCache& self) {
            std::vector<nb::bytes> entries;
            for (const std::string& entry : self.used_entries()) {
              entries.push_back(to_bytes(entry));
            }
            return entries;
          },
          "The entries that this process found or stored, each as the bytes of its file.")
      .def(
          "carry",
          [](KernelCache& self, const nb::bytes& entry) { return self.carry(to_string(entry)); },
          "entry"_a,
          R"(Find an entry in this process as if it was in the folder.

Parameters
----------
entry : bytes
    One of `used_entries`, of any process.

Returns
-------
bool
    False: they are no entry.
)")
      .def_prop_ro("is_enabled", &KernelCache::is_enabled, "Whether it stores anything.")
      .def_prop_ro(
          "distrust", &KernelCache::distrust,
          "Why nothing is read from the folder and kept in it; empty if it is.")
      .def_prop_ro("folder", &KernelCache::folder, "Where its files lie.")
      .def_prop_ro("max_bytes", &KernelCache::max_bytes, "Bound of their size together.")
      .def_prop_ro("size_bytes", &KernelCache::size_bytes, "Size of all entries now.")
      .def(
          "stats", &stats_of, nb::sig("def stats(self) -> dict[str, int]"),
          "Counts of hits, of misses by reason, of stores and evictions.");
  m.def(
      "clear_loaded_kernels",
      [] {
        clear_loaded_cpu_code();
        clear_loaded_cuda_code();
      },
      "Forget the machine code held by this process; kernels in use keep theirs.");
}

nb::bytes compile_cuda_source(
    const std::string& source,
    const std::string& name,
    const std::string& architecture,
    int64_t maxrregcount) {
  CompileParams params;
  params.maxrregcount = checked_register_cap(maxrregcount);
  CudaBinary binary;
  {
    const GilRelease no_gil;
    const Nvrtc& nvrtc = Nvrtc::get();
    std::vector<std::string> options = nvrtc_options(params);
    if (nvrtc.version().first >= 13) {
      options.emplace_back("--no-cache"); // beside a driver, it keeps what it compiled
    }
    binary = nvrtc.compile(source, name, architecture, options);
  }
  return to_bytes(binary.code);
}

nb::bytes compile_cpu_source(const std::string& source, const std::string& name) {
  std::string object;
  {
    const GilRelease no_gil;
    const HostCompiler& compiler = HostCompiler::get();
    object = compiler.compile(source, name, compiler.options());
  }
  return to_bytes(object);
}

void bind_cuda_texts(nb::module_& m) {
  nb::class_<CudaTexts>(m, "CudaTexts", "A scheduled fusion as CUDA: source, PTX and machine code.")
      .def_ro("kernel", &CudaTexts::kernel, "The lowered fusion.")
      .def_ro("name", &CudaTexts::name, "Name of the kernel function.")
      .def_ro(
          "source", &CudaTexts::source,
          "Complete source: NVRTC and nvcc compile it without any header.")
      .def_ro("ptx", &CudaTexts::ptx, "PTX, a text.")
      .def_prop_ro(
          "cubin", [](const CudaTexts& self) { return to_bytes(self.cubin); }, "Machine code.");
  nb::borrow<nb::class_<Fusion>>(m.attr("Fusion"))
      .def(
          "compile_cuda",
          [](const Fusion& self, DataType index_type, const std::string& architecture,
             const std::string& kernel_name, int64_t maxrregcount) {
            CompileParams params;
            params.index_type = index_type;
            params.maxrregcount = checked_register_cap(maxrregcount);
            const std::shared_ptr<Fusion> copy = self.clone(); // no thread changes it meanwhile
            const GilRelease no_gil;
            return compile_cuda(*copy, params, architecture, kernel_name);
          },
          "index_type"_a = DataType::Int, "architecture"_a = "sm_90a", "kernel_name"_a = "",
          "maxrregcount"_a = CompileParams().maxrregcount,
          R"(Compile a copy of the scheduled fusion for CUDA; needs NVRTC, but no GPU.

Parameters
----------
index_type : DataType
    Width of index arithmetic: Int (64 bits) or Int32.
architecture : str
    Architecture of the machine code, ``sm_80``, ``sm_90a`` and so on; the PTX is for the virtual one
    of the same number.
kernel_name : str
    Name of the function; a default if empty.
maxrregcount : int
    Register cap of a thread; 0: none. Schedulers say theirs in ``params.cparams.maxrregcount``.

Returns
-------
CudaTexts
    Source, PTX and machine code.

Raises
------
UserError
    If the schedule cannot be lowered.
UserNotImplementedError
    If there is no NVRTC.
)");
}

/// The versions that decide whether machine code of another process serves in this one.
nb::dict code_versions() {
  std::pair<int, int> device{0, 0};
  std::pair<int, int> nvrtc{0, 0};
  {
    const GilRelease no_gil;
    const CudaDriver* driver = CudaDriver::maybe_get();
    if (driver != nullptr && driver->num_devices() > 0) {
      const CudaDeviceInfo& info = driver->device(0);
      device = {info.major, info.minor};
    }
    if (const Nvrtc* library = Nvrtc::maybe_get()) {
      nvrtc = library->version();
    }
  }
  nb::dict result;
  result["device"] = device;
  result["cuda"] = nvrtc;
  result["build"] = build_id();
  return result;
}

/// NVRTC comes in wheels that lie beside this package, or on the same path.
void find_libraries_in_wheels() {
  std::vector<std::string> folders;
  for (const nb::handle folder : nb::module_::import_("sys").attr("path")) {
    std::string text;
    if (nb::try_cast(folder, text) && !text.empty()) {
      folders.push_back(std::move(text));
    }
  }
  set_library_search_paths(std::move(folders));
}

} // namespace

void bind_compilers(nb::module_& m) {
  find_libraries_in_wheels();
  bind_kernel_cache(m);
  bind_cuda_texts(m);
  internal_module(m).def("build_id", &build_id, "Which build of this library this is.");
  internal_module(m).def(
      "code_versions", &code_versions, nb::sig("def code_versions() -> dict[str, typing.Any]"),
      "The compute capability of the first device (0, 0 without one), the version of NVRTC (0, 0 "
      "without it), and the build of this library.");
  m.def(
      "compile_cuda_source", &compile_cuda_source, "source"_a, "name"_a = "kernel",
      "architecture"_a = "sm_90a", "maxrregcount"_a = CompileParams().maxrregcount,
      R"(Compile CUDA source; needs no GPU. No cache is asked, so that it can be timed.

Parameters
----------
source : str
    A complete source.
name : str
    What errors call it.
architecture : str
    ``sm_90a`` and the like give a cubin, ``compute_90`` and the like PTX.
maxrregcount : int
    Register cap of a thread; 0: none.

Returns
-------
bytes
    The machine code.
)");
  m.def(
      "compile_cpu_source", &compile_cpu_source, "source"_a, "name"_a = "kernel",
      R"(Compile C++ source with the host's compiler, as CPU kernels are.

Parameters
----------
source : str
    A complete source.
name : str
    What errors call it.

Returns
-------
bytes
    A shared object.
)");
  m.def(
      "set_num_threads", &set_num_threads, "num_threads"_a,
      R"(Set how many threads run one CPU kernel.

Parameters
----------
num_threads : int
    Threads, the calling one included; at least 1.
)");
  m.def("get_num_threads", &get_num_threads, "Threads that run one CPU kernel.");
}

} // namespace nvfuser::python
