"""Inputs, constants, vectors and outputs: the statements of a definition that are no operations."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, overload

import nvfuser_direct as direct
from nvfuser_direct import DataType, Fusion, FusionGuard, UserTypeError
from nvfuser_direct.opaque import opaque
from nvfuser_direct.pytorch_utils import describe_tensor

from .errors import user_error
from .handles import Scalar, Tensor, Vector
from .ir_tensors import contiguity_of, sizes_of, stride_order_of
from .pytorch_utils import python_scalar_to_nvfuser_dtype
from .record import advance, check_shape, constant_key, record_vector
from .statements import KINDS, declare, key_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

declare(
    "define_tensor(shape: ints, contiguity: any, dtype: dtype, is_cpu: flag, stride_order: ints)",
    lambda shape, *_: ((Tensor, len(shape)),),
    function="define_tensor",
)
declare(
    "define_scalar(value: any, dtype: dtype)",
    lambda value, dtype: ((Scalar, None),),
    function="define_scalar",
)
declare(
    "define_vector(values: any, dtype: dtype)",
    lambda values, dtype: ((Vector, len(values)),),
    function="define_vector",
)
declare(
    "add_output(output: A, alias_input: T?~ = None, stride_order: ints~ = [])",
    lambda *_: (),
    function="add_output",
)

_has_warned_of_constants = False


@opaque
class DefineMethods:
    """The methods of `FusionDefinition` for its inputs, constants and outputs."""

    @overload
    def define_tensor(
        self,
        shape: Sequence[int],
        contiguity: Sequence[bool | None],
        dtype: DataType = ...,
        is_cpu: bool = False,
        stride_order: Sequence[int] = ...,
    ) -> Tensor: ...
    @overload
    def define_tensor(
        self,
        shape: Sequence[int],
        contiguity: bool = False,
        dtype: DataType = ...,
        is_cpu: bool = False,
        stride_order: Sequence[int] = ...,
    ) -> Tensor: ...
    @overload
    def define_tensor(
        self,
        sizes: Sequence[int],
        strides: Sequence[int],
        dtype: DataType = ...,
        static_sizes: bool = False,
        is_cpu: bool = False,
    ) -> Tensor: ...
    @overload
    def define_tensor(self, ndims: int, dtype: DataType = ..., is_cpu: bool = False) -> Tensor: ...
    @overload
    def define_tensor(
        self,
        symbolic_sizes: Sequence[int],
        contiguous: Sequence[bool | None],
        dtype: DataType = ...,
        is_cpu: bool = False,
    ) -> Tensor: ...
    @overload
    def define_tensor(
        self,
        symbolic_sizes: Sequence[int],
        contiguity: Sequence[bool | None],
        dtype: DataType = ...,
        is_cpu: bool = False,
    ) -> Tensor: ...
    def define_tensor(self: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Define a tensor that is an input.

        Parameters
        ----------
        shape : list[int]
            Size per dimension: -1 symbolic, 1 broadcast, 0 or n > 1 constant.
        contiguity : bool, or list[bool or None]
            Per dimension in the order of memory: whether it is packed against the next inner one;
            None for a broadcast.
        dtype : DataType
            Type of the elements; Float if not given.
        is_cpu : bool
            A 0-dim tensor on the host, passed by value.
        stride_order : list[int]
            Rank of every dimension's stride, 0 varies fastest.
        sizes, strides : list[int]
            Those of a tensor that exists, instead of a shape; they decide contiguity and order.
        static_sizes : bool
            Keep `sizes` as constants.
        ndims, symbolic_sizes, contiguous : int, list[int], list[bool]
            Forms of older programs.
        """
        kind = KINDS["define_tensor"]
        self._check_open(kind)
        key = tensor_key(args, kwargs)
        node = self._node.children.get(key)
        if node is None or node.depth > self._quick_depth:
            node = advance(self, kind, key, key[1:])
        else:
            self._node = node
        return Tensor(self, node.index, node.extra)

    def from_pytorch(self: Any, tensor: torch.Tensor, static_sizes: bool = False) -> Tensor:
        """Define an input like a tensor that exists.

        Parameters
        ----------
        tensor : torch.Tensor
            A CUDA or CPU tensor; a 0-dim CPU tensor becomes a scalar passed by value.
        static_sizes : bool
            Keep the sizes as constants.

        Raises
        ------
        ValueError
            For a tensor on another device.
        """
        return self.define_tensor(**describe_tensor(tensor), static_sizes=static_sizes)

    @overload
    def define_scalar(self, dtype: DataType = ...) -> Scalar: ...
    @overload
    def define_scalar(self, value: complex | None, dtype: DataType | None = None) -> Scalar: ...
    def define_scalar(self: Any, *args: Any, **kwargs: Any) -> Scalar:
        """Define a scalar: an input, or a constant if it is given a value.

        Parameters
        ----------
        value : bool, int, float, complex or None
            The constant; it is converted to `dtype`. None makes an input.
        dtype : DataType, optional
            Type of the scalar: for a constant that of its Python class, else Double.
        """
        kind = KINDS["define_scalar"]
        self._check_open(kind)
        value, dtype = _scalar_arguments(*args, **kwargs)
        if value is None:
            key: tuple[Any, ...] = ("define_scalar", None, dtype._name_)
        else:
            key = constant_key(value, dtype)
        node = self._node.children.get(key)
        if node is None or node.depth > self._quick_depth:
            node = advance(self, kind, key, (value, dtype))
        else:
            self._node = node
        self._spelled_out.add(node.index)
        return Scalar(self, node.index)

    def define_constant(
        self: Any, value: Any = None, dtype: DataType | None = None, *, val: Any = None
    ) -> Scalar:
        """`define_scalar` by its older name.

        Parameters
        ----------
        value : bool, int, float or complex
            The constant. Its older name is `val`.
        dtype : DataType, optional
            As in `define_scalar`.
        """
        global _has_warned_of_constants
        if not _has_warned_of_constants:
            _has_warned_of_constants = True
            warnings.warn(
                "define_constant is deprecated: use define_scalar.",
                DeprecationWarning,
                stacklevel=2,
            )
        return self.define_scalar(value if val is None else val, dtype)

    @overload
    def define_vector(self, size: int) -> Vector: ...
    @overload
    def define_vector(
        self, values: Sequence[int | Scalar], dtype: DataType = DataType.Int
    ) -> Vector: ...
    def define_vector(self, *args: Any, **kwargs: Any) -> Vector:
        """Define scalars in a row, of type Int.

        Parameters
        ----------
        size : int
            How many scalar inputs to make.
        values : list or tuple of int and Scalar
            The scalars, instead of a size.
        dtype : DataType
            Int: there are no others.
        """
        fd: Any = self
        fd._check_open(KINDS["define_vector"])
        values = _vector_argument(*args, **kwargs)
        if not isinstance(values, list | tuple):
            values = [self.define_scalar(None, DataType.Int) for _ in range(values)]
        check_shape(values)
        vector = record_vector(fd, values)
        fd._spelled_out.add(vector.index)
        return vector

    @overload
    def add_output(self, output: Tensor, alias_input: Tensor | None = None) -> None: ...
    @overload
    def add_output(self, output: Tensor, stride_order: Sequence[int]) -> None: ...
    @overload
    def add_output(self, output: Scalar) -> None: ...
    def add_output(  # type: ignore[misc]
        self: Any, output: Any, alias_input: Any = None, stride_order: Any = ()
    ) -> None:
        """Return a tensor, or write it into the memory of an input.

        Parameters
        ----------
        output : Tensor or Scalar
            The result. A fusion with a scalar among its outputs can be defined, not run.
        alias_input : Tensor, optional
            The input that is overwritten; the result is not returned then.
        stride_order : list[int]
            Rank of every dimension's stride in the result, 0 varies fastest.
        """
        kind = KINDS["add_output"]
        self._check_open(kind)
        if isinstance(alias_input, list | tuple):  # the second form, by position
            alias_input, stride_order = None, alias_input
        values = [output, alias_input, stride_order]
        parts = key_parts(self, kind, values)
        if parts[2]:
            _check_stride_order(output, parts[2])
        advance(self, kind, ("add_output", *parts), values)


