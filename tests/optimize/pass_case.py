"""The effect of one pass on a definition: the program before it and the one expected behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from nvfuser_direct import DataType, FusionDefinition, TensorView, equal_up_to_numbering, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import Fusion, Val

    Definition = Callable[[FusionDefinition], object]

SYMBOLIC = 3  # what sizes that are left open are in a run
SPECIAL = (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-40, 1e38, 0.5)
FLOATS = {
    DataType.Double: torch.float64,
    DataType.Float: torch.float32,
    DataType.Half: torch.float16,
    DataType.BFloat16: torch.bfloat16,
}
INTEGERS = {DataType.Int: torch.int64, DataType.Int32: torch.int32, DataType.Bool: torch.bool}


def defined(definition: Definition) -> Fusion:
    with FusionDefinition() as fd:
        definition(fd)
    return fd.fusion


def example(tensor: Val, rng: torch.Generator) -> Any:
    """A value for an input: special numbers first, then random ones."""
    if not isinstance(tensor, TensorView):
        return 2 if tensor.dtype() in INTEGERS else 0.75
    sizes = [size.value() if size.is_const() else SYMBOLIC for size in tensor.shape()]
    dtype = tensor.dtype()
    if dtype in INTEGERS:
        return torch.randint(0, 2, sizes, generator=rng).to(INTEGERS[dtype])
    values = torch.randn(sizes, generator=rng, dtype=torch.float64).flatten()
    special = torch.tensor(SPECIAL, dtype=torch.float64)[: max(0, values.numel() - 2)]
    values[: special.numel()] = special
    return values.reshape(sizes).to(FLOATS[dtype])


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Equal in value, sign of zeros and place of NaN."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if not a.is_floating_point():
        return bool(torch.equal(a, b))
    nan = a.isnan()
    signs = torch.equal(torch.signbit(a)[~nan], torch.signbit(b)[~nan])
    return bool(torch.equal(nan, b.isnan()) and torch.equal(a[~nan], b[~nan]) and signs)


def check_results(before: Fusion, after: Fusion, tolerance: float = 0.0, seed: int = 0) -> None:
    """Both compute the same: bit for bit, or up to a relative tolerance."""
    rng = torch.Generator().manual_seed(seed)
    inputs = [example(tensor, rng) for tensor in before.inputs()]

    def copies() -> list[Any]:  # inputs may be written in place
        return [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]

    def results(fusion: Fusion) -> list[Any]:
        torch.manual_seed(seed)  # random tensors without seed draw the same numbers
        return evaluate(fusion, copies())

    for x, y in zip(results(before), results(after), strict=True):
        if tolerance == 0.0:
            assert same_bits(x, y), f"{before.print_math()}{after.print_math()}{x}\n{y}"
        else:
            torch.testing.assert_close(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)


def check_pass(
    name: str, before: Definition, expected: Definition, *, tolerance: float = 0.0
) -> None:
    """The pass turns one definition into the other, once and for all, and both compute the same."""
    original = defined(before)
    fusion = original.optimize(passes=[name], verify=True)
    wanted = defined(expected)
    found = f"found:\n{fusion.print_math()}\nexpected:\n{wanted.print_math()}"
    assert equal_up_to_numbering(fusion, wanted), found
    text = fusion.print_math()
    fusion.run_pass(name)
    assert fusion.print_math() == text, "the pass changes what it has made"
    check_results(original, fusion, tolerance)


def after(name: str, definition: Definition) -> Fusion:
    """The definition behind the pass."""
    return defined(definition).optimize(passes=[name], verify=True)


def check_unchanged(name: str, definition: Definition) -> None:
    """The pass has nothing to do."""
    check_pass(name, definition, definition)


def names_of(values: Sequence[Val]) -> list[str]:
    """ "T3", without what follows from the axes."""
    return [str(value).partition("_")[0] for value in values]
