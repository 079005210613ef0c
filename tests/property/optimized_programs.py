"""Random programs before and after the passes from fusion to fusion.

    python tests/property/optimized_programs.py --count 3000 --seed 0 [--target cuda]

Programs have what passes look for beside all other operations: neutral operations, casts there and
back, views that undo each other, what is computed twice, what meets itself along two axes. Both
fusions are evaluated, and kernels of the optimized one are compared with that: those of
`FusionExecutorCache`, and those of every scheduler that takes it.
"""

from __future__ import annotations

import contextlib
import io
import math
import sys
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from program_builder import LARGEST, D, Value, need
from random_operations import KINDS, Operations
from random_programs import (
    Report,
    Slack,
    argument_parser,
    make_program,
    on_target,
    run_arguments,
    summary,
)

from nvfuser_direct import (
    FusionExecutorCache,
    KernelExecutor,
    OptimizedFusion,
    SchedulerType,
    UserError,
    UserNotImplementedError,
    concretize,
    find_concretization,
    has_dynamic_shapes,
    ops,
    schedule,
)
from nvfuser_direct.evaluator import Evaluator

if TYPE_CHECKING:
    from program_builder import Program


class Redundant(Operations):
    """Operations that some pass may find nothing in."""

    @property
    def kinds(self) -> dict[str, float]:
        return KINDS | REDUNDANT

    def neutral(self) -> None:
        x = self.number()
        whole = {
            "add": lambda t: ops.add(t, 0),
            "sub": lambda t: ops.sub(t, 0),
            "mul": lambda t: ops.mul(t, 1),
        }
        real = {
            "add": lambda t: ops.add(t, -0.0),
            "sub": lambda t: ops.sub(t, 0.0),
            "mul": lambda t: ops.mul(1.0, t),
            "div": lambda t: ops.div(t, 1.0),
            "pow": lambda t: ops.pow(t, 1.0),
        }
        both = {
            "neg": lambda t: ops.neg(ops.neg(t)),
            "set": ops.set,
            "abs": lambda t: ops.abs(ops.abs(t)),
            "where": lambda t: ops.where(True, t, ops.neg(t)),
        }
        table = both | (real if x.is_float else whole)
        name = self.one_of(sorted(table))
        if name == "pow":  # that of CUDA may round
            x = replace(x, is_whole=False)
        self.moved(x, table[name](x.tensor), list(x.shape))

    def there_and_back(self) -> None:
        x = self.number()
        wide = {D.Half: D.Float, D.BFloat16: D.Float, D.Float: D.Double, D.Int32: D.Int}
        need(x.dtype in wide)
        self.moved(x, ops.cast(ops.cast(x.tensor, wide[x.dtype]), x.dtype), list(x.shape))

    def views(self) -> None:
        x = self.with_rank()
        order = self.random.sample(range(x.rank), x.rank)
        inverse = [order.index(i) for i in range(x.rank)]
        at = self.random.randint(0, x.rank)
        table = [
            lambda t: ops.permute(ops.permute(t, order), inverse),
            lambda t: ops.squeeze(ops.unsqueeze(t, at), [at]),
            lambda t: ops.squeeze(ops.unsqueeze(ops.unsqueeze(t, at), 0), [0, at + 1]),
            lambda t: ops.expand(t, [-1] * x.rank),
        ]
        self.moved(x, self.one_of(table)(x.tensor), list(x.shape))

    def twice(self) -> None:
        """The same operations twice, on the same value."""
        x = self.number()
        chain = [self.one_of([ops.neg, ops.abs, ops.set]) for _ in range(self.random.randint(1, 3))]
        results = []
        for _ in range(2):
            tensor = x.tensor
            for operation in chain:
                tensor = operation(tensor)
            results.append(tensor)
        self.moved(x, ops.maximum(*results), list(x.shape))

    def square(self) -> None:
        x = self.real()
        exponent = self.one_of([2, 2.0])
        bound = x.bound**2
        self.add(ops.pow(x.tensor, exponent), list(x.shape), bound, 2 * x.bound * x.error,
                 x.is_whole)  # fmt: skip

    def outer(self) -> None:
        """A value that meets itself along two axes."""
        x = self.pick(lambda v: v.rank == 1 and v.is_number)
        n = x.shape[0]
        row, column = ops.unsqueeze(x.tensor, 0), ops.unsqueeze(x.tensor, 1)
        self.moved(Value(x.tensor, x.shape, x.bound, x.error, x.is_whole),
                   ops.maximum(row, column), [n, n])  # fmt: skip

    def symmetric(self) -> None:
        x = self.pick(lambda v: v.rank == 2 and v.shape[0] == v.shape[1] and v.is_number)
        self.moved(x, ops.minimum(x.tensor, ops.permute(x.tensor, [1, 0])), list(x.shape))

    def cut_and_joined(self) -> None:
        """A tensor in parts that are computed with alike, and concatenated."""
        x = self.with_rank()
        dim = self.dim_of(x)
        n = x.shape[dim]
        need(n > 1)
        cut = self.random.randint(1, n - 1)
        change = self.one_of([ops.neg, ops.set, ops.neg])
        need(x.is_number or change is ops.set)
        parts = []
        for first, last in ((0, cut), (cut, n)):
            starts = [first if i == dim else 0 for i in range(x.rank)]
            ends = [last if i == dim else size for i, size in enumerate(x.shape)]
            parts.append(change(ops.slice(x.tensor, starts, ends)))
        if self.chance(0.2):
            parts.reverse()
        self.moved(x, ops.cat(parts, dim), list(x.shape))

    def behind_itself(self) -> None:
        x = self.with_rank()
        dim, count = self.dim_of(x), self.random.randint(2, 3)
        shape = [n * count if i == dim else n for i, n in enumerate(x.shape)]
        need(math.prod(shape) <= LARGEST)
        self.moved(x, ops.cat([x.tensor] * count, dim), shape)

    def after_repeating(self) -> None:
        """An operation on what a view repeats."""
        x = self.pick(lambda v: v.is_number and v.rank > 0)
        count = self.random.randint(2, 3)
        if self.chance(0.5):
            shape = [count, *x.shape]
            repeated = ops.expand(ops.unsqueeze(x.tensor, 0), [count] + [-1] * x.rank)
        else:
            shape = [count * x.shape[0], *x.shape[1:]]
            repeated = ops.repeat(x.tensor, [count] + [1] * (x.rank - 1))
        need(math.prod(shape) <= LARGEST)
        self.moved(x, self.one_of([ops.neg, ops.abs])(repeated), shape)

    def thin_product(self) -> None:
        """An outer product, as a product of matrices."""
        x = self.pick(lambda v: v.rank == 1 and v.dtype in (D.Float, D.Double))
        n = x.shape[0]
        need(n > 0 and x.is_finite)
        column, row = ops.unsqueeze(x.tensor, 1), ops.unsqueeze(x.tensor, 0)
        self.add(ops.matmul(column, row), [n, n], x.bound**2, 2 * x.bound * x.error, x.is_whole)


