"""Calls and their arguments: signatures from the stubs, and arguments that nearly fit them."""

from __future__ import annotations

import ast
import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from pathlib import Path

EXTREMES = [-(2**63), 2**63, 2**64, -(2**31), 2**31, 2**40, -1, 0, 1, 10**30]
FLOATS = [float("nan"), float("inf"), -float("inf"), -0.0, 1e308, 5e-324, 2.5]
TEXTS = ["", "x", "\0", "threadIdx.x", "cuda:99", "sm_1", "%s%n"]

# Their effects reach beyond the process, or into the compilers of the machine.
LEFT_OUT = re.compile(
    r"KernelCache|compile_(cpu|cuda)_source|KernelExecutor\.(compile|run)|set_num_threads"
    r"|hide_source_directory|clear_loaded_kernels|doctor_report|profil|\.evaluate$"
)


@dataclass
class Parameter:
    annotation: ast.expr
    is_optional: bool
    keyword: str | None  # None: positional only


@dataclass
class Callee:
    name: str  # "ops.add", "TensorView.split"
    owner: str | None  # class of `self`
    parameters: list[Parameter]


# ---- What can be called --------------------------------------------------------------------------


def callees(folder: Path) -> list[Callee]:
    """Every overload in the stubs of the extension."""
    found = []
    for stub in ("__init__", "idm", "ops", "schedule"):
        prefix = "" if stub == "__init__" else f"{stub}."
        for node in ast.parse((folder / f"{stub}.pyi").read_text()).body:
            if isinstance(node, ast.FunctionDef):
                found.append(Callee(prefix + node.name, None, parameters(node)))
            elif isinstance(node, ast.ClassDef):
                members = [item for item in node.body if isinstance(item, ast.FunctionDef)]
                found += [member(prefix + node.name, method) for method in members]
    return [callee for callee in found if not LEFT_OUT.search(callee.name)]


def member(cls: str, method: ast.FunctionDef) -> Callee:
    decorators = [ast.unparse(decorator) for decorator in method.decorator_list]
    if method.name == "__init__":
        return Callee(cls, None, parameters(method)[1:])
    if "staticmethod" in decorators:
        return Callee(f"{cls}.{method.name}", None, parameters(method))
    return Callee(f"{cls}.{method.name}", cls.split(".")[-1], parameters(method)[1:])


def parameters(function: ast.FunctionDef) -> list[Parameter]:
    args = function.args
    positional = args.posonlyargs + args.args
    required = len(positional) - len(args.defaults)
    found = [
        Parameter(arg.annotation, i >= required, arg.arg if arg in args.args else None)
        for i, arg in enumerate(positional)
    ]
    return found + [Parameter(arg.annotation, True, arg.arg) for arg in args.kwonlyargs]


# ---- What it is called with ----------------------------------------------------------------------


