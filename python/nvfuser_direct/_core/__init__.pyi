"""The fusion compiler's core, bound one to one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
import enum
from typing import NoReturn, TypeAlias, Union, overload

import torch

from nvfuser_direct._core import (
    host as host,
    idm as idm,
    internal as internal,
    ops as ops,
    schedule as schedule
)


class Refusal:
    """
    Why something cannot be done, as a value: what UserError says, without being raised.
    """

    @property
    def headline(self) -> str:
        """The rule."""

    @property
    def node(self) -> str:
        """
        The node that broke it, and the Python line that made it; empty: no node in particular.
        """

    @property
    def expected(self) -> str:
        """The demand of the rule."""

    @property
    def found(self) -> str:
        """The state that was found instead."""

    @property
    def fix(self) -> str:
        """The way out."""

    @property
    def lacks_kernel_form(self) -> bool:
        """
        Whether this compiler does not do it at all, so that evaluation is what remains.
        """

    def __str__(self) -> str: ...

class UserError(RuntimeError):
    """The program given to the compiler is wrong."""

class UserValueError(UserError, ValueError):
    """A UserError about an argument's value."""

class UserTypeError(UserError, TypeError):
    """A UserError about an argument's type."""

class UserIndexError(UserError, IndexError):
    """A UserError about a position out of range."""

class UserNotImplementedError(UserError, NotImplementedError):
    """A UserError about something this compiler does not do."""

class CompilerError(UserNotImplementedError):
    """
    The C++ compiler failed, not the program: it wrote nothing, the disk is full.
    """

class InternalError(RuntimeError):
    """A bug of the compiler; please report it."""

def call_with_options(function: Callable[[], object], enable: Sequence[str], disable: Sequence[str]) -> object:
    """
    Call a function while options hold, in this thread.

    Parameters
    ----------
    function : callable
        Called without arguments.
    enable, disable : list[str]
        Options of NVFUSER_ENABLE and NVFUSER_DISABLE, with arguments in parentheses.

    Returns
    -------
    object
        What the function returns.
    """

def is_dumped(name: str) -> bool:
    """Whether NVFUSER_DUMP has the option `name`."""

def is_enabled(name: str) -> bool:
    """Whether `name` is enabled in this thread."""

def is_disabled(name: str) -> bool:
    """Whether `name` is disabled in this thread."""

class DataType(enum.Enum):
    """Type of an element or a scalar."""

    Double = 0

    Float = 1

    Half = 2

    Int = 3

    Int32 = 4

    UInt64 = 5

    Index = 6

    Bool = 7

    BFloat16 = 8

    Float8_e4m3fn = 9

    Float8_e5m2 = 10

    Float8_e8m0fnu = 11

    Float4_e2m1fn = 12

    Float4_e2m1fn_x2 = 13

    ComplexFloat = 14

    ComplexDouble = 15

    Null = 16

    Char = 17

    Short = 18

    Byte = 19

    UInt16 = 20

    UInt32 = 21

    SMemAddress = 22

    TMemAddress = 23

class ParallelType(enum.Enum):
    """The hardware index, or kind of loop, that a loop axis is bound to."""

    mesh_x = 0

    mesh_y = 1

    mesh_z = 2

    grid_x = 3

    grid_y = 4

    grid_z = 5

    block_x = 6

    block_y = 7

    block_z = 8

    stream = 9

    vectorize = 10

    unroll = 11

    unswitch = 12

    mma = 13

    group = 14

    tma = 15

    serial = 16

    DIDx = 0

    DIDy = 1

    DIDz = 2

    BIDx = 3

    BIDy = 4

    BIDz = 5

    TIDx = 6

    TIDy = 7

    TIDz = 8

    Stream = 9

    Vectorize = 10

    Unroll = 11

    Unswitch = 12

    Mma = 13

    Group = 14

    Bulk = 15

    Serial = 16

class LoopKind(enum.Enum):
    """How a loop of a kernel runs its body."""

    Serial = 0

    Hardware = 1

    Vector = 2

    Grouped = 3

    Unrolled = 4

    Unswitched = 5

class IterType(enum.Enum):
    """The use of an iteration domain."""

    Iteration = 0

    Reduction = 1

    Broadcast = 2

    Stride = 3

    GatherScatter = 4

    VectorComponent = 5

    Symbolic = 6

class ValType(enum.Enum):
    """Kind of a value; Others are scalars without a name."""

    Others = 0

    NamedScalar = 1

    IterDomain = 2

    TensorDomain = 3

    TensorView = 4

    TensorIndex = 5

    Scalar = 0

class MemoryType(enum.Enum):
    """Where a tensor lives."""

    local = 0

    shared = 1

    Global = 2

    tensor = 3

    symmetric = 4

    Local = 0

    Shared = 1

    Tensor = 3

    Symmetric = 4

class UnaryOpType(enum.Enum):
    """Operations with one operand."""

    Cast = 0

    BitCast = 1

    RefCast = 2

    Abs = 3

    Acos = 4

    Acosh = 5

    Address = 6

    Asin = 7

    Asinh = 8

    Atan = 9

    Atanh = 10

    Ceil = 11

    Cos = 12

    Cosh = 13

    Dereference = 14

    Exp = 15

    Exp2 = 16

    Expm1 = 17

    Erf = 18

    Erfc = 19

    Erfinv = 20

    Erfcinv = 21

    Floor = 22

    Frac = 23

    Gelu = 24

    Imag = 25

    Silu = 26

    Lgamma = 27

    Log = 28

    Log10 = 29

    Log1p = 30

    Log2 = 31

    Neg = 32

    Real = 33

    Reciprocal = 34

    Relu = 35

    Rsqrt = 36

    Round = 37

    Sigmoid = 38

    Signbit = 39

    Sin = 40

    Sinh = 41

    Sqrt = 42

    Tan = 43

    Tanh = 44

    Trunc = 45

    BitCeil = 46

    Print = 47

    LogicalNot = 48

    BitwiseNot = 49

    IsFinite = 50

    IsInf = 51

    IsNan = 52

    IsNegInf = 53

    IsPosInf = 54

    IsReal = 55

    ToUnsignedSmemAddr = 56

    AdjustPartialLdMatrixAddrInTuring8 = 57

    AdjustPartialLdMatrixAddrInTuring16 = 58

    ElectSync = 59

class BinaryOpType(enum.Enum):
    """Operations with two operands."""

    Add = 0

    Atan2 = 1

    Div = 2

    Fmod = 3

    Max = 4

    FMax = 5

    Min = 6

    FMin = 7

    Mul = 8

    Nextafter = 9

    Pow = 10

    Remainder = 11

    Sub = 12

    Mod = 13

    CeilDiv = 14

    Lshift = 15

    Rshift = 16

    Gcd = 17

    BitwiseAnd = 18

    BitwiseOr = 19

    BitwiseXor = 20

    Eq = 21

    GE = 22

    GT = 23

    LE = 24

    LT = 25

    NE = 26

    LogicalAnd = 27

    LogicalOr = 28

    Complex = 29

class TernaryOpType(enum.Enum):
    """Operations with three operands."""

    Clamp = 0

    Lerp = 1

    Threshold = 2

    Where = 3

    Philox = 4

class RNGOpType(enum.Enum):
    """Distributions of random numbers."""

    Uniform = 0

    UniformRange = 1

    NormalStandard = 2

    NormalGeneral = 3

class LoadStoreOpType(enum.Enum):
    """How a copy moves its data."""

    set = 0

    SegmenterSet = 1

    load_matrix = 2

    cp_async = 3

    CpAsyncBulk = 4

    tma = 5

    StMatrix = 6

    LdTMem = 7

    StTMem = 8

    Set = 0

    LdMatrix = 2

    CpAsync = 3

    CpAsyncBulkTensorTile = 5

class CacheOp(enum.Enum):
    """Cache hint of a load."""

    unspecified = 0

    all_levels = 1

    streaming = 2

    Global = 3

    Unspecified = 0

    AllLevels = 1

    Streaming = 2

class CacheHint(enum.Enum):
    """Which caches keep what a copy moves from or to global memory."""

    unspecified = 0

    evict_first = 1

    evict_last = 2

    no_allocate = 3

    Unspecified = 0

    EvictFirst = 1

    EvictLast = 2

    NoAllocate = 3

class SwizzleType(enum.Enum):
    """Permutation of a square of two axes."""

    NoSwizzle = 0

    XOR = 1

    CyclicShift = 2

class CircularBufferLoopStage(enum.Enum):
    """Part of a loop that loads ahead of the one that reads."""

    Prolog = 0

    Main = 1

    Epilog = 2

    AsyncWarp = 3

    ComputeWarp = 4

    NotApplicable = 5

class IdMappingMode(enum.Enum):
    """Which iteration domains correspond."""

    exact = 0

    almost_exact = 1

    broadcast = 2

    permissive = 3

    loop = 4

    permissive_resize = 5

    innermost = 6

class SchedulerType(enum.Enum):
    """Automatic schedulers."""

    none = 0

    no_op = 1

    pointwise = 2

    matmul = 3

    reduction = 4

    inner_persistent = 5

    inner_outer_persistent = 6

    outer_persistent = 7

    transpose = 8

    expr_eval = 9

    resize = 10

    greedy = 11

    communication = 12

    cutlass = 13

class MmaOperand(enum.Enum):
    """The first or the second factor of a product of matrices."""

    A = 0

    B = 1

class Statement:
    """
    Anything a Fusion owns: a Val or an Expr. A handle keeps its fusion alive, and the same statement is always the same object.
    """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def to_string(self, indent: int = 0) -> str:
        """The text of this statement, indented by `indent` levels of two spaces."""

    def to_inline_string(self) -> str:
        """The text as part of a scalar expression: ``( ceilDiv(i0, 4) )``."""

    def fusion(self) -> Fusion:
        """The fusion that owns this statement."""

    def name(self) -> int:
        """Number within its kind: the 3 of ``T3``."""

    def serial(self) -> int:
        """Creation order within the fusion, over all kinds of statements."""

    def location(self) -> tuple[str, int] | None:
        """
        File and line of the Python code that made this statement; None if it is not known.
        """

    def is_val(self) -> bool:
        """Whether this is a Val."""

    def is_expr(self) -> bool:
        """Whether this is an Expr."""

class Val(Statement):
    """
    A value. Instances of this very class are scalars: constants, inputs, or results of scalar expressions. Operators of tensors and scalars are functions of `ops`; `==` asks whether two handles are the same node, and `ops.eq` compares elements.
    """

    def is_symbolic(self) -> bool:
        """
        Whether this carries no constant: an input, a computed scalar, any tensor.
        """

    def is_const(self) -> bool:
        """Whether this is a constant."""

    def is_tensor(self) -> bool:
        """Whether this is a TensorView."""

    def is_scalar(self) -> bool:
        """Whether this is a scalar."""

    def is_const_int(self) -> bool:
        """Whether this is an integer constant."""

    def is_const_scalar(self) -> bool:
        """
        Whether this is a scalar that constants alone decide: one, or computed from them.
        """

    def is_integral_scalar(self) -> bool:
        """Whether this is an integer scalar."""

    def is_floating_point_scalar(self) -> bool:
        """Whether this is a floating-point scalar."""

    def is_a_bool(self) -> bool:
        """Whether this is a scalar of type Bool."""

    def is_zero(self) -> bool:
        """Whether this is the constant 0."""

    def is_zero_int(self) -> bool:
        """Whether this is the integer constant 0."""

    def is_one(self) -> bool:
        """Whether this is the constant 1."""

    def is_one_int(self) -> bool:
        """Whether this is the integer constant 1."""

    def is_true(self) -> bool:
        """Whether this is the constant true."""

    def is_false(self) -> bool:
        """Whether this is the constant false."""

    def vtype(self) -> ValType:
        """Which kind of value this is."""

    def dtype(self) -> DataType:
        """Type of the value, or of the elements of a tensor."""

    def value(self) -> bool | int | float | complex | None:
        """The constant; None for symbolic values."""

    def definition(self) -> Expr:
        """
        The expression that computes this value; None for inputs, constants and free symbols.
        """

    def uses(self) -> list[Expr]:
        """
        The expressions that read this value. For tensors only those that lead to a registered output, once the fusion has outputs.
        """

    def all_uses(self) -> list[Expr]:
        """Every expression that reads this value, in the order they were made."""

    def is_fusion_input(self) -> bool:
        """Whether this is an input of its fusion."""

    def is_fusion_output(self) -> bool:
        """Whether this is an output of its fusion."""

    def same_as(self, other: Val) -> bool:
        """
        Whether both are the same constant, the same symbol, or computed by the same operations from the same values.
        """

    def same_definition(self, other: Val) -> bool:
        """
        Whether the same operation computes both from the same values.

        Parameters
        ----------
        other : Val
            A value of the same fusion.

        Returns
        -------
        bool
            False if one of them is not computed: an input, a constant, a free symbol.
        """

    def hash(self) -> int:
        """Hash of what is computed: equal for values that are `same_as`."""

    @overload
    def __add__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __add__(self, arg: ScalarLike, /) -> Val:
        """`ops.add`."""

    def __radd__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.add`."""

    @overload
    def __sub__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __sub__(self, arg: ScalarLike, /) -> Val:
        """`ops.sub`."""

    def __rsub__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.sub`."""

    @overload
    def __mul__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __mul__(self, arg: ScalarLike, /) -> Val:
        """`ops.mul`."""

    def __rmul__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.mul`."""

    @overload
    def __truediv__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __truediv__(self, arg: ScalarLike, /) -> Val:
        """`ops.truediv`: the quotient of integers is a Float."""

    def __rtruediv__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.truediv`: the quotient of integers is a Float."""

    @overload
    def __floordiv__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __floordiv__(self, arg: ScalarLike, /) -> Val:
        """`ops.floor_divide`: rounded down."""

    def __rfloordiv__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.floor_divide`: rounded down."""

    @overload
    def __mod__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __mod__(self, arg: ScalarLike, /) -> Val:
        """`ops.remainder`: with the sign of the right operand."""

    def __rmod__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.remainder`: with the sign of the right operand."""

    @overload
    def __pow__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __pow__(self, arg: ScalarLike, /) -> Val:
        """`ops.pow`."""

    def __rpow__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.pow`."""

    @overload
    def __and__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __and__(self, arg: ScalarLike, /) -> Val:
        """`ops.bitwise_and`."""

    def __rand__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.bitwise_and`."""

    @overload
    def __or__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __or__(self, arg: ScalarLike, /) -> Val:
        """`ops.bitwise_or`."""

    def __ror__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.bitwise_or`."""

    @overload
    def __xor__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __xor__(self, arg: ScalarLike, /) -> Val:
        """`ops.bitwise_xor`."""

    def __rxor__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.bitwise_xor`."""

    @overload
    def __lshift__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __lshift__(self, arg: ScalarLike, /) -> Val:
        """`ops.bitwise_left_shift`."""

    def __rlshift__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.bitwise_left_shift`."""

    @overload
    def __rshift__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __rshift__(self, arg: ScalarLike, /) -> Val:
        """`ops.bitwise_right_shift`."""

    def __rrshift__(self, arg: bool | int | float | complex, /) -> Val:
        """`ops.bitwise_right_shift`."""

    @overload
    def __lt__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __lt__(self, arg: ScalarLike, /) -> Val:
        """`ops.lt`."""

    @overload
    def __le__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __le__(self, arg: ScalarLike, /) -> Val:
        """`ops.le`."""

    @overload
    def __gt__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __gt__(self, arg: ScalarLike, /) -> Val:
        """`ops.gt`."""

    @overload
    def __ge__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __ge__(self, arg: ScalarLike, /) -> Val:
        """`ops.ge`."""

    def __neg__(self) -> Val:
        """`ops.neg`."""

    def __abs__(self) -> Val:
        """`ops.abs`."""

    def __invert__(self) -> Val:
        """`ops.bitwise_not`."""

    def __pos__(self) -> Val:
        """The same value."""

    def __bool__(self) -> bool:
        """
        An error for tensors and scalars: no run has decided them. True for axes and domains.
        """

    def __len__(self) -> NoReturn:
        """An error: sizes are values of a run, ``x.size(0)``."""

    def __iter__(self) -> NoReturn:
        """An error: elements come with a run."""

    def __contains__(self, item: object) -> NoReturn:
        """An error: elements come with a run."""

    def __getitem__(self, index: object) -> NoReturn:
        """An error: parts of tensors are operations."""

    __array_ufunc__: None = None

    def evaluate(self) -> bool | int | float | complex | None:
        """
        The value of a scalar that constants alone decide.

        Returns
        -------
        bool | int | float | complex | None
            None if it depends on anything else; an ExpressionEvaluator can be told more.
        """

class NamedScalar(Val):
    """
    A scalar that the target provides under a fixed name: ``threadIdx.x``, ``gridDim.y``.
    """

    def text_name(self) -> str:
        """The name."""

    def parallel_index(self) -> ParallelType:
        """
        The hardware index this is (``threadIdx.x``: block_x); serial if it is none.
        """

    def parallel_dim(self) -> ParallelType:
        """
        The launch dimension this is (``blockDim.x``: block_x); serial if it is none.
        """

class TensorIndex(Val):
    """An element of a tensor in a kernel: ``view[index]``."""

    def view(self) -> TensorView:
        """The tensor."""

    def index(self) -> Val:
        """Elements from the start of the tensor's memory."""

ScalarLike: TypeAlias = Union[Val, bool, int, float, complex]

class IterDomain(Val):
    """
    One axis of an iteration space: its range, how it runs, what it is for.
    """

    def start(self) -> Val:
        """First index, 0 unless the axis was resized."""

    def extent(self) -> Val:
        """Loop size: 1 for a broadcast, even if it is expanded."""

    def stop_offset(self) -> Val:
        """Indices at the end that do not run."""

    def expanded_extent(self) -> Val:
        """
        Size a user sees where memory holds one element; None if the axis is not expanded.
        """

    def parallel_type(self) -> ParallelType:
        """The parallel type that the axis is bound to."""

    def iter_type(self) -> IterType:
        """The role of the axis."""

    def is_rfactor_product(self) -> bool:
        """Whether it was made by a transform between root and logical domain."""

    def is_clustered_grid_dim(self) -> bool:
        """Whether its blocks form clusters."""

    def has_padding_to_multiple_of_warp(self) -> bool:
        """Whether its launched size is rounded up to whole warps."""

    def maybe_size_after_padding(self) -> int | None:
        """The size it is padded to (threads), if it was given."""

    def stop(self) -> Val:
        """End of the indices that run: the extent, without the stop offset."""

    def has_expanded_extent(self) -> bool:
        """Whether it is expanded."""

    def maybe_expanded_extent(self) -> Val:
        """The expanded extent if there is one, else the extent."""

    def is_iteration(self) -> bool:
        """Whether the iteration type is Iteration."""

    def is_reduction(self) -> bool:
        """Whether the iteration type is Reduction."""

    def is_broadcast(self) -> bool:
        """Whether the iteration type is Broadcast."""

    def is_implicit_broadcast(self) -> bool:
        """Whether it is a broadcast that no size was expanded to."""

    def is_stride(self) -> bool:
        """Whether the iteration type is Stride."""

    def is_gather_scatter(self) -> bool:
        """Whether the iteration type is GatherScatter."""

    def is_vector_component(self) -> bool:
        """Whether the iteration type is VectorComponent."""

    def is_symbolic_axis(self) -> bool:
        """Whether the iteration type is Symbolic: decided when sizes are known."""

    def is_parallelized(self) -> bool:
        """Whether it is bound to anything."""

    def is_grid_dim(self) -> bool:
        """Whether it is bound to a grid index."""

    def is_block_dim(self) -> bool:
        """Whether it is bound to a thread index."""

    def is_thread(self) -> bool:
        """Whether it is bound to a hardware index."""

    def is_device_dim(self) -> bool:
        """Whether it is bound to a device index."""

    def is_stream(self) -> bool:
        """Whether it is bound to streams."""

    def is_mma(self) -> bool:
        """Whether it is an axis of a tensor-core instruction."""

    def is_bulk(self) -> bool:
        """Whether it is an axis of a bulk copy."""

    def maybe_partial(self) -> bool:
        """Whether fewer indices run than the extent says."""

    def parallelize(self, parallel_type: ParallelType) -> None:
        """
        Bind the axis.

        Parameters
        ----------
        parallel_type : ParallelType
            What to bind it to. ``unroll``, ``unswitch``, ``vectorize`` and ``group`` need start 0 and a
            constant extent.
        """

    def pad_to_multiple_of_warp(self, size: int | None = None) -> None:
        """
        Round the launched size of a ``block_x`` axis up.

        Parameters
        ----------
        size : int, optional
            Threads to launch; a whole number of warps if not given.
        """

    def set_clustered_blocks(self) -> None:
        """Let the blocks of a ``grid_x`` axis form clusters."""

    @staticmethod
    def split(id: IterDomain, factor: ScalarLike, inner_split: bool = True) -> tuple[IterDomain, IterDomain]:
        """
        Two axes that together are one.

        Parameters
        ----------
        id : IterDomain
            The axis; it stays as it is.
        factor : int or Val
            Extent of one of the new axes (elements).
        inner_split : bool
            Whether `factor` is the inner extent; the other is ``ceilDiv(extent, factor)``.

        Returns
        -------
        tuple[IterDomain, IterDomain]
            Outer and inner axis.
        """

    @staticmethod
    def merge(outer: IterDomain, inner: IterDomain) -> IterDomain:
        """The product of two axes; both or neither are reductions."""

    @staticmethod
    def swizzle(swizzle_type: SwizzleType, x: IterDomain, y: IterDomain) -> tuple[IterDomain, IterDomain]:
        """Both axes of a square after a permutation of its positions."""

    @staticmethod
    def swizzle1d(id: IterDomain, parallel_type: ParallelType) -> IterDomain:
        """
        An axis rotated by the index of a device dimension.

        Parameters
        ----------
        id : IterDomain
            The axis; it stays as it is.
        parallel_type : ParallelType
            The dimension: ``mesh_x``, ``mesh_y`` or ``mesh_z``.

        Returns
        -------
        IterDomain
            The rotated axis.
        """

    @staticmethod
    def resize(id: IterDomain, left: ScalarLike, right: ScalarLike, iter_type: IterType | None = None) -> IterDomain:
        """
        An axis with elements added, or with negative numbers removed, at both ends.

        Parameters
        ----------
        id : IterDomain
            The axis; it is returned if nothing is added.
        left, right : int or Val
            Elements before the first and after the last.
        iter_type : IterType, optional
            Of the result; from its extent if not given.
        """

