"""place_factors: where threads are loops, those that multiply find factors in shared memory."""

from __future__ import annotations

from pass_text import check_unchanged
from tensor_core_product import product

from nvfuser_direct import MemoryType, lowering_passes

NAME = "place_factors"


def memory_of_factors(target: str) -> list[list[MemoryType]]:
    """The memory types of both factors, before the pass and after it."""
    names = [name for name, _ in lowering_passes()]
    before = names[names.index(NAME) - 1]
    found = []
    for until in (before, NAME):
        kernel = product()[0].fusion.lower(target=target, until=until)
        found.append(
            [tensor.memory_type() for tensor in kernel.tensors() if tensor.name() in (2, 3)]
        )
    return found


def test_factors_stay_in_the_registers_of_a_warp() -> None:
    check_unchanged(product()[0], NAME)
    assert memory_of_factors("cuda") == [[MemoryType.local] * 2] * 2


def test_an_allocation_domain_of_registers_is_none_of_shared_memory() -> None:
    """It would have no place for the holes of a tile."""
    texts = []
    for has_domain in (False, True):
        fd, factor, *_ = product()
        if has_domain:
            with fd:
                factor.set_allocation_domain(factor.get_logical_domain()[::-1], True)
        texts.append(fd.fusion.print_kernel(target="cpu", comments=False))
    assert texts[0] == texts[1]


def test_without_warps_factors_lie_in_shared_memory() -> None:
    assert memory_of_factors("cpu") == [[MemoryType.local] * 2, [MemoryType.shared] * 2]
