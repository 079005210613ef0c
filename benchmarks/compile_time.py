"""How lowering and printing grow: chains of pointwise operations, independent reductions, and what
`FusionDefinition.execute` makes of many operands, outputs and reshapes; how long the calls of a
schedule take, cutting a definition into segments, and the compilers of kernels.

The slope is the exponent between two sizes: 1 is linear, 2 quadratic. Last come the gradients of a
norm, scheduled by primitives, and each kernel of the suite's CUDA cases; --suite prints them alone.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import tempfile
import time
from typing import TYPE_CHECKING

import torch
from cases import cuda_cases
from cases.reserved import OnlyReserved
from hand_schedules import BackwardNorm
from suite import store_views

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    MemoryType,
    ParallelType,
    SchedulerType,
    _core,
    concretize,
    find_concretization,
    schedule,
    segment,
)

if TYPE_CHECKING:
    from cases import Case

    from nvfuser_direct import Fusion

CHAINS = (10, 100, 1000)
REDUCTIONS = (1, 10, 100)
MANY = (30, 100, 300)
OPERANDS = (100, 300, 500)  # of a definition that may have more than a kernel's parameters
CHOSEN = (30, 100, 250)
# Each automatic sum has several tensors in global memory: more do not fit in a kernel's parameters.
SOME = (10, 30, 100)
OPERATIONS_OF_LAYER = 16
LAYERS = (160, 480, 1600)
SIZE = 64  # of what is planned: rows and columns
OPERATIONS_OF_PLANNED_LAYER = 10
PRODUCTS = (10, 30, 100)
TRANSFORMERS = (10, 100)  # layers


def pointwise_chain(length: int) -> FusionDefinition:
    """`length` operations one after the other, inlined into one loop nest."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = x
        for i in range(length):
            y = fd.ops.add(y, float(i)) if i % 2 else fd.ops.relu(y)
        fd.add_output(y)
        y.merge(0, 1)
        y.split(0, 128)
        fd.sched.transform_like(y)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    return fd


def independent_reductions(number: int) -> FusionDefinition:
    """`number` row sums, each of a tensor of its own, by block."""
    with FusionDefinition() as fd:
        for _ in range(number):
            x = fd.define_tensor([-1, -1], contiguity=True)
            total = fd.ops.sum(fd.ops.mul(x, x), [1])
            fd.add_output(total)
            total.split(1, 128)
            partial = total.rfactor([1])
            fd.sched.transform_like(partial, partial.producers())
            for tensor in (*partial.producers(), partial):
                tensor.axis(0).parallelize(ParallelType.grid_x)
                tensor.axis(2).parallelize(ParallelType.block_x)
            total.axis(0).parallelize(ParallelType.grid_x)
            total.axis(1).parallelize(ParallelType.block_x)
        fd.sched.inline_most()
    return fd


def scheduled(fd: FusionDefinition) -> FusionDefinition:
    """With the schedule that `execute` uses."""
    _core.schedule.trivial(fd.fusion)
    return fd


def matrices(fd: FusionDefinition, number: int) -> list:
    return [fd.define_tensor([-1, -1], contiguity=True) for _ in range(number)]


def concatenated(number: int) -> FusionDefinition:
    """`number` matrices behind each other, each with a size of its own."""
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.cat(matrices(fd, number), 0))
    return fd


def concatenation(number: int) -> FusionDefinition:
    """The same, with the schedule of any fusion."""
    return scheduled(concatenated(number))


def planned_concatenation(number: int, target: str) -> FusionDefinition:
    """The same, with the schedule that `execute` chooses."""
    fd = concatenated(number)
    inputs = [torch.empty(SIZE, SIZE) for _ in range(number)]
    schedule.schedule(fd.fusion, SchedulerType.resize, inputs, target)
    return fd


def negated(number: int) -> FusionDefinition:
    """`number` matrices, each negated."""
    with FusionDefinition() as fd:
        for x in matrices(fd, number):
            fd.add_output(fd.ops.neg(x))
    return fd