class TensorDomain(Val):
    """The domains of a tensor."""

    def root(self) -> list[IterDomain]:
        """Axes before the operation's own transform; may be empty."""

    def logical(self) -> list[IterDomain]:
        """The tensor's shape, reduction axes included."""

    def allocation(self) -> list[IterDomain]:
        """Axes that address memory, outermost stride first; may be empty."""

    def loop(self) -> list[IterDomain]:
        """The loop nest, outermost first."""

    def initial_loop(self) -> list[IterDomain]:
        """The loop domain the tensor was made with."""

    def contiguity(self) -> list[bool | None]:
        """
        Per allocation axis: whether its stride is the size of everything inside it; None for broadcasts and reductions.
        """

    def maybe_root(self) -> list[IterDomain]:
        """The root domain if there is one, else logical."""

    def maybe_allocation(self) -> list[IterDomain]:
        """The allocation domain if there is one, else logical."""

    def has_root(self) -> bool:
        """Whether there is a separate root domain."""

    def has_allocation(self) -> bool:
        """Whether an allocation domain is set."""

    def ndims(self) -> int:
        """Number of loop axes."""

    def has_reduction(self) -> bool:
        """Whether the loop domain has a reduction."""

    def has_broadcast(self) -> bool:
        """Whether the loop domain has a broadcast."""

    def has_block_reduction(self) -> bool:
        """Whether a thread axis is a reduction."""

    def has_grid_reduction(self) -> bool:
        """Whether a grid axis is a reduction."""

    def has_cluster_reduction(self) -> bool:
        """Whether a clustered grid axis is a reduction."""

    def has_block_broadcast(self) -> bool:
        """Whether a thread axis is a broadcast."""

    def has_grid_broadcast(self) -> bool:
        """Whether a grid axis is a broadcast."""

    def has_vectorize(self) -> bool:
        """Whether a loop axis is vectorized."""

    def has_symbolic_axis(self) -> bool:
        """Whether a logical axis is yet to be decided."""

    def has_view_like_rfactor(self) -> bool:
        """
        Whether the logical domain is made from the root domain without reducing.
        """

    def reduction_axis(self) -> int | None:
        """
        Position of the first reduction in the loop domain; None if there is none.
        """

    def axis(self, index: int) -> IterDomain:
        """An axis of the loop domain; negative positions count from the end."""

    def pos_of(self, id: IterDomain) -> int:
        """Position of an axis in the loop domain."""

    def root_pos_of(self, id: IterDomain) -> int:
        """Position in the root domain."""

    def is_root(self, id: IterDomain) -> bool:
        """Whether an axis is in the root domain."""

    def is_logical(self, id: IterDomain) -> bool:
        """Whether it is in the logical domain."""

    def is_allocation(self, id: IterDomain) -> bool:
        """Whether it is in the allocation domain."""

    def is_loop(self, id: IterDomain) -> bool:
        """Whether it is in the loop domain."""

    def stride_order(self) -> list[int]:
        """
        Per logical axis the rank of its stride, 0 the fastest; empty without an allocation domain.
        """

    def all_ids(self) -> list[IterDomain]:
        """Every axis of the tensor, in creation order."""

    def all_exprs(self) -> list[Expr]:
        """Every transform between the domains, operands before results."""

    @staticmethod
    def no_reductions(ids: Sequence[IterDomain]) -> list[IterDomain]:
        """`ids` without reductions."""

    @staticmethod
    def no_broadcasts(ids: Sequence[IterDomain]) -> list[IterDomain]:
        """`ids` without broadcasts."""

    @staticmethod
    def no_devices(ids: Sequence[IterDomain]) -> list[IterDomain]:
        """`ids` without device axes."""

    @staticmethod
    def contiguity_filled_with(ids: Sequence[IterDomain], flag: bool) -> list[bool | None]:
        """`flag` for every axis that has a stride, None for the others."""

def exprs_between(from_ids: Sequence[IterDomain], to_ids: Sequence[IterDomain]) -> list[Expr]:
    """
    The transforms on the paths between axes of one tensor.

    Parameters
    ----------
    from_ids, to_ids : list[IterDomain]
        Ends of the paths. Walking back from `to_ids` stops at `from_ids` and at axes without
        definition.

    Returns
    -------
    list[Expr]
        Operands before results.
    """

class TensorView(Val):
    """A tensor of the fusion."""

    @property
    def ndim(self) -> int:
        """Logical rank without reductions."""

    def rank(self) -> int:
        """Logical rank without reductions."""

    def ndims(self) -> int:
        """Number of loop axes."""

    def size(self, dim: int) -> Val:
        """
        Size of a dimension.

        Parameters
        ----------
        dim : int
            Logical dimension, reductions not counted; negative values count from the end.

        Returns
        -------
        Val
            Extent; the expanded extent of an expanded dimension.
        """

    def shape(self) -> list[Val]:
        """The size of every logical dimension without reductions."""

    def has_root(self) -> bool:
        """Whether there is a separate root domain."""

    def has_allocation(self) -> bool:
        """Whether an allocation domain is set."""

    def domain(self) -> TensorDomain:
        """The tensor's domains."""

    def get_root_domain(self) -> list[IterDomain]:
        """The root domain; empty if there is none."""

    def get_logical_domain(self) -> list[IterDomain]:
        """The logical domain with reductions."""

    def get_loop_domain(self) -> list[IterDomain]:
        """The current schedule."""

    def get_allocation_domain(self) -> list[IterDomain]:
        """Axes that address memory, outermost first; empty if none were set."""

    def get_contiguity(self) -> list[bool | None]:
        """Contiguity per allocation axis; None for broadcasts and reductions."""

    def root(self) -> list[IterDomain]:
        """The root domain; empty if there is none."""

    def maybe_root(self) -> list[IterDomain]:
        """The root domain, or else the logical one."""

    def logical(self) -> list[IterDomain]:
        """The logical domain with reductions."""

    def loop(self) -> list[IterDomain]:
        """The current schedule."""

    def maybe_allocation(self) -> list[IterDomain]:
        """The allocation domain, or else the logical one."""

    def axis(self, index: int) -> IterDomain:
        """
        An axis of the loop domain.

        Parameters
        ----------
        index : int
            Position; negative values count from the end.
        """

    def get_initial_loop_domain(self) -> list[IterDomain]:
        """The loop domain the tensor was made with."""

    def memory_type(self) -> MemoryType:
        """Where the tensor lives."""

    def compute_at_position(self) -> int:
        """Number of outer loop axes shared with every consumer."""

    def max_producer_position(self) -> int:
        """Number of outer loop axes inside which some producer is computed."""

    def compute_with_position(self) -> int:
        """
        Number of outer loop axes shared with the first consumer in the kernel; 0: as many as with the others.
        """

    def compute_with_consumers(self) -> list[TensorView]:
        """
        The results of the first expression that reads this tensor; empty before lowering.
        """

    def maybe_max_producer_position(self) -> int:
        """
        `max_producer_position` if this tensor's expression is the first to read its operands.
        """

    def circular_buffer_options(self) -> CircularBuffering | None:
        """
        How the tensor is loaded ahead of the loop that reads it; None if it is not.
        """

    def promotes_reuse(self) -> bool:
        """
        Whether lowering may add a barrier so that later buffers take this one's shared memory.
        """

    def cache_hint(self) -> CacheHint:
        """
        Which caches keep what the copy that makes this tensor moves from or to global memory.
        """

    def is_cpu_scalar(self) -> bool:
        """Whether it is a 0-dim tensor on the host."""

    def is_inlined(self) -> bool:
        """Whether a loop is, or may be, shared with a producer or a consumer."""

    def has_reduction(self) -> bool:
        """Whether the loop domain has a reduction."""

    def has_broadcast(self) -> bool:
        """Whether the loop domain has a broadcast."""

    def reduction_axis(self) -> int | None:
        """
        Position of the first reduction in the loop domain; None if there is none.
        """

    def has_block_reduction(self) -> bool:
        """Whether a thread axis is a reduction."""

    def has_grid_reduction(self) -> bool:
        """Whether a grid axis is a reduction."""

    def has_cluster_reduction(self) -> bool:
        """Whether a clustered grid axis is a reduction."""

    def has_block_broadcast(self) -> bool:
        """Whether a thread axis is a broadcast."""

    def has_grid_broadcast(self) -> bool:
        """Whether a grid axis is a broadcast."""

    def has_vectorize(self) -> bool:
        """Whether a loop axis is vectorized."""

    def has_symbolic_axis(self) -> bool:
        """Whether a logical axis is yet to be decided."""

    def has_view_like_rfactor(self) -> bool:
        """
        Whether the logical domain is made from the root domain without reducing.
        """

    def producers(self) -> list[TensorView]:
        """The tensors its definition reads."""

    def consumers(self) -> list[TensorView]:
        """The tensors made by expressions that read it."""

    def siblings(self) -> list[TensorView]:
        """The other outputs of its definition."""

    def schedule_steps(self) -> list[tuple[str, str]]:
        """
        The scheduling primitives applied to this tensor, each with the line that did it.
        """

    @overload
    def __add__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __add__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.add`."""

    def __radd__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.add`."""

    @overload
    def __sub__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __sub__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.sub`."""

    def __rsub__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.sub`."""

    @overload
    def __mul__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __mul__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.mul`."""

    def __rmul__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.mul`."""

    @overload
    def __truediv__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __truediv__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.truediv`: the quotient of integers is a Float."""

    def __rtruediv__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.truediv`: the quotient of integers is a Float."""

    @overload
    def __floordiv__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __floordiv__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.floor_divide`: rounded down."""

    def __rfloordiv__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.floor_divide`: rounded down."""

    @overload
    def __mod__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __mod__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.remainder`: with the sign of the right operand."""

    def __rmod__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.remainder`: with the sign of the right operand."""

    @overload
    def __pow__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __pow__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.pow`."""

    def __rpow__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.pow`."""

    @overload
    def __and__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __and__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.bitwise_and`."""

    def __rand__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.bitwise_and`."""

    @overload
    def __or__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __or__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.bitwise_or`."""

    def __ror__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.bitwise_or`."""

    @overload
    def __xor__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __xor__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.bitwise_xor`."""

    def __rxor__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.bitwise_xor`."""

    @overload
    def __lshift__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __lshift__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.bitwise_left_shift`."""

    def __rlshift__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.bitwise_left_shift`."""

    @overload
    def __rshift__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __rshift__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.bitwise_right_shift`."""

    def __rrshift__(self, arg: bool | int | float | complex, /) -> TensorView:
        """`ops.bitwise_right_shift`."""

    @overload
    def __lt__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __lt__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.lt`."""

    @overload
    def __le__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __le__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.le`."""

    @overload
    def __gt__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __gt__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.gt`."""

    @overload
    def __ge__(self, arg: TensorView, /) -> TensorView: ...

    @overload
    def __ge__(self, arg: ScalarLike, /) -> TensorView:
        """`ops.ge`."""

    def __matmul__(self, arg: TensorView, /) -> TensorView:
        """`ops.matmul`."""

    def __neg__(self) -> TensorView:
        """`ops.neg`."""

    def __abs__(self) -> TensorView:
        """`ops.abs`."""

    def __invert__(self) -> TensorView:
        """`ops.bitwise_not`."""

    def __pos__(self) -> TensorView:
        """The same value."""

    def circular_buffer(self, number_of_stages: int, prefetch_distance: int = -1, type: Pipelined | WarpSpecialized = ...) -> None:
        """
        Load this copy ahead of the loop that reads it.

        The loop is the innermost serial one left of the compute-at position. The storage has a stage for
        each iteration that is under way: iteration i reads stage ``i % number_of_stages`` while the one for
        iteration ``i + prefetch_distance`` is loaded. Copies with ``LoadStoreOpType.cp_async`` are under way
        while their threads compute. Stages of a tensor in registers stay there only if the loop has a
        constant extent: a compiler cannot address registers by a number that it does not know.

        Parameters
        ----------
        number_of_stages : int
            At least 2.
        prefetch_distance : int
            Iterations between a load and its read, less than `number_of_stages`; a negative one counts from
            `number_of_stages`.
        type : Pipelined or WarpSpecialized
            Which threads load. ``Pipelined(uses_mbarrier_for_war=True)`` and ``WarpSpecialized`` are for
            bulk copies: readers hand stages back at barriers in shared memory, and no barrier of the block
            stands in the loop. For ``WarpSpecialized`` see `schedule.warp_specialize`.

        Raises
        ------
        UserError
            ``Unsupported stage number``, ``Invalid prefetch distance``; or if this is no copy, there is no
            such loop, or the producer is computed inside of it.
        NotImplementedError
            If `type` has a ``stage_slice_position``.
        """

    @overload
    def split(self, axis: int, factor: int, inner_split: bool = True) -> TensorView: ...

    @overload
    def split(self, axis: int, factor: Val, inner_split: bool = True) -> TensorView:
        """
        Split one loop axis in two.

        ``[.., N, ..]`` becomes ``[.., ceilDiv(N, factor), factor, ..]``, or with ``inner_split=False``
        ``[.., factor, ceilDiv(N, factor), ..]``. Elements beyond the end of a split that is not divisible
        are not computed.

        Parameters
        ----------
        axis : int
            Axis of the loop domain; negative values count from the end.
        factor : int or Val
            Extent of one of the new axes (elements), at least 1.
        inner_split : bool
            Whether `factor` is the inner extent.

        Returns
        -------
        TensorView
            This tensor, for chaining.
        """

    def inner_split(self, axis: int, factor: int) -> TensorView:
        """As `split` with ``inner_split=True``."""

    def outer_split(self, axis: int, factor: int) -> TensorView:
        """As `split` with ``inner_split=False``."""

    @overload
    def merge(self, axis_o: int, axis_i: int) -> TensorView:
        """
        Replace two loop axes by their product, at the smaller of the two positions.

        Parameters
        ----------
        axis_o, axis_i : int
            Axes of the loop domain; `axis_o` varies slower. Negative values count from the end.

        Returns
        -------
        TensorView
            This tensor, for chaining.
        """

    @overload
    def merge(self, axis: int) -> TensorView:
        """Merge an axis with the next one."""

    def flatten(self, from_: int = 0, to: int = -1) -> TensorView:
        """
        Merge a range of loop axes.

        Parameters
        ----------
        from, to : int
            First and last axis, both included; negative values count from the end.
        """

    @overload
    def reorder(self, old2new: Mapping[int, int] = {}) -> TensorView:
        """
        Move loop axes.

        Parameters
        ----------
        old2new : dict[int, int]
            New position of every axis that moves; the others keep their relative order.

        Returns
        -------
        TensorView
            This tensor, for chaining.
        """

    @overload
    def reorder(self, permutation: Sequence[int]) -> TensorView:
        """
        Move all loop axes.

        Parameters
        ----------
        permutation : list[int]
            New position of axis i.
        """

    @overload
    def swizzle(self, x: int, y: int) -> TensorView:
        """
        Permute the positions of a square of two loop axes: y becomes x ^ y.

        Parameters
        ----------
        x, y : int
            Axes of equal constant extent, a power of two.
        """

    @overload
    def swizzle(self, swizzle_type: SwizzleType, x: int, y: int) -> TensorView:
        """
        Permute the positions of a square of two loop axes.

        Parameters
        ----------
        swizzle_type : SwizzleType
            The permutation.
        x, y : int
            Axes of equal constant extent.
        """

    def swizzle1d(self, x: int, parallel_type: ParallelType) -> TensorView:
        """
        Rotate a loop axis by the index of a device dimension.

        Parameters
        ----------
        x : int
            Axis of the loop domain; negative values count from the end.
        parallel_type : ParallelType
            The device dimension: ``mesh_x``, ``mesh_y`` or ``mesh_z``.

        Returns
        -------
        TensorView
            This tensor, for chaining.
        """

    @overload
    def broadcast(self, axis: int, extent: int = 1) -> TensorView:
        """
        Insert a loop that repeats what is inside of it.

        Parameters
        ----------
        axis : int
            Position of the new axis in the loop domain; negative values count from the end of the result.
        extent : int or Val
            Number of iterations, at least 1.

        Returns
        -------
        TensorView
            This tensor, for chaining.
        """

    @overload
    def broadcast(self, axis: int, extent: Val) -> TensorView: ...

    def resize(self, axis: int, left: ScalarLike, right: ScalarLike, iter_type: IterType | None = None) -> TensorView:
        """
        Let a loop run over more than its axis. Statements skip what lies outside.

        Parameters
        ----------
        axis : int
            Axis of the loop domain; negative values count from the end.
        left, right : int or Val
            Iterations before the first element and behind the last, at least 0.
        iter_type : IterType, optional
            Kind of the new axis; by default a broadcast if its extent is 1, an iteration if it is another
            constant.

        Returns
        -------
        TensorView
            This tensor, for chaining.

        Raises
        ------
        UserError
            If the axis is inlined or parallelized, or a width is not provably at least 0.
        """

    def cache_after(self, op_type: LoadStoreOpType = LoadStoreOpType.set, cache_op: CacheOp = CacheOp.unspecified, propagate_allocation_domain: bool = True, cached_uses: Sequence[Expr] = []) -> TensorView:
        """
        Insert a copy between this tensor and its consumers.

        Parameters
        ----------
        op_type : LoadStoreOpType
            How the copy moves its data.
        cache_op : CacheOp
            Cache hint of the load. ``global`` goes past the first cache; ``streaming`` is for vectorized
            copies. The CPU has no use for either.
        propagate_allocation_domain : bool
            Whether the copy gets a replay of this tensor's domain, with its allocation domain.
        cached_uses : list[Expr]
            Consumers that read the copy; all if empty.

        Returns
        -------
        TensorView
            The copy.
        """

    def cache_before(self, op_type: LoadStoreOpType = LoadStoreOpType.set) -> TensorView:
        """
        Let a new tensor hold the computation; this one becomes a copy of it.

        Parameters
        ----------
        op_type : LoadStoreOpType
            How the copy moves its data.

        Returns
        -------
        TensorView
            The new producer.
        """

    def cache_fork(self) -> TensorView:
        """
        Split an output that is also read: a new output, and this tensor as a local one.

        Returns
        -------
        TensorView
            The new output.
        """

    @overload
    def rfactor(self, axes: Sequence[int]) -> TensorView:
        """
        Split a reduction in two.

        Parameters
        ----------
        axes : list[int]
            Reduction axes of the loop domain that the new producer reduces; this tensor reduces the rest.

        Returns
        -------
        TensorView
            The new producer.
        """

    @overload
    def rfactor(self, axes: Sequence[int], tvs: Sequence[TensorView]) -> list[TensorView]:
        """
        Split a reduction with several results in two.

        Parameters
        ----------
        axes : list[int]
            Reduction axes of the loop domain that the new producers reduce.
        tvs : list[TensorView]
            The results of the reduction, in the order of the expression.

        Returns
        -------
        list[TensorView]
            One new producer per result.
        """

    def set_memory_type(self, memory_type: MemoryType) -> None:
        """
        Choose where the tensor lives.

        Parameters
        ----------
        memory_type : MemoryType
            Inputs and outputs are ``global`` or ``symmetric``.
        """

    @overload
    def set_allocation_domain(self, new_allocation_domain: Sequence[IterDomain], new_contiguity: bool) -> None:
        """
        Choose the axes that address memory.

        Parameters
        ----------
        new_allocation_domain : list[IterDomain]
            Axes of this tensor that cover its logical domain, outermost stride first.
        new_contiguity : bool or list[bool or None]
            Whether strides are the size of everything inside them; one flag for all axes that have a
            stride, or one entry per axis.
        """

    @overload
    def set_allocation_domain(self, new_allocation_domain: Sequence[IterDomain], new_contiguity: Sequence[bool | None]) -> None: ...

    def set_device_mesh(self, mesh: object) -> None:
        """
        Spread the tensor over devices. It is not there yet.

        Parameters
        ----------
        mesh : multidevice.DeviceMesh
            The devices.

        Raises
        ------
        NotImplementedError
            A fusion runs on one device.
        """

    def set_loop_domain(self, new_loop_domain: Sequence[IterDomain]) -> None:
        """
        Replace the loop domain.

        Parameters
        ----------
        new_loop_domain : list[IterDomain]
            Axes of this tensor that cover its logical domain, outermost first. Those of a scatter cover
            its positions, as the loop domain does that it was made with.
        """

    @overload
    def set_contiguity(self, contiguity: bool) -> None:
        """
        Say how the tensor lies in memory.

        Parameters
        ----------
        contiguity : bool or list[bool or None]
            Whether strides are the size of everything inside them; one flag for all axes that have a
            stride, or one entry per allocation axis.
        """

    @overload
    def set_contiguity(self, contiguity: Sequence[bool | None]) -> None: ...

    def commit_leaf_to_logical(self) -> None:
        """
        Make the loop domain the tensor's shape.

        Raises
        ------
        UserError
            If something reads the tensor, or a split may not divide its axis.
        """

    def clear_reduction_iter_domains(self) -> None:
        """
        Drop the reduction axes of a tensor that no reduction of the fusion makes.

        Raises
        ------
        UserError
            If the tensor was transformed, or is the result of a reduction.
        """

    def promote_reuse(self, flag: bool = True) -> TensorView:
        """
        Let later buffers take this tensor's shared memory, at the price of a barrier.

        Buffers whose lives do not meet share memory wherever a barrier of the block lies between
        them. Where none does, lowering adds one after the last use of this tensor. False takes the
        wish back; a tensor that leaves shared memory forgets it.

        Parameters
        ----------
        flag
            What `promotes_reuse` is then.

        Returns
        -------
        TensorView
            This tensor, for chaining.
        """

    def set_cache_hint(self, hint: CacheHint) -> TensorView:
        """
        Say which caches keep what the copy that makes this tensor moves.

        For loads from global memory and stores to it, bulk copies and cp.async among them. EvictFirst
        moves elements that nothing reads again; they leave the second-level cache before others.
        EvictLast moves those that are read again soon. NoAllocate keeps plain loads and stores out of
        the first-level cache, and takes the place of a cache operator. Results are the same; GPUs before
        compute capability 8.0 and the CPU target take no notice.

        Parameters
        ----------
        hint
            What `cache_hint` is then.

        Returns
        -------
        TensorView
            This tensor, for chaining.
        """

    def inline_at(self, pos: int, best_effort: bool = False) -> TensorView:
        """
        Compute this tensor inside the outer loops of its consumers.

        Parameters
        ----------
        pos : int
            Number of loop axes to share; negative values count from the end.
        best_effort : bool
            Stop at the deepest legal position instead of raising an error.
        """

    def compute_with(self, pos: int, best_effort: bool = False) -> TensorView:
        """
        Compute this tensor in the loops of its first consumer.

        Loops beyond those that all consumers share are shared with the expression that comes first in the
        kernel, which lowering decides. Until then the axes of every consumer are protected from transforms.

        Parameters
        ----------
        pos : int
            Number of loop axes to share with it; negative values count from the end.
        best_effort : bool
            Stop at the deepest legal position instead of raising an error.

        Returns
        -------
        TensorView
            This tensor, for chaining.

        Raises
        ------
        UserError
            If some consumer has no loops for these axes.
        """

    def clear_compute_position(self) -> None:
        """Undo the inlining of this tensor."""

    def recorded_steps(self) -> list[ScheduleStep]:
        """The steps of `schedule_steps` as values."""

    def translate_to_mma(self) -> TensorView:
        """
        Let this result of `matmul` or `linear` be computed from a sum of products.

        The operands are broadcast against each other, the products are summed in Float, a bias is added, and
        this tensor becomes that value, rounded to its type. ``set_mma_macro`` then names the instruction of
        tensor cores that computes the sum. Call it before other scheduling calls on the tensor.

            matmul  [.., M, K] x [.., K, N]     the sum is [.., M, K, N], reduced over K
            linear  [.., M, K] x [N, K]         the sum is [.., M, N, K], reduced over K

        Returns
        -------
        TensorView
            The sum.

        Raises
        ------
        UserError
            If this is no product of matrices, or one that tensor cores do not compute: types other than
            BFloat16 and Half, vectors, weights with leading dimensions.
        """

    def set_mma_macro(self, macro: MmaMacro) -> None:
        """
        Let an instruction of tensor cores compute this sum of products.

        The definition becomes an `MmaOp` with this macro: ``sum(mul(a, b))`` of tensors of 16 bits, which
        ``mul`` converts to Float, reads a and b themselves. Where the kernel has no tensor cores, on the CPU
        target, the sum is a loop nest that adds the products up in the order of k.

        Parameters
        ----------
        macro : MmaMacro
            The instruction: ``MmaMacroEncode(MmaMacroArch.ampere, 16, 8, 16).mma_macro()``.

        Raises
        ------
        UserError
            If this is no sum of products, or the instruction does not take these types.
        """

    def apply_mma_swizzle(self, operand: MmaOperand | None = None, macro: MmaMacro | None = None) -> None:
        """
        Give a tile, the innermost loop axes, the layout of an instruction's fragments.

        The parts of the axes that tell the lanes of a warp apart are merged and bound to ``block_x``; those
        behind count the registers of a lane. `schedule.fragment_layout` shows where elements are.

        Parameters
        ----------
        operand : MmaOperand, optional
            Which factor this tensor is: ``A``, with ``[.., m, k]`` innermost, or ``B``, with ``[.., n, k]``.
            None: the result, ``[.., m, n]``, or what is computed from it. The sum itself ends in
            ``[.., m, n, k]``; what follows its lanes is bound to ``mma``.
        macro : MmaMacro, optional
            The instruction; None is ``Ampere_16_8_16``.

        Raises
        ------
        UserError
            If the innermost axes are no tile of the instruction.
        """

class Expr(Statement):
    """An expression: makes its outputs from its inputs."""

    def inputs(self) -> list[Val]:
        """Operands in the order of the fields; absent ones left out."""

    def outputs(self) -> list[Val]:
        """Results in the order of the fields."""

    def input(self, index: int) -> Val:
        """The operand at position `index`."""

    def output(self, index: int) -> Val:
        """The result at position `index`."""

    def op_name(self) -> str:
        """Name of the class: ``ReductionOp``."""

    def attributes(self) -> dict[str, object]:
        """
        The fields that are neither operands nor results, by name; enumerations as their names.
        """

    def attribute(self, index: int) -> object:
        """
        An attribute by its position.

        Parameters
        ----------
        index : int
            Position in `attributes`, from 0.

        Returns
        -------
        object
            Its value; an enumerator as its name.

        Raises
        ------
        UserIndexError
            If there are not as many.
        """

    def same_op(self, other: Expr) -> bool:
        """Same class and equal attributes."""

    def op_hash(self) -> int:
        """Hash of class and attributes."""

    def same_definition(self, other: Expr) -> bool:
        """
        Whether both are the same operation on the same values.

        Parameters
        ----------
        other : Expr
            An expression of the same fusion.

        Returns
        -------
        bool
            True if also the types and axes of their results are the same.
        """

    def predicate(self) -> Val:
        """
        The condition under which a kernel statement runs; None if it always does.
        """

class Split(Expr):
    """
    One axis in two. With inner_split: outer = ceilDiv(in, factor), inner = factor; without: outer = factor, inner = ceilDiv(in, factor). Index: in = outer * inner_extent + inner.
    """

    def outer(self) -> IterDomain:
        """Slower part."""

    def inner(self) -> IterDomain:
        """Faster part."""

    @property
    def factor(self) -> Val:
        """Extent of the constant part (elements)."""

    @property
    def inner_split(self) -> bool:
        """Whether `factor` is the inner extent."""

class Merge(Expr):
    """
    Two axes into one of their product. Index: out = outer * inner_extent + inner.
    """

    @property
    def out(self) -> IterDomain:
        """The product."""

    def outer(self) -> IterDomain:
        """Varies slower."""

    def inner(self) -> IterDomain:
        """Varies faster."""

class Swizzle(Expr):
    """
    Permute the positions of a square of two axes. XOR: out_x = x, out_y = x ^ y; CyclicShift: out_y = (x + y) mod extent.
    """

    @property
    def out_x(self) -> IterDomain:
        """First axis after the swizzle."""

    @property
    def out_y(self) -> IterDomain:
        """Second axis after the swizzle."""

    @property
    def in_x(self) -> IterDomain:
        """First axis; passes through."""

    @property
    def in_y(self) -> IterDomain:
        """Second axis; is permuted."""

    @property
    def swizzle_type(self) -> SwizzleType:
        """The permutation."""

class Swizzle1D(Expr):
    """Rotate an axis by the index of a device dimension."""

    @property
    def out(self) -> IterDomain:
        """The rotated axis."""

    @property
    def parallel_type(self) -> ParallelType:
        """Device dimension to rotate by."""

class Resize(Expr):
    """
    Grow (positive) or crop (negative) an axis at both ends. Index: out = in + left.
    """

    @property
    def out(self) -> IterDomain:
        """The resized axis."""

    @property
    def left(self) -> Val:
        """Elements added before the first."""

    @property
    def right(self) -> Val:
        """Elements added after the last."""

class UnaryOp(Expr):
    """out = op(arg)."""

    @property
    def out(self) -> Val:
        """Result."""

    @property
    def arg(self) -> Val:
        """Operand."""

    @property
    def op(self) -> UnaryOpType:
        """Operation."""

class BinaryOp(Expr):
    """out = op(lhs, rhs)."""

    @property
    def out(self) -> Val:
        """Result."""

    @property
    def lhs(self) -> Val:
        """Left operand."""

    @property
    def rhs(self) -> Val:
        """Right operand."""

    @property
    def op(self) -> BinaryOpType:
        """Operation."""

class TernaryOp(Expr):
    """out = op(in1, in2, in3)."""

    @property
    def out(self) -> Val:
        """Result."""

    @property
    def in1(self) -> Val:
        """First operand."""

    @property
    def in2(self) -> Val:
        """Second operand."""

    @property
    def in3(self) -> Val:
        """Third operand."""

    @property
    def op(self) -> TernaryOpType:
        """Operation."""

class LoadStoreOp(Expr):
    """
    Copy a value, possibly permuting dimensions (then out has a root domain) or moving it between memories.
    """

    @property
    def out(self) -> Val:
        """Copy."""

    @property
    def arg(self) -> Val:
        """Source."""

    @property
    def op(self) -> LoadStoreOpType:
        """How it is moved."""

    @property
    def cache_op(self) -> CacheOp:
        """Cache hint of the load."""

class BroadcastOp(Expr):
    """Add dimensions of size one."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

    @property
    def flags(self) -> list[bool]:
        """Per dimension of the result: whether it is new."""

