// Options: what NVFUSER_DUMP, NVFUSER_ENABLE, NVFUSER_DISABLE and NVFUSER_PROF switch on.
//
//   NVFUSER_DUMP=kernel_ir,lower_verbose(insert_syncs,index)
//
//   if (has_option(DumpOption::KernelIr)) { ... }
//   for (const std::string& pass : option_args(DumpOption::LowerVerbose)) { ... }
//
// The variables are read once, at first use (PYTORCH_NVFUSER_DUMP and its like where the new name
// is not set). An OptionsGuard changes them for one thread and one scope; parallel_for carries the
// changes of its caller into its tasks.
//
// Some options are known and have no effect, for scripts that set them: kIdleOptions in
// options.cpp.
#pragma once

#include <bitset>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace nvfuser {

#define NVF_FOR_EACH_DUMP_OPTION(X)                         \
  X(FusionIrOriginal, "fusion_ir_original")                 \
  X(FusionIrConcretized, "fusion_ir_concretized")           \
  X(FusionIrPreseg, "fusion_ir_preseg")                     \
  X(FusionIrPresched, "fusion_ir_presched")                 \
  X(FusionIr, "fusion_ir")                                  \
  X(FusionIrMath, "fusion_ir_math")                         \
  X(FusionIrGraph, "fusion_ir_graph")                       \
  X(KernelIr, "kernel_ir")                                  \
  X(LowerVerbose, "lower_verbose")                          \
  X(CudaKernel, "cuda_kernel")                              \
  X(CudaFull, "cuda_full")                                  \
  X(CudaToFile, "cuda_to_file")                             \
  X(Ptx, "ptx")                                             \
  X(Cubin, "cubin")                                         \
  X(Sass, "sass")                                           \
  X(SassToFile, "sass_to_file")                             \
  X(PtxasVerbose, "ptxas_verbose")                          \
  X(CutlassCompile, "cutlass_compile")                      \
  X(LaunchParam, "launch_param")                            \
  X(DynamicSharedMemory, "dynamic_shared_memory")           \
  X(Occupancy, "occupancy")                                 \
  X(IndexType, "index_type")                                \
  X(CompileParams, "compile_params")                        \
  X(FusionArgs, "fusion_args")                              \
  X(KernelArgs, "kernel_args")                              \
  X(SegmentedFusion, "segmented_fusion")                    \
  X(SegmenterLogging, "segmenter_logging")                  \
  X(DrawSegmentedFusion, "draw_segmented_fusion")           \
  X(SchedulerParams, "scheduler_params")                    \
  X(SchedulerVerbose, "scheduler_verbose")                  \
  X(PreSegmenterLogging, "pre_segmenter_logging")           \
  X(HostIr, "host_ir")                                      \
  X(HostIrLowering, "host_ir_lowering")                     \
  X(HostIrJit, "host_ir_jit")                               \
  X(PythonDefinition, "python_definition")                  \
  X(PythonDefinitionSegments, "python_definition_segments") \
  X(PythonFrontendDebug, "python_frontend_debug")           \
  X(CaMap, "ca_map")                                        \
  X(SyncMap, "sync_map")                                    \
  X(ParallelDimensions, "parallel_dimensions")              \
  X(PredicateElimination, "predicate_elimination")          \
  X(IndexingVerbose, "indexing_verbose")                    \
  X(Inlining, "inlining")                                   \
  X(TransformPropagator, "transform_propagator")            \
  X(ExprSimplify, "expr_simplify")                          \
  X(ExprSort, "expr_sort")                                  \
  X(ExprSortVerbose, "expr_sort_verbose")                   \
  X(BufferReuseVerbose, "buffer_reuse_verbose")             \
  X(GlobalZeroedMemory, "global_zeroed_memory")             \
  X(BankConflict, "bank_conflict")                          \
  X(Communication, "communication")                         \
  X(PerfDebugVerbose, "perf_debug_verbose")                 \
  X(Ftrace, "ftrace")