def _check_stride_order(output: Any, order: tuple[int, ...]) -> None:
    if isinstance(output, Tensor) and len(order) != output.ndim:
        raise user_error(
            "stride_order needs to be either empty or the same length of Tensor",
            expected=f"{output.ndim} numbers",
            found=f"{list(order)}",
        )
    if any(not 0 <= rank < len(order) for rank in order):
        raise user_error(
            "stride_order elements need to be within [0, stride_order.size())",
            found=f"{list(order)}",
        )
    if len(set(order)) != len(order):
        raise user_error("duplicated elements in stride_order detected!", found=f"{list(order)}")


def _scalar_arguments(value: Any = DataType.Double, dtype: Any = None) -> tuple[Any, DataType]:
    if isinstance(value, DataType):  # define_scalar(DataType.Int)
        return None, dtype or value
    if value is None:
        return None, dtype or DataType.Double
    if dtype is None and type(value) in (bool, int, float, complex):
        number: DataType = python_scalar_to_nvfuser_dtype(value)
        if number is not DataType.Int or -(2**63) <= value < 2**63:
            return value, number
    with_guard = FusionGuard(Fusion())
    constant = direct.define_scalar(value, dtype)
    del with_guard
    return constant.value(), constant.dtype()


def _vector_argument(size: Any = None, dtype: Any = None, *, values: Any = None) -> Any:
    given = values if size is None else size
    if dtype not in (None, DataType.Int):
        raise user_error("Only vectors of dtype Int exist.", found=str(dtype), kind=UserTypeError)
    if isinstance(given, list | tuple):
        return given
    if isinstance(given, bool) or not hasattr(given, "__index__") or given < 0:
        raise user_error(
            "define_vector takes a size of at least 0, or a list or tuple of int and Scalar",
            found=repr(given),
            kind=UserTypeError,
        )
    return int(given)


