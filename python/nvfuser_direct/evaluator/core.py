"""The values of a fusion, computed expression by expression.

Handlers of expressions stand in the other modules of this package and register themselves with
`handles`.
"""

from __future__ import annotations

import functools
import importlib
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .. import random_state as generators
from .._core import DataType, TensorView, Val
from .._pytorch import require_pytorch
from .._torch_ops import Scalar, Value, converted
from ..pytorch_utils import as_torch, nvfuser_dtype_to_torch_dtype
from .errors import Naming
from .plan import EvaluationPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    import torch

FLOATS = {
    DataType.Double,
    DataType.Float,
    DataType.Half,
    DataType.BFloat16,
    DataType.Float8_e4m3fn,
    DataType.Float8_e5m2,
    DataType.Float8_e8m0fnu,
}

# Types with fewer digits than those that arithmetic is done in.
_ROUNDED = FLOATS - {DataType.Double, DataType.Float}
# Scales: every evaluation rounds them to powers of two.
_ROUNDED_ALWAYS = {DataType.Float8_e8m0fnu}
# Types that may have less range than the one that a reference is computed in.
_NARROW = _ROUNDED | {DataType.Float, DataType.ComplexFloat}

_HANDLERS: dict[type, Callable[[Evaluator, Any], None]] = {}
# Modules of handlers. They import torch, so they are imported when something is evaluated.
_HANDLER_MODULES = (
    "pointwise",
    "shape",
    "resize",
    "create",
    "reduce",
    "matmul",
    "attention",
    "quantize",
    "index",
    "search",
    "random",
)


class RandomNumbers(NamedTuple):
    """The random numbers of a run, or of a step of it."""

    seed: int
    offsets: Sequence[int]  # of each random tensor without seed of its own, by `stream_in_use`


def handles(node: type) -> Callable[[Any], Any]:
    """Decorator: this function computes the outputs of expressions of class `node`."""

    def register(function: Callable[[Evaluator, Any], None]) -> Callable[[Evaluator, Any], None]:
        _HANDLERS[node] = function
        return function

    return register


@functools.cache
def _load_handlers() -> None:
    for name in _HANDLER_MODULES:
        importlib.import_module(f"{__package__}.{name}")


def _modes_of_kernels(device_type: str) -> AbstractContextManager[object]:
    """The results of a fusion do not depend on the modes of its caller."""
    import torch

    kind = "cuda" if device_type == "cuda" else "cpu"  # not every device has autocast
    without_gradients: AbstractContextManager[object] = torch.no_grad()
    if not torch.is_autocast_enabled(kind):
        return without_gradients
    modes = ExitStack()
    modes.enter_context(without_gradients)
    modes.enter_context(torch.autocast(kind, enabled=False))
    return modes


def _number(val: Val, value: Any) -> Scalar:
    """The number passed for a scalar; scalars of NumPy and 0-dim tensors become Python numbers."""
    if getattr(value, "ndim", 0) > 0:
        raise _core.UserTypeError(
            f"Expected input {val} to be a scalar but got {value.ndim} dimensions"
        )
    return value.item() if hasattr(value, "item") else value


