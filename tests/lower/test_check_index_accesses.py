"""check_index_accesses: scatters write into memory of their own, where every thread may write."""

from __future__ import annotations

from pass_text import check_refused, check_unchanged

from nvfuser_direct import DataType, FusionDefinition, MemoryType

NAME = "check_index_accesses"


def scattered(*, own: bool, memory: MemoryType = MemoryType.Global) -> FusionDefinition:
    """Rows of `source` into a tensor that the fusion computes, or into an input."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8], contiguity=True)
        index = fd.define_tensor([4], contiguity=True, dtype=DataType.Int)
        source = fd.define_tensor([4], contiguity=True)
        target = fd.ops.set(x) if own else x
        fd.add_output(fd.ops.scatter(target, index, source, 0))
        if own:
            target.set_memory_type(memory)
    return fd


def test_a_scatter_into_a_tensor_of_its_own_is_as_it_was() -> None:
    check_unchanged(scattered(own=True), NAME)


def test_a_scatter_into_an_input_is_refused() -> None:
    check_refused(scattered(own=False), NAME, "A scatter overwrites the memory of its operand")


def test_a_scatter_into_registers_is_refused() -> None:
    check_refused(
        scattered(own=True, memory=MemoryType.local), NAME, "A scatter needs global memory"
    )


def test_an_operand_that_something_else_reads_is_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8], contiguity=True)
        index = fd.define_tensor([4], contiguity=True, dtype=DataType.Int)
        source = fd.define_tensor([4], contiguity=True)
        target = fd.ops.set(x)
        target.set_memory_type(MemoryType.Global)
        fd.add_output(fd.ops.scatter(target, index, source, 0))
        fd.add_output(fd.ops.neg(target))
    check_refused(fd, NAME, "A scatter overwrites the memory of its operand")