class SqueezeOp(Expr):
    """Remove dimensions of size one."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

    @property
    def flags(self) -> list[bool]:
        """Per dimension of the operand: whether it is removed."""

    @property
    def squeeze_expanded(self) -> bool:
        """Whether a removed dimension may be one that repeats its element."""

class ExpandOp(Expr):
    """Give dimensions of size one a larger size without copying."""

    @property
    def out(self) -> TensorView:
        """Result; expanded dimensions have an expanded extent."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

    @property
    def extents(self) -> list[Val]:
        """Size of every dimension of the result."""

class ReshapeOp(Expr):
    """
    The elements in row-major order under a new shape. Merges and splits lead from the root domain of the result to its logical domain.
    """

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

class ReductionOp(Expr):
    """Combine the elements of arg along the reduction axes of out."""

    @property
    def out(self) -> Val:
        """Result; reduced axes are reduction axes of its domain."""

    @property
    def arg(self) -> Val:
        """Operand."""

    @property
    def init(self) -> Val:
        """Identity of op."""

    @property
    def op(self) -> BinaryOpType:
        """Associative and commutative combiner."""

    @property
    def allreduce(self) -> bool:
        """
        Whether every thread of the reduction gets the result. Set by lowering.
        """

    @property
    def serial_grid(self) -> bool:
        """Whether blocks combine into one accumulator, one after the other."""

    def request_serial_grid_reduction(self) -> None:
        """
        Let the blocks of a reduction over the grid take turns.

        Each block combines its result into one accumulator, in the order of blocks, and the last one has
        the whole. This takes less memory than one partial result for each block, which the last to arrive
        combines; both orders are fixed, so both results are the same in every run.
        """

class WelfordOp(Expr):
    """
    Mean, sum of squared deviations and count in one pass. Merging (a, A, n) and (b, B, m): N = n + m, d = b - a gives (a + d*m/N, A + B + d*d*n*m/N, N). Chan, Golub and LeVeque 1979.
    """

    @property
    def out_avg(self) -> Val:
        """Mean."""

    @property
    def out_var(self) -> Val:
        """Sum of squared deviations from the mean."""

    @property
    def out_n(self) -> Val:
        """Number of elements, dtype Index."""

    @property
    def in_avg(self) -> Val:
        """Elements, or means of partial results."""

    @property
    def in_var(self) -> Val:
        """Constant 0, or deviations of partial results."""

    @property
    def in_n(self) -> Val:
        """Constant 1, or counts of partial results."""

    @property
    def init_avg(self) -> Val:
        """Initial mean."""

    @property
    def init_var(self) -> Val:
        """Initial sum of squared deviations."""

    @property
    def init_n(self) -> Val:
        """Initial count."""

    @property
    def allreduce(self) -> bool:
        """
        Whether every thread of the reduction gets the result. Set by lowering.
        """

class GroupedReductionOp(Expr):
    """Reductions of one shape that share their barriers."""

    @property
    def outs(self) -> list[Val]:
        """Results."""

    @property
    def args(self) -> list[Val]:
        """Operands."""

    @property
    def inits(self) -> list[Val]:
        """Identity of each op."""

    @property
    def ops(self) -> list[BinaryOpType]:
        """Combiner of each."""

    @property
    def allreduce(self) -> bool:
        """
        Whether every thread of the reduction gets the results. Set by lowering.
        """

class FullOp(Expr):
    """Every element is fill_value."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def shape(self) -> list[Val]:
        """Size of every dimension."""

    @property
    def fill_value(self) -> Val:
        """The element."""

class IotaOp(Expr):
    """out[i] = start + i * step."""

    @property
    def out(self) -> TensorView:
        """Result, one dimension."""

    @property
    def length(self) -> Val:
        """Number of elements."""

    @property
    def start(self) -> Val:
        """First element."""

    @property
    def step(self) -> Val:
        """Difference of neighbours, not zero."""

class EyeOp(Expr):
    """One on the diagonal, zero elsewhere."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def rows(self) -> Val:
        """Number of rows."""

    @property
    def columns(self) -> Val:
        """Number of columns."""

class TensorConstruct(Expr):
    """A tensor of given scalars."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def elements(self) -> list[Val]:
        """The elements in row-major order."""

class RNGOp(Expr):
    """
    Random elements. Four 32-bit results of one counter serve four neighbours (two of 64 bits).
    """

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def shape(self) -> list[Val]:
        """Size of every dimension."""

    @property
    def parameters(self) -> list[Val]:
        """
        [low, high] of UniformRange, [mean, standard deviation] of NormalGeneral.
        """

    @property
    def seed(self) -> Val:
        """
        Seed; None: the framework's generator gives seed and offset at each run.
        """

    @property
    def offset(self) -> Val:
        """Offset into the stream of the seed, or None."""

    @property
    def op(self) -> RNGOpType:
        """Distribution."""

    @property
    def stream(self) -> int:
        """
        Which of the fusion's random tensors with implicit seed this is; each takes its own part of the stream.
        """

class SelectOp(Expr):
    """
    The slice of arg at one position of a dimension, without that dimension.
    """

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

    @property
    def index(self) -> Val:
        """
        The position: an integer scalar, or a tensor of no dimensions. Not negative.
        """

    @property
    def dim(self) -> int:
        """Dimension of arg."""

class IndexSelectOp(Expr):
    """out[.., i, ..] = arg[.., index[i], ..]."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Where elements are looked up."""

    @property
    def index(self) -> TensorView:
        """
        Integers in [0, extent of dim): as many dimensions as arg, all but dim broadcasts.
        """

    @property
    def dim(self) -> int:
        """Dimension of arg that is looked up."""

class GatherOp(Expr):
    """
    out[i, j] = arg[index[i, j], j], for dim 0: the shape of the result is that of index.
    """

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Where elements are looked up."""

    @property
    def index(self) -> TensorView:
        """Integers in [0, extent of dim), of the rank of arg."""

    @property
    def dim(self) -> int:
        """Dimension of arg that is looked up."""

    @property
    def exact_sizes(self) -> bool:
        """
        Whether all other dimensions of index have the extents of arg. Otherwise they may be smaller.
        """

class ScatterOp(Expr):
    """
    A copy of arg in which out[index[i, j], j] = src[i, j], for dim 0. With accumulate the element is combined with what was there; without, which of several writers of an element wins is not defined.
    """

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Elements that index leaves alone."""

    @property
    def index(self) -> TensorView:
        """Integers in [0, extent of dim)."""

    @property
    def src(self) -> Val:
        """Elements to write: a tensor of the rank of index, or a scalar."""

    @property
    def dim(self) -> int:
        """Dimension of arg that is addressed."""

    @property
    def exact_sizes(self) -> bool:
        """Whether all other dimensions of index have the extents of arg."""

    @property
    def accumulate(self) -> bool:
        """Whether elements are combined."""

    @property
    def accumulate_op(self) -> BinaryOpType:
        """The combiner; has no meaning without accumulate."""

class IndexPutAccumulateOp(Expr):
    """A copy of arg with value[i, ..] added to row index[i]."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """The tensor that is added to, [rows, ..]."""

    @property
    def index(self) -> TensorView:
        """Row numbers, [n] or [n, 1]."""

    @property
    def value(self) -> TensorView:
        """Addends, [n, ..]."""

class EmbeddingFwdOp(Expr):
    """Rows of weight: out[.., :] = weight[arg[..], :]."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Row numbers."""

    @property
    def weight(self) -> TensorView:
        """The table, [rows, columns]."""

    @property
    def norm_type(self) -> Val:
        """The p of the norm that max_norm bounds."""

    @property
    def scale_grad_by_freq(self) -> Val:
        """For the backward pass only."""

    @property
    def sparse(self) -> Val:
        """For the backward pass only."""

    @property
    def padding_idx(self) -> Val:
        """Row that gets no gradient; None: no row."""

    @property
    def max_norm(self) -> Val:
        """Rows of a larger norm are scaled down to it; None: none are."""

class SliceOp(Expr):
    """The elements with start <= position < stop in each dimension."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

    @property
    def starts(self) -> list[Val]:
        """First position in each dimension, in [0, extent]."""

    @property
    def stops(self) -> list[Val]:
        """Position behind the last, in [start, extent]."""

    @property
    def steps(self) -> list[Val]:
        """Distance of the positions taken; 1."""

class PadOp(Expr):
    """arg surrounded by a value. A negative width cuts off."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

    @property
    def value(self) -> Val:
        """The element outside of arg."""

    @property
    def widths(self) -> list[Val]:
        """Left and right of each dimension, the outermost first."""

class CatOp(Expr):
    """
    Operands behind each other along dim. Each is padded to the extent of the result, so that position i of the result is position i of the one operand whose range holds it; the padding is never read.
    """

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def args(self) -> list[TensorView]:
        """Results of PadOp, all of one shape."""

    @property
    def dim(self) -> int:
        """Dimension along which they lie."""

class RepeatOp(Expr):
    """arg several times along its dimensions."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

    @property
    def repeats(self) -> list[int]:
        """Per dimension: how often it is repeated."""

class ViewAsScalar(Expr):
    """
    Pairs of numbers as complex numbers' parts: the last dimension of the result is a vector of the components of one element.
    """

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Operand of a complex type."""

    @property
    def vector_id(self) -> IterDomain:
        """Dimension of the components."""

class ScanOp(Expr):
    """out[i] = op(init, arg[0], .., arg[i]) along dim."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

    @property
    def init(self) -> Val:
        """Identity of op, or the value that everything is combined with."""

    @property
    def op(self) -> BinaryOpType:
        """Associative combiner."""

    @property
    def dim(self) -> int:
        """Dimension along which is combined."""

class TopKOp(Expr):
    """
    The k largest (or smallest) elements along a dimension, and where they were.
    """

    @property
    def values(self) -> TensorView:
        """The elements. A Resize leads from the extent of arg to k."""

    @property
    def indices(self) -> TensorView:
        """Their positions in arg, dtype Int."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

    @property
    def k(self) -> Val:
        """How many."""

    @property
    def dim(self) -> int:
        """Dimension."""

    @property
    def largest(self) -> bool:
        """Whether the largest are taken."""

    @property
    def sorted(self) -> bool:
        """Whether they come in order; if not, the order is not defined."""

class ArgsortOp(Expr):
    """The positions that bring arg into order along a dimension."""

    @property
    def out(self) -> TensorView:
        """Positions in arg, dtype Int."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

    @property
    def dim(self) -> int:
        """Dimension."""

    @property
    def descending(self) -> bool:
        """Whether the largest comes first."""

    @property
    def stable(self) -> bool:
        """Whether equal elements keep their order."""

class MmaOp(Expr):
    """
    Sum over products: out = sum(a * b) over the reduction axes of out, in the precision of out. With scales, sum((a * a_scale) * (b * b_scale)).
    """

    @property
    def out(self) -> Val:
        """Result; the summed axes are reduction axes of its domain."""

    @property
    def a(self) -> Val:
        """First factor."""

    @property
    def b(self) -> Val:
        """Second factor, of the shape of a."""

    @property
    def a_scale(self) -> Val:
        """
        Scales of the first factor, one for each block of the innermost summed axis, or None.
        """

    @property
    def b_scale(self) -> Val:
        """Scales of the second factor, or None."""

    @property
    def init(self) -> Val:
        """Where the sum starts: 0."""

    @property
    def macro(self) -> int:
        """Encoded instruction of the tensor core; 0: none."""

class MatmulOp(Expr):
    """
    [.., M, K] times [.., K, N] is [.., M, N]; operands of one dimension are vectors, leading dimensions are broadcast together.
    """

    @property
    def out(self) -> TensorView:
        """
        Result; its last logical axis is the reduction over K, unless K is a broadcast.
        """

    @property
    def a(self) -> TensorView:
        """[.., M, K] or [K]."""

    @property
    def b(self) -> TensorView:
        """[.., K, N] or [K]."""

class LinearOp(Expr):
    """a times the transpose of b, plus bias."""

    @property
    def out(self) -> TensorView:
        """[*_w, *_i, N] and the reduction over K."""

    @property
    def a(self) -> TensorView:
        """[*_i, K]."""

    @property
    def b(self) -> TensorView:
        """[*_w, N, K]."""

    @property
    def bias(self) -> TensorView:
        """[*_w, N], or None."""

class GroupedMmaOp(Expr):
    """
    A matmul for each group, whose rows (or columns) are given by offsets, with optional scales and epilogue.
    """

    @property
    def out(self) -> TensorView:
        """[g, m, n] or [m, n] and the reduction over K."""

    @property
    def out_block_scale(self) -> TensorView:
        """Scales of the result's blocks, or None."""

    @property
    def out_gamma(self) -> TensorView:
        """Scale of the result, or None."""

    @property
    def mat1(self) -> TensorView:
        """First factor, 2-D or 3-D."""

    @property
    def mat2(self) -> TensorView:
        """Second factor, 2-D or 3-D."""

    @property
    def offsets(self) -> TensorView:
        """[g]: where each group ends."""

    @property
    def scale1(self) -> TensorView:
        """Block scales of mat1, or None."""

    @property
    def scale2(self) -> TensorView:
        """Block scales of mat2, or None."""

    @property
    def alpha(self) -> TensorView:
        """Factor of the product for each group, or None."""

    @property
    def bias(self) -> TensorView:
        """Addend, or None."""

    @property
    def beta(self) -> TensorView:
        """Factor of the addend for each group, or None."""

class ScaledMmaOp(Expr):
    """A matmul of quantized factors with a scale for each block."""

    @property
    def out(self) -> TensorView:
        """[m, n] and the reduction over K."""

    @property
    def out_block_scale(self) -> TensorView:
        """Scales of the result's blocks, or None."""

    @property
    def out_gamma(self) -> TensorView:
        """Scale of the result, or None."""

    @property
    def mat1(self) -> TensorView:
        """[m, k]."""

    @property
    def mat2(self) -> TensorView:
        """[k, n]."""

    @property
    def scale1(self) -> TensorView:
        """Block scales of mat1."""

    @property
    def scale2(self) -> TensorView:
        """Block scales of mat2."""

    @property
    def alpha(self) -> TensorView:
        """Factor of the product, or None."""

    @property
    def bias(self) -> TensorView:
        """Addend, or None."""

    @property
    def beta(self) -> TensorView:
        """Factor of the addend, or None."""

class CutlassNvfp4GroupedMmaOp(Expr):
    """
    A matmul of fp4 factors for each group, with e4m3 scales for blocks of 16.
    """

    @property
    def out(self) -> TensorView:
        """[m, n] and the reduction over K."""

    @property
    def mat1(self) -> TensorView:
        """[m, k], packed pairs."""

    @property
    def mat2(self) -> TensorView:
        """[g, n, k], packed pairs."""

    @property
    def scale1(self) -> TensorView:
        """Block scales of mat1."""

    @property
    def scale2(self) -> TensorView:
        """Block scales of mat2."""

    @property
    def alpha(self) -> TensorView:
        """[g]: factor of the product."""

    @property
    def problem_sizes(self) -> TensorView:
        """[g, 3]: m, n, k of each group."""

    @property
    def expert_offsets(self) -> TensorView:
        """[g]: first row of each group."""

    @property
    def sf_offsets(self) -> TensorView:
        """[g]: first row of each group's scales."""

class SdpaFwdOp(Expr):
    """
    softmax(query key^T * scale + bias) value, with dropout. Dao et al. 2022.
    """

    @property
    def out(self) -> TensorView:
        """[N.., H, L, Ev]."""

    @property
    def logsumexp(self) -> TensorView:
        """[N.., H, L]: log of the sum of exponentials, Float."""

    @property
    def philox_seed(self) -> TensorView:
        """[2], UInt64."""

    @property
    def philox_offset(self) -> TensorView:
        """UInt64."""

    @property
    def query(self) -> TensorView:
        """[N.., H, L, E]."""

    @property
    def key(self) -> TensorView:
        """[N.., H, S, E]."""

    @property
    def value(self) -> TensorView:
        """[N.., H, S, Ev]."""

    @property
    def dropout_p(self) -> Val:
        """Probability that a weight is dropped."""

    @property
    def is_causal(self) -> Val:
        """Whether row i sees columns up to i only."""

    @property
    def scale(self) -> Val:
        """Factor of the products; None: 1 / sqrt(E)."""

    @property
    def bias(self) -> TensorView:
        """Added to the products, or None."""

    @property
    def mask(self) -> TensorView:
        """False where a product has no part, or None."""

class SdpaBwdOp(Expr):
    """Gradients of SdpaFwdOp."""

    @property
    def grad_query(self) -> TensorView:
        """Shape of query."""

    @property
    def grad_key(self) -> TensorView:
        """Shape of key."""

    @property
    def grad_value(self) -> TensorView:
        """Shape of value."""

    @property
    def grad_output(self) -> TensorView:
        """[N.., H, L, Ev]."""

    @property
    def query(self) -> TensorView:
        """[N.., H, L, E]."""

    @property
    def key(self) -> TensorView:
        """[N.., H, S, E]."""

    @property
    def value(self) -> TensorView:
        """[N.., H, S, Ev]."""

    @property
    def out(self) -> TensorView:
        """The one of the forward pass."""

    @property
    def logsumexp(self) -> TensorView:
        """The one of the forward pass."""

    @property
    def dropout_p(self) -> Val:
        """The one of the forward pass."""

    @property
    def is_causal(self) -> Val:
        """The one of the forward pass."""

    @property
    def philox_seed(self) -> TensorView:
        """The one of the forward pass."""

    @property
    def philox_offset(self) -> TensorView:
        """The one of the forward pass."""

    @property
    def scale(self) -> Val:
        """The one of the forward pass."""

class BlockQuantizationOp(Expr):
    """
    Quantize blocks of neighbours with a scale each: quantized = arg / scale.
    """

    @property
    def quantized(self) -> TensorView:
        """Shape of arg, fp4 or fp8."""

    @property
    def block_scales(self) -> TensorView:
        """One scale for each block."""

    @property
    def arg(self) -> TensorView:
        """Operand."""

    @property
    def global_scale(self) -> TensorView:
        """Scale of the whole tensor, or None."""

    @property
    def block_size(self) -> int:
        """Elements of a block."""

    @property
    def swizzled(self) -> bool:
        """Whether the scales lie in blocks of 128 x 4."""