def inputs_and_outputs(number: int) -> FusionDefinition:
    """The same, with the schedule of any fusion."""
    return scheduled(negated(number))


def sums_of_one_input(number: int) -> FusionDefinition:
    """`number` row sums of multiples of one matrix, each an output."""
    with FusionDefinition() as fd:
        (x,) = matrices(fd, 1)
        for i in range(number):
            fd.add_output(fd.ops.sum(fd.ops.mul(x, float(i)), [1]))
    return scheduled(fd)


def slices_of_one_input(number: int) -> FusionDefinition:
    """`number` parts of one matrix, each an output."""
    with FusionDefinition() as fd:
        (x,) = matrices(fd, 1)
        for i in range(number):
            fd.add_output(fd.ops.slice(x, [0, i], [8, i + 4]))
    return scheduled(fd)


def reshape_chain(length: int) -> FusionDefinition:
    """`length` reshapes, one after the other."""
    with FusionDefinition() as fd:
        y = fd.define_tensor([8, 8], contiguity=True)
        for i in range(length):
            y = fd.ops.reshape(y, [8, 8] if i % 2 else [4, 16])
        fd.add_output(y)
    return scheduled(fd)


def centered_chain(length: int) -> FusionDefinition:
    """`length` times the row sums subtracted."""
    with FusionDefinition() as fd:
        (y,) = matrices(fd, 1)
        for _ in range(length):
            y = fd.ops.sub(y, fd.ops.sum(y, [1], keepdim=True))
        fd.add_output(y)
    return scheduled(fd)