# -- the key of define_tensor --

_OLDER_NAMES = {"symbolic_contiguities": "contiguous"}

# Keys by arguments as they were given. Checking arguments takes microseconds, and programs repeat
# them.
_tensor_keys: dict[Any, tuple[Any, ...]] = {}
_MAX_TENSOR_KEYS = 4096


def tensor_key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The key of define_tensor(*args, **kwargs), whatever its form."""
    try:
        given = tuple([_comparable(value) for value in args])
        named = tuple([(name, _comparable(value)) for name, value in kwargs.items()])
        key = _tensor_keys.get((given, named))
    except TypeError:
        return _make_tensor_key(args, kwargs)
    if key is None:
        key = _make_tensor_key(args, kwargs)
        if len(_tensor_keys) >= _MAX_TENSOR_KEYS:
            _tensor_keys.clear()
        _tensor_keys[given, named] = key
    return key


def _comparable(value: Any) -> Any:
    # True equals 1: a list of strides has to differ from a list of flags.
    if value.__class__ is list or value.__class__ is tuple:
        return (value[-1].__class__ if value else None, *value)
    return (value.__class__, value._name_ if value.__class__ is DataType else value)


def _make_tensor_key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    kwargs = {_OLDER_NAMES.get(name, name): value for name, value in kwargs.items()}
    form = _form_of(args, kwargs)
    try:
        bound = dict(zip(form, args, strict=False), **kwargs)
    except TypeError as error:
        raise user_error(f"define_tensor(): {error}", kind=UserTypeError) from None
    unknown = [name for name in bound if name not in form]
    if unknown or len(args) > len(form):
        raise user_error(
            "define_tensor(): incompatible arguments",
            expected=f"define_tensor({', '.join(form)})",
            found=", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in kwargs.items())])[:300],
            kind=UserTypeError,
        )
    # The core checks everything, and its tensor says what the form means. A tensor on the host is
    # checked on completion.
    guard = FusionGuard(Fusion())
    tensor = direct.define_tensor(**{**bound, "is_cpu": False})
    del guard
    order: Sequence[int] = bound.get("stride_order", ())
    if "sizes" in form:
        order = stride_order_of(tensor) or range(tensor.ndim)[::-1]
    return (
        "define_tensor",
        tuple(size.value() if size.is_const_int() else -1 for size in sizes_of(tensor)),
        tuple(contiguity_of(tensor)),
        tensor.dtype()._name_,
        bool(bound.get("is_cpu", False)),
        tuple(rank % tensor.ndim for rank in order),
    )


def _form_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, ...]:
    """The names of the parameters of the overload that is meant."""
    if "sizes" in kwargs or "strides" in kwargs:
        return ("sizes", "strides", "dtype", "static_sizes", "is_cpu")
    if "symbolic_sizes" in kwargs or "contiguous" in kwargs:
        second = "contiguity" if "contiguity" in kwargs else "contiguous"
        return ("symbolic_sizes", second, "dtype", "is_cpu")
    if "ndims" in kwargs or (args and hasattr(args[0], "__index__")):
        return ("ndims", "dtype", "is_cpu")
    given: Any = args[1] if len(args) > 1 else None
    is_list = isinstance(given, list | tuple) and bool(given)
    if is_list and all(type(item) is not bool and item is not None for item in given):
        return ("sizes", "strides", "dtype", "static_sizes", "is_cpu")
    return ("shape", "contiguity", "dtype", "is_cpu", "stride_order")