#define NVF_FOR_EACH_ENABLE_OPTION(X)                    \
  X(FuseMatmul, "fuse_matmul")                           \
  X(FuseMultipleMatmuls, "fuse_multiple_matmuls")        \
  X(CutlassScheduler, "cutlass_scheduler")               \
  X(TmaPointwise, "tma_pointwise")                       \
  X(TmaInnerPersistent, "tma_inner_persistent")          \
  X(TmaReduction, "tma_reduction")                       \
  X(WsNormalization, "ws_normalization")                 \
  X(MemoryPromotion, "memory_promotion")                 \
  X(ReuseZeroedMemory, "reuse_zeroed_memory")            \
  X(IoToLowerPrecision, "io_to_lower_precision")         \
  X(FastMath, "fast_math")                               \
  X(KernelDebug, "kernel_debug")                         \
  X(KernelLineinfo, "kernel_lineinfo")                   \
  X(KernelProfile, "kernel_profile")                     \
  X(KernelDb, "kernel_db")                               \
  X(WarnRegisterSpill, "warn_register_spill")            \
  X(StaticFusionCount, "static_fusion_count")            \
  X(IdModelExtraValidation, "id_model_extra_validation") \
  X(HostIrLowering, "host_ir_lowering")                  \
  X(HostIrJit, "host_ir_jit")                            \
  X(InsertReshardingAfter, "insert_resharding_after")    \
  X(P2pProtocol, "p2p_protocol")                         \
  X(P2pTransport, "p2p_transport")                       \
  X(MulticastProtocol, "multicast_protocol")             \
  X(WaitDebugger, "wait_debugger")                       \
  X(ParallelSerde, "parallel_serde")                     \
  X(LaunchGraphs, "launch_graphs")                       \
  X(DependentLaunch, "dependent_launch")

#define NVF_FOR_EACH_DISABLE_OPTION(X)                               \
  X(CompileToSass, "compile_to_sass")                                \
  X(ContigIndexing, "contig_indexing")                               \
  X(IndexHoist, "index_hoist")                                       \
  X(MagicZero, "magic_zero")                                         \
  X(ExprSimplify, "expr_simplify")                                   \
  X(PredicateElimination, "predicate_elimination")                   \
  X(WelfordVectorization, "welford_vectorization")                   \
  X(GroupedGridWelfordOuterOpt, "grouped_grid_welford_outer_opt")    \
  X(ReuseMismatchedTypeRegisters, "reuse_mismatched_type_registers") \
  X(VarNameRemapping, "var_name_remapping")                          \
  X(Fma, "fma")                                                      \
  X(ApproximateMath, "approximate_math")                             \
  X(Fallback, "fallback")                                            \
  X(GreedyScheduler, "greedy_scheduler")                             \
  X(ResizeScheduler, "resize_scheduler")                             \
  X(MatmulExprEval, "matmul_expr_eval")                              \
  X(KernelReuse, "kernel_reuse")                                     \
  X(NvrtcCaching, "nvrtc_caching")                                   \
  X(ParallelCompile, "parallel_compile")                             \
  X(Nvtx, "nvtx")                                                    \
  X(Multidevice, "multidevice")                                      \
  X(InferContiguity, "infer_contiguity")                             \
  X(PythonInlineDefinitions, "python_inline_definitions")            \
  X(LaunchGraphs, "launch_graphs")

#define NVF_FOR_EACH_PROF_OPTION(X)  \
  X(Enable, "enable")                \
  X(EnableNocupti, "enable.nocupti") \
  X(Print, "print")                  \
  X(PrintNocupti, "print.nocupti")   \
  X(PrintVerbose, "print.verbose")