class Evaluator:
    """The values of one fusion for one set of inputs.

    Parameters
    ----------
    fusion : Fusion
        What to evaluate; scheduled or not.
    inputs : sequence
        Tensors and Python numbers, in the order of ``fusion.inputs()``.
    dtype_override : torch.dtype, optional
        Compute all real floating point in this type, and complex numbers in its complex
        counterpart; for references use ``torch.float64``. A value that is too large for its dtype
        is infinite.
    rounds_narrow : bool
        Whether values of 16 bits and fewer are rounded to what their dtype holds, also where they
        are computed in a wider one: a definition rounds on purpose. False: only those that are
        powers of two, or of four bits.
    device : torch.device, optional
        Where to compute without tensor inputs, which decide otherwise; the CPU if not given.
    random : RandomNumbers, optional
        What random tensors without seed draw from, of another evaluation or of a run; drawn if not
        given.
    plan : EvaluationPlan, optional
        That of `fusion`, which may serve many evaluations; made if not given.

    Tensors are kept until the last expression that reads them; outputs and scalars stay.
    """

    def __init__(
        self,
        fusion: _core.Fusion,
        inputs: Sequence[Value],
        dtype_override: torch.dtype | None = None,
        *,
        rounds_narrow: bool = True,
        device: torch.device | None = None,
        random: RandomNumbers | None = None,
        plan: EvaluationPlan | None = None,
    ) -> None:
        require_pytorch("Evaluating a fusion")
        import torch

        if not isinstance(fusion, _core.Fusion):
            raise _core.UserTypeError(f"Expected a Fusion, but got {type(fusion).__name__}")
        is_dtype = isinstance(dtype_override, torch.dtype)
        if dtype_override is not None and not (is_dtype and dtype_override.is_floating_point):
            raise _core.UserTypeError(
                f"dtype_override has to be a floating-point torch.dtype, but got {dtype_override!r}"
            )
        _load_handlers()
        self._plan = plan or EvaluationPlan(fusion)
        self.override = dtype_override
        self._rounded = _ROUNDED if rounds_narrow else _ROUNDED_ALWAYS
        self._values: dict[Val, Value] = {}
        self._given: dict[Val, torch.Tensor] = {}  # inputs that were not read so far
        # Arithmetic on scalars as the core has it, in the width and precision of their dtypes.
        self._scalars = _core.ExpressionEvaluator()
        self._unbound: list[Val] = []  # sizes that it does not know yet
        self._host_scalars: dict[Val, torch.Tensor] = {}  # as given; values are on `device`
        self._random = random
        tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
        # A tensor of no dimensions may be a host scalar beside others.
        leaders = [x for x in tensors if x.ndim > 0] or [x for x in tensors if x.is_cuda]
        self.device = leaders[0].device if leaders else device or torch.device("cpu")
        with _modes_of_kernels(self.device.type):
            self._bind_inputs(inputs)
            last_reads = self._plan.last_reads
            for i, expr in enumerate(self._plan.exprs):
                if expr.output(0) not in self._values:
                    self._run(expr)
                for tensor in last_reads.get(i, ()):
                    self._values.pop(tensor, None)

    # -- results --

    def __getitem__(self, val: Val) -> Value:
        """The value of a tensor or scalar."""
        return self._tensor(val) if isinstance(val, TensorView) else self.scalar(val)

    def _tensor(self, val: Val) -> torch.Tensor:
        if val in self._given:  # converted now: a wide copy of every input would take much memory
            given = self._given.pop(val)
            self._values[val] = given.to(self.torch_dtype(val.dtype()))
        if val not in self._values:
            raise _core.UserError(f"{val} is neither an input nor computed")
        tensor: torch.Tensor = self._values[val]
        return tensor

    def outputs(self) -> list[torch.Tensor]:
        """The value of every output, hidden ones included; fp4 in packed pairs."""
        from .float4 import pack_e2m1, paired_dim, to_e2m1_codes

        return [
            pack_e2m1(to_e2m1_codes(self._tensor(val)), paired_dim(val))
            if val.dtype() == DataType.Float4_e2m1fn
            else self._host_scalars.get(val, self._tensor(val))
            for val in self._plan.outputs
        ]

    def shape(self, tensor: TensorView) -> list[int]:
        """The sizes a user sees."""
        return [int(self.scalar(extent)) for extent in tensor.shape()]

    def scalar(self, val: Val) -> Scalar:
        """The value of a scalar, computed when first asked for."""
        if val in self._values:
            return self._values[val]
        if val.is_const():
            return val.value()
        definition = val.definition()
        if definition is None:
            raise _core.UserError(f"{val} has no value: no input or size of an input binds it")
        self._run(definition)
        return self._values[val]

    def random_numbers(self) -> RandomNumbers:
        """The source of random tensors without seed in this run, as kernels have it."""
        if self._random is None:
            draws = [x for x in self._plan.exprs if isinstance(x, _core.RNGOp) and x.seed is None]
            seed, offset = generators.draw(self.device, len(draws))
            self._random = RandomNumbers(seed, range(offset, offset + len(draws)))
        return self._random

    @property
    def drawn(self) -> RandomNumbers | None:
        """The result of `random_numbers`; None if no random tensor asked for it."""
        return self._random

    # -- inputs --

    def _bind_inputs(self, inputs: Sequence[Value]) -> None:
        vals = self._plan.inputs
        if len(vals) != len(inputs):
            raise _core.UserError(
                "KernelArgumentHolder contains less argument than kernel's input."
                if len(inputs) < len(vals)
                else f"Expected {len(vals)} inputs, got {len(inputs)}."
            )
        for val, sizes, value in zip(vals, self._plan.bound_sizes, inputs, strict=True):
            if isinstance(val, TensorView):
                self._bind_tensor(val, sizes, value)
            else:
                self._bind_scalar(val, _number(val, value))

    def _bind_scalar(self, val: Val, number: Scalar) -> None:
        """Let a scalar have a value, rounded to its dtype."""
        self._scalars.bind(val, number)
        self._values[val] = self._scalars.evaluate(val)

    def _bind_tensor(self, val: TensorView, sizes: list[Val | None], tensor: torch.Tensor) -> None:
        tensor = as_torch(tensor)
        if val.dtype() == DataType.Float4_e2m1fn:
            from .float4 import paired_dim, unpack_e2m1

            tensor = unpack_e2m1(tensor, paired_dim(val))
        if len(sizes) != tensor.ndim:
            raise _core.UserError(f"Expected {val} to have rank {len(sizes)}, got {tensor.ndim}.")
        for extent, size in zip(sizes, tensor.shape, strict=True):
            if extent is None:
                continue
            if self._values.setdefault(extent, size) != size:
                raise _core.UserError(
                    f"Tried to bind to a value: {extent} is {self._values[extent]}, "
                    f"but {val} has size {size} there"
                )
            self._unbound.append(extent)
        if tensor.device != self.device and tensor.ndim == 0:
            self._host_scalars[val] = tensor.to(self.torch_dtype(val.dtype()))
            tensor = tensor.to(self.device)
        self._given[val] = tensor

    # -- types --

    def torch_dtype(self, dtype: DataType) -> torch.dtype:
        """The type values of `dtype` are held in."""
        import torch

        if self.override is not None:
            if dtype in FLOATS:
                return self.override
            if dtype in (DataType.ComplexFloat, DataType.ComplexDouble):
                return self.override.to_complex()
        if dtype == DataType.Float4_e2m1fn:
            return torch.float32  # numbers that fp4 holds: see float4.py
        return nvfuser_dtype_to_torch_dtype(dtype)

    def store(self, val: Val, value: Value) -> None:
        """Let a tensor have `value`, converted to its dtype."""
        import torch

        if not isinstance(value, torch.Tensor):
            value = torch.tensor(value, device=self.device)
        if val.dtype() == DataType.Float4_e2m1fn:
            from .float4 import rounded_e2m1

            value = rounded_e2m1(value)
        value = converted(value, self.torch_dtype(val.dtype()))
        if val.dtype() in _NARROW and self.override is not None:
            value = self._narrowed(value, val.dtype())
        self._values[val] = value

    def _narrowed(self, value: torch.Tensor, dtype: DataType) -> torch.Tensor:
        """A value of the override's type, in the range of `dtype` and with its digits if few."""
        import torch

        narrow = converted(value, nvfuser_dtype_to_torch_dtype(dtype)).to(value.dtype)
        if dtype in self._rounded:
            return narrow
        return torch.where(torch.isinf(narrow), narrow, value)

    def store_exact(self, val: TensorView, value: torch.Tensor) -> None:
        """Let `val` have `value` as it is: numbers of few bits stay what they are."""
        self._values[val] = value

    # -- expressions --

    def operands(self, *vals: Val) -> list[Value]:
        """Values of the operands of an expression."""
        return [self[val] for val in vals]

    def _run(self, expr: _core.Expr) -> None:
        with Naming(expr):
            if not isinstance(expr.output(0), TensorView):
                self._compute_scalar(expr)
                return
            handler = _HANDLERS.get(type(expr))
            if handler is None:
                raise NotImplementedError(f"the evaluator does not know {type(expr).__name__}")
            handler(self, expr)

    def _compute_scalar(self, expr: _core.Expr) -> None:
        while self._unbound:
            size = self._unbound.pop()
            self._scalars.bind(size, self._values[size])
        out = expr.output(0)
        number = self._scalars.evaluate(out)
        if number is None:
            self.operands(*expr.inputs())  # raises for one that nothing binds
            raise NotImplementedError(f"the evaluator has no value for {out}")
        self._values[out] = number