class GroupedBlockQuantizationOp(Expr):
    """
    BlockQuantizationOp for groups of rows; the scales of each group lie padded and swizzled in blocks of 128 x 4.
    """

    @property
    def quantized(self) -> TensorView:
        """Shape of arg, fp4 or fp8."""

    @property
    def block_scales(self) -> TensorView:
        """One scale for each block."""

    @property
    def arg(self) -> TensorView:
        """[rows, columns]."""

    @property
    def input_offsets(self) -> TensorView:
        """[g]: first row of each group."""

    @property
    def output_offsets(self) -> TensorView:
        """[g]: first row of each group's scales."""

    @property
    def k(self) -> Val:
        """Columns of scales."""

    @property
    def num_groups(self) -> Val:
        """g."""

    @property
    def global_scale(self) -> TensorView:
        """Scale of the whole tensor, or None."""

    @property
    def block_size(self) -> int:
        """Elements of a block."""

class PreprocessGroupedMatmulInputSf(Expr):
    """Scales of groups, padded and swizzled in blocks of 128 x 4."""

    @property
    def out(self) -> TensorView:
        """Result."""

    @property
    def arg(self) -> TensorView:
        """[rows, columns]."""

    @property
    def input_offsets(self) -> TensorView:
        """[g]: first row of each group."""

    @property
    def output_offsets(self) -> TensorView:
        """[g]: first row of each group in the result."""

    @property
    def k(self) -> Val:
        """Columns of scales."""

    @property
    def num_groups(self) -> Val:
        """g."""

class WaitForPriorGridOp(Expr):
    """
    A copy of the first operand, which the grid before this one in the stream may have written. The kernel may begin while that grid runs; it waits until it has ended before it touches global memory, but for reads that the other operands are computed from.
    """

    @property
    def out(self) -> TensorView:
        """Copy of the first operand."""

    @property
    def ins(self) -> list[TensorView]:
        """
        The tensor that is copied, then tensors that are older than the prior grid: they may be loaded before the wait.
        """

class LaunchDependentGridOp(Expr):
    """
    A copy of the first operand. When all blocks have computed the copy and the other operands, a grid that waits for this one may begin.
    """

    @property
    def out(self) -> TensorView:
        """Copy of the first operand."""

    @property
    def ins(self) -> list[TensorView]:
        """
        The tensor that is copied, then tensors that are computed before as well.
        """

class ForLoop(Expr):
    """
    Run body for index = start, start + 1, ... while index < stop. A loop over an axis bound to a hardware index has that index as `index` and runs once per thread: it prints nothing but its body.
    """

    @property
    def index(self) -> Val:
        """Loop variable, or the hardware index."""

    @property
    def iter_domain(self) -> IterDomain:
        """The axis the loop runs over (after promotion)."""

    @property
    def start(self) -> Val:
        """First index."""

    @property
    def stop(self) -> Val:
        """End, exclusive."""

    @property
    def loop_kind(self) -> LoopKind:
        """
        How the body is repeated: one iteration after the other (Serial), also with its conditions tested once before it (Unswitched), written out because it was asked for or addresses registers (Unrolled, Grouped); or not repeated by this thread: the body is one vector access of `stop` lanes (Vector), or each thread has an index (Hardware).
        """

    @property
    def body(self) -> list[Expr]:
        """Statements."""

    @property
    def circular_buffer_stage(self) -> CircularBufferLoopStage:
        """
        Part of a loop that loads ahead: first loads (Prolog), iterations (Main), last iterations without loads (Epilog).
        """

    @property
    def circular_buffer_depth(self) -> int:
        """Number of stages of its circular buffers; 0: it has none."""

    @property
    def unroll_count(self) -> int:
        """
        Iterations that stand one after the other in the code; 0: as the compiler likes.
        """

class IfThenElse(Expr):
    """Run then_body if condition holds, else_body otherwise."""

    @property
    def condition(self) -> Val:
        """Bool."""

    @property
    def then_body(self) -> list[Expr]:
        """Statements."""

    @property
    def else_body(self) -> list[Expr]:
        """Statements."""

class Allocate(Expr):
    """
    Storage of a tensor: a register array (Local), a part of the block's dynamic shared memory (Shared), or a buffer the host allocates (Global).
    """

    @property
    def buffer(self) -> TensorView:
        """The tensor."""

    @property
    def memory_type(self) -> MemoryType:
        """Where."""

    @property
    def size(self) -> Val:
        """Number of elements."""

    @property
    def address(self) -> Val:
        """Byte offset in shared memory; nullptr before it is assigned."""

    @property
    def is_spilled(self) -> bool:
        """Local: too large for registers. It lies in the thread's local memory."""

class BlockSync(Expr):
    """
    Wait until every thread of the block is here; shared and global writes before it are visible after it.
    """

    @property
    def war_sync(self) -> bool:
        """Keeps a later write from overtaking an earlier read."""

class AsyncCommit(Expr):
    """
    The asynchronous copies that this thread began since the last commit, if any, are a group.
    """

    @property
    def async_op(self) -> LoadStoreOpType:
        """Kind of the copies."""

class AsyncWait(Expr):
    """
    Wait until all groups of this thread's asynchronous copies but the youngest have arrived. Elements that other threads copied are there only after a barrier as well.
    """

    @property
    def async_op(self) -> LoadStoreOpType:
        """Kind of the copies."""

    @property
    def keep_stages(self) -> int:
        """Number of youngest groups that need not have arrived."""

class GridSync(Expr):
    """Wait until every block of the grid is here. The kernel is cooperative."""

    @property
    def sync_dims(self) -> list[int]:
        """Grid dimensions that take part (0 x, 1 y, 2 z)."""

    @property
    def sync_buffer(self) -> TensorView:
        """Counters in zero-filled global memory; nullptr on a target without."""

class BlockReduction(Expr):
    """
    Combine values (or a Welford triple) over threads of a block with one set of barriers; see the top of this file. out = combine(out, over threads: predicate ? in : init).
    """

    @property
    def outs(self) -> list[Val]:
        """Accumulators: one per reduction, or (avg, var, n)."""

    @property
    def ins(self) -> list[Val]:
        """Values of this thread, as many."""

    @property
    def inits(self) -> list[Val]:
        """Identities, as many."""

    @property
    def ops(self) -> list[BinaryOpType]:
        """Combiner of each value; empty for triples."""

    @property
    def is_welford(self) -> bool:
        """Combine triples."""

    @property
    def reduced_dims(self) -> list[int]:
        """Thread dimensions that are reduced (0 x, 1 y, 2 z)."""

    @property
    def is_warp(self) -> bool:
        """
        All reduced threads are the lanes of one dimension x, blockDim.x is a multiple of 32 and nothing else is reduced: use shuffles.
        """

    @property
    def read_predicate(self) -> Val:
        """Whether this thread contributes; nullptr: yes."""

    @property
    def workspace_offset(self) -> Val:
        """Byte offset of its scratch in shared memory. Set by memory planning."""

class BlockScan(Expr):
    """
    Scan values over the threads along one dimension. In each thread: prefix = combine(carry, values of the threads before it); then in all: carry = combine(carry, values of all).
    """

    @property
    def prefix(self) -> Val:
        """The values before this thread's, combined. May be where the value is."""

    @property
    def carry(self) -> Val:
        """
        The values before the first thread's, then up to the last one's, combined; equal in all threads along the dimension.
        """

    @property
    def value(self) -> Val:
        """This thread's; an identity if it has none."""

    @property
    def op(self) -> BinaryOpType:
        """Associative combiner."""

    @property
    def scanned_dim(self) -> int:
        """Thread dimension (0 x, 1 y, 2 z)."""

    @property
    def workspace_offset(self) -> Val:
        """Byte offset of its scratch in shared memory. Set by memory planning."""

class GridReduction(Expr):
    """
    Combine values (or a Welford triple) over blocks; see the top of this file.
    """

    @property
    def outs(self) -> list[Val]:
        """Accumulators: one per reduction, or (avg, var, n)."""

    @property
    def ins(self) -> list[Val]:
        """Values of this thread, as many."""

    @property
    def inits(self) -> list[Val]:
        """Identities, as many."""

    @property
    def ops(self) -> list[BinaryOpType]:
        """Combiner of each value; empty for triples."""

    @property
    def is_welford(self) -> bool:
        """Combine triples."""

    @property
    def reduced_dims(self) -> list[int]:
        """Grid dimensions that are reduced (0 x, 1 y, 2 z)."""

    @property
    def reduced_thread_dims(self) -> list[int]:
        """
        Thread dimensions over which the input is uniform after the block's own reduction.
        """

    @property
    def allreduce(self) -> bool:
        """Whether every block gets the result."""

    @property
    def is_serial(self) -> bool:
        """
        Whether blocks combine into one partial result, in turns that BlockSerializeWait and BlockSerializeRelease around the statement give them.
        """

    @property
    def is_last(self) -> Val:
        """
        Bool Val defined by this statement without allreduce: whether this block has the result.
        """

    @property
    def read_predicate(self) -> Val:
        """Whether this thread contributes; nullptr: yes."""

    @property
    def entrance(self) -> Val:
        """Number of the entry, when it stands in serial loops; nullptr: 0."""

    @property
    def entrances(self) -> Val:
        """Number of entries in all."""

    @property
    def work_buffers(self) -> list[TensorView]:
        """Global memory for partial results, one per value."""

    @property
    def sync_buffer(self) -> TensorView:
        """Zero-filled counters."""

class BlockSerializeWait(Expr):
    """
    Wait for this block's turn among those that differ in sync_dims. Turns are in the order of blocks; every thread of the block comes here.
    """

    @property
    def sync_dims(self) -> list[int]:
        """Grid dimensions that take turns (0 x, 1 y, 2 z)."""

    @property
    def sync_buffer(self) -> TensorView:
        """
        The block whose turn it is, one per segment, in zero-filled global memory.
        """

class BlockSerializeRelease(Expr):
    """
    Make what this block wrote visible and let the next block have its turn; the last block resets the buffer.
    """

    @property
    def sync_dims(self) -> list[int]:
        """As of the BlockSerializeWait."""

    @property
    def sync_buffer(self) -> TensorView:
        """As of the BlockSerializeWait."""

class RandomElement(Expr):
    """
    One random number: result `lane` of the four (of 64 bits: two) that Philox makes of a counter. The same operands give the same number, wherever and however often it is computed.
    """

    @property
    def out(self) -> Val:
        """Result."""

    @property
    def seed(self) -> Val:
        """Key of the stream, 64 bits."""

    @property
    def offset(self) -> Val:
        """Low 64 bits of the counter."""

    @property
    def counter(self) -> Val:
        """
        High 64 bits: the element's position in the logical shape over the lanes.
        """

    @property
    def lane(self) -> Val:
        """The rest of that division."""

    @property
    def parameters(self) -> list[Val]:
        """As of the RNGOp."""

    @property
    def op(self) -> RNGOpType:
        """Distribution."""

class ChosenElement(Expr):
    """
    out = values[k] for the first k whose condition holds, the last value if none does. Only that value is read: the others may lie outside of their tensors.
    """

    @property
    def out(self) -> Val:
        """Element of the result."""

    @property
    def conditions(self) -> list[Val]:
        """Bool, one less than values."""

    @property
    def values(self) -> list[Val]:
        """Elements, or scalars of out's type."""

class ThreadLoop(Expr):
    """
    CPU target: run body for every thread of the block. Stands around a region that needs no other thread.
    """

    @property
    def body(self) -> list[Expr]:
        """Statements."""

class BlockLoop(Expr):
    """
    CPU target: run body for every block of the grid (or every cluster, if blocks form them), in parallel: none depends on another. One phase of the kernel.
    """

    @property
    def body(self) -> list[Expr]:
        """Statements."""

class ClusterSync(Expr):
    """
    Wait until every block of the cluster is here; writes to the shared memory of any of them before it are visible after it.
    """

class ClusterReduction(Expr):
    """
    Combine values (or a Welford triple) over threads of a block and over the blocks of its cluster; see the top of this file. out = combine(out, over blocks and threads: predicate ? in : init), the same in every block.
    """

    @property
    def outs(self) -> list[Val]:
        """Accumulators: one per reduction, or (avg, var, n)."""

    @property
    def ins(self) -> list[Val]:
        """Values of this thread, as many."""

    @property
    def inits(self) -> list[Val]:
        """Identities, as many."""

    @property
    def ops(self) -> list[BinaryOpType]:
        """Combiner of each value; empty for triples."""

    @property
    def is_welford(self) -> bool:
        """Combine triples."""

    @property
    def reduced_dims(self) -> list[int]:
        """Thread dimensions that are reduced as well (0 x, 1 y, 2 z)."""

    @property
    def read_predicate(self) -> Val:
        """Whether this thread contributes; nullptr: yes."""

    @property
    def workspace_offset(self) -> Val:
        """
        Byte offset of its scratch in the shared memory of each block; other blocks write there at any time. Set by memory planning.
        """

class ClusterLoop(Expr):
    """
    CPU target: run body for every block of a cluster, one after the other. Stands around a region that needs no other block.
    """

    @property
    def body(self) -> list[Expr]:
        """Statements."""

class BulkLoad(Expr):
    """
    Begin to copy a box of a tensor in global memory to shared memory, where it lies without gaps. Elements outside of the tensor become zeros. One thread does it; the box belongs to the group of its next AsyncCommit.
    """

    @property
    def out(self) -> Val:
        """Where the box begins in shared memory."""

    @property
    def coordinates(self) -> list[Val]:
        """
        Where the box begins in the tensor, along each of its axes; innermost first.
        """

    @property
    def tensor(self) -> TensorView:
        """The tensor in global memory."""

    @property
    def extents(self) -> list[Val]:
        """The tensor's, along each axis (elements)."""

    @property
    def strides(self) -> list[Val]:
        """The tensor's, along each axis (elements)."""

    @property
    def box(self) -> list[int]:
        """Extents of the box, along each axis (elements)."""

    @property
    def steps(self) -> list[int]:
        """
        Positions of the tensor from one element of the box to the next, along each axis.
        """

    @property
    def swizzle_bytes(self) -> int:
        """
        Width of the box (bytes) if its pieces of 16 bytes are permuted in shared memory: piece i of line n, of 128 bytes, lies where i XOR n would. 0: they are not.
        """

class BulkStore(Expr):
    """
    Begin to copy a box from shared memory to a tensor in global memory. Elements outside of the tensor are not written. One thread does it, after a FenceAsyncProxy of all writers.
    """

    @property
    def arg(self) -> Val:
        """Where the box begins in shared memory."""

    @property
    def coordinates(self) -> list[Val]:
        """
        Where the box begins in the tensor, along each of its axes; innermost first.
        """

    @property
    def tensor(self) -> TensorView:
        """The tensor in global memory."""

    @property
    def extents(self) -> list[Val]:
        """The tensor's, along each axis (elements)."""

    @property
    def strides(self) -> list[Val]:
        """The tensor's, along each axis (elements)."""

    @property
    def box(self) -> list[int]:
        """Extents of the box, along each axis (elements)."""

    @property
    def swizzle_bytes(self) -> int:
        """
        Width of the box (bytes) if its pieces of 16 bytes are permuted in shared memory: piece i of line n, of 128 bytes, lies where i XOR n would. 0: they are not.
        """

class BulkStoreWait(Expr):
    """
    Wait until the boxes that this thread began to store have been read from shared memory, or until they are in global memory.
    """

    @property
    def only_reads(self) -> bool:
        """Wait for the reads: shared memory may be written again."""

class FenceAsyncProxy(Expr):
    """
    Bulk copies that begin after a barrier see what this thread wrote to shared memory.
    """

class PriorGridWait(Expr):
    """
    Wait until the grid before this one in the stream has ended, and see what it wrote.
    """

class DependentGridLaunch(Expr):
    """
    When all blocks have come here or have ended, a grid that waits for this one may begin.
    """

class Fusion:
    """Owns a graph of statements, its inputs and its outputs."""

    def __init__(self) -> None:
        """An empty fusion."""

    def __eq__(self, other: object, /) -> bool:
        """
        Same definition: inputs, outputs, expressions, constants, domains, numbering, aliases.
        """

    def hash(self) -> int:
        """Structural hash: equal fusions have equal hashes."""

    def clone(self) -> Fusion:
        """A copy of everything, names included."""

    def version(self) -> int:
        """
        Counts edits of the definition and of its schedule: while it is the same, so is the
        kernel. Adding what no output reads is no edit.
        """

    def inputs(self) -> list[Val]:
        """Inputs in registration order."""

    def outputs(self) -> list[TensorView]:
        """Outputs in registration order, hidden ones included."""

    def parallel_index(self, type: ParallelType) -> NamedScalar:
        """
        The index of a block or a thread, for ``TensorView.resize``.

        Parameters
        ----------
        type : ParallelType
            ``grid_x``, .., ``block_z``.

        Returns
        -------
        NamedScalar
            The scalar, one for each index.

        Raises
        ------
        UserError
            If ``type`` is no hardware index.
        """

    def vals(self) -> list[Val]:
        """Every value of the fusion."""

    def exprs(self) -> list[Expr]:
        """Expressions that lead to an output, operands before results."""

    def all_exprs(self) -> list[Expr]:
        """Every expression that defines a value, in the order they were made."""

    def tensors(self) -> list[TensorView]:
        """
        Tensors that lead to an output or are inputs or outputs, in creation order.
        """

    def add_input(self, input: Val) -> None:
        """
        Register an input; a tensor becomes global memory.

        Parameters
        ----------
        input : Val
            A tensor or symbolic scalar of this fusion without definition.
        """

    @overload
    def add_output(self, output: Val) -> None:
        """
        Register an output.

        Parameters
        ----------
        output : Val
            A tensor of this fusion. The same one may be added more than once.
        """

    @overload
    def add_output(self, output: Val, alias_input: Val) -> None:
        """
        Write a result into the memory of an input.

        Parameters
        ----------
        output : Val
            The tensor to write. If it was not registered before it is not returned.
        alias_input : Val
            The input whose memory receives it.
        """

    def alias_of(self, output: Val) -> tuple[TensorView, bool] | None:
        """
        The input whose memory an output is written to.

        Returns
        -------
        tuple[TensorView, bool] or None
            The input, and whether the output is hidden (not returned to the caller).
        """

    def updates_of(self, input: Val) -> list[TensorView]:
        """
        The outputs that are written into the memory of `input`.

        Parameters
        ----------
        input : Val
            An input.

        Returns
        -------
        list[TensorView]
        """

    def print_math(self, from_outputs_only: bool = True) -> str:
        """
        The arithmetic as text.

        Parameters
        ----------
        from_outputs_only : bool
            Whether to leave out expressions that no output needs.
        """

    def print_transforms(self) -> str:
        """
        One block of text per tensor: its domains and the transforms between them.
        """

    def print_scheduled(self, tensor_transforms: bool = False) -> str:
        """
        The expressions with their schedules as text.

        Parameters
        ----------
        tensor_transforms : bool
            Whether `print_transforms` follows them.
        """

    def contains(self, statement: Statement) -> bool:
        """Whether a statement belongs to this fusion."""

    def __str__(self) -> str: ...

    def serialize(self) -> bytes:
        """
        The fusion and its schedule as bytes.

        Equal fusions (`equal_up_to_numbering`) have equal bytes, whatever their history. Numbers in names,
        lines of Python, the list of recorded steps and what no output needs are left out.

        Returns
        -------
        bytes
            What `deserialize` of the same version of the library reads.

        Raises
        ------
        UserError
            For a kernel.
        """

    @staticmethod
    def deserialize(data: bytes) -> Fusion:
        """
        The fusion that bytes say, numbered in their order.

        Parameters
        ----------
        data : bytes
            What `serialize` returned. It may come from anywhere: it is checked.

        Raises
        ------
        UserValueError
            If the bytes are damaged, were written by another version, or say no fusion that makes sense.
        """

    def digest(self) -> bytes:
        """
        A name of the fusion and its schedule for caches that outlive the process.

        Returns
        -------
        bytes
            32 bytes: those of equal fusions are equal. They change with the nodes that a version of the
            library has.
        """

    def __copy__(self) -> Fusion: ...

    def __deepcopy__(self, memo: object) -> Fusion: ...

    def __reduce__(self) -> tuple[object, ...]: ...

    def evaluate(self, inputs: Iterable[object], dtype_override: torch.dtype | None = None) -> list[torch.Tensor]:
        """
        Evaluate the fusion with PyTorch, expression by expression; inputs are only read.

        A schedule does not change the result.

        Parameters
        ----------
        inputs : iterable
            Tensors and Python numbers, in the order of ``fusion.inputs()``; a vector of scalars may be a
            list.
        dtype_override : torch.dtype, optional
            Compute all floating point in this type; for references use ``torch.float64``.

        Returns
        -------
        list[torch.Tensor]
            The visible outputs.

        Raises
        ------
        UserError
            An input does not fit: their number, a rank, or two sizes that should be one.
        NotImplementedError
            The evaluator does not know an expression.
        """

    def compile_cuda(self, index_type: DataType = DataType.Int, architecture: str = 'sm_90a', kernel_name: str = '', maxrregcount: int = 255) -> CudaTexts:
        """
        Compile a copy of the scheduled fusion for CUDA; needs NVRTC, but no GPU.

        Parameters
        ----------
        index_type : DataType
            Width of index arithmetic: Int (64 bits) or Int32.
        architecture : str
            Architecture of the machine code, ``sm_80``, ``sm_90a`` and so on; the PTX is for the virtual one
            of the same number.
        kernel_name : str
            Name of the function; a default if empty.
        maxrregcount : int
            Register cap of a thread; 0: none. Schedulers say theirs in ``params.cparams.maxrregcount``.

        Returns
        -------
        CudaTexts
            Source, PTX and machine code.

        Raises
        ------
        UserError
            If the schedule cannot be lowered.
        UserNotImplementedError
            If there is no NVRTC.
        """

    def lower(self, target: str = 'cuda', index_type: DataType = DataType.Int, record_passes: bool = False, until: str | None = None, verify: bool | None = None) -> Kernel:
        """
        Lower a copy of the scheduled fusion to kernel IR.

        Parameters
        ----------
        target : str
            ``"cuda"`` or ``"cpu"``, or the architecture of a GPU, as ``"sm_100a"``.
        index_type : DataType
            Width of index arithmetic: Int or Int32.
        record_passes : bool
            Keep the printed kernel after every pass in ``Kernel.passes``.
        until : str, optional
            Name of the last pass that runs; all run if left out. A kernel that is not lowered to its end has
            no source.
        verify : bool, optional
            Look for mistakes of the compiler after every pass, which are internal errors. Left out, the
            environment variable ``NVFUSER_VERIFY_PASSES`` decides.

        Returns
        -------
        Kernel

        Raises
        ------
        ValueError
            If there is no pass called `until`.
        UserError
            If the schedule has no kernel, or if a reshape waits for sizes of a run:
            ``concretize(fusion, find_concretization(fusion, inputs))`` is the fusion for given inputs.
        """

    def try_lower(self, target: str = 'cuda', index_type: DataType = DataType.Int) -> Kernel | Refusal:
        """
        Lower a copy of the scheduled fusion, or find out why it has no kernel.

        Parameters
        ----------
        target : str
            ``"cuda"`` or ``"cpu"``, or the architecture of a GPU, as ``"sm_100a"``.
        index_type : DataType
            Width of index arithmetic: Int or Int32.

        Returns
        -------
        Kernel or Refusal
            What `lower` returns, or what it would raise as a value.
        """

    def print_kernel(self, compile_params: CompileParams = ..., target: str = 'cuda', comments: bool = True) -> str:
        """
        The source of the kernel that the scheduled fusion becomes.

        Parameters
        ----------
        compile_params : CompileParams
            Its index type decides the width of index arithmetic.
        target : str
            ``"cuda"`` or ``"cpu"``, or the architecture of a GPU, as ``"sm_100a"``.
        comments : bool
            Name the Python line of each statement, the axis of each loop, and tensors that the fusion
            numbers otherwise. Without comments the text follows from the scheduled fusion alone: it is the
            same for the fusion that ``translate_fusion(fusion, schedule=True)`` builds.

        Returns
        -------
        str

        Raises
        ------
        UserError
            As for `lower`: if the schedule has no kernel, or if a reshape waits for sizes of a run.
        """

    def optimize(self, record_passes: bool = False, until: str | None = None, passes: Sequence[str] | None = None, verify: bool | None = None) -> OptimizedFusion:
        """
        A copy of the definition that computes the same with less.

        Parameters
        ----------
        record_passes : bool
            Keep the printed math after every pass in ``OptimizedFusion.passes``.
        until : str, optional
            Name of the last pass that runs.
        passes : list[str], optional
            Names of the passes that run, in the order of `optimization_passes`; all of them if left out.
        verify : bool, optional
            Look for mistakes of the compiler after every pass, which are internal errors. Left out, the
            environment variable ``NVFUSER_VERIFY_PASSES`` decides.

        Returns
        -------
        OptimizedFusion

        Raises
        ------
        ValueError
            If there is no pass of such a name.
        UserError
            If the fusion is scheduled already, or if its shapes wait for sizes of a run:
            ``concretize(fusion, find_concretization(fusion, inputs))`` is the fusion for given inputs.
        """

    def try_optimize(self) -> OptimizedFusion | Refusal:
        """
        A copy of the definition that computes the same with less, or why there is none.

        Returns
        -------
        OptimizedFusion or Refusal
            What `optimize` returns, or what it would raise as a value.
        """

