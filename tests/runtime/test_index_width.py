"""csrc/runtime/code_choice.cpp: 32-bit indices where they hold all that a kernel computes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import (
    CompileParams,
    DataType,
    Fusion,
    FusionDefinition,
    KernelExecutor,
    ParallelType,
    UserError,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable

TX = ParallelType.block_x
TOO_NARROW = "Compilation with int32 is requested but int64 is required for the arguments"


def defined(define: Callable[[FusionDefinition], object]) -> Fusion:
    with FusionDefinition() as fd:
        define(fd)
        schedule.inline_most()
    return fd.fusion


def negate(fd: FusionDefinition) -> None:
    fd.add_output(fd.ops.neg(fd.define_tensor([-1, -1], contiguity=True)))


def index_type_for(
    define: Callable[[FusionDefinition], object], *args: object, **params: object
) -> str:
    executor = KernelExecutor()
    executor.compile(defined(define), args, compile_params=CompileParams(**params))
    source = executor.kernel_source()
    is_wide = re.search(r"nvfuser_index_t = (__INT64_TYPE__|long long);", source) is not None
    return "int64" if is_wide else "int32"


def narrowest_for(define: Callable[[FusionDefinition], object], arg: object) -> str:
    """A wide enough index runs; a narrower one is refused."""
    try:
        return index_type_for(define, arg, index_type=DataType.Int32)
    except UserError as error:
        assert TOO_NARROW in str(error)
        return "int64"


def huge(rows: int) -> torch.Tensor:
    """A tensor whose elements all lie in one place."""
    return torch.zeros(1).expand(rows, 2**16)


def any_strides(fd: FusionDefinition) -> None:
    fd.add_output(fd.ops.neg(fd.define_tensor([-1, -1], contiguity=False)))


def test_the_narrowest_index_type() -> None:
    assert narrowest_for(negate, torch.ones(2, 2)) == "int32"
    assert narrowest_for(any_strides, huge(2**15 - 1)) == "int32"
    assert narrowest_for(any_strides, huge(2**15)) == "int64"  # 2^31 elements in the output


def test_processors_index_with_64_bits(target: str) -> None:
    """A GPU with as few as are enough."""
    narrow = "int64" if target == "cpu" else "int32"
    assert index_type_for(negate, torch.ones(2, 2, device=target)) == narrow


def test_without_arguments_indices_are_wide() -> None:
    assert index_type_for(negate) == "int64"
    assert index_type_for(negate, index_type=DataType.Int32) == "int32"


def test_a_small_tensor_over_much_memory_needs_wide_indices() -> None:
    x = torch.empty(2**31 + 1, dtype=torch.bool).as_strided((2, 1), (2**31, 1))

    def negated(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1, -1], contiguity=False, dtype=DataType.Bool)
        fd.add_output(fd.ops.logical_not(t0))

    assert narrowest_for(negated, x) == "int64"
    assert narrowest_for(negated, x[:1]) == "int32"


def rows_loaded_ahead(
    stages: int, dtype: DataType = DataType.Float
) -> Callable[[FusionDefinition], None]:
    """Sums of rows, which are loaded `stages` - 1 rows ahead."""

    def define(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, -1], contiguity=False, dtype=dtype)
        t = fd.ops.sum(x, [1])
        fd.add_output(t)
        row = x.cache_after()
        for tensor in (row, t):
            tensor.axis(1).parallelize(TX)
        row.inline_at(1)
        if stages > 1:
            row.circular_buffer(stages)

    return define


def test_loads_ahead_of_the_end_count_for_the_index_type() -> None:
    """The last iterations compute positions in rows that are not there."""
    assert narrowest_for(rows_loaded_ahead(1), huge(2**15 - 1)) == "int32"
    for stages in (2, 4):
        last = 2**15 - stages  # with the rows ahead, 2^31 - 2^16 elements
        assert narrowest_for(rows_loaded_ahead(stages), huge(last)) == "int32"
        assert narrowest_for(rows_loaded_ahead(stages), huge(last + 1)) == "int64"


def test_loads_ahead_of_the_end_count_with_their_strides() -> None:
    """Eight rows far apart; one more would begin behind 2^31 elements."""
    x = torch.empty(2**31, dtype=torch.bool).as_strided((8, 1), (2**28, 1))
    assert narrowest_for(rows_loaded_ahead(1, DataType.Bool), x) == "int32"
    assert narrowest_for(rows_loaded_ahead(2, DataType.Bool), x) == "int64"
    assert narrowest_for(rows_loaded_ahead(2, DataType.Bool), x[:6]) == "int32"


def test_a_forced_index_type_that_is_too_small_fails_before_launch() -> None:
    params = CompileParams(index_type=DataType.Int32)
    with pytest.raises(UserError, match=TOO_NARROW):
        KernelExecutor().compile(defined(any_strides), [huge(2**15)], compile_params=params)
    executor = KernelExecutor()
    executor.compile(defined(any_strides), [huge(1)], compile_params=params)
    with pytest.raises(UserError, match=TOO_NARROW):
        executor.run([huge(2**15)])