def layers(length: int) -> FusionDefinition:
    """`length` operations of layers: each a row norm, an activation that is written out, casts and
    views that change nothing."""
    with FusionDefinition() as fd:
        (x,) = matrices(fd, 1)
        for _ in range(length // OPERATIONS_OF_LAYER):
            wide = fd.ops.cast(fd.ops.cast(x, DataType.BFloat16), DataType.Float)
            squares = fd.ops.sum(fd.ops.pow(wide, 2.0), [1], keepdim=True)
            norm = fd.ops.div(wide, fd.ops.sqrt(fd.ops.add(squares, 1e-5)))
            gate = fd.ops.div(1.0, fd.ops.add(1.0, fd.ops.exp(fd.ops.neg(norm))))
            turned = fd.ops.permute(fd.ops.mul(norm, gate), [1, 0])
            x = fd.ops.mul(fd.ops.permute(turned, [1, 0]), 1.0)
        fd.add_output(x)
    return fd


def measure_passes(sizes: tuple[int, ...]) -> None:
    """A line for each size: all passes from fusion to fusion."""
    previous = None
    for size in sizes:
        fusion = layers(size).fusion
        time_ms = milliseconds(lambda fusion=fusion: fusion.optimize(verify=False), 3)
        slope = ""
        if previous is not None:
            slope = f"{math.log(time_ms / previous[1]) / math.log(size / previous[0]):5.2f}"
        print(f"{'passes over layers':24} {size:5} {time_ms:11.2f}{'':25}{slope}", flush=True)
        previous = (size, time_ms)


def linear_layers(number: int) -> FusionDefinition:
    """`number` products of matrices, each with an activation."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([SIZE, SIZE])
        weights = [fd.define_tensor([SIZE, SIZE]) for _ in range(number)]
        for weight in weights:
            x = fd.ops.relu(fd.ops.linear(x, weight))
        fd.add_output(x)
    return fd


def elementwise(length: int) -> FusionDefinition:
    """`length` operations one after the other, without a schedule."""
    with FusionDefinition() as fd:
        x = y = fd.define_tensor([SIZE, SIZE])
        for i in range(length):
            y = fd.ops.add(y, x) if i % 2 else fd.ops.sin(y)
        fd.add_output(y)
    return fd


def softmax_and_sums(length: int) -> FusionDefinition:
    """`length` operations: softmax of the rows, then columns without their sums."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([SIZE, SIZE])
        for _ in range(length // OPERATIONS_OF_PLANNED_LAYER):
            shifted = fd.ops.sub(x, fd.ops.max(x, [1], keepdim=True))
            powers = fd.ops.exp(shifted)
            rows = fd.ops.div(powers, fd.ops.sum(powers, [1], keepdim=True))
            x = fd.ops.sub(rows, fd.ops.sum(rows, [0], keepdim=True))
        fd.add_output(x)
    return fd


def measure_plans(name: str, make, sizes: tuple[int, ...]) -> None:
    """A line for each size: cutting a definition into segments."""
    previous = None
    for size in sizes:
        fusion = make(size).fusion
        inputs = [torch.empty(SIZE, SIZE) for _ in fusion.inputs()]
        time_ms = milliseconds(lambda fusion=fusion, inputs=inputs: segment(fusion, inputs), 3)
        slope = ""
        if previous is not None:
            slope = f"{math.log(time_ms / previous[1]) / math.log(size / previous[0]):5.2f}"
        print(f"{name:24} {size:5} {time_ms:11.2f}{'':25}{slope}", flush=True)
        previous = (size, time_ms)


class Transformer:
    """Layers of norms, rotary embeddings, gates and products of matrices: about 34 expressions
    each, of which equal segments share their kernels."""

    def __init__(self, num_layers: int) -> None:
        self.fd = FusionDefinition()
        with self.fd:
            x, self.cos, self.sin = (self._matrix() for _ in range(3))
            layers = [self._weights() for _ in range(num_layers)]
            for weights in layers:
                x = self._layer(x, *weights)
            self.fd.add_output(x)

    def _matrix(self):
        return self.fd.define_tensor([SIZE, SIZE], contiguity=True)

    def _weights(self):
        vectors = [self.fd.define_tensor([SIZE], contiguity=True) for _ in range(2)]
        return vectors + [self._matrix() for _ in range(3)]

    def _norm(self, x, weight):
        ops = self.fd.ops
        squares = ops.mul(ops.sum(ops.mul(x, x), [1]), 1.0 / SIZE)
        scale = ops.broadcast(ops.rsqrt(ops.add(squares, 1e-5)), [False, True])
        return ops.mul(ops.mul(x, scale), ops.broadcast(weight, [True, False]))

    def _rotated(self, x):
        ops = self.fd.ops
        first = ops.slice(x, [0, 0], [SIZE, SIZE // 2])
        second = ops.slice(x, [0, SIZE // 2], [SIZE, SIZE])
        turned = ops.cat([ops.neg(second), first], 1)
        return ops.add(ops.mul(x, self.cos), ops.mul(turned, self.sin))

    def _layer(self, x, first_norm, second_norm, query, gate, up):
        ops = self.fd.ops
        x = ops.add(x, self._rotated(ops.linear(self._norm(x, first_norm), query)))
        normed = self._norm(x, second_norm)
        gated = ops.mul(ops.silu(ops.linear(normed, gate)), ops.linear(normed, up))
        return ops.add(x, gated)


def measure_first_results(sizes: tuple[int, ...]) -> None:
    """A line for each size: from the definition to the first result, on the CPU; in this process,
    without the compilers it starts."""
    previous = None
    for size in sizes:
        start = time.process_time()
        fd = Transformer(size).fd
        fd.execute([torch.randn(t.rank() * [SIZE]) * 0.1 for t in fd.fusion.inputs()])
        time_ms = (time.process_time() - start) * 1e3
        slope = ""
        if previous is not None:
            slope = f"{math.log(time_ms / previous[1]) / math.log(size / previous[0]):5.2f}"
        kernels = f"{fd.fec.stats().compiled} kernels"
        print(
            f"{'first result of layers':24} {size:5} {time_ms:11.2f} {kernels:24}{slope}",
            flush=True,
        )
        previous = (size, time_ms)


def calls_again(length: int) -> FusionDefinition:
    """`length` operations, and a schedule that is propagated, bound and inlined eight times."""
    fd = pointwise_chain(length)
    with fd:
        (y,) = fd.fusion.outputs()
        for _ in range(8):
            fd.sched.transform_like(y)
            fd.sched.parallelize_like(y)
            fd.sched.inline_most()
    return fd


def bound_in_turn(length: int) -> FusionDefinition:
    """`length` operations, bound to threads in another way each: none can share a loop."""
    with FusionDefinition() as fd:
        (y,) = matrices(fd, 1)
        chain = [y := fd.ops.relu(y) for _ in range(length)]
        fd.add_output(y)
        for i, tensor in enumerate(chain):
            tensor.set_memory_type(MemoryType.Global)
            tensor.axis(0).parallelize(ParallelType.block_y if i % 2 else ParallelType.block_x)
        fd.sched.inline_most()
    return fd


def milliseconds(function, repeats: int) -> float:
    """Shortest time of one call, of this process: others do not disturb it."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append((time.process_time() - start) * 1e3)
    return min(times)


def compiler_seconds(fd: FusionDefinition, target: str) -> float:
    """Time of the compiler, without what others take of the machine; it needs no GPU."""
    if target == "cuda":
        source = fd.fusion.compile_cuda().source
        return milliseconds(lambda: _core.compile_cuda_source(source), 1) / 1e3
    inputs = [torch.empty(SIZE, SIZE) for _ in fd.fusion.inputs()]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NVFUSER_CACHE_DIR"] = folder  # nothing is known yet
        KernelExecutor().compile(fd.fusion, inputs)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure_compiler(name: str, make, sizes: tuple[int, ...], target: str) -> None:
    """A line for each size: NVRTC, or the C++ compiler."""
    previous = None
    for size in sizes:
        time_s = compiler_seconds(make(size), target)
        slope = ""
        if previous is not None:
            slope = f"{math.log(time_s / previous[1]) / math.log(size / previous[0]):5.2f}"
        print(f"{name:24} {size:5} {time_s * 1e3:11.2f}{'':25}{slope}", flush=True)
        previous = (size, time_s)


def measure(name: str, make, sizes: tuple[int, ...], target: str, is_lowered: bool = True) -> None:
    """A line for each size: definition and scheduling, lowering, lowering and printing."""
    previous = None
    for size in sizes:
        fd = make(size)
        times = [milliseconds(lambda size=size: make(size), 1 if is_lowered else 3)]
        if is_lowered:
            times.append(milliseconds(lambda fd=fd: fd.fusion.lower(target=target), 3))
            times.append(milliseconds(lambda fd=fd: fd.fusion.print_kernel(target=target), 3))
        slopes = []
        if previous is not None:
            growth = math.log(size / previous[0])
            slopes = [
                math.log(now / then) / growth for now, then in zip(times, previous[1], strict=True)
            ]
        texts = "".join(f"{time:11.2f}" for time in times)
        print(
            f"{name:24} {size:5} {texts:33}   " + "  ".join(f"{slope:5.2f}" for slope in slopes),
            flush=True,
        )
        previous = (size, times)


def measure_backward_norm() -> None:
    """The gradients of a norm: definition and schedule by primitives, lowering, and printing."""
    make = lambda: BackwardNorm(16384, 4096).fd  # noqa: E731
    fusion = make().fusion
    times = [
        milliseconds(make, 10),
        milliseconds(lambda: fusion.lower(target="cuda"), 10),
        milliseconds(lambda: fusion.print_kernel(target="cuda"), 10),
    ]
    print(f"{'backward norm, by hand':30}" + "".join(f"{time:11.2f}" for time in times), flush=True)


def kernels_of(case: Case) -> list[tuple[str, Fusion, int]]:
    """As `fd.execute` makes them for a GPU: the scheduler, its schedule, and its register cap."""
    with OnlyReserved():
        inputs = case.inputs("cpu")
    with FusionDefinition() as fd:
        case.define(fd)
    fusion = concretize(fd.fusion, find_concretization(fd.fusion, inputs)).optimize()
    store_views(fusion)
    made = []
    for group in segment(fusion, [inputs[i] for i in fusion.arguments()], "cuda").groups:
        if group.scheduler not in (SchedulerType.expr_eval, SchedulerType.no_op):
            scheduled = group.fusion.clone()
            schedule.schedule(scheduled, group.scheduler, group.params)
            made.append((group.scheduler.name, scheduled, group.params.cparams.maxrregcount))
    return made


def limit_ms(case: Case, scheduler: str) -> int:
    """NVRTC may take so long: for a map, for rows and reductions, for gradients and losses."""
    if "_bwd" in case.name or "cross_entropy" in case.name:
        return 250
    return 60 if scheduler in ("pointwise", "transpose", "resize") else 120


def measure_suite() -> None:
    """A line for each kernel of the suite's CUDA cases: lowering, then NVRTC, in this process, and
    where NVRTC takes longer than it should. An empty kernel tells how fast the machine is now. It
    needs no GPU."""
    empty = 'extern "C" __global__ void kernel() {}'
    empty_ms = milliseconds(lambda: _core.compile_cuda_source(empty), 5)
    print(f"\n{'':64}{'lower ms':>11}{'NVRTC ms':>11}\n{'empty kernel':75}{empty_ms:11.1f}")
    for case in cuda_cases():
        for name, fusion, registers in kernels_of(case):
            lower_ms = milliseconds(lambda fusion=fusion: fusion.lower(target="cuda"), 3)
            source = fusion.compile_cuda(DataType.Int32).source
            compile_ms = milliseconds(
                lambda source=source, cap=registers: _core.compile_cuda_source(
                    source, maxrregcount=cap
                ),
                3,
            )
            limit = limit_ms(case, name)
            over = f"  over {limit}" if compile_ms > limit else ""
            print(f"{case.name:40}{name:24}{lower_ms:11.2f}{compile_ms:11.1f}{over}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cuda")
    parser.add_argument("--suite", action="store_true", help="a norm and the suite alone")
    args = parser.parse_args()
    print(
        f"{'':24} {'size':>5} {'make ms':>11}{'lower ms':>11}{'+ print ms':>11}"
        "   slopes: make, lower, both"
    )
    if not args.suite:
        measure_growth(args.target)
    measure_backward_norm()
    if args.suite or args.target == "cuda":
        measure_suite()


def measure_growth(target: str) -> None:
    """Lines for what grows."""
    measure("pointwise chain", pointwise_chain, CHAINS, target)
    measure("independent reductions", independent_reductions, REDUCTIONS, target)
    measure("concatenation", concatenation, MANY, target)
    measure("inputs and outputs", inputs_and_outputs, MANY, target)
    measure("sums of one input", sums_of_one_input, SOME, target)
    measure("slices of one input", slices_of_one_input, MANY, target)
    measure("reshape chain", reshape_chain, MANY, target)
    measure("centered chain", centered_chain, SOME, target)
    measure_compiler("compiler: concatenation", concatenation, SOME, target)
    measure_compiler("compiler: in and outputs", inputs_and_outputs, SOME, target)
    measure_compiler(
        "compiler: planned cat",
        lambda number: planned_concatenation(number, target),
        CHOSEN,
        target,
    )
    measure("define a cat", concatenated, OPERANDS, target, is_lowered=False)
    measure("define in and outputs", negated, OPERANDS, target, is_lowered=False)
    measure_plans("plan of a cat", concatenated, OPERANDS)
    measure_plans("plan of in and outputs", negated, OPERANDS)
    measure_passes(LAYERS)
    measure_plans("plan of a chain", elementwise, CHAINS)
    measure_plans("plan of linear layers", linear_layers, PRODUCTS)
    measure_plans("plan of softmax and sums", softmax_and_sums, LAYERS)
    measure_first_results(TRANSFORMERS)
    measure("scheduling calls again", calls_again, CHAINS, target, is_lowered=False)
    measure("bound in turn", bound_in_turn, CHAINS, target, is_lowered=False)


if __name__ == "__main__":
    main()
