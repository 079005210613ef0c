// Scaled dot product attention, forward and backward. Evaluated through PyTorch.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

struct SdpaFwdResult {
  TensorView* output = nullptr;        // [N.., H, L, Ev]
  TensorView* logsumexp = nullptr;     // [N.., H, L], Float
  TensorView* philox_seed = nullptr;   // [2], UInt64
  TensorView* philox_offset = nullptr; // UInt64
};

/// softmax(query key^T * scale + bias) value. query [N.., H, L, E], key [N.., H, S, E],
/// value [N.., H, S, Ev]. nullptr: bias, mask: none; dropout_p: 0; is_causal: false; scale:
/// 1 / sqrt(E).
SdpaFwdResult sdpfa_fwd(
    TensorView* query,
    TensorView* key,
    TensorView* value,
    TensorView* bias,
    TensorView* mask,
    Val* dropout_p,
    Val* is_causal,
    Val* scale);

struct SdpaBwdResult {
  TensorView* grad_query = nullptr;
  TensorView* grad_key = nullptr;
  TensorView* grad_value = nullptr;
};

/// Everything a backward pass reads: the forward pass's operands and results.
struct SdpaBwdOperands {
  TensorView* grad_output = nullptr;
  TensorView* query = nullptr;
  TensorView* key = nullptr;
  TensorView* value = nullptr;
  TensorView* output = nullptr;
  TensorView* logsumexp = nullptr;
  Val* dropout_p = nullptr; // nullptr: 0
  Val* is_causal = nullptr; // nullptr: false
  TensorView* philox_seed = nullptr;
  TensorView* philox_offset = nullptr;
  Val* scale = nullptr; // nullptr: 1 / sqrt(E)
};

SdpaBwdResult sdpfa_bwd(const SdpaBwdOperands& operands);

} // namespace nvfuser::ops