class FusionGuard:
    """
    Makes a fusion the active one of this thread until the guard is destroyed. Not a context manager.
    """

    def __init__(self, fusion: Fusion) -> None: ...

@overload
def define_tensor(shape: Sequence[int], contiguity: Sequence[bool | None], dtype: DataType = DataType.Float, is_cpu: bool = False, stride_order: Sequence[int] = []) -> TensorView:
    """
    A tensor of the active fusion; not registered as an input.

    Parameters
    ----------
    shape : list[int]
        Size per dimension: -1 symbolic, 1 broadcast, 0 or n > 1 constant.
    contiguity : list[bool or None]
        Per dimension in allocation order (outermost stride first): whether the stride is the size of
        everything inside it; None for a broadcast, an expanded one where the size is not 1.
    dtype : DataType
        Type of the elements.
    is_cpu : bool
        A 0-dim tensor on the host, passed by value.
    stride_order : list[int]
        Rank of every dimension's stride, 0 varies fastest; empty: row-major.
    """

@overload
def define_tensor(shape: Sequence[int], contiguity: bool = False, dtype: DataType = DataType.Float, is_cpu: bool = False, stride_order: Sequence[int] = []) -> TensorView:
    """
    As above, with one flag for every dimension that has a stride.

    Parameters
    ----------
    contiguity : bool
        The flag; dimensions of size 1 get None.
    """

@overload
def define_tensor(sizes: Sequence[int], strides: Sequence[int], dtype: DataType = DataType.Float, static_sizes: bool = False, is_cpu: bool = False) -> TensorView:
    """
    A tensor like one that exists.

    Parameters
    ----------
    sizes : list[int]
        Real sizes. They become symbolic, except for 1.
    strides : list[int]
        Real strides (elements); they decide contiguity and stride order.
    dtype : DataType
        Type of the elements.
    static_sizes : bool
        Keep the sizes as constants.
    is_cpu : bool
        A 0-dim tensor on the host, passed by value.
    """

@overload
def define_tensor(ndims: int, dtype: DataType = DataType.Float, is_cpu: bool = False) -> TensorView:
    """
    A tensor with `ndims` symbolic dimensions of any stride: the form of older programs.
    """

@overload
def define_tensor(symbolic_sizes: Sequence[int], contiguous: Sequence[bool | None], dtype: DataType = DataType.Float, is_cpu: bool = False) -> TensorView: ...

@overload
def define_tensor(symbolic_sizes: Sequence[int], contiguity: Sequence[bool | None], dtype: DataType = DataType.Float, is_cpu: bool = False) -> TensorView:
    """
    The form of older programs: sizes are -1 or 1, a flag for a size of 1 is ignored.
    """

@overload
def define_scalar(dtype: DataType = DataType.Double) -> Val:
    """
    A symbolic scalar of the active fusion; not registered as an input.

    Parameters
    ----------
    dtype : DataType
        Its type.
    """

@overload
def define_scalar(value: bool | int | float | complex | None, dtype: DataType | None = None) -> Val:
    """
    A constant.

    Parameters
    ----------
    value : bool, int, float, complex or None
        The number, also as a scalar of NumPy; None makes a symbolic scalar.
    dtype : DataType, optional
        Convert to this type; otherwise bool is Bool, int Int (UInt64 from 2**63 on), float Double,
        complex ComplexDouble.

    Raises
    ------
    UserValueError
        If the type cannot hold the number: an imaginary part, NaN or an infinity as an integer, a
        number out of the range of an integer type.
    """

def compute_tensor_descriptor(sizes: Sequence[int], strides: Sequence[int]) -> tuple[list[bool | None], list[int]]:
    """
    How a tensor lies in memory.

    Parameters
    ----------
    sizes, strides : list[int]
        Of the tensor (elements).

    Returns
    -------
    contiguity : list[bool or None]
        In allocation order: whether a stride is the size of everything inside it; None for broadcasts.
    stride_order : list[int]
        Rank of every dimension's stride, 0 varies fastest.
    """

def is_floating_point(dtype: DataType) -> bool:
    """Double, Float and the types of lower precision."""

def is_low_precision(dtype: DataType) -> bool:
    """Half, BFloat16, fp8 and fp4."""

def is_integral(dtype: DataType) -> bool:
    """Every width of integers, and Index; not Bool."""

def is_unsigned(dtype: DataType) -> bool:
    """Integers without sign."""

def is_complex(dtype: DataType) -> bool:
    """ComplexFloat and ComplexDouble."""

def is_boolean(dtype: DataType) -> bool:
    """Bool."""

def size_bits(dtype: DataType) -> int:
    """Bits of an element in memory; Index counts as 64."""

def size_bytes(dtype: DataType) -> int:
    """`size_bits` in bytes, rounded up."""

def real_type_of(dtype: DataType) -> DataType:
    """
    Type of the parts of a complex type; a real type is returned unchanged.
    """

def lowest_value(dtype: DataType) -> object:
    """Smallest value of a type; minus infinity for floating point."""

def highest_value(dtype: DataType) -> object:
    """Greatest value of a type; infinity for floating point."""

def promote_pair(a: DataType, b: DataType) -> DataType:
    """
    The type that holds the values of both.

    Parameters
    ----------
    a, b : DataType
        Types.

    Raises
    ------
    UserError
        If there is none.
    """

def common_dtype(operands: Sequence[Val], widen: bool = True) -> DataType:
    """
    The type that operands meet in.

    Parameters
    ----------
    operands : list[Val]
        Tensors with dimensions are stronger than those without, these than scalars; a weaker operand
        decides only if the stronger ones lack its class of numbers.
    widen : bool
        Whether floats of low precision become Float.
    """

def same_number_class(a: DataType, b: DataType) -> bool:
    """Whether both types hold integers, floats, complex numbers, or Bool."""

def reduction_identity(op: BinaryOpType, dtype: DataType) -> object:
    """The value of an empty reduction: ``x op identity == x``."""

class Pipelined:
    """The threads that compute also load ahead."""

    def __init__(self, uses_mbarrier_for_war: bool = False) -> None: ...

    @property
    def uses_mbarrier_for_war(self) -> bool:
        """Whether readers hand a stage back through an mbarrier."""

    def __eq__(self, other: object, /) -> bool: ...

class WarpSpecialized:
    """A group of threads of its own loads."""

    def __init__(self, on: ParallelType, num_registers: tuple[int, int] | None = None, stage_slice_position: int | None = None) -> None: ...

    @property
    def on(self) -> ParallelType:
        """The thread dimension that the group is added to."""

    @property
    def num_registers(self) -> tuple[int, int] | None:
        """Registers of a loading and of a computing thread."""

    @property
    def stage_slice_position(self) -> int | None:
        """Loop axes outside of which a stage is cut in slices."""

    def __eq__(self, other: object, /) -> bool: ...

class CircularBuffering:
    """
    Iteration i of a loop reads stage ``i % stages``, and loads for iteration ``i + prefetch``.
    """

    @property
    def stages(self) -> int:
        """Copies of the tensor's storage."""

    @property
    def prefetch(self) -> int:
        """Iterations between a load and its read."""

    @property
    def type(self) -> Pipelined | WarpSpecialized:
        """Which threads load."""

    def __eq__(self, other: object, /) -> bool: ...

