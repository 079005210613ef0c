// Normalizations over batches, with running statistics that are updated in place.
// Low-precision operands are computed in Float, and the results are Float: nothing casts back.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// Statistics over all calls: inputs of the fusion, [C]; nullptr: not kept. In training they become
/// (1 - momentum) * old + momentum * new, written into the inputs, with the unbiased variance.
struct RunningStatistics {
  TensorView* mean = nullptr;
  TensorView* var = nullptr;
  Val* momentum = nullptr; // required where mean is there
};

/// The dimensions of x, [N, C, ..] or with `channels_last` [N, .., C], by what a normalization of
/// channels does with them.
struct ChannelDims {
  std::vector<int64_t> reduced;       // by the statistics
  std::vector<bool> restores_channel; // flags of a broadcast of [C] to the rank of x
};
/// `keeps_batch`: statistics are of each instance. `op` names the operation in errors.
[[nodiscard]] ChannelDims channel_dims(
    const TensorView* x, bool channels_last, bool keeps_batch, const char* op);

struct BatchNorm {
  TensorView* output = nullptr;
  TensorView* mean = nullptr;   // statistics that were used: [C], for instances [N, C]; nullptr
  TensorView* invstd = nullptr; // where they are the running ones
};

/// (x - mean) / sqrt(var + eps) * weight + bias, with mean and variance of each channel over all
/// other dimensions of x, or the running ones unless `training`. x is [N, C, ..], with
/// `channels_last` [N, .., C]. weight and bias are [C]; either may be nullptr.
BatchNorm batch_norm(
    TensorView* x,
    TensorView* weight,
    TensorView* bias,
    const RunningStatistics& running,
    bool training,
    Val* eps,
    bool channels_last = false);

/// The same with statistics of each channel of each instance, over [..] only. Running statistics
/// are the mean over instances.
BatchNorm instance_norm(
    TensorView* x,
    TensorView* weight,
    TensorView* bias,
    const RunningStatistics& running,
    bool use_input_stats,
    Val* eps,
    bool channels_last = false);

} // namespace nvfuser::ops
