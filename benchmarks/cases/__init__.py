"""The cases of the suite.

Sizes are larger than the caches of the device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cases.case import BF16, FLOAT, SHORT, Case
from cases.image_norms import batchnorm, groupnorm
from cases.maps import bias_gelu, pointwise_fma, scale_bias_relu_nhwc, silu_mul
from cases.moves import cat_pad, rope, transpose, transpose_add
from cases.row_norms import (
    add_layernorm,
    dropout_add_layernorm,
    layernorm,
    layernorm_bwd,
    rmsnorm,
    rmsnorm_bwd,
)
from cases.softmax import cross_entropy, softmax, softmax_bwd
from cases.sums import matmul, matmul_bias_gelu, total

if TYPE_CHECKING:
    from nvfuser_direct import DataType

__all__ = ["Case", "cpu_cases", "cuda_cases"]


def cuda_cases() -> list[Case]:
    """Larger than the caches of a GPU."""
    return [
        pointwise_fma(1 << 28),
        bias_gelu("bias_gelu_bf16", 16384, 16384),
        silu_mul("silu_mul_bf16", 16384, 14336),
        scale_bias_relu_nhwc(128, 64, 112, 112),
        *[
            rmsnorm(f"rmsnorm_fwd_bf16_{rows}x{cols}", rows, cols)
            for rows, cols in ((32768, 4096), (8192, 16384), (2048, 65536))
        ],
        *[
            layernorm(f"layernorm_fwd_bf16_{rows}x{cols}", rows, cols)
            for rows, cols in ((32768, 4096), (32768, 768), (8192, 16384))
        ],
        layernorm_bwd(16384, 4096),
        rmsnorm_bwd(16384, 4096),
        *[
            softmax(f"softmax_fwd_bf16_{rows}x{cols}", rows, cols)
            for rows, cols in ((32768, 4096), (4096, 32768), (1024, 262144))
        ],
        softmax_bwd(16384, 4096),
        add_layernorm(16384, 4096),
        dropout_add_layernorm(16384, 4096),
        cross_entropy(8192, 128256),
        batchnorm("batchnorm_train_nchw_bf16", 256, 64, 112, 112, channels_last=False),
        batchnorm("batchnorm_train_nhwc_bf16", 256, 64, 112, 112, channels_last=True),
        groupnorm(64, 320, 64, 64, 32),
        transpose_add("transpose_add_bf16", 16384),
        transpose(16384),
        total("sum_inner_f32", (65536, 8192), [1]),
        total("sum_outer_f32", (65536, 8192), [0]),
        total("sum_all_f32", (1 << 29,), [0]),
        total("sum_outer_bf16_skinny", (1 << 20, 256), [0], BF16),
        rope("rope_bf16", 8, 32, 8192, 128),
        cat_pad("cat_slice_pad_bf16", 8192, 8192, 4096),
        matmul_bias_gelu(8192),
        matmul(8192),
    ]


def cpu_cases() -> list[Case]:
    """Each in Float and in BFloat16, larger than the caches of a processor."""
    return [case for dtype in (FLOAT, BF16) for case in cpu_cases_of(dtype)]


def cpu_cases_of(dtype: DataType) -> list[Case]:
    n, end = 4096, SHORT[dtype]
    return [
        pointwise_fma(1 << 24, dtype),
        bias_gelu(f"gelu_bias_{end}", n, n, dtype),
        silu_mul(f"silu_mul_{end}", n, n, dtype),
        rmsnorm(f"rmsnorm_{end}", n, n, dtype),
        layernorm(f"layernorm_{end}", n, n, dtype),
        softmax(f"softmax_{end}", n, n, dtype),
        total(f"sum_inner_{end}", (n, n), [1], dtype),
        total(f"sum_outer_{end}", (n, n), [0], dtype),
        transpose_add(f"transpose_add_{end}", n, dtype),
    ]