class ScheduleStep:
    """A scheduling primitive that was applied to a tensor."""

    @property
    def tensor(self) -> TensorView:
        """The tensor it was applied to."""

    @property
    def primitive(self) -> str:
        """Its name: "split"."""

    @property
    def arguments(self) -> dict[str, object]:
        """
        Values of all parameters by name, also of those that had their default.
        """

    @property
    def location(self) -> str:
        """The line that applied it."""

    def apply_to(self, tensor: TensorView) -> list[TensorView]:
        """
        Apply the primitive with the same arguments to a tensor of the same fusion.

        Parameters
        ----------
        tensor : TensorView
            The tensor.

        Returns
        -------
        list[TensorView]
            The tensors that it made: caches, and those that `rfactor` returns.

        Raises
        ------
        UserError
            As the primitive.
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class OperandRead(enum.Enum):
    """
    The part of the operands that one element of a result reads, from the least to the most.
    """

    none = 0
    """There are no tensors among the operands."""

    same = 1
    """The element at the same position."""

    elsewhere = 2
    """
    Elements at other positions: shifted, repeated, or given by another operand.
    """

    reduced = 3
    """All elements along some axes, combined."""

    scanned = 4
    """All elements up to the position along an axis."""

    whole = 5
    """A block, or all elements, along some axes."""

class ElementSource(enum.Enum):
    """Where the elements of a result come from."""

    created = 0
    """From scalars."""

    computed = 1
    """From elements of the operands."""

    copied = 2
    """Elements of the first operand, as they are."""

    reshaped = 3
    """The same under another shape."""

    chosen = 4
    """Elements of one of several operands."""

class ViewOf(enum.Enum):
    """
    Where a result can lie in the memory of the first operand, with other strides and another start.
    """

    nothing = 0
    """Nowhere."""

    anything = 1
    """Wherever the operand lies."""

    packed = 2
    """Where axes that become one are neighbours."""

class OpSemantics:
    """The facts that hold for all expressions of one kind."""

    @property
    def read(self) -> OperandRead:
        """The part of the operands that an element of a result reads."""

    @property
    def elements(self) -> ElementSource:
        """Where the elements of a result come from."""

    @property
    def has_like_results(self) -> bool:
        """Whether all results have the same axes. They share their loops then."""

    @property
    def overwrites_first(self) -> bool:
        """
        Whether the result begins as the first operand, and some of its elements are overwritten.
        """

    @property
    def loops_over_operands(self) -> bool:
        """
        Whether the loops run over the axes of the other operands instead of those of the result.
        """

    @property
    def view(self) -> ViewOf:
        """Whether a result can be a view of the first operand."""

    @property
    def repeats_elements(self) -> bool:
        """
        Whether a result shows an element of the first operand at several positions.
        """

    @property
    def adds_elements(self) -> bool:
        """Whether a result has elements beside those of its operands."""

    @property
    def shows_parts(self) -> bool:
        """Whether an element of a result is a part of one of the operand."""

def semantics_of(expr: Expr) -> OpSemantics:
    """The meaning of an expression of this kind."""

def operand_read(read: AxisRead) -> OperandRead:
    """The read of an axis, as it is named for a whole kind."""

def overwritten_operand(expr: Expr) -> TensorView:
    """
    The operand that the result begins as and overwrites (scatter); None if there is none.
    """

def copied_operand(expr: Expr) -> TensorView:
    """
    The operand whose elements the results are, as they are; None if there is none.
    """

def shows_first_operand(expr: Expr) -> bool:
    """
    Whether every element of a result is one of the first operand, as it is, at any position.
    """

def first_axes(tensor: TensorView) -> list[IterDomain]:
    """
    The axes that the loops of a tensor are made from: mostly its logical axes, for a scatter its positions.
    """

class AxisRead(enum.Enum):
    """
    Which positions along an axis of an operand one element of a result reads.
    """

    same = 0
    """That of the result; the only one, if the result lacks the axis."""

    leading = 1
    """That of the result, which may have fewer."""

    resized = 2
    """That of the root axis, which a Resize may lead to the logical one."""

    repeated = 3
    """That of the result, modulo the extent."""

    indexed = 4
    """The one that an element of another operand holds."""

    placed = 5
    """One, which is written where an element of another operand says."""

    reduced = 6
    """All, combined."""

    scanned = 7
    """All up to that of the result."""

    block = 8
    """Those of a block of neighbors."""

    whole = 9
    """All."""

    any = 10
    """
    Any: how elements are laid out, or which group they belong to, is data.
    """

class AxisUse:
    """The positions that one result reads along one axis of an operand."""

    @property
    def read(self) -> AxisRead:
        """Which positions are read."""

    @property
    def is_partner(self) -> bool:
        """
        Whether the axis of the result is the same axis: of one extent, or a broadcast that is resolved.
        """

    @property
    def position(self) -> int | None:
        """
        The axis of the result that `read` speaks of, among its root axes (logical axes without a root domain; for the positions of a scatter, its loops as they were made); None if there is none.
        """

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

def axes_of_use(producer: TensorView, consumer: TensorView) -> list[AxisUse]:
    """
    The positions of an operand that a result reads.

    Parameters
    ----------
    producer : TensorView
        An operand of the definition of `consumer`.
    consumer : TensorView
        Its result.

    Returns
    -------
    list[AxisUse]
        For each logical axis of `producer`, without those that it reduces. If `producer` is several
        operands, an axis has a partner where all agree, and the read that takes most.

    Raises
    ------
    UserError
        If `consumer` is not computed from `producer`.
    """

def axes_read(tensor: TensorView, read: AxisRead) -> list[IterDomain]:
    """
    Root axes of a tensor that its definition reads in a way: those it scans, for instance.
    """

class StorageKind(enum.Enum):
    """Why a tensor lies in the memory where it lies."""

    own = 0
    """The memory is its own."""

    overwritten = 1
    """The result of the one expression that reads it overwrites it."""

    update = 2
    """An output that is written into an input."""

def storage_of(tensor: TensorView) -> tuple[TensorView, StorageKind]:
    """
    In whose memory the elements of a tensor lie, and why. That tensor may lie in the memory of another in turn.
    """

def owner_of(tensor: TensorView) -> TensorView:
    """The tensor that the memory of `tensor` belongs to in the end."""

class PairwiseDomainMap:
    """
    Which logical axis of a producer is which root axis of its consumer. A snapshot.
    """

    def __init__(self, producer: TensorView, consumer: TensorView, keep_broadcasts: bool = True) -> None:
        """
        Pair the axes of two tensors.

        Parameters
        ----------
        producer : TensorView
            An operand of the definition of `consumer`.
        consumer : TensorView
            Its result.
        keep_broadcasts : bool
            Whether a broadcast and the larger axis that it meets are a pair.
        """

    def pairs(self) -> list[tuple[IterDomain, IterDomain]]:
        """
        (axis of the producer, axis of the consumer), in the order of the consumer.
        """

    def consumer_of(self, producer_axis: IterDomain) -> IterDomain:
        """The partner of an axis of the producer; None if it has none."""

    def producer_of(self, consumer_axis: IterDomain) -> IterDomain:
        """The partner of an axis of the consumer; None if it has none."""

    def producer_only(self) -> list[IterDomain]:
        """
        Axes that the consumer lacks: reduced, squeezed, or addressed by another operand.
        """

    def consumer_only(self) -> list[IterDomain]:
        """
        Axes that the producer lacks: new broadcasts, and positions of a gather.
        """

def indexed_axes(producer: TensorView, consumer: TensorView) -> list[IterDomain]:
    """Axes of a producer that the elements of another operand address."""

def tensor_inputs(expr: Expr) -> list[TensorView]:
    """The tensors among the operands of an expression, each once."""

def tensor_outputs(expr: Expr) -> list[TensorView]:
    """The tensors among its results."""

def tensor_exprs(fusion: Fusion) -> list[Expr]:
    """
    Expressions on tensors that lead to an output, operands before results.
    """

def scheduled_tensors(fusion: Fusion) -> list[TensorView]:
    """
    The tensors that these read and write, and the inputs, in the order they were made.
    """

def topo_sort(exprs: Sequence[Expr]) -> list[Expr]:
    """Expressions in an order of operands before results."""

class ExpressionEvaluator:
    """Computes scalars on the host once enough of them are known."""

    def __init__(self) -> None: ...

    @overload
    def bind(self, val: Val, value: bool | int | float | complex) -> None:
        """
        Let a scalar have a value.

        Parameters
        ----------
        val : Val
            The scalar.
        value : bool | int | float | complex
            Its value, converted to its dtype.

        Raises
        ------
        UserError
            If the scalar is known to be another value.
        """

    @overload
    def bind(self, text_name: str, value: bool | int | float | complex) -> None:
        """
        Let every scalar of a name have a value.

        Parameters
        ----------
        text_name : str
            Name of a value of the target: ``"blockDim.x"``.
        value : bool | int | float | complex
            Its value.
        """

    def evaluate(self, val: Val) -> bool | int | float | complex | None:
        """
        The value of a scalar expression.

        Parameters
        ----------
        val : Val
            The scalar.

        Returns
        -------
        bool | int | float | complex | None
            None if it depends on something unknown.
        """

class IndexSimplifier:
    """Normal forms of integer index expressions, and proofs about them."""

    def __init__(self, fusion: Fusion) -> None:
        """
        Make one per fusion: it remembers what it has simplified.

        Parameters
        ----------
        fusion : Fusion
            Owner of the expressions, and of the new ones.
        """

    def set_range(self, leaf: Val, extent: Val) -> None:
        """
        Declare 0 <= leaf < extent.

        Parameters
        ----------
        leaf : Val
            A loop index.
        extent : Val
            Number of values it takes.
        """

    def set_nonnegative(self, val: Val) -> None:
        """
        Declare val >= 0.

        Parameters
        ----------
        val : Val
            An integer.
        """

    def assume_divisible(self, a: Val, b: Val) -> None:
        """
        Declare a % b == 0.

        Parameters
        ----------
        a : Val
            An extent.
        b : Val
            What divides it, at least 1.
        """

    def simplify(self, expr: Val) -> Val:
        """
        The normal form of an integer or boolean expression.

        Parameters
        ----------
        expr : Val
            Anything; what is neither integer nor boolean is returned as it is.

        Returns
        -------
        Val
            The same Val for equal expressions.
        """

    def prove_lt(self, a: Val, b: Val) -> bool:
        """Whether a < b always holds."""

    def prove_le(self, a: Val, b: Val) -> bool:
        """Whether a <= b always holds."""

    def prove_nonnegative(self, a: Val) -> bool:
        """Whether a >= 0 always holds."""

    def prove_divisible(self, a: Val, b: Val) -> bool:
        """Whether a is always a multiple of b."""

    def prove_equal(self, a: Val, b: Val) -> bool:
        """Whether a == b always holds."""

    def max_over(self, expr: Val, over: Sequence[Val]) -> Val:
        """
        An upper bound while some indices run.

        Parameters
        ----------
        expr : Val
            An integer.
        over : list[Val]
            Indices that run over their ranges; the others stay as they are.

        Returns
        -------
        Val | None
            None if no bound is known.
        """

    def min_over(self, expr: Val, over: Sequence[Val]) -> Val:
        """
        A lower bound while some indices run.

        Parameters
        ----------
        expr : Val
            An integer.
        over : list[Val]
            Indices that run over their ranges; the others stay as they are.

        Returns
        -------
        Val | None
            None if no bound is known.
        """

class KernelCache:
    """
    Compiled kernels on disk. NVFUSER_KERNEL_CACHE=0 turns the one of this process off, NVFUSER_CACHE_DIR places it, NVFUSER_CACHE_MB bounds it.
    """

    def __init__(self, folder: str, max_bytes: int) -> None:
        """
        A cache of its own.

        Parameters
        ----------
        folder : str
            Where its files lie.
        max_bytes : int
            Bound of their size together.
        """

    @staticmethod
    def instance() -> KernelCache:
        """The cache of this process."""

    @staticmethod
    def facts() -> KernelCache:
        """
        The facts of this process, in the same folder and under the same bound.

        They say how kernels are launched, so that a process that defines what an earlier one ran lowers
        nothing. Files of machine code end with ``.kernel``, those of facts with ``.facts``.
        """

    @staticmethod
    def tuned() -> KernelCache:
        """
        The schedules that tuning found, in the same folder and under the same bound.

        A file of it, which ends with ``.tuned``, can be copied to the folder of another machine with the
        same device, driver, compiler, and build of this library.
        """

    def find(self, key: bytes) -> bytes | None:
        """The payload stored under `key`, if it is there and whole."""

    def store(self, key: bytes, payload: bytes) -> None:
        """Store a payload; failing to is not an error."""

    def path_of(self, key: bytes) -> str:
        """The file of `key`."""

    def clear(self) -> None:
        """Remove every entry."""

    def used_entries(self) -> list[bytes]:
        """
        The entries that this process found or stored, each as the bytes of its file.
        """

    def carry(self, entry: bytes) -> bool:
        """
        Find an entry in this process as if it was in the folder.

        Parameters
        ----------
        entry : bytes
            One of `used_entries`, of any process.

        Returns
        -------
        bool
            False: they are no entry.
        """

    @property
    def is_enabled(self) -> bool:
        """Whether it stores anything."""

    @property
    def distrust(self) -> str:
        """Why nothing is read from the folder and kept in it; empty if it is."""

    @property
    def folder(self) -> str:
        """Where its files lie."""

    @property
    def max_bytes(self) -> int:
        """Bound of their size together."""

    @property
    def size_bytes(self) -> int:
        """Size of all entries now."""

    def stats(self) -> dict[str, int]:
        """Counts of hits, of misses by reason, of stores and evictions."""

def clear_loaded_kernels() -> None:
    """
    Forget the machine code held by this process; kernels in use keep theirs.
    """

class CudaTexts:
    """A scheduled fusion as CUDA: source, PTX and machine code."""

    @property
    def kernel(self) -> Kernel:
        """The lowered fusion."""

    @property
    def name(self) -> str:
        """Name of the kernel function."""

    @property
    def source(self) -> str:
        """Complete source: NVRTC and nvcc compile it without any header."""

    @property
    def ptx(self) -> str:
        """PTX, a text."""

    @property
    def cubin(self) -> bytes:
        """Machine code."""

def compile_cuda_source(source: str, name: str = 'kernel', architecture: str = 'sm_90a', maxrregcount: int = 255) -> bytes:
    """
    Compile CUDA source; needs no GPU. No cache is asked, so that it can be timed.

    Parameters
    ----------
    source : str
        A complete source.
    name : str
        What errors call it.
    architecture : str
        ``sm_90a`` and the like give a cubin, ``compute_90`` and the like PTX.
    maxrregcount : int
        Register cap of a thread; 0: none.

    Returns
    -------
    bytes
        The machine code.
    """

def compile_cpu_source(source: str, name: str = 'kernel') -> bytes:
    """
    Compile C++ source with the host's compiler, as CPU kernels are.

    Parameters
    ----------
    source : str
        A complete source.
    name : str
        What errors call it.

    Returns
    -------
    bytes
        A shared object.
    """

def set_num_threads(num_threads: int) -> None:
    """
    Set how many threads run one CPU kernel.

    Parameters
    ----------
    num_threads : int
        Threads, the calling one included; at least 1.
    """

def get_num_threads() -> int:
    """Threads that run one CPU kernel."""

class LaunchParams:
    """The size of a grid and of its blocks."""

    @overload
    def __init__(self) -> None:
        """All sizes unset."""

    @overload
    def __init__(self, gdimx: int, gdimy: int, gdimz: int, bdimx: int, bdimy: int, bdimz: int) -> None:
        """
        Sizes; -1 leaves one unset.

        Parameters
        ----------
        gdimx, gdimy, gdimz : int
            Blocks of the grid.
        bdimx, bdimy, bdimz : int
            Threads of a block.
        """

    @property
    def gdimx(self) -> int:
        """Size of a hardware index; 1 if it is unset. It can be set once."""

    @gdimx.setter
    def gdimx(self, arg: int, /) -> None: ...

    @property
    def gdimy(self) -> int:
        """Size of a hardware index; 1 if it is unset. It can be set once."""

    @gdimy.setter
    def gdimy(self, arg: int, /) -> None: ...

    @property
    def gdimz(self) -> int:
        """Size of a hardware index; 1 if it is unset. It can be set once."""

    @gdimz.setter
    def gdimz(self, arg: int, /) -> None: ...

    @property
    def bdimx(self) -> int:
        """Size of a hardware index; 1 if it is unset. It can be set once."""

    @bdimx.setter
    def bdimx(self, arg: int, /) -> None: ...

    @property
    def bdimy(self) -> int:
        """Size of a hardware index; 1 if it is unset. It can be set once."""

    @bdimy.setter
    def bdimy(self, arg: int, /) -> None: ...

    @property
    def bdimz(self) -> int:
        """Size of a hardware index; 1 if it is unset. It can be set once."""

    @bdimz.setter
    def bdimz(self, arg: int, /) -> None: ...

    @property
    def cluster_size(self) -> int:
        """
        Blocks of a cluster, all of them along x; 1 if blocks form none. The kernel decides it.
        """

    def __getstate__(self) -> tuple[int, int, int, int, int, int, int, int]: ...

    def __setstate__(self, arg: tuple[int, int, int, int, int, int, int, int], /) -> None: ...

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

class CompileParams:
    """How a kernel is compiled."""

    def __init__(self, *, index_type: DataType | None = None, maxrregcount: int = 255, enable_magic_zero: bool = True, enable_ptxas_verbose: bool = False, device: object | None = None, include_paths: Sequence[str] = []) -> None:
        """
        All parameters are keywords.

        Parameters
        ----------
        index_type : DataType, optional
            Int or Int32, for index arithmetic. If not given: on a GPU the narrowest that the sizes of a
            call allow, on a processor Int.
        maxrregcount : int
            Registers of a thread, at most; 0: no cap.
        enable_magic_zero : bool
            Limit the hoisting of indices out of unrolled loops.
        enable_ptxas_verbose : bool
            Print what the assembler reports.
        device : torch.device, optional
            Device to compile for.
        include_paths : list[str]
            Further folders with headers.

        Raises
        ------
        UserValueError
            If `maxrregcount` is negative, or `device` neither CPU nor CUDA.
        """

    @property
    def index_type(self) -> DataType | None:
        """Width of index arithmetic; None: decided from sizes."""

    @index_type.setter
    def index_type(self, arg: DataType | None, /) -> None: ...

    @property
    def maxrregcount(self) -> int:
        """Registers of a thread, at most; 0: no cap."""

    @maxrregcount.setter
    def maxrregcount(self, arg: int, /) -> None: ...

    @property
    def enable_magic_zero(self) -> bool:
        """Limit the hoisting of indices out of unrolled loops."""

    @enable_magic_zero.setter
    def enable_magic_zero(self, arg: bool, /) -> None: ...

    @property
    def enable_ptxas_verbose(self) -> bool:
        """Print what the assembler reports."""

    @enable_ptxas_verbose.setter
    def enable_ptxas_verbose(self, arg: bool, /) -> None: ...

    @property
    def device(self) -> object:
        """Device to compile for; None: that of the arguments."""

    @device.setter
    def device(self, arg: object | None, /) -> None: ...

    @property
    def include_paths(self) -> list[str]:
        """Further folders with headers."""

    @include_paths.setter
    def include_paths(self, arg: Sequence[str], /) -> None: ...

    def __getstate__(self) -> tuple[DataType | None, int, bool, bool, int | None, list[str]]: ...

    def __setstate__(self, arg: tuple[DataType | None, int, bool, bool, int | None, Sequence[str]], /) -> None: ...

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

class DoctorLine:
    """A fact about this installation."""

    @property
    def topic(self) -> str:
        """The part of the installation that it is about."""

    @property
    def finding(self) -> str:
        """The state that was found."""

    @property
    def fix(self) -> str:
        """The way to mend it; empty where all is well."""

def doctor_report() -> list[DoctorLine]:
    """The abilities of this installation, and what is missing."""

class HeuristicParams:
    """
    The decisions of a scheduler: computed from a definition, sizes, alignments and a device. They can be printed, edited, compared and applied.
    """

    @property
    def lparams(self) -> LaunchParams:
        """
        The block, which the schedule splits by; and the grid that the sizes lead to.
        """

    @lparams.setter
    def lparams(self, arg: LaunchParams, /) -> None: ...

    @property
    def cparams(self) -> CompileParams:
        """How the kernel is compiled."""

    @cparams.setter
    def cparams(self, arg: CompileParams, /) -> None: ...

    @property
    def tag(self) -> str:
        """A word shown in the text."""

    @tag.setter
    def tag(self, arg: str, /) -> None: ...

    @property
    def scheduler_type(self) -> SchedulerType:
        """The scheduler they belong to."""

    def hash(self) -> int:
        """Equal for params that are equal."""

    def __eq__(self, other: object, /) -> bool:
        """Whether both make the same kernel: the grid is not compared."""

    def differences_from(self, other: HeuristicParams) -> str:
        """
        Tell which values differ.

        ``"vectorization_factor 4 instead of 1, threadIdx.x 64 instead of 128"``: own values, and those of
        `other`. A number that is not set is `unset`. Params of another scheduler differ by its name only.

        Parameters
        ----------
        other : HeuristicParams
            What these params are compared with.

        Returns
        -------
        str
            The differences, separated by commas; empty if both make the same kernel.
        """

    def __repr__(self) -> str: ...

class PlainParams(HeuristicParams):
    """Params of a scheduler that decides nothing: no_op and expr_eval."""

    def __init__(self) -> None:
        """Params of a schedule that splits, vectorizes and unrolls nothing."""

    def __copy__(self) -> PlainParams: ...

    def __deepcopy__(self, memo: object) -> PlainParams: ...

    def __getstate__(self) -> tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]]: ...

    def __setstate__(self, arg: tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]], /) -> None: ...

class PointwiseParams(HeuristicParams):
    """
    How a map over the axes of an output is computed: its axes merged to one side or two, split into blocks, threads and vectors.
    """

    def __init__(self) -> None:
        """Params of a schedule that splits, vectorizes and unrolls nothing."""

    @property
    def break_point(self) -> int:
        """
        Axes left of it form the outer side of a 2-D schedule; 0: one side has all.
        """

    @break_point.setter
    def break_point(self, arg: int, /) -> None: ...

    @property
    def split_block(self) -> bool:
        """Whether threads are split over both sides."""

    @split_block.setter
    def split_block(self, arg: bool, /) -> None: ...

    @property
    def split_grid_y_dim(self) -> bool:
        """
        Whether the side on grid_y has more blocks than that takes, and is split.
        """

    @split_grid_y_dim.setter
    def split_grid_y_dim(self, arg: bool, /) -> None: ...

    @property
    def flip_grid_binding(self) -> bool:
        """Whether the outer side is bound to grid_x and the inner one to grid_y."""

    @flip_grid_binding.setter
    def flip_grid_binding(self, arg: bool, /) -> None: ...

    @property
    def vectorization_factor(self) -> int:
        """
        Neighbouring elements that a thread computes; a tensor is accessed in vectors of at most so many.
        """

    @vectorization_factor.setter
    def vectorization_factor(self, arg: int, /) -> None: ...

    @property
    def unroll_factor_inner(self) -> int:
        """
        Vectors of a thread along the inner side, all loaded before the first is used.
        """

    @unroll_factor_inner.setter
    def unroll_factor_inner(self, arg: int, /) -> None: ...

    @property
    def unroll_factor_outer(self) -> int:
        """
        Rows of a thread; operands that are broadcast over them are loaded once.
        """

    @unroll_factor_outer.setter
    def unroll_factor_outer(self, arg: int, /) -> None: ...

    @property
    def runs_in_tasks(self) -> bool:
        """
        Whether a block is a task of a processor: no threads, unroll factors are the lengths of loops.
        """

    @runs_in_tasks.setter
    def runs_in_tasks(self, arg: bool, /) -> None: ...

    @property
    def vector_widths(self) -> list[int]:
        """
        Elements of an access, for each tensor input that is read, then each output, then each slice, pad and gather of an input; empty: as wide as the layouts allow.
        """

    @vector_widths.setter
    def vector_widths(self, arg: Sequence[int], /) -> None: ...

    def __copy__(self) -> PointwiseParams: ...

    def __deepcopy__(self, memo: object) -> PointwiseParams: ...

    def __getstate__(self) -> tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]]: ...

    def __setstate__(self, arg: tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]], /) -> None: ...

class TransposeParams(HeuristicParams):
    """
    How tensors whose innermost dimensions differ are computed: tile by tile.
    """

    def __init__(self) -> None:
        """Params of a schedule that splits, vectorizes and unrolls nothing."""

    @property
    def tile_size1(self) -> int:
        """Elements of a tile along the dimension of group 1."""

    @tile_size1.setter
    def tile_size1(self, arg: int, /) -> None: ...

    @property
    def tile_size2(self) -> int:
        """Elements of a tile along the dimension of group 2."""

    @tile_size2.setter
    def tile_size2(self, arg: int, /) -> None: ...

    @property
    def vectorize_factor1(self) -> int:
        """
        Neighbouring elements that a thread computes, along the dimension of group 1.
        """

    @vectorize_factor1.setter
    def vectorize_factor1(self, arg: int, /) -> None: ...

    @property
    def vectorize_factor2(self) -> int:
        """
        Neighbouring elements of the rows that a tile is swizzled by: those of the widest access on either side.
        """

    @vectorize_factor2.setter
    def vectorize_factor2(self, arg: int, /) -> None: ...

    @property
    def runs_in_tasks(self) -> bool:
        """Whether a tile is a task of a processor, computed in place."""

    @runs_in_tasks.setter
    def runs_in_tasks(self, arg: bool, /) -> None: ...

    @property
    def copies_rows(self) -> bool:
        """
        Whether a task copies what a tile reads of group 2, row by row, before it computes.
        """

    @copies_rows.setter
    def copies_rows(self, arg: bool, /) -> None: ...

    @property
    def tile_parts(self) -> list[int]:
        """
        Elements of a tile along each dimension of the reference, in the order of its memory; 0: all. Empty: a tile has elements of two dimensions.
        """

    @tile_parts.setter
    def tile_parts(self, arg: Sequence[int], /) -> None: ...

    @property
    def fixed_sizes(self) -> list[int]:
        """
        Sizes of dimensions that the kernel is made for, for each dimension of the reference, in the order of its memory; 0: any. Empty: all are any. Of tiles with `tile_parts`.
        """

    @fixed_sizes.setter
    def fixed_sizes(self, arg: Sequence[int], /) -> None: ...

    @property
    def elements_ahead(self) -> int:
        """
        Elements of each side that a thread moves at a time, of tiles with `tile_parts`.
        """

    @elements_ahead.setter
    def elements_ahead(self, arg: int, /) -> None: ...

    @property
    def copies_past_registers(self) -> bool:
        """
        Whether operands are copied to shared memory past registers, where accesses have 4, 8 or 16 bytes: of tiles with `tile_parts`.
        """

    @copies_past_registers.setter
    def copies_past_registers(self, arg: bool, /) -> None: ...

    @property
    def vector_widths(self) -> list[int]:
        """
        Elements of an access, for each tensor input that is read and then each output; empty: as wide as the layouts allow.
        """

    @vector_widths.setter
    def vector_widths(self, arg: Sequence[int], /) -> None: ...

    def __copy__(self) -> TransposeParams: ...

    def __deepcopy__(self, memo: object) -> TransposeParams: ...

    def __getstate__(self) -> tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]]: ...

    def __setstate__(self, arg: tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]], /) -> None: ...

class GreedyParams(HeuristicParams):
    """How scans, scatters and the maps around them are computed."""

    def __init__(self) -> None:
        """Params of a schedule that splits, vectorizes and unrolls nothing."""

    @property
    def scans_innermost_axis(self) -> bool:
        """
        Whether neighbours along the scanned axis are neighbours in memory: block_x runs along it, otherwise along the other axes.
        """

    @scans_innermost_axis.setter
    def scans_innermost_axis(self, arg: bool, /) -> None: ...

    @property
    def scans_over_threads(self) -> bool:
        """
        Whether the threads of a block scan together; otherwise each runs through the axis.
        """

    @scans_over_threads.setter
    def scans_over_threads(self, arg: bool, /) -> None: ...

    @property
    def scan_items(self) -> int:
        """Neighbours along the scanned axis that a thread combines by itself."""

    @scan_items.setter
    def scan_items(self, arg: int, /) -> None: ...

    @property
    def kept_lanes(self) -> int:
        """Neighbours along the other axes that a thread scans side by side."""

    @kept_lanes.setter
    def kept_lanes(self, arg: int, /) -> None: ...

    @property
    def rows_of_task(self) -> int:
        """Scans that a task of a processor does in turn."""

    @rows_of_task.setter
    def rows_of_task(self, arg: int, /) -> None: ...

    @property
    def runs_in_tasks(self) -> bool:
        """Whether a block is a task of a processor: no threads."""

    @runs_in_tasks.setter
    def runs_in_tasks(self, arg: bool, /) -> None: ...

    @property
    def scatter_blocks(self) -> int:
        """
        Blocks of a fusion with scatters; they wait for each other, so all have to be resident at once.
        """

    @scatter_blocks.setter
    def scatter_blocks(self, arg: int, /) -> None: ...

    @property
    def vector_widths(self) -> list[int]:
        """
        Elements of an access, for each tensor input that is read and then each output; empty: elements one by one.
        """

    @vector_widths.setter
    def vector_widths(self, arg: Sequence[int], /) -> None: ...

    def __copy__(self) -> GreedyParams: ...

    def __deepcopy__(self, memo: object) -> GreedyParams: ...

    def __getstate__(self) -> tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]]: ...

    def __setstate__(self, arg: tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]], /) -> None: ...

class ReductionParams(HeuristicParams):
    """How reductions are computed, and norms that keep their rows on chip."""

    def __init__(self) -> None:
        """Params of a schedule that splits, vectorizes and unrolls nothing."""

    @property
    def fastest_dim(self) -> bool:
        """The innermost dim is reduced."""

    @fastest_dim.setter
    def fastest_dim(self, arg: bool, /) -> None: ...

    @property
    def persistent_kernel(self) -> bool:
        """The input stays on chip between passes."""

    @persistent_kernel.setter
    def persistent_kernel(self, arg: bool, /) -> None: ...

    @property
    def project_persistent_buffers(self) -> bool:
        """
        The fusion's inputs stay on chip instead of what is computed from them.
        """

    @project_persistent_buffers.setter
    def project_persistent_buffers(self, arg: bool, /) -> None: ...

    @property
    def schedule_3d(self) -> bool:
        """The pattern is [reduction, iteration, reduction]."""

    @schedule_3d.setter
    def schedule_3d(self, arg: bool, /) -> None: ...

    @property
    def flip_grid(self) -> bool:
        """x and y of the grid are swapped, for outer reductions."""

    @flip_grid.setter
    def flip_grid(self, arg: bool, /) -> None: ...

    @property
    def cross_block_inner_reduction(self) -> bool:
        """The inner reduction spans the threads of a block."""

    @cross_block_inner_reduction.setter
    def cross_block_inner_reduction(self, arg: bool, /) -> None: ...

    @property
    def cross_grid_inner_reduction(self) -> bool:
        """The inner reduction spans blocks."""

    @cross_grid_inner_reduction.setter
    def cross_grid_inner_reduction(self, arg: bool, /) -> None: ...

    @property
    def unroll_factor_inner_reduction(self) -> int:
        """Unroll or vector width on the inner reduction."""

    @unroll_factor_inner_reduction.setter
    def unroll_factor_inner_reduction(self, arg: int, /) -> None: ...

    @property
    def unroll_factor_top_of_vectorization(self) -> int:
        """Further unroll outside of the vector."""

    @unroll_factor_top_of_vectorization.setter
    def unroll_factor_top_of_vectorization(self, arg: int, /) -> None: ...

    @property
    def vectorize_inner_reduction(self) -> bool:
        """Vectorize instead of unroll."""

    @vectorize_inner_reduction.setter
    def vectorize_inner_reduction(self, arg: bool, /) -> None: ...

    @property
    def split_grid_dim_inner_reduction(self) -> bool:
        """Split a grid dim that would be too large."""

    @split_grid_dim_inner_reduction.setter
    def split_grid_dim_inner_reduction(self, arg: bool, /) -> None: ...

    @property
    def pad_inner_reduction_to_warp(self) -> bool:
        """Pad to whole warps."""

    @pad_inner_reduction_to_warp.setter
    def pad_inner_reduction_to_warp(self, arg: bool, /) -> None: ...

    @property
    def batches_per_block_inner_reduction(self) -> int:
        """Persistent batches of a thread."""

    @batches_per_block_inner_reduction.setter
    def batches_per_block_inner_reduction(self, arg: int, /) -> None: ...

    @property
    def block_dim_inner_reduction(self) -> ParallelType:
        """The hardware index of the threads of the inner reduction."""

    @block_dim_inner_reduction.setter
    def block_dim_inner_reduction(self, arg: ParallelType, /) -> None: ...

    @property
    def grid_dim_inner_reduction(self) -> ParallelType:
        """The hardware index of the blocks of the inner reduction."""

    @grid_dim_inner_reduction.setter
    def grid_dim_inner_reduction(self, arg: ParallelType, /) -> None: ...

    @property
    def multiple_reds_per_blk(self) -> bool:
        """A block computes several outputs."""

    @multiple_reds_per_blk.setter
    def multiple_reds_per_blk(self, arg: bool, /) -> None: ...

    @property
    def unroll_factor_iter_dom(self) -> int:
        """Unroll or vector width on the iteration side."""

    @unroll_factor_iter_dom.setter
    def unroll_factor_iter_dom(self, arg: int, /) -> None: ...

    @property
    def vectorize_iter_dom(self) -> bool:
        """Vectorize the iteration side."""

    @vectorize_iter_dom.setter
    def vectorize_iter_dom(self, arg: bool, /) -> None: ...

    @property
    def split_grid_dim_iter_dom_inner(self) -> bool:
        """Split an iteration grid dim that would be too large, inner part."""

    @split_grid_dim_iter_dom_inner.setter
    def split_grid_dim_iter_dom_inner(self, arg: bool, /) -> None: ...

    @property
    def split_grid_dim_iter_dom_outer(self) -> bool:
        """Split an iteration grid dim that would be too large, outer part."""

    @split_grid_dim_iter_dom_outer.setter
    def split_grid_dim_iter_dom_outer(self, arg: bool, /) -> None: ...

    @property
    def block_dim_iter_dom(self) -> ParallelType:
        """The hardware index of the threads of the iteration side."""

    @block_dim_iter_dom.setter
    def block_dim_iter_dom(self, arg: ParallelType, /) -> None: ...

    @property
    def grid_dim_iter_dom(self) -> ParallelType:
        """The hardware index of the blocks of the iteration side."""

    @grid_dim_iter_dom.setter
    def grid_dim_iter_dom(self, arg: ParallelType, /) -> None: ...

    @property
    def cross_block_outer_reduction(self) -> bool:
        """The outer reduction of a 3-D pattern spans threads."""

    @cross_block_outer_reduction.setter
    def cross_block_outer_reduction(self, arg: bool, /) -> None: ...

    @property
    def cross_grid_outer_reduction(self) -> bool:
        """The outer reduction of a 3-D pattern spans blocks."""

    @cross_grid_outer_reduction.setter
    def cross_grid_outer_reduction(self, arg: bool, /) -> None: ...

    @property
    def batches_per_block_outer_reduction(self) -> int:
        """Batches of a thread along the outer reduction."""

    @batches_per_block_outer_reduction.setter
    def batches_per_block_outer_reduction(self, arg: int, /) -> None: ...

    @property
    def unroll_factor_outer_reduction(self) -> int:
        """Unroll of the outer reduction."""

    @unroll_factor_outer_reduction.setter
    def unroll_factor_outer_reduction(self, arg: int, /) -> None: ...

    @property
    def block_dim_outer_reduction(self) -> ParallelType:
        """The hardware index of the threads of the outer reduction."""

    @block_dim_outer_reduction.setter
    def block_dim_outer_reduction(self, arg: ParallelType, /) -> None: ...

    @property
    def grid_dim_outer_reduction(self) -> ParallelType:
        """The hardware index of the blocks of the outer reduction."""

    @grid_dim_outer_reduction.setter
    def grid_dim_outer_reduction(self, arg: ParallelType, /) -> None: ...

    @property
    def compute_persistent_buffer_with_first_consumer(self) -> bool:
        """Persistent buffers are computed at their first consumer."""

    @compute_persistent_buffer_with_first_consumer.setter
    def compute_persistent_buffer_with_first_consumer(self, arg: bool, /) -> None: ...

    @property
    def static_bdimx(self) -> bool:
        """Compile with a constant blockDim.x."""

    @static_bdimx.setter
    def static_bdimx(self, arg: bool, /) -> None: ...

    @property
    def static_bdimy(self) -> bool:
        """Compile with a constant blockDim.y."""

    @static_bdimy.setter
    def static_bdimy(self, arg: bool, /) -> None: ...

    @property
    def combined_inner_outer(self) -> bool:
        """Inner and outer reductions in one kernel."""

    @combined_inner_outer.setter
    def combined_inner_outer(self, arg: bool, /) -> None: ...

    @property
    def tidx_for_outer_reduction(self) -> bool:
        """The outer reduction runs over block_x."""

    @tidx_for_outer_reduction.setter
    def tidx_for_outer_reduction(self, arg: bool, /) -> None: ...

    @property
    def pad_outer_reduction_to_warp(self) -> bool:
        """Pad the outer reduction to whole warps."""

    @pad_outer_reduction_to_warp.setter
    def pad_outer_reduction_to_warp(self, arg: bool, /) -> None: ...

    @property
    def combined_split_grid_inner_dim(self) -> bool:
        """A further grid split in the combined scheduler."""

    @combined_split_grid_inner_dim.setter
    def combined_split_grid_inner_dim(self, arg: bool, /) -> None: ...

    @property
    def vectorization_factor_outer(self) -> int:
        """Vector width of the outer partial result."""

    @vectorization_factor_outer.setter
    def vectorization_factor_outer(self, arg: int, /) -> None: ...

    @property
    def vectorization_factor_tmp_gmem_write(self) -> int:
        """Vector width of the write of partial results."""

    @vectorization_factor_tmp_gmem_write.setter
    def vectorization_factor_tmp_gmem_write(self, arg: int, /) -> None: ...

    @property
    def block_dim_inner_reduction_extra(self) -> ParallelType:
        """A second block dim for the inner reduction."""

    @block_dim_inner_reduction_extra.setter
    def block_dim_inner_reduction_extra(self, arg: ParallelType, /) -> None: ...

    @property
    def runs_in_tasks(self) -> bool:
        """
        Whether a block is a task of a processor: no threads, and vectors are the innermost loops.
        """

    @runs_in_tasks.setter
    def runs_in_tasks(self, arg: bool, /) -> None: ...

    @property
    def iterations_per_task(self) -> int:
        """Results that a task computes one after the other."""

    @iterations_per_task.setter
    def iterations_per_task(self, arg: int, /) -> None: ...

    @property
    def blocks_per_reduction(self) -> int:
        """Blocks, or tasks, that share the elements of one result."""

    @blocks_per_reduction.setter
    def blocks_per_reduction(self, arg: int, /) -> None: ...

    @property
    def circular_buffer_stages(self) -> int:
        """
        Rows of a block in shared memory, of which it loads the next while it computes with one; 1: rows are loaded where they are needed.
        """

    @circular_buffer_stages.setter
    def circular_buffer_stages(self, arg: int, /) -> None: ...

    @property
    def blocks_per_cluster(self) -> int:
        """Blocks of a cluster, which share a row; 1: none do."""

    @blocks_per_cluster.setter
    def blocks_per_cluster(self, arg: int, /) -> None: ...

    @property
    def keeps_rows_in_shared_memory(self) -> bool:
        """
        Rows that several passes need, of inputs or of what the first pass computes, stay in shared memory, not in registers, and each pass loads them from there.
        """

    @keeps_rows_in_shared_memory.setter
    def keeps_rows_in_shared_memory(self, arg: bool, /) -> None: ...

    @property
    def shifts_rows(self) -> bool:
        """
        Rows that vectors do not divide are shifted to where vectors begin in memory, so that all accesses but those at their ends are vectors.
        """

    @shifts_rows.setter
    def shifts_rows(self, arg: bool, /) -> None: ...

    @property
    def elements_per_chunk(self) -> int:
        """
        Neighbours of which a row keeps the maximum, and sums about it, instead of the elements; 1: it keeps elements. Divides the innermost axis that is reduced.
        """

    @elements_per_chunk.setter
    def elements_per_chunk(self, arg: int, /) -> None: ...

    @property
    def draws_neighbours(self) -> bool:
        """
        Whether a thread draws random numbers of neighbours, which the threads of their rows read from shared memory: of blocks that have several rows.
        """

    @draws_neighbours.setter
    def draws_neighbours(self, arg: bool, /) -> None: ...

    @property
    def fixed_sizes(self) -> list[int]:
        """
        Sizes that the kernel is made for, of the axes that are kept and then of those that are reduced, in the order of memory; 0: any. Empty: all are any.
        """

    @fixed_sizes.setter
    def fixed_sizes(self, arg: Sequence[int], /) -> None: ...

    @property
    def vector_widths(self) -> list[int]:
        """
        Elements of an access, for each tensor input that is read and then each output; empty: as wide as the layouts allow, and in tasks no vectors.
        """

    @vector_widths.setter
    def vector_widths(self, arg: Sequence[int], /) -> None: ...

    def __copy__(self) -> ReductionParams: ...

    def __deepcopy__(self, memo: object) -> ReductionParams: ...

    def __getstate__(self) -> tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]]: ...

    def __setstate__(self, arg: tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]], /) -> None: ...

class MatmulTilingStrategy(enum.Enum):
    """How tiles of a product are dealt out to blocks."""

    one_tile_per_cta = 0

    distribute_tiles_across_sms = 1

    distribute_stages_across_sms = 2

    OneTilePerCTA = 0

    DistributeTilesAcrossSMs = 1

    DistributeStagesAcrossSMs = 2

class MatmulBufferingLoopLevel(enum.Enum):
    """The loop of a product that loads ahead."""

    cta_tiles = 0

    warp_tiles = 1

    CTATiles = 0

    WarpTiles = 1

class MatmulCircularBufferingStrategy(enum.Enum):
    """Which threads of a product load ahead."""

    pipelined = 0

    warp_specialized = 1

    Pipelined = 0

    WarpSpecialized = 1

class MatmulTileRasterizationOrder(enum.Enum):
    """The order in which blocks compute tiles."""

    row_major = 0

    column_major = 1

    RowMajor = 0

    ColumnMajor = 1

class MmaMacroArch(enum.Enum):
    """An architecture with tensor cores."""

    no_mma = 0

    volta = 1

    turing = 2

    ampere = 3

    hopper = 4

    blackwell_1cta = 5

    blackwell_2cta = 6

    NoMma = 0

    Volta = 1

    Turing = 2

    Ampere = 3

    Hopper = 4

    Blackwell1CTA = 5

    Blackwell2CTA = 6

class GemmTile:
    """Elements of a tile along the dimensions of a product."""

    def __init__(self, m: int, n: int, k: int) -> None: ...

    @property
    def m(self) -> int:
        """Rows of the result."""

    @m.setter
    def m(self, arg: int, /) -> None: ...

    @property
    def n(self) -> int:
        """Columns of the result."""

    @n.setter
    def n(self, arg: int, /) -> None: ...

    @property
    def k(self) -> int:
        """Elements that are summed over."""

    @k.setter
    def k(self, arg: int, /) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __copy__(self) -> GemmTile: ...

    def __deepcopy__(self, memo: object) -> GemmTile: ...

    def __getstate__(self) -> dict[str, object]: ...

    def __setstate__(self, arg: dict[str, object], /) -> None: ...

    def __repr__(self) -> str: ...

class MatMulTileOptions:
    """Tiles of a block and of its warps."""

    def __init__(self, cta_tile: GemmTile, warp_tile: GemmTile) -> None: ...

    @property
    def cta_tile(self) -> GemmTile:
        """The tile of a block."""

    @cta_tile.setter
    def cta_tile(self, arg: GemmTile, /) -> None: ...

    @property
    def warp_tile(self) -> GemmTile:
        """The tile of a warp."""

    @warp_tile.setter
    def warp_tile(self, arg: GemmTile, /) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __copy__(self) -> MatMulTileOptions: ...

    def __deepcopy__(self, memo: object) -> MatMulTileOptions: ...

    def __getstate__(self) -> dict[str, object]: ...

    def __setstate__(self, arg: dict[str, object], /) -> None: ...

    def __repr__(self) -> str: ...

class CircularBufferOptions:
    """How operands of a product are loaded ahead."""

    def __init__(self, circular_buffer_smem_write: bool, circular_buffer_smem_read: bool, smem_circular_buffer_stage: int, smem_circular_buffer_prefetch_gap: int) -> None: ...

    @property
    def circular_buffer_smem_write(self) -> bool:
        """Operands are loaded into shared memory ahead."""

    @circular_buffer_smem_write.setter
    def circular_buffer_smem_write(self, arg: bool, /) -> None: ...

    @property
    def circular_buffer_smem_read(self) -> bool:
        """Operands are loaded from shared memory into registers ahead."""

    @circular_buffer_smem_read.setter
    def circular_buffer_smem_read(self, arg: bool, /) -> None: ...

    @property
    def smem_circular_buffer_stage(self) -> int:
        """Tiles that are kept."""

    @smem_circular_buffer_stage.setter
    def smem_circular_buffer_stage(self, arg: int, /) -> None: ...

    @property
    def smem_circular_buffer_prefetch_gap(self) -> int:
        """
        Iterations between the last read of a tile and the load of the next one there.
        """

    @smem_circular_buffer_prefetch_gap.setter
    def smem_circular_buffer_prefetch_gap(self, arg: int, /) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __copy__(self) -> CircularBufferOptions: ...

    def __deepcopy__(self, memo: object) -> CircularBufferOptions: ...

    def __getstate__(self) -> dict[str, object]: ...

    def __setstate__(self, arg: dict[str, object], /) -> None: ...

    def __repr__(self) -> str: ...

class SupportedVectorization:
    """Elements of an access that layouts allow."""

    def __init__(self, a: int, b: int, epilogue: int) -> None: ...

    @property
    def a(self) -> int:
        """Elements of an access to the first operand."""

    @a.setter
    def a(self, arg: int, /) -> None: ...

    @property
    def b(self) -> int:
        """Elements of an access to the second operand."""

    @b.setter
    def b(self, arg: int, /) -> None: ...

    @property
    def epilogue(self) -> int:
        """Elements of an access to results."""

    @epilogue.setter
    def epilogue(self, arg: int, /) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __copy__(self) -> SupportedVectorization: ...

    def __deepcopy__(self, memo: object) -> SupportedVectorization: ...

    def __getstate__(self) -> dict[str, object]: ...

    def __setstate__(self, arg: dict[str, object], /) -> None: ...

    def __repr__(self) -> str: ...

class ClusterDims:
    """Blocks of a cluster along both sides of a result."""

    def __init__(self, m: int, n: int) -> None: ...

    @property
    def m(self) -> int:
        """Blocks along the rows of the result."""

    @m.setter
    def m(self, arg: int, /) -> None: ...

    @property
    def n(self) -> int:
        """Blocks along its columns."""

    @n.setter
    def n(self, arg: int, /) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __copy__(self) -> ClusterDims: ...

    def __deepcopy__(self, memo: object) -> ClusterDims: ...

    def __getstate__(self) -> dict[str, object]: ...

    def __setstate__(self, arg: dict[str, object], /) -> None: ...

    def __repr__(self) -> str: ...

class MmaMacro:
    """
    An instruction of tensor cores, of which `MmaMacroEncode.mma_macro` makes one.
    """

    @property
    def arch(self) -> MmaMacroArch:
        """The first architecture that has it."""

    @arch.setter
    def arch(self, arg: MmaMacroArch, /) -> None: ...

    @property
    def m(self) -> int:
        """Rows of the result."""

    @m.setter
    def m(self, arg: int, /) -> None: ...

    @property
    def n(self) -> int:
        """Columns of the result."""

    @n.setter
    def n(self, arg: int, /) -> None: ...

    @property
    def k(self) -> int:
        """Elements that are summed over."""

    @k.setter
    def k(self, arg: int, /) -> None: ...

    def __copy__(self) -> MmaMacro: ...

    def __deepcopy__(self, memo: object) -> MmaMacro: ...

    def __getstate__(self) -> int: ...

    def __setstate__(self, arg: int, /) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

class MmaMacroEncode:
    """The parts of an instruction of tensor cores, 16 bits each."""

    def __init__(self, arch: MmaMacroArch, m: int, n: int, k: int) -> None: ...

    @property
    def arch(self) -> MmaMacroArch:
        """The first architecture that has it."""

    @arch.setter
    def arch(self, arg: MmaMacroArch, /) -> None: ...

    @property
    def m(self) -> int:
        """Rows of the result."""

    @m.setter
    def m(self, arg: int, /) -> None: ...

    @property
    def n(self) -> int:
        """Columns of the result."""

    @n.setter
    def n(self, arg: int, /) -> None: ...

    @property
    def k(self) -> int:
        """Elements that are summed over."""

    @k.setter
    def k(self, arg: int, /) -> None: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __copy__(self) -> MmaMacroEncode: ...

    def __deepcopy__(self, memo: object) -> MmaMacroEncode: ...

    def __getstate__(self) -> dict[str, object]: ...

    def __setstate__(self, arg: dict[str, object], /) -> None: ...

    def mma_macro(self) -> MmaMacro:
        """The instruction."""

class MatmulParams(HeuristicParams):
    """
    How a product of matrices is to be computed. Products run through a library: no scheduler makes or applies these, and they are for scripts that choose, print and compare them.
    """

    def __init__(self) -> None:
        """Params of a schedule that splits, vectorizes and unrolls nothing."""

    @property
    def tile_sizes(self) -> MatMulTileOptions:
        """Tiles of a block and of a warp."""

    @tile_sizes.setter
    def tile_sizes(self, arg: MatMulTileOptions, /) -> None: ...

    @property
    def circular_buffer_options(self) -> CircularBufferOptions:
        """Operands loaded ahead."""

    @circular_buffer_options.setter
    def circular_buffer_options(self, arg: CircularBufferOptions, /) -> None: ...

    @property
    def supported_vec_size(self) -> SupportedVectorization:
        """Widths that layouts allow."""

    @supported_vec_size.setter
    def supported_vec_size(self, arg: SupportedVectorization, /) -> None: ...

    @property
    def async_gmem_load_operands(self) -> bool:
        """Loads are asynchronous."""

    @async_gmem_load_operands.setter
    def async_gmem_load_operands(self, arg: bool, /) -> None: ...

    @property
    def grid_traversal_factor(self) -> tuple[int, int]:
        """
        How many tiles along either side blocks that run together share in the cache.
        """

    @grid_traversal_factor.setter
    def grid_traversal_factor(self, arg: tuple[int, int], /) -> None: ...

    @property
    def use_smem_epilogue(self) -> bool:
        """Results pass through shared memory."""

    @use_smem_epilogue.setter
    def use_smem_epilogue(self, arg: bool, /) -> None: ...

    @property
    def use_ldst_matrix(self) -> bool:
        """Results are moved as matrices."""

    @use_ldst_matrix.setter
    def use_ldst_matrix(self, arg: bool, /) -> None: ...

    @property
    def promote_prologue_smem_reuse(self) -> bool:
        """The shared memory of operands is used again."""

    @promote_prologue_smem_reuse.setter
    def promote_prologue_smem_reuse(self, arg: bool, /) -> None: ...

    @property
    def splitk_factor(self) -> int:
        """Blocks that share one sum."""

    @splitk_factor.setter
    def splitk_factor(self, arg: int, /) -> None: ...

    @property
    def tiling_strategy(self) -> MatmulTilingStrategy:
        """How tiles are dealt out to blocks."""

    @tiling_strategy.setter
    def tiling_strategy(self, arg: MatmulTilingStrategy, /) -> None: ...

    @property
    def buffering_loop_level(self) -> MatmulBufferingLoopLevel:
        """The loop that loads ahead."""

    @buffering_loop_level.setter
    def buffering_loop_level(self, arg: MatmulBufferingLoopLevel, /) -> None: ...

    @property
    def circular_buffering_strategy(self) -> MatmulCircularBufferingStrategy:
        """Which threads load ahead."""

    @circular_buffering_strategy.setter
    def circular_buffering_strategy(self, arg: MatmulCircularBufferingStrategy, /) -> None: ...

    @property
    def cta_order(self) -> MatmulTileRasterizationOrder:
        """The order of tiles."""

    @cta_order.setter
    def cta_order(self, arg: MatmulTileRasterizationOrder, /) -> None: ...

    @property
    def cluster_dims(self) -> ClusterDims:
        """Blocks of a cluster."""

    @cluster_dims.setter
    def cluster_dims(self, arg: ClusterDims, /) -> None: ...

    @property
    def mma_macro(self) -> MmaMacro:
        """The instruction of tensor cores."""

    @mma_macro.setter
    def mma_macro(self, arg: MmaMacro, /) -> None: ...

    def __copy__(self) -> MatmulParams: ...

    def __deepcopy__(self, memo: object) -> MatmulParams: ...

    def __getstate__(self) -> tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]]: ...

    def __setstate__(self, arg: tuple[SchedulerType, LaunchParams, CompileParams, str, dict[str, object]], /) -> None: ...

class CostEstimate:
    """
    The time that a kernel on a GPU is expected to take. It ranks params; it is no prediction.
    """

    @property
    def blocks_of_sm(self) -> int:
        """Blocks that a multiprocessor has at the same time; 0: none fits."""

    @property
    def bytes_in_flight(self) -> float:
        """Loads of a multiprocessor that are under way together."""

    @property
    def waves(self) -> float:
        """Rounds of blocks, each as many as the GPU holds."""

    @property
    def efficiency(self) -> float:
        """
        Share of the whole that the last round, and multiprocessors without a block, leave.
        """

    @property
    def memory_us(self) -> float:
        """Microseconds of loads and stores."""

    @property
    def issue_us(self) -> float:
        """Microseconds of instructions."""

    @property
    def special_us(self) -> float:
        """Microseconds of exponentials, reciprocals and their like."""

    @property
    def barriers_us(self) -> float:
        """Microseconds of waits for others."""

    @property
    def total_us(self) -> float:
        """Microseconds in all."""

    def bound(self) -> str:
        """
        The part that takes longest.

        Returns
        -------
        str
            "memory", "latency" (memory, with too few loads under way), "issue" or "special functions".
        """

    def __str__(self) -> str: ...

class SegmentedGroup:
    """
    A piece of a fusion that runs by itself, and what it is in the complete fusion.
    """

    @property
    def fusion(self) -> Fusion:
        """
        The piece as a definition of its own, without a schedule. Its statements remember the lines of Python that made the originals.
        """

    @property
    def kind(self) -> str:
        """
        ``kernel``; ``view``: its outputs lie in the memory of its inputs; ``evaluated``: by PyTorch.
        """

    @property
    def scheduler(self) -> SchedulerType:
        """
        The scheduler that takes it; ``none``: the trivial schedule, or the evaluator.
        """

    @property
    def params(self) -> HeuristicParams | None:
        """
        A copy of what the scheduler decides for the sizes of the run; None where there is none, and where PyTorch evaluates the group.
        """

    @property
    def rejections(self) -> list[tuple[SchedulerType, str]]:
        """Schedulers that were asked before it, and why they do not take it."""

    @property
    def inputs(self) -> list[Val]:
        """Values of the complete fusion, in the order of ``fusion.inputs()``."""

    @property
    def outputs(self) -> list[TensorView]:
        """
        Tensors of the complete fusion, in the order of ``fusion.outputs()``, each once.
        """

    @property
    def exprs(self) -> list[Expr]:
        """
        Its expressions in the complete fusion, operands before results. Cheap ones may be in several groups.
        """

    @property
    def kept_together(self) -> list[TensorView]:
        """Tensors of the complete fusion that a hint keeps together in it."""

    def __str__(self) -> str: ...

class SegmentedEdge:
    """A tensor that one group makes and another reads."""

    @property
    def source(self) -> int:
        """Position of the group that makes it."""

    @property
    def target(self) -> int:
        """Position of the group that reads it."""

    @property
    def tensor(self) -> TensorView:
        """The tensor, in the complete fusion."""

    @property
    def dtype(self) -> DataType:
        """
        Its type in memory. Where that is another one than that of the tensor, the groups cast.
        """

class Cut:
    """Why a tensor lies in memory between two groups."""

    @property
    def rule(self) -> str:
        """
        ``asked``, ``library``, ``lookup``, ``pattern``, ``space``, ``on_chip``, ``shapes``, ``reshape``, ``itself``, ``view``, ``repeated``, ``update``, ``order`` or ``unsuitable``.
        """

    @property
    def tensor(self) -> TensorView:
        """The tensor that crosses."""

    @property
    def reader(self) -> TensorView:
        """A result of the expression that reads it."""

    @property
    def other(self) -> TensorView:
        """The tensor that the reader cannot be with; None: the one that crosses."""

    def __str__(self) -> str:
        """
        One sentence, which names tensors and the lines of Python that made them.
        """

class LateUpdate:
    """
    An output that is copied into an input when all groups have run: while it is computed, elements of the input are still needed.
    """

    @property
    def output(self) -> TensorView:
        """The output."""

    @property
    def input(self) -> TensorView:
        """The input that it updates."""

    @property
    def fusion(self) -> Fusion:
        """Copies its first input into the memory of its second one."""

class SegmentedFusion:
    """A fusion cut into groups that one scheduler takes each."""

    @property
    def groups(self) -> list[SegmentedGroup]:
        """In an order in which they can run."""

    @property
    def edges(self) -> list[SegmentedEdge]:
        """Tensors between groups, by ``source``, then ``target``."""

    @property
    def cuts(self) -> list[Cut]:
        """Why tensors cross: at least one for each edge, in their order."""

    def cuts_before(self, segment: int) -> list[Cut]:
        """The cuts of the tensors that one group reads, by its position."""

    def notes_on(self, segment: int) -> list[str]:
        """
        Lines of ``explain()`` on a group, by its position: its cuts, types in which tensors cross that are not their own, and what hints keep together.
        """

    @property
    def late_updates(self) -> list[LateUpdate]:
        """Copies into inputs at the end of a run."""

    @property
    def complete_fusion(self) -> Fusion:
        """The fusion that was cut."""

    def is_cut_like(self, other: SegmentedFusion) -> bool:
        """
        Whether another plan of the same fusion has the same groups, params aside.

        Parameters
        ----------
        other : SegmentedFusion
            A plan of the same fusion, for other inputs.
        """

    @property
    def is_whole(self) -> bool:
        """
        Whether it is not cut: one group has the inputs and outputs of the fusion.
        """

    def explain(self) -> str:
        """
        A text that says how each group runs, why it was cut, and why schedulers did not take it.
        """

    def draw(self) -> str:
        """
        Groups and the tensors between them, as a drawing in the language of Graphviz.
        """

    def __str__(self) -> str: ...

def segment(fusion: Fusion, inputs: Iterable[object], target: str | None = None, *, keep_together: Sequence[Sequence[TensorView]] = (), cut_behind: Sequence[TensorView] = ()) -> SegmentedFusion:
    """
    Cut a fusion into groups that one scheduler takes each.

    The fusion stays as it is. Cuts follow from the math and from the sizes of the inputs; the order of
    statements does not matter. Nothing is compiled.

    Parameters
    ----------
    fusion : Fusion
        A definition without a schedule.
    inputs : iterable
        Inputs of a run: their sizes, strides and addresses count.
    target : str, optional
        "cuda" or "cpu": the device to schedule for; by default the one that the inputs are on.
    keep_together : sequence of sequences of TensorView
        Hints: tensors of the fusion that one group computes.
    cut_behind : sequence of TensorView
        Hints: tensors that other groups read than the one that computes them.

    Returns
    -------
    SegmentedFusion

    Raises
    ------
    UserError
        If the inputs do not fit, if the fusion is scheduled already, if no scheduler takes what is to be
        kept together, or if its shapes wait for sizes of a run: ``concretize(fusion,
        find_concretization(fusion, inputs))`` is the fusion for given inputs.
    """

class PassRecord:
    """A pass that ran."""

    @property
    def name(self) -> str:
        """Name of the pass."""

    @property
    def text(self) -> str:
        """
        The kernel or the math after the pass, "(unchanged)" if it printed like that before; empty unless recorded.
        """

    @property
    def milliseconds(self) -> float:
        """How long the pass took."""

class Kernel(Fusion):
    """A lowered fusion: kernel IR made from a copy of it."""

    @property
    def body(self) -> list[Expr]:
        """The statements."""

    @property
    def passes(self) -> list[PassRecord]:
        """The passes that made it, in order."""

    def target(self) -> str:
        """cuda or cpu."""

    def index_type(self) -> DataType:
        """Width of index arithmetic: Int or Int32."""

    def print_kernel_ir(self) -> str:
        """The kernel IR as text."""

    def print_source(self, kernel_name: str = '', comments: bool = True) -> str:
        """
        The generated source of the kernel alone.

        Parameters
        ----------
        kernel_name : str
            Name of the function; a default for the target if empty.
        comments : bool
            Name the Python line of each statement, the axis of each loop, and tensors that the fusion
            numbers otherwise.
        """

    def launch_extents(self) -> list[Val]:
        """
        Sizes of grid_x, grid_y, grid_z, block_x, block_y, block_z; None where unused.
        """

    def is_cooperative(self) -> bool:
        """Whether all blocks must be resident at once."""

    def waits_for_prior_grid(self) -> bool:
        """
        Whether the kernel may begin while the grid before it in the stream runs.
        """

    def shared_bytes(self) -> Val:
        """Dynamic shared memory of a block (bytes); None if there is none."""

    def index_bounds(self) -> tuple[Val, Val]:
        """
        The bounds of every index of the kernel, by sizes, strides and scalars of the inputs.

        Returns
        -------
        tuple[Val | None, Val | None]
            The smallest and the largest one; None before the pass `bound_indices`.
        """

    def has_empty_axis(self) -> Val:
        """
        Whether an axis bound to a hardware index has no element; None before `bound_indices`.
        """

    def buffers(self) -> list[tuple[TensorView, bool, bool]]:
        """
        Memory the host allocates for a run, in the order of the kernel's parameters.

        Returns
        -------
        list[tuple[TensorView, bool, bool]]
            The tensor, whether it is filled with zeros, whether it is an output.
        """

    def run_pass(self, name: str) -> None:
        """
        Run one pass of lowering on a kernel that was lowered up to an earlier one.

        Passes in between may be left out once the kernel has statements. Mistakes of the compiler are looked
        for before and after the pass.

        Parameters
        ----------
        name : str
            Name of the pass.

        Raises
        ------
        ValueError
            If there is no such pass, or if it is not one of those that may come next.
        UserError
            If the pass refuses the schedule.
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def bank_conflicts(self, inputs: object = (), sizes: Mapping[str, int] = {}) -> list[BankConflict]:
        """
        Find out how the first warp of a block meets in the banks of shared memory.

        Shared memory has 32 banks of 4-byte words. A warp's access is repeated until every thread was served;
        a bank serves one word at a time. Accesses of 8 (16) bytes a thread are served for 16 (8) threads at
        a time.

        Parameters
        ----------
        inputs : sequence of tensor or scalar
            As for a run; sizes are all that is used. May be left out if every size is constant or in `sizes`.
        sizes : dict[str, int]
            Sizes by their names in the kernel's text: ``"i0"``, ``"blockDim.x"``.

        Returns
        -------
        list[BankConflict]
            One for every access that some thread makes, in the order of the kernel; the worst over the
            iterations of the loops around it.

        Raises
        ------
        UserError
            If an index depends on a size that is not known.
        """

