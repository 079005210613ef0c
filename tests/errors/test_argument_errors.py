"""Arguments of a wrong kind or without meaning, where no document fixes the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from documented import Documented, check, in_fusion, pointwise, scheduled

import nvfuser_direct as nvf
from nvfuser_direct import CompileParams, DataType, FusionDefinition, PairwiseDomainMap
from nvfuser_direct.pytorch_utils import as_torch, torch_dtype_to_nvfuser_dtype

if TYPE_CHECKING:
    from collections.abc import Callable


documented = Documented()

# ---- The core ------------------------------------------------------------------------------------


@documented("common_dtype: expected at least one operand, but got none")
def common_dtype_of_nothing() -> object:
    return nvf.common_dtype([])


@documented("found:    a tensor without definition")
def axes_of_an_input_and_another() -> object:
    return scheduled(lambda fd, t0, t1: PairwiseDomainMap(t1, t0))


@documented("found:    a result of UnaryOp, which does not read it")
def axes_of_a_tensor_and_itself() -> object:
    return scheduled(lambda fd, t0, t1: PairwiseDomainMap(t1, t1))


@documented("expected: a tensor that is computed from T1")
def indexed_axes_of_strangers() -> object:
    return scheduled(lambda fd, t0, t1: nvf.indexed_axes(t1, t0))


@documented("expected: a number of levels in [0, 1000]", ValueError)
def negative_indent() -> object:
    return scheduled(lambda fd, t0, t1: t1.to_string(-1))


@documented("found:    indent = 2147483647", ValueError)
def indent_beyond_memory() -> object:
    return scheduled(lambda fd, t0, t1: t1.definition().to_string(2**31 - 1))


@documented("No device is called 'tpu'", ValueError)
def device_that_is_none() -> object:
    return CompileParams(device="tpu")


@documented("the index of a CUDA device\n  found:    float", ValueError)
def device_of_a_wrong_type() -> object:
    return CompileParams(device=1.5)


@documented("Device index must be an int from 0 on, found: -1", ValueError)
def negative_device_index() -> object:
    return CompileParams(device=-1)


# ---- Running and evaluating ----------------------------------------------------------------------


@documented("Expected the index of a CUDA device, an int from 0 on, but got 'cpu'", ValueError)
def execute_on_a_device_by_name() -> object:
    fd, _, _ = pointwise()
    return nvf.FusionExecutorCache(fd.fusion).execute([torch.ones(2, 2)], device="cpu")


@documented("as torch.device takes it, or its index, but got 'tpu'", ValueError)
def execute_on_a_device_that_is_none() -> object:
    fd, _, _ = pointwise()
    return fd.execute([torch.ones(2, 2)], device="tpu")


@documented("Expected heuristic_params with an attribute lparams, but got int", TypeError)
def heuristic_params_that_are_none() -> object:
    fd, _, _ = pointwise()
    return fd.manual_execute([torch.ones(2, 2)], 5)


def dynamic() -> FusionDefinition:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1])
        i0 = fd.define_scalar(DataType.Int)
        fd.add_output(fd.ops.reshape(t0, [i0, -1]))
    return fd


@documented("Expected tensors, numbers and lists of these as inputs, but got", TypeError)
def sizes_in_lists_in_lists() -> object:
    return dynamic().execute([torch.ones(2, 2), [[2]]])


@documented("fix:      pass the data of the run; a value of the definition only says where it goes")
def tensor_of_a_definition_and_the_way_out() -> object:
    fd, t0, _ = pointwise()
    return fd.execute([t0])


@documented("fix:      pass a tensor or a number for every input, in the order of Fusion.inputs()")
def nothing_as_an_input() -> object:
    return pointwise()[0].execute([None])


@documented("fix:      inputs have no names: pass tensors and numbers in the order of Fusion.in")
def text_as_an_input() -> object:
    return pointwise()[0].execute(["x"])


@documented("fix:      pass torch.as_tensor(x), or float(x) or int(x) for a scalar input")
def object_as_an_input() -> object:
    return pointwise()[0].execute([object()])


@documented("Inputs are passed as a list", TypeError)
def tensor_for_the_list_of_inputs() -> object:
    return pointwise()[0].execute(torch.ones(4))


@documented("fix:      pass [x], also where there is one input", TypeError)
def tensor_for_the_list_of_inputs_of_a_schedule() -> object:
    return pointwise()[0].manual_execute(torch.ones(4))


@documented("found:    dict", TypeError)
def names_for_the_list_of_inputs() -> object:
    return pointwise()[0].execute({"x": torch.ones(4)})


@documented("found:    torch.Tensor", TypeError)
def tensor_for_the_list_of_inputs_of_an_executor() -> object:
    fd, _, _ = pointwise()
    return nvf.KernelExecutor().compile(fd.fusion, torch.ones(4))


@documented("found:    torch.Tensor", TypeError)
def tensor_for_the_list_of_inputs_of_an_evaluation() -> object:
    return nvf.evaluate(pointwise()[0].fusion, torch.ones(4))


@documented("Cannot convert provided py::handle to a PolymorphicValue.")
def tensor_of_a_definition_as_input() -> object:
    fd = dynamic()
    return fd.execute([fd.fusion.inputs()[0], 2])


@documented(
    "Expected a tensor of PyTorch, or of another framework (with __dlpack__), but", TypeError
)
def number_as_a_tensor() -> object:
    return as_torch(5)


@documented("with __dlpack__), but got int", TypeError)
def evaluate_a_number_for_a_tensor() -> object:
    fd, _, _ = pointwise()
    return nvf.evaluate(fd.fusion, [5])


@documented("to be a scalar but got 2 dimensions", TypeError)
def evaluate_a_tensor_for_a_scalar() -> object:
    return nvf.evaluate(dynamic().fusion, [torch.ones(2, 2), torch.ones(2, 2)])


@documented("dtype_override has to be a floating-point torch.dtype, but got torch.int32", TypeError)
def evaluate_in_integers() -> object:
    fd, _, _ = pointwise()
    return nvf.evaluate(fd.fusion, [torch.ones(2, 2)], torch.int32)


@documented("Expected a Fusion, but got FusionDefinition", TypeError)
def evaluate_a_definition() -> object:
    fd, _, _ = pointwise()
    return nvf.evaluate(fd, [torch.ones(2, 2)])


@documented("found:    KeyError: DataType.SMemAddress", NotImplementedError)
def evaluate_a_type_that_pytorch_lacks() -> object:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4])
        fd.add_output(fd.ops.bitcast(DataType.SMemAddress, t0))
    return nvf.evaluate(fd.fusion, [torch.ones(4)])


@documented("A tensor of this size cannot be addressed")
def output_with_more_elements_than_can_be_counted() -> object:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([1, 8])
        i0 = fd.define_scalar(DataType.Int)
        fd.add_output(fd.ops.expand(t0, [i0, 8]))
    return fd.execute([torch.ones(1, 8), 2**62])


@documented("found:    a record that does not decide this value")
def concretize_with_nothing_known() -> object:
    fd, _, _ = pointwise(4, 8)
    record = nvf.find_concretization(fd.fusion, [torch.ones(4, 8)])
    return nvf.concretize(dynamic().fusion, record)


@documented("The concretization is one of another fusion")
def concretize_as_a_tensor_of_another_rank() -> object:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1, -1, -1])
        i0 = fd.define_scalar(DataType.Int)
        fd.add_output(fd.ops.reshape(t0, [i0, -1]))
    record = nvf.find_concretization(fd.fusion, [torch.ones(2, 3, 5, 7), 6])
    return nvf.concretize(dynamic().fusion, record)


# ---- FusionDefinition ----------------------------------------------------------------------------


@documented("The definition is not open: use `with fd: ...`")
def exit_without_enter() -> object:
    return FusionDefinition().__exit__(None, None, None)


@documented("Expected a torch.Tensor, but got list", TypeError)
def from_a_list() -> object:
    return in_fusion(lambda fd: fd.from_pytorch([1.0]))


@documented("but got one that is torch.sparse_coo: pass a dense copy", ValueError)
def from_a_sparse_tensor() -> object:
    return in_fusion(lambda fd: fd.from_pytorch(torch.ones(2, 2).to_sparse()))


@documented.cases
def test_gist(gist: str, kind: type[Exception], provoke: Callable[[], object]) -> None:
    check(gist, kind, provoke)


def test_a_number_of_scalars_is_an_integer() -> None:
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        in_fusion(lambda fd: fd.define_vector("2"))


def test_a_dtype_without_counterpart_is_named() -> None:
    with pytest.raises(KeyError, match=r"torch.quint8 has no DataType; those with one are .*int64"):
        torch_dtype_to_nvfuser_dtype(torch.quint8)
    with pytest.raises(KeyError, match=r"<class 'str'> has no DataType"):
        torch_dtype_to_nvfuser_dtype(str)


def test_the_index_of_a_device_is_one_without_a_gpu_too() -> None:
    assert CompileParams(device=0).device == torch.device("cuda:0")
    assert CompileParams(device=3).device == torch.device("cuda:3")


def test_sizes_that_multiply_beyond_measure_are_simplified() -> None:
    with FusionDefinition() as fd:
        size = fd.define_scalar(DataType.Int)
        for _ in range(60):
            size = fd.ops.mul(size, size)
    simplifier = nvf.IndexSimplifier(fd.fusion)
    assert simplifier.prove_equal(simplifier.simplify(size), size)


def test_a_fusion_is_evaluated_without_data_too() -> None:
    fd, _, _ = pointwise()
    (result,) = nvf.evaluate(fd.fusion, [torch.ones(2, 3, device="meta")])
    assert (result.device.type, tuple(result.shape)) == ("meta", (2, 3))
