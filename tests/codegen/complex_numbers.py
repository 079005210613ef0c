"""Complex numbers where functions of them are hardest, and the results that rounding allows.

A sum of two products has up to three results: both products are rounded, or a compiler joins one
of them with the sum (contraction). They differ where a product overflows or underflows.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch

from nvfuser_direct import DataType, FusionDefinition

DTYPES = {torch.complex64: DataType.ComplexFloat, torch.complex128: DataType.ComplexDouble}
RTOL = {torch.complex64: 4e-6, torch.complex128: 1e-13}
WIDER = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}

Pair = tuple[np.ndarray, np.ndarray]  # real and imaginary parts


def parts(dtype: torch.dtype) -> list[float]:
    info = torch.finfo(dtype)
    return [-math.inf, -1.0, -0.0, 0.0, 1.0, math.inf, math.nan, info.tiny, info.max / 4]


def numbers(dtype: torch.dtype) -> torch.Tensor:
    """All pairs of the parts."""
    pairs = torch.tensor(list(itertools.product(parts(dtype), repeat=2)), dtype=torch.float64)
    real = torch.float32 if dtype == torch.complex64 else torch.float64
    return torch.complex(*pairs.to(real).T.contiguous())


def pairs_of_numbers(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    z = numbers(dtype)
    a, b = (x.flatten() for x in torch.meshgrid(z, z, indexing="ij"))
    return a, b


def as_parts(x: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(x) if x.is_complex() else x.unsqueeze(-1)


def split(z: torch.Tensor) -> Pair:
    real, imag = torch.view_as_real(z.cpu()).numpy().transpose(1, 0)
    return real.copy(), imag.copy()


def run(names: list[str], inputs: list[torch.Tensor], target: str) -> list[torch.Tensor]:
    with FusionDefinition() as fd:
        operands = [fd.define_tensor([-1], contiguity=True, dtype=DTYPES[z.dtype]) for z in inputs]
        for name in names:
            fd.add_output(getattr(fd.ops, name)(*operands))
    return fd.execute([z.to(target) for z in inputs])


def sums(*terms: np.ndarray | Pair) -> list[np.ndarray]:
    """All results of a sum of two terms; a pair stands for a product."""
    first = terms[0]
    own = first.dtype if isinstance(first, np.ndarray) else first[0].dtype
    wide = WIDER[own]

    def rounded(term: np.ndarray | Pair) -> np.ndarray:
        return term if isinstance(term, np.ndarray) else term[0] * term[1]

    def exact(term: np.ndarray | Pair) -> np.ndarray:
        if isinstance(term, np.ndarray):
            return term.astype(wide)
        return term[0].astype(wide) * term[1].astype(wide)

    a, b = terms
    results = [rounded(a) + rounded(b)]
    if not isinstance(a, np.ndarray):
        results.append((exact(a) + rounded(b).astype(wide)).astype(own))
    if not isinstance(b, np.ndarray):
        results.append((rounded(a).astype(wide) + exact(b)).astype(own))
    return results


def products(a: Pair, b: Pair) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """All real and all imaginary parts that a product may have."""
    return sums((a[0], b[0]), (-a[1], b[1])), sums((a[0], b[1]), (a[1], b[0]))


def quotients(a: Pair, b: Pair) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """All parts that a quotient may have by the formula of runtime/common/complex.h."""
    real: list[np.ndarray] = []
    imag: list[np.ndarray] = []
    is_first = np.abs(b[0]) >= np.abs(b[1])
    is_zero = is_first & (b[0] == 0) & (b[1] == 0)
    large, small = np.where(is_first, b[0], b[1]), np.where(is_first, b[1], b[0])
    ratio = small / large
    one = large.dtype.type(1)
    tops_real = [
        sums(a[0], (a[1], ratio)),
        sums((a[0], ratio), a[1]),
    ]
    tops_imag = [
        sums(a[1], (-a[0], ratio)),
        sums((a[1], ratio), -a[0]),
    ]
    for below in sums(large, (small, ratio)):
        scale = one / below
        for out, tops, part in ((real, tops_real, a[0]), (imag, tops_imag, a[1])):
            for first, second in zip(*tops, strict=True):
                top = np.where(is_first, first, second)
                out.append(np.where(is_zero, part / np.abs(b[0]), top * scale))
    return real, imag


def is_among(found: np.ndarray, results: list[np.ndarray], rtol: float) -> np.ndarray:
    """Where `found` is one of the results: the same infinity or zero with its sign, or NaN."""
    is_found = np.zeros(found.shape, dtype=bool)
    last = np.finfo(found.dtype).smallest_subnormal  # the numbers before are rounded to it, or to 0
    for result in results:
        is_close = np.abs(found - result) <= np.maximum(rtol * np.abs(result), last)
        is_equal = (found == result) | (np.isfinite(result) & is_close)
        both_nan = np.isnan(found) & np.isnan(result)
        is_found |= both_nan | (is_equal & (np.signbit(found) == np.signbit(result)))
    return is_found


def is_settled(results: list[np.ndarray], rtol: float) -> np.ndarray:
    """Where all of them are the same."""
    return np.logical_and.reduce([is_among(result, results[:1], rtol) for result in results])