class BankConflict:
    """An access to shared memory by the first warp of a block."""

    @property
    def statement(self) -> Expr:
        """The statement of the kernel."""

    @property
    def tensor(self) -> TensorView:
        """The tensor that is accessed."""

    @property
    def is_write(self) -> bool:
        """Written or read."""

    @property
    def bytes(self) -> int:
        """Bytes that a thread accesses at once."""

    @property
    def ways(self) -> int:
        """How often the hardware repeats the access, at worst; 1: no conflict."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

def lowering_passes() -> list[tuple[str, str]]:
    """The passes of lowering in order: name, and why it stands there."""

class OptimizedFusion(Fusion):
    """
    A copy of a definition, rewritten by passes. It computes the same: inputs and outputs are those of the definition, in their order and with their names. Inputs behind them repeat some (`arguments`).
    """

    @property
    def passes(self) -> list[PassRecord]:
        """The passes that ran, in order."""

    def arguments(self) -> list[int]:
        """
        For each input the argument that it is bound to: its position among the inputs of the
        definition. An input that meets itself along two axes is read as two.
        """

    def run_pass(self, name: str) -> None:
        """
        Run one more pass of `optimization_passes`.

        Mistakes of the compiler are looked for before and after the pass.

        Parameters
        ----------
        name : str
            Name of the pass.

        Raises
        ------
        ValueError
            If there is no such pass.
        UserError
            If the fusion was scheduled meanwhile.
        """

def optimization_passes() -> list[tuple[str, str]]:
    """
    The passes of `Fusion.optimize` in order: name, and why it stands there.
    """

class DlpackTensor:
    """
    A tensor that any ``from_dlpack`` takes: an output whose element type the framework of the
    inputs does not have.
    """

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> object:
        """A capsule, as the array API standard has it."""

    def __dlpack_device__(self) -> tuple[int, int]:
        """Kind and number of the device."""

    @property
    def shape(self) -> list[int]:
        """Sizes."""

    @property
    def dtype(self) -> DataType:
        """Element type."""

class KernelExecutor:
    """Compiles and runs one scheduled fusion as one kernel."""

    def __init__(self, fusion_id: int = 0, concrete_id: int = 0, runtime_id: int = 0, group_id: int = 0) -> None:
        """The numbers are part of the kernel's name."""

    def compile(self, fusion: Fusion, args: object = [], launch_constraints: LaunchParams | None = None, compile_params: CompileParams = ..., scheduler_type: SchedulerType = SchedulerType.none) -> None:
        """
        Lower and compile a copy of a scheduled fusion.

        Parameters
        ----------
        fusion : Fusion
            The scheduled fusion.
        args : iterable
            Inputs; they decide the target and the index type. May be empty.
        launch_constraints : LaunchParams, optional
            Sizes that the launch must have.
        compile_params : CompileParams
            How to compile.
        scheduler_type : SchedulerType
            Part of the kernel's name.

        Raises
        ------
        UserError
            If the fusion has no outputs, its schedule cannot be lowered, or inputs do not fit.
        """

    def run(self, args: Iterable[object], launch_constraints: LaunchParams | None = None, compile_params: CompileParams = ...) -> list[torch.Tensor]:
        """
        Launch on the caller's current stream; outputs are allocated.

        Parameters
        ----------
        args : iterable
            Tensors and numbers in the order of ``Fusion.inputs()``. One level of lists and tuples is
            opened.
        launch_constraints : LaunchParams, optional
            Sizes that the launch must have, on top of those of `compile`.
        compile_params : CompileParams
            How to compile where these arguments need another kernel.

        Returns
        -------
        list[torch.Tensor]
            The visible outputs.

        Raises
        ------
        UserError
            If nothing was compiled, or inputs do not fit.
        """

    def is_compiled(self) -> bool:
        """Whether `compile` succeeded."""

    def is_programmatic_dependent_launch_enabled(self) -> bool:
        """
        Whether the kernel may start before its predecessor ends. False before it is compiled.
        """

    def kernel(self) -> Kernel:
        """The lowered fusion that was compiled last."""

    def kernel_source(self) -> str:
        """
        The complete source that was compiled last, with the support code it uses.
        """

    def kernel_name(self) -> str:
        """Name of the kernel function."""

    def last_launch(self) -> LaunchParams:
        """The launch parameters of the last run."""

    def num_compiled(self) -> int:
        """
        How many kernels were compiled: one per target, architecture and index type.
        """

    def num_plans(self) -> int:
        """How many signatures of arguments have a launch plan."""