#define NVF_ENUMERATOR(name, text) name,
enum class DumpOption { NVF_FOR_EACH_DUMP_OPTION(NVF_ENUMERATOR) };
enum class EnableOption { NVF_FOR_EACH_ENABLE_OPTION(NVF_ENUMERATOR) };
enum class DisableOption { NVF_FOR_EACH_DISABLE_OPTION(NVF_ENUMERATOR) };
enum class ProfOption { NVF_FOR_EACH_PROF_OPTION(NVF_ENUMERATOR) };
#undef NVF_ENUMERATOR

#define NVF_COUNT(name, text) +1
/// How many options each variable knows.
template <typename Option>
inline constexpr size_t kNumOptions = 0;
template <>
inline constexpr size_t kNumOptions<DumpOption> = NVF_FOR_EACH_DUMP_OPTION(NVF_COUNT);
template <>
inline constexpr size_t kNumOptions<EnableOption> = NVF_FOR_EACH_ENABLE_OPTION(NVF_COUNT);
template <>
inline constexpr size_t kNumOptions<DisableOption> = NVF_FOR_EACH_DISABLE_OPTION(NVF_COUNT);
template <>
inline constexpr size_t kNumOptions<ProfOption> = NVF_FOR_EACH_PROF_OPTION(NVF_COUNT);
#undef NVF_COUNT

/// Which options of one variable are on, and with which arguments.
template <typename Option>
class OptionSet {
 public:
  [[nodiscard]] bool has(Option option) const {
    return on_.test(static_cast<size_t>(option));
  }
  [[nodiscard]] bool any() const {
    return on_.any();
  }
  /// Empty for an option that is off or was given without arguments.
  [[nodiscard]] const std::vector<std::string>& args(Option option) const;
  void set(Option option, std::vector<std::string> args = {});
  void unset(Option option);
  bool operator==(const OptionSet&) const = default;

 private:
  std::bitset<kNumOptions<Option>> on_;
  std::map<Option, std::vector<std::string>> args_;
};

/// All options that hold at one moment.
using Options = std::tuple<
    OptionSet<DumpOption>,
    OptionSet<EnableOption>,
    OptionSet<DisableOption>,
    OptionSet<ProfOption>>;

/// The option's name in its environment variable.
template <typename Option>
[[nodiscard]] const char* option_name(Option option);

/// The option called `name`; empty if there is none.
template <typename Option>
[[nodiscard]] std::optional<Option> find_option(std::string_view name);

/// Tells the arguments that `lower_verbose` takes, which are names that a higher floor knows. Set
/// it before the first use of options; without it every argument is taken.
void set_lower_verbose_arguments(std::vector<std::string> (*names)());

/// The options that hold in this thread: those of the innermost OptionsGuard, else the
/// environment's.
[[nodiscard]] std::shared_ptr<const Options> current_options();

/// Does `option` hold in this thread? The name of its variable says what that means:
/// has_option(DisableOption::Fma) is true where FMA is disabled.
template <typename Option>
[[nodiscard]] bool has_option(Option option);

/// The arguments of `option`; empty if it is off or has none.
template <typename Option>
[[nodiscard]] std::vector<std::string> option_args(Option option);

/// Whether any option of NVFUSER_PROF holds: each of them turns profiling on.
[[nodiscard]] bool is_profiling_requested();

/// Changes the options of this thread until the end of its scope.
class OptionsGuard {
 public:
  OptionsGuard();
  /// Start from `options` instead of those that hold now: how a task takes over its caller's.
  explicit OptionsGuard(std::shared_ptr<const Options> options);
  ~OptionsGuard();
  OptionsGuard(const OptionsGuard&) = delete;
  OptionsGuard& operator=(const OptionsGuard&) = delete;

  template <typename Option>
  void set(Option option, std::vector<std::string> args = {});
  template <typename Option>
  void unset(Option option);

  /// Add options by name, each with arguments as in the environment; for `_enable_options` and
  /// `_disable_options`. Throws UserError "Unrecognized enable_option: <name>".
  void enable(const std::vector<std::string>& options);
  void disable(const std::vector<std::string>& options);

 private:
  std::shared_ptr<const Options> previous_; // null: the environment's
};

} // namespace nvfuser