REDUNDANT = {
    "neutral": 4.0, "there_and_back": 2.0, "views": 3.0, "twice": 2.0, "square": 1.0,
    "outer": 1.0, "symmetric": 1.5, "cut_and_joined": 1.0, "behind_itself": 0.7,
    "after_repeating": 1.0, "thin_product": 0.5,
}  # fmt: skip


def optimized(program: Program, given: list[Any]) -> OptimizedFusion:
    """Mistakes are looked for after every pass."""
    fusion = program.fd.fusion
    if has_dynamic_shapes(fusion):
        fusion = concretize(fusion, find_concretization(fusion, given))
    return fusion.optimize(verify=True)


WITHOUT_KERNEL = (SchedulerType.no_op, SchedulerType.expr_eval)


def run_scheduled(
    fusion: OptimizedFusion, scheduler: SchedulerType, args: list[Any]
) -> list[torch.Tensor]:
    """The results of the kernel that a scheduler makes of the fusion."""
    scheduled = fusion.clone()
    params = schedule.schedule(scheduled, scheduler, args)
    executor = KernelExecutor()
    executor.compile(scheduled, args)
    return executor.run(args, params.lparams, params.cparams)


def check_optimized(program: Program, target: str) -> str:
    """Compare, and say what ran the optimized fusion."""
    given = on_target(program, target)
    references = Evaluator(program.fd.fusion, given).outputs()
    fusion = optimized(program, on_target(program, target))

    def arguments() -> list[Any]:
        copies = on_target(program, target)
        return [copies[i] for i in fusion.arguments()]

    def compare(results: list[torch.Tensor], what: str) -> None:
        for value, result, reference in zip(program.outputs, results, references, strict=True):
            Slack.of(value).assert_close(result, reference, f"{what} {value.tensor}")

    compare(Evaluator(fusion, arguments()).outputs(), "evaluated")
    has_tensor = any(isinstance(x, torch.Tensor) for x in given)
    args = arguments()
    cache = FusionExecutorCache(fusion)
    try:
        results = cache.execute(args, device=0 if target == "cuda" and not has_tensor else None)
    except UserError:
        if program.written:  # an input that is read where it is already overwritten
            return "refused"
        raise
    if len(results) < len(program.outputs):  # what is written in place is not returned
        results = [args[program.written[0][0]], *results]
    compare(results, "run")
    for scheduler in schedule.find_compatible_schedulers(fusion, arguments()):
        if scheduler in WITHOUT_KERNEL or program.written:
            continue
        with contextlib.suppress(UserNotImplementedError):  # an output in host memory
            compare(run_scheduled(fusion, scheduler, arguments()), scheduler.name)
    return "kernel" if cache.get_most_recent_scheduled_ir() else "evaluator"


def report_of(seed: int, target: str) -> Report:
    """Make, optimize and compare the program of a seed."""
    program: Program | None = None
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = make_program(seed, Redundant)
            result = check_optimized(program, target)
        return Report(seed, result, "", len(program.names), tuple(program.names))
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        if program is not None:
            text += f"\n{program.fd!r}"
        return Report(seed, "failed", text)


def main() -> int:
    reports = run_arguments(argument_parser(__doc__).parse_args(), report_of)
    print(summary(reports))
    return int(any(report.result == "failed" for report in reports))


if __name__ == "__main__":
    sys.exit(main())