class ExecutorCacheStats:
    """The contents of a cache, and its use so far."""

    @property
    def hits(self) -> int:
        """Calls whose signature was known."""

    @property
    def misses(self) -> int:
        """Calls that were planned."""

    @property
    def plans(self) -> int:
        """Signatures that are known."""

    @property
    def specializations(self) -> int:
        """Concretized fusions; 1 where no shape is dynamic."""

    @property
    def runtimes(self) -> int:
        """Kernels of one specialization for a kind of device and for options."""

    @property
    def compiled(self) -> int:
        """Kernels that were compiled."""

    @property
    def evictions(self) -> int:
        """Plans, runtimes and specializations that were forgotten to make room."""

    def __repr__(self) -> str: ...

class PieceReport:
    """How a segment runs, and why not in a better way."""

    @property
    def fusion(self) -> Fusion:
        """A copy of what it computes."""

    @property
    def way(self) -> str:
        """
        ``view``: no kernel, its outputs lie in the memory of its inputs; ``scheduled``: by a scheduler; ``trivial``: by the schedule that is right for any fusion; ``optimized``: the same after passes; ``by hand``; ``evaluated``: through PyTorch.
        """

    @property
    def scheduler(self) -> SchedulerType:
        """The scheduler of its kernel; ``none`` for all other ways."""

    @property
    def params(self) -> HeuristicParams | None:
        """A copy of what the scheduler decided; None for all other ways."""

    @property
    def origin(self) -> str:
        """
        Where a schedule comes from that stands in for the automatic one: ``tuning``, or a file; empty if none does.
        """

    @property
    def inputs(self) -> list[int]:
        """
        Where each input of `fusion` comes from: the inputs of the whole fusion are numbered first, then the visible outputs of segment 0, those of segment 1, and so on.
        """

    @property
    def refused(self) -> list[tuple[str, str]]:
        """
        Better ways that were tried in vain, each with the reason: names of schedulers, or of ways.
        """

class FusionExecutorCache:
    """
    Compiles a fusion when it first meets a kind of device, then runs it. Thread-safe.
    """

    def __init__(self, fusion: Fusion, fusion_id: int = 0, auto_schedule: bool = True) -> None:
        """
        A cache without kernels.

        Parameters
        ----------
        fusion : Fusion
            The definition, which belongs to the cache from now on and must not be changed any more.
        fusion_id : int
            Part of the names of kernels.
        auto_schedule : bool
            Whether to schedule the fusion; if not it is compiled as it is.
        """

    def fusion(self) -> Fusion:
        """The definition."""

    def set_definition_is_printed(self) -> None:
        """NVFUSER_DUMP=python_definition prints no more of it: its frontend did."""

    def execute(self, inputs: Iterable[object], *, device: int | None = None, _enable_options: Sequence[str] = (), _disable_options: Sequence[str] = ()) -> list[torch.Tensor]:
        """
        Run, compiling when needed.

        Parameters
        ----------
        inputs : iterable
            Tensors and numbers in the order of ``fusion().inputs()``. One level of lists and tuples is
            opened.
        device : int, optional
            CUDA device, less than 256, for a fusion without tensor inputs; those of other fusions have to
            be on it.
        _enable_options, _disable_options : sequence of str
            Names as in ``NVFUSER_ENABLE`` and ``NVFUSER_DISABLE``; they hold for this call.

        Returns
        -------
        list[torch.Tensor]
            The visible outputs; tensors of the framework that the inputs came from.

        Raises
        ------
        UserError
            For inputs that do not fit, for a device that is not there, for unknown options, if the
            definition was edited since it was given to the cache, and for inputs that need a new kernel
            while a CUDA graph is captured.
        """

    def run(self, inputs: Iterable[object], /) -> list[torch.Tensor]:
        """
        `execute` on the device of the inputs, with the options that hold; a call takes less time.
        """

    def is_compiled(self, inputs: Iterable[object], device: int = 0) -> bool:
        """
        Whether a run with these inputs would compile nothing; not if they do not fit.

        Parameters
        ----------
        inputs : iterable
            As in `execute`.
        device : int
            Has no effect: the inputs say where a run takes place.
        """

    def get_cuda_kernel(self, inputs: Iterable[object], intrinsic_code: bool = False, device: int = 0) -> str:
        """
        Generated source of the kernels for these inputs; empty where there are none.

        Parameters
        ----------
        inputs : iterable
            As in `execute`.
        intrinsic_code : bool
            With the support code it uses.
        device : int
            CUDA device, for fusions without tensor inputs.

        Raises
        ------
        UserError
            ``Fusion is not compiled!`` for these inputs.
        """

    def get_scheduled_ir(self, inputs: Iterable[object], tensor_transforms: bool = False, device: int = 0) -> str:
        """
        The scheduled fusion as text, with the transforms of every tensor if asked for.

        Parameters
        ----------
        inputs : iterable
            As in `execute`.
        tensor_transforms : bool
            With the transforms of every tensor.
        device : int
            CUDA device, for fusions without tensor inputs.
        """

    def kernel_sources(self, inputs: Iterable[object] | None = None, intrinsic_code: bool = False) -> list[str]:
        """
        Generated source of each kernel; the last run's, if no inputs are given.

        Parameters
        ----------
        inputs : iterable, optional
            As in `execute`.
        intrinsic_code : bool
            With the support code it uses.
        """

    def has_run(self) -> bool:
        """Whether there is a last run, which `last_pieces` and its like tell of."""

    def get_most_recent_scheduled_ir(self, tensor_transforms: bool = False) -> str:
        """As `get_scheduled_ir`, for the last run."""

    def last_launches(self) -> list[LaunchParams]:
        """The launch parameters of the kernels of the last run, in their order."""

    def last_pieces(self) -> list[PieceReport]:
        """
        How each segment of the last run is computed, in their order: a list of `PieceReport`.
        """

    def get_output_shardings(self) -> list[object]:
        """
        How outputs are distributed over devices; empty, since no tensor has a device mesh.
        """

    def compilations(self) -> list[str]:
        """
        Why each runtime was made, in their order: a list of texts, of the latest 256.
        """

    def stats(self) -> ExecutorCacheStats:
        """The contents of the cache, and how it was used."""

    def explain(self, inputs: Iterable[object]) -> str:
        """
        Say what runs each segment, and why.

        For every segment: its scheduler, the kernel with its grid, the params; why the tensors that it
        reads were cut from what makes them; why other schedulers do not take it, and why it fell back.
        Tensors have the lines of Python that made them.

        Parameters
        ----------
        inputs : iterable
            As in `execute`.

        Raises
        ------
        UserError
            ``Fusion is not compiled!`` for these inputs.
        """

    def schedules(self, inputs: Iterable[object]) -> list[str]:
        """
        Each segment as Python: its definition, and the calls that schedule it.

        `use_schedule` takes such a text back, edited or not, and so does a folder that ``NVFUSER_SCHEDULES``
        names. Segments that run without a kernel are definitions alone.

        Parameters
        ----------
        inputs : iterable
            As in `execute`.

        Raises
        ------
        UserError
            ``Fusion is not compiled!`` for these inputs.
        """

    def keep_together(self, tensors: Sequence[TensorView]) -> None:
        """
        Compute these tensors in one segment, with all that lies between them.

        It holds for all later runs, and what was compiled is compiled again. Tensors that passes replace
        are passed over; `explain` prints those that a hint kept together.

        Parameters
        ----------
        tensors : sequence of TensorView
            Tensors of the definition.

        Raises
        ------
        UserError
            For tensors of another definition. A later `execute` raises one with the reasons of the
            schedulers, if none of them takes what computes the tensors as one segment.
        """

    def cut_behind(self, tensors: Sequence[TensorView]) -> None:
        """
        Let what reads these tensors be in other segments than what computes them.

        It does what a ``segment_set`` of each does in a definition, for all later runs.

        Parameters
        ----------
        tensors : sequence of TensorView
            Tensors of the definition.

        Raises
        ------
        UserError
            For tensors of another definition.
        """

    def forget_hints(self) -> None:
        """Cut as if `keep_together` and `cut_behind` had never been called."""

    def use_fusion(self, segment: int, scheduled: Fusion | None, origin: str, inputs: Iterable[object] | None = None, compile_params: CompileParams = ...) -> None:
        """
        As `nvfuser_direct.FusionExecutorCache.use_schedule`, with the schedule as a fusion. `origin` says in errors where it comes from.
        """

    def use_params(self, segment: int, params: HeuristicParams, inputs: Iterable[object] | None = None) -> None:
        """
        Run a segment as its scheduler, or another one, schedules it with these params.

        It holds as long, and for the same runs, as what `use_schedule` puts in place.

        Parameters
        ----------
        segment : int
            Its number in ``explain``.
        params : HeuristicParams
            Edited ones of `last_pieces`, or those of ``schedule.compute_heuristics``.
        inputs : iterable, optional
            Inputs that were executed, to say which sizes are meant; the last ones if left out.

        Raises
        ------
        UserError
            If the params cannot be applied to the segment, or what they make cannot be lowered.
        """

    def store_tuned(self, segment: int, inputs: Iterable[object] | None = None) -> None:
        """
        Keep what `use_params` or `use_schedule` put in place on disk, as the best for such a segment.

        Other processes use it on devices of this name, with this driver and compiler, for runs with the
        same decisions; a segment that draws random numbers is not kept.

        Raises
        ------
        UserError
            If the segment has its automatic schedule.
        """

class Concretization:
    """
    How the dynamic shapes of a fusion come out: the squeezes, merges, splits and new dimensions of every reshape, and which axes are broadcasts. Equal for all inputs that share one concretized fusion.
    """

    def __eq__(self, other: object, /) -> bool: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

def has_dynamic_shapes(fusion: Fusion) -> bool:
    """
    Whether axes of a fusion are symbolic: what they are shows when sizes are known.
    """

def find_concretization(fusion: Fusion, inputs: object) -> Concretization:
    """
    Find how the dynamic shapes of a fusion come out.

    Parameters
    ----------
    fusion : Fusion
        The definition.
    inputs : iterable
        Inputs of a run; only sizes and scalars are looked at.

    Returns
    -------
    Concretization
        Empty where the fusion has no dynamic shapes.

    Raises
    ------
    UserError
        For inputs that do not fit, and for a reshape or expand that is impossible with these sizes.
    """

def try_find_concretization(fusion: Fusion, inputs: object) -> Concretization | Refusal:
    """
    As `find_concretization`; a reshape or expand that is impossible is returned as a refusal.

    Parameters
    ----------
    fusion : Fusion
        The definition.
    inputs : iterable
        Inputs of a run; only sizes and scalars are looked at.

    Returns
    -------
    Concretization or Refusal
        What the shapes come out as, or why they do not.
    """

def concretize(fusion: Fusion, concretization: Concretization) -> Fusion:
    """
    A copy of a fusion with its dynamic shapes resolved.

    Parameters
    ----------
    fusion : Fusion
        The definition, not scheduled.
    concretization : Concretization
        What `find_concretization` returned for it.

    Returns
    -------
    Fusion
        Without symbolic axes; tensors keep their names.
    """

class ReshapeWalk:
    """How one shape becomes another. Its text is a table of all steps."""

    @property
    def squeezes(self) -> list[int]:
        """Dimensions of size one that go: positions in the operand, ascending."""

    @property
    def transforms(self) -> list[str]:
        """
        Merges and splits in their order, as "merge(position)" and "split(position, factor)"; each position counts after the squeezes and after the steps before it.
        """

    @property
    def broadcasts(self) -> list[int]:
        """New dimensions of size one: positions in the result, ascending."""

    def __str__(self) -> str: ...

def explain_reshape(old_shape: Sequence[int], new_shape: Sequence[int], is_removable: Sequence[bool] | None = None) -> ReshapeWalk:
    """
    Explain how a reshape is done, step by step. Nothing is defined.

    Both shapes are read from left to right. A step keeps a dimension, merges it with the next one,
    splits off a constant factor, or lets dimensions of size one go or come.

    Parameters
    ----------
    old_shape : list[int]
        Sizes of the operand, at least 1.
    new_shape : list[int]
        Sizes of the result; one may be -1.
    is_removable : list[bool], optional
        By dimension of the operand: whether it goes if its size is 1, as broadcasts do. An ordinary
        dimension stays in the index. By default all may go.

    Returns
    -------
    ReshapeWalk

    Raises
    ------
    UserError
        If the shapes have different numbers of elements, or none at all.
    """

class KernelProfile:
    """One launch of one kernel."""

    @property
    def name(self) -> str:
        """Name of the kernel."""

    @property
    def segment_id(self) -> int:
        """Segment of the fusion."""

    @property
    def device(self) -> int:
        """CUDA device; -1 for the CPU."""

    @property
    def stream(self) -> int:
        """Handle of the stream; 0 is the default one."""

    @property
    def correlation_id(self) -> int:
        """Number of the launch in this process."""

    @property
    def compile_time_ms(self) -> float:
        """Lowering and compiling; 0 for a kernel that was there before the run."""

    @property
    def time_ms(self) -> float:
        """On the device."""

    @property
    def effective_bandwidth_gbs(self) -> float:
        """Bytes of inputs and outputs over `time_ms`, GB/s."""

    @property
    def percentage_peak_bandwidth(self) -> float:
        """Share of the device's peak bandwidth; 0 on the CPU."""

    @property
    def grid_str(self) -> str:
        """``[x, y, z]``, blocks."""

    @property
    def block_str(self) -> str:
        """``[x, y, z]``, threads."""

    @property
    def cluster_str(self) -> str:
        """``[x, y, z]``, blocks."""

    @property
    def shared_mem_str(self) -> str:
        """``[dynamic, static]``, bytes."""

    @property
    def registers(self) -> int:
        """Registers of a thread; 0 on the CPU."""

    @property
    def input_bytes(self) -> int:
        """Size of the kernel's inputs."""

    @property
    def output_bytes(self) -> int:
        """Size of the kernel's outputs."""

    @property
    def scheduler(self) -> str:
        """The scheduler that scheduled it."""

    def __repr__(self) -> str: ...

class FusionProfile:
    """One run of one fusion."""

    @property
    def verbose(self) -> bool:
        """Whether all columns were asked for."""

    @property
    def fusion_id(self) -> int:
        """Number of the fusion."""

    @property
    def segments(self) -> int:
        """How many segments ran."""

    @property
    def cuda_evt_time_ms(self) -> float:
        """On the device, from the first kernel to the last, gaps included."""

    @property
    def host_time_ms(self) -> float:
        """In the calling thread, compilation included."""

    @property
    def compile_time_ms(self) -> float:
        """Lowering and compiling all kernels."""

    @property
    def kernel_time_ms(self) -> float:
        """On the device, all kernels."""

    @property
    def effective_bandwidth_gbs(self) -> float:
        """Bytes of inputs and outputs over `kernel_time_ms`, GB/s."""

    @property
    def percentage_peak_bandwith(self) -> float:
        """The old spelling of `percentage_peak_bandwidth`."""

    @property
    def percentage_peak_bandwidth(self) -> float:
        """Share of the device's peak bandwidth; 0 on the CPU."""

    @property
    def input_bytes(self) -> int:
        """Size of the fusion's inputs."""

    @property
    def output_bytes(self) -> int:
        """Size of the fusion's outputs."""

    @property
    def kernel_profiles(self) -> list[KernelProfile]:
        """Launches, in order."""

def get_fusion_profile() -> FusionProfile:
    """
    The last profiled run of this thread; waits until its kernels have ended.

    Returns
    -------
    FusionProfile
        Its times and bytes.

    Raises
    ------
    UserError
        If nothing was profiled, or the run launched no kernel.
    """

def reset_profiler() -> None:
    """
    Forget all profiles of this thread, also of a run that ended with an error.
    """

def translate_fusion(fusion: Fusion, schedule: bool = False) -> str:
    """
    A fusion as the Python function that builds it.

    Parameters
    ----------
    fusion : Fusion
        The fusion. If it is scheduled, factored and grouped reductions are printed whole, and caches as
        copies.
    schedule : bool
        Print the schedule as well: behind the math, which is then that from before any cache, stand the
        calls that lead from it to the present graph of tensors, loop domains, bindings and positions.

    Returns
    -------
    str
        Source of ``nvfuser_fusion(fd)``. Calling it inside ``with FusionDefinition() as fd`` gives an
        equal fusion, and with `schedule` one that lowers to the same kernel.

    Raises
    ------
    NotImplementedError
        If an expression, an axis or a step of the schedule has no call that makes it.
    """

def equal_up_to_numbering(a: Fusion, b: Fusion) -> bool:
    """
    Whether two fusions say the same, whatever their statements are numbered.

    Parameters
    ----------
    a, b : Fusion
        The fusions. Unlike for `==`, statements may have other numbers, and equal scalars may be one
        or several.
    """