class Pool:
    """Objects by class: of the active fusion, of others, and of one whose definition is gone."""

    def __init__(self, nvf: Any, order: random.Random) -> None:
        self.nvf = nvf
        self.order = order
        self.by_class: dict[str, list[Any]] = {}
        self.fd = self.definition()
        self.fusion = self.fd.fusion
        self.fusions = [self.fusion, self.scheduled(), self.definition().fusion, nvf.Fusion()]
        for fusion in self.fusions:
            self.add(fusion)
            for statement in [*fusion.vals(), *fusion.all_exprs()]:
                self.add(statement)
        model = nvf.idm.IdModel(self.fusion)
        graph = model.maybe_build_graph(nvf.IdMappingMode.exact)
        kernel = self.fusions[1].lower(target="cpu")
        others = [model, graph, graph.disjoint_val_sets(), kernel, *kernel.body]
        others += [nvf.LaunchParams(), nvf.CompileParams(), nvf.ExpressionEvaluator()]
        others += [nvf.KernelExecutor(), nvf.Pipelined(), nvf.IndexSimplifier(self.fusion)]
        for value in others:
            self.add(value)
        self.values = [value for values in self.by_class.values() for value in values]

    def definition(self) -> Any:
        D = self.nvf.DataType
        with self.nvf.FusionDefinition() as fd:
            t0 = fd.define_tensor([4, 8], contiguity=True)
            t1 = fd.define_tensor(
                [-1, -1], dtype=self.order.choice([D.Half, D.Int, D.ComplexFloat])
            )
            fd.define_tensor([], dtype=D.Double, is_cpu=True)
            i0 = fd.define_tensor([4], dtype=D.Int)
            fd.define_scalar(D.Int)
            mean = fd.ops.broadcast(fd.ops.mean(t0, [1]), [False, True])
            results = [fd.ops.sub(t0, mean), fd.ops.reshape(t0, [2, 2, 8]), fd.ops.cumsum(t0, 1)]
            results += [fd.ops.pad(t0, [1, 1]), fd.ops.index_select(t0, i0, 0), fd.ops.neg(t1)]
            for result in self.order.sample(results, 4):
                fd.add_output(result)
        return fd

    def scheduled(self) -> Any:
        with self.nvf.FusionDefinition() as fd:
            t0 = fd.define_tensor([4, 8], contiguity=True)
            t1 = fd.ops.exp(t0)
            t2 = fd.ops.sum(t1, [1])
            fd.add_output(t2)
        t2.split(1, 4)
        t2.rfactor([1])
        t0.cache_after().set_memory_type(self.nvf.MemoryType.shared)
        t2.axis(0).parallelize(self.nvf.ParallelType.block_x)
        return fd.fusion

    def add(self, value: Any) -> None:
        for cls in type(value).__mro__[:-1]:
            self.by_class.setdefault(cls.__name__, []).append(value)

    def arguments(self, callee: Callee) -> tuple[list[Any], dict[str, Any]]:
        """Arguments of the right kinds but for up to two; LookupError where there is none."""
        count = len(callee.parameters)
        hostile = set(self.order.sample(range(count), min(count, self.order.choice([0, 1, 1, 2]))))
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for i, parameter in enumerate(callee.parameters):
            if parameter.is_optional and i not in hostile and self.order.random() < 0.5:
                continue
            value = self.draw(parameter.annotation, i in hostile)
            if len(args) == i:
                args.append(value)
            elif parameter.keyword is not None:
                kwargs[parameter.keyword] = value
        return args, kwargs

    def draw(self, annotation: ast.expr, hostile: bool) -> Any:
        if hostile and self.order.random() < 0.25:
            return self.order.choice([None, "text", 1.5, [], [[]], object(), *self.values[:50]])
        if isinstance(annotation, ast.BinOp):  # one of a union
            return self.draw(self.order.choice([annotation.left, annotation.right]), hostile)
        if isinstance(annotation, ast.Subscript):
            return self.container(annotation, hostile)
        if isinstance(annotation, ast.Constant):
            return annotation.value
        return self.plain(ast.unparse(annotation).split(".")[-1], hostile)

    def container(self, annotation: ast.Subscript, hostile: bool) -> Any:
        kind = ast.unparse(annotation.value)
        items = annotation.slice
        length = self.order.choice([0, 1, 2, 2, 3, 17] if hostile else [1, 2, 2, 3])
        element = items.elts[0] if isinstance(items, ast.Tuple) else items
        values = [self.draw(element, hostile and self.order.random() < 0.4) for _ in range(length)]
        if kind == "Mapping":
            return {i: self.plain("int", hostile) for i in range(length)}
        if kind == "Callable":
            raise LookupError
        return tuple(values) if kind == "tuple" else set(values) if kind == "Set" else values

    def plain(self, name: str, hostile: bool) -> Any:
        simple: dict[str, list[Any]] = {
            "int": EXTREMES if hostile else [0, 1, 2, 4, -1],
            "float": FLOATS,
            "complex": [1j],
            "bool": [True, False],
            "str": TEXTS if hostile else ["cpu", "cuda"],
            "bytes": [b"", b"key"],
            "ScalarLike": [*EXTREMES, *FLOATS, 1j] if hostile else [1, 2, 0.5, *self.scalars()],
        }
        if name in simple:
            return self.order.choice(simple[name])
        if name == "object":
            return self.order.choice([[], [1.0, 2], None, 3])
        cls = getattr(self.nvf, name, None)
        if isinstance(cls, type) and issubclass(cls, enum.Enum):
            return self.order.choice(list(cls))
        candidates = self.by_class.get(name, [])
        if not hostile and self.order.random() < 0.9:  # of the active fusion
            candidates = [v for v in candidates if self.belongs(v)] or candidates
        return self.order.choice(candidates or [None])

    def belongs(self, value: Any) -> bool:
        return isinstance(value, self.nvf.Statement) and value.fusion() is self.fusion

    def scalars(self) -> list[Any]:
        return [v for v in self.by_class["Val"] if v.is_scalar() and self.belongs(v)]
