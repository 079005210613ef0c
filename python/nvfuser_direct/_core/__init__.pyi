"""The fusion compiler's core, bound one to one."""

from collections.abc import Callable, Mapping, Sequence
import enum
from typing import TypeAlias, Union, overload

from nvfuser_direct._core import (
    idm as idm,
    ops as ops,
    schedule as schedule
)


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

class InternalError(RuntimeError):
    """A bug of the compiler; please report it."""

def hide_source_directory(directory: str) -> None:
    """
    Attribute statements made by code of a folder to the code that called it.

    Parameters
    ----------
    directory : str
        Absolute path of the folder, without a trailing separator.
    """

def call_with_options(function: Callable, enable: Sequence[str], disable: Sequence[str]) -> object:
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
    """What a loop axis is bound to."""

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

class IterType(enum.Enum):
    """What an iteration domain is for."""

    Iteration = 0

    Reduction = 1

    Broadcast = 2

    Stride = 3

    GatherScatter = 4

    VectorComponent = 5

    Symbolic = 6

class MemoryType(enum.Enum):
    """Where a tensor lives."""

    local = 0

    shared = 1

    tensor = 3

    symmetric = 4

    Local = 0

    Shared = 1

    Global = 2

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

    Unspecified = 0

    AllLevels = 1

    Streaming = 2

    Global = 3

class SwizzleType(enum.Enum):
    """Permutation of a square of two axes."""

    NoSwizzle = 0

    XOR = 1

    CyclicShift = 2

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
    A value. Instances of this very class are scalars: constants, inputs, or results of scalar expressions.
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

    def is_zero(self) -> bool:
        """Whether this is the constant 0."""

    def is_one(self) -> bool:
        """Whether this is the constant 1."""

    def is_true(self) -> bool:
        """Whether this is the constant true."""

    def is_false(self) -> bool:
        """Whether this is the constant false."""

    def dtype(self) -> DataType:
        """Type of the value, or of the elements of a tensor."""

    def value(self) -> None | bool | int | float | complex:
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

    def has_expanded_extent(self) -> bool:
        """Whether it is expanded."""

    def expanded_extent(self) -> Val:
        """
        Size a user sees where memory holds one element; None if the axis is not expanded.
        """

    def maybe_expanded_extent(self) -> Val:
        """The expanded extent if there is one, else the extent."""

    def parallel_type(self) -> ParallelType:
        """What the axis is bound to."""

    def iter_type(self) -> IterType:
        """What the axis is for."""

    def is_iteration(self) -> bool:
        """Whether the iteration type is Iteration."""

    def is_reduction(self) -> bool:
        """Whether the iteration type is Reduction."""

    def is_broadcast(self) -> bool:
        """Whether the iteration type is Broadcast."""

    def is_symbolic_axis(self) -> bool:
        """Whether the iteration type is Symbolic: decided when sizes are known."""

    def is_rfactor_product(self) -> bool:
        """Whether it was made by a transform between root and logical domain."""

    def is_parallelized(self) -> bool:
        """Whether it is bound to anything."""

    def is_block_dim(self) -> bool:
        """Whether it is bound to a grid index."""

    def is_thread_dim(self) -> bool:
        """Whether it is bound to a thread index."""

    def is_thread(self) -> bool:
        """Whether it is bound to a hardware index."""

    def is_device_dim(self) -> bool:
        """Whether it is bound to a device index."""

    def is_stream(self) -> bool:
        """Whether it is bound to streams."""

    def is_clustered_block_dim(self) -> bool:
        """Whether its blocks form clusters."""

    def has_padding_to_multiple_of_warp(self) -> bool:
        """Whether its launched size is rounded up to whole warps."""

    def maybe_size_after_padding(self) -> int | None:
        """The size it is padded to (threads), if it was given."""

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

class TensorDomain(Val):
    """The domains of a tensor."""

    def root(self) -> list[IterDomain]:
        """Axes before the operation's own transform; may be empty."""

    def maybe_root(self) -> list[IterDomain]:
        """The root domain if there is one, else logical."""

    def logical(self) -> list[IterDomain]:
        """The tensor's shape, reduction axes included."""

    def allocation(self) -> list[IterDomain]:
        """Axes that address memory, outermost stride first; may be empty."""

    def maybe_allocation(self) -> list[IterDomain]:
        """The allocation domain if there is one, else logical."""

    def loop(self) -> list[IterDomain]:
        """The loop nest, outermost first."""

    def initial_loop(self) -> list[IterDomain]:
        """The loop domain the tensor was made with."""

    def contiguity(self) -> list[bool | None]:
        """
        Per allocation axis: whether its stride is the size of everything inside it; None for broadcasts and reductions.
        """

    def has_root(self) -> bool:
        """Whether there is a separate root domain."""

    def has_allocation(self) -> bool:
        """Whether an allocation domain is set."""

    def ndims(self) -> int:
        """Number of loop axes."""

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

    def memory_type(self) -> MemoryType:
        """Where the tensor lives."""

    def compute_at_position(self) -> int:
        """Number of outer loop axes shared with every consumer."""

    def max_producer_position(self) -> int:
        """Number of outer loop axes inside which some producer is computed."""

    def is_cpu_scalar(self) -> bool:
        """Whether it is a 0-dim tensor on the host."""

    def has_reduction(self) -> bool:
        """Whether the loop domain has a reduction."""

    def has_broadcast(self) -> bool:
        """Whether the loop domain has a broadcast."""

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
    def split(self, axis: int, factor: int, inner_split: bool = True) -> TensorView: ...

    @overload
    def split(self, axis: int, factor: Val, inner_split: bool = True) -> TensorView:
        """
        Split one loop axis in two.

        ``[.., N, ..]`` becomes ``[.., ceilDiv(N, factor), factor, ..]``, or with ``inner_split=False``
        ``[.., factor, ceilDiv(N, factor), ..]``. What lies beyond the end of a split that is not divisible is
        not computed.

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

    def flatten(self, from_axis: int = 0, to_axis: int = -1) -> TensorView:
        """
        Merge a range of loop axes.

        Parameters
        ----------
        from_axis, to_axis : int
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

    def cache_after(self, op_type: LoadStoreOpType = LoadStoreOpType.set, cache_op: CacheOp = CacheOp.unspecified, propagate_allocation_domain: bool = True, cached_uses: Sequence[Expr] = []) -> TensorView:
        """
        Insert a copy between this tensor and its consumers.

        Parameters
        ----------
        op_type : LoadStoreOpType
            How the copy moves its data.
        cache_op : CacheOp
            Cache hint of the load.
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

    def set_loop_domain(self, new_loop_domain: Sequence[IterDomain]) -> None:
        """
        Replace the loop domain.

        Parameters
        ----------
        new_loop_domain : list[IterDomain]
            Axes of this tensor that cover its logical domain, outermost first.
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

    def clear_compute_position(self) -> None:
        """Undo the inlining of this tensor."""

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
        What is neither operand nor result, by name; enumerations as their names.
        """

    def same_op(self, other: Expr) -> bool:
        """Same class and equal attributes."""

    def op_hash(self) -> int:
        """Hash of class and attributes."""

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

class ForLoop(Expr):
    """
    Run body for index = start, start + step, ... while index < stop. A loop over an axis bound to a hardware index has that index as `index` and runs once per thread: it prints nothing but its body.
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
    def step(self) -> Val:
        """Increment."""

    @property
    def is_parallel(self) -> bool:
        """Bound to a hardware index: no loop."""

    @property
    def is_vectorized(self) -> bool:
        """The body is one vector access of `stop` lanes."""

    @property
    def is_unrolled(self) -> bool:
        """Must be unrolled: it addresses registers, or was asked for."""

    @property
    def hoists_conditions(self) -> bool:
        """
        Unswitched or unrolled: conditions of the body are tested once, before it.
        """

    @property
    def body(self) -> list[Expr]:
        """Statements."""

class IfThenElse(Expr):
    """Run then_body if predicate holds, else_body otherwise."""

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
    def alias(self) -> TensorView:
        """Use this tensor's storage instead."""

    @property
    def zero_init(self) -> bool:
        """Whether the host zero-fills it."""

    @property
    def is_expanded(self) -> bool:
        """
        CPU target: has one element per thread (or block) and lies in the arena.
        """

class BlockSync(Expr):
    """
    Wait until every thread of the block is here; shared and global writes before it are visible after it.
    """

    @property
    def war_sync(self) -> bool:
        """Keeps a later write from overtaking an earlier read."""

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
    Combine one value (or a Welford triple) over threads of a block; see the top of this file. out = combine(out, over threads: predicate ? in : init).
    """

    @property
    def outs(self) -> list[Val]:
        """Accumulators: one, or (avg, var, n)."""

    @property
    def ins(self) -> list[Val]:
        """Values of this thread, as many."""

    @property
    def inits(self) -> list[Val]:
        """Identities, as many."""

    @property
    def op(self) -> BinaryOpType:
        """Combiner, for one value."""

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

class GridReduction(Expr):
    """
    Combine one value (or a Welford triple) over blocks; see the top of this file.
    """

    @property
    def outs(self) -> list[Val]:
        """Accumulators: one, or (avg, var, n)."""

    @property
    def ins(self) -> list[Val]:
        """Values of this thread, as many."""

    @property
    def inits(self) -> list[Val]:
        """Identities, as many."""

    @property
    def op(self) -> BinaryOpType:
        """Combiner, for one value."""

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

class ThreadLoop(Expr):
    """
    CPU target: run body for every thread of the block. Stands around a region that needs no other thread.
    """

    @property
    def body(self) -> list[Expr]:
        """Statements."""

class BlockLoop(Expr):
    """
    CPU target: run body for every block of the grid, in parallel where no block depends on another. One phase of the kernel.
    """

    @property
    def is_parallel(self) -> bool:
        """Whether blocks may run at once."""

    @property
    def body(self) -> list[Expr]:
        """Statements."""

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

    def inputs(self) -> list[Val]:
        """Inputs in registration order."""

    def outputs(self) -> list[Val]:
        """Outputs in registration order, hidden ones included."""

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

    def __str__(self) -> str: ...

    def lower(self, target: str = 'cuda', index_type: DataType = DataType.Int, record_passes: bool = False) -> Kernel:
        """
        Lower a copy of the scheduled fusion to kernel IR.

        Parameters
        ----------
        target : str
            ``"cuda"`` or ``"cpu"``.
        index_type : DataType
            Width of index arithmetic: Int or Int32.
        record_passes : bool
            Keep the printed kernel after every pass in ``Kernel.passes``.

        Returns
        -------
        Kernel
        """

    def print_kernel(self, compile_params: CompileParams = ..., target: str = 'cuda') -> str:
        """
        The source of the kernel that the scheduled fusion becomes.

        Parameters
        ----------
        compile_params : CompileParams
            Its index type decides the width of index arithmetic.
        target : str
            ``"cuda"`` or ``"cpu"``.
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
        The number; None makes a symbolic scalar.
    dtype : DataType, optional
        Convert to this type; otherwise bool is Bool, int Int, float Double, complex ComplexDouble.
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

    def find(self, key: bytes) -> bytes | None:
        """The payload stored under `key`, if it is there and whole."""

    def store(self, key: bytes, payload: bytes) -> None:
        """Store a payload; failing to is not an error."""

    def path_of(self, key: bytes) -> str:
        """The file of `key`."""

    def clear(self) -> None:
        """Remove every entry."""

    @property
    def is_enabled(self) -> bool:
        """Whether it stores anything."""

    @property
    def folder(self) -> str:
        """Where its files lie."""

    @property
    def max_bytes(self) -> int:
        """Bound of their size together."""

    @property
    def size_bytes(self) -> int:
        """Size of all entries now."""

    def stats(self) -> dict:
        """Counts of hits, of misses by reason, of stores and evictions."""

def clear_loaded_kernels() -> None:
    """
    Forget the machine code held by this process; kernels in use keep theirs.
    """

def compile_cuda_source(source: str, name: str = 'kernel', architecture: str = 'sm_90a') -> bytes:
    """
    Compile CUDA source; needs no GPU.

    Parameters
    ----------
    source : str
        A complete source.
    name : str
        What errors call it.
    architecture : str
        ``sm_90a`` and the like give a cubin, ``compute_90`` and the like PTX.

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
            Int or Int32, for index arithmetic; decided from sizes if not given.
        maxrregcount : int
            Registers of a thread, at most.
        enable_magic_zero : bool
            Limit the hoisting of indices out of unrolled loops.
        enable_ptxas_verbose : bool
            Print what the assembler reports.
        device : torch.device, optional
            Device to compile for.
        include_paths : list[str]
            Further folders with headers.
        """

    @property
    def index_type(self) -> DataType | None:
        """Width of index arithmetic; None: decided from sizes."""

    @index_type.setter
    def index_type(self, arg: DataType | None, /) -> None: ...

    @property
    def maxrregcount(self) -> int:
        """Registers of a thread, at most."""

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

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

class DoctorLine:
    """A fact about this installation."""

    @property
    def topic(self) -> str:
        """What it is about."""

    @property
    def finding(self) -> str:
        """What was found."""

    @property
    def fix(self) -> str:
        """What to do; empty where all is well."""

def doctor_report() -> list[DoctorLine]:
    """What this installation can do, and what is missing."""

class PassRecord:
    """A lowering pass that ran."""

    @property
    def name(self) -> str:
        """Name of the pass."""

    @property
    def text(self) -> str:
        """The kernel after the pass; empty unless recorded."""

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

    def print_source(self, kernel_name: str = '') -> str:
        """
        The generated source of the kernel alone.

        Parameters
        ----------
        kernel_name : str
            Name of the function; a default for the target if empty.
        """

    def launch_extents(self) -> list[Val]:
        """
        Sizes of grid_x, grid_y, grid_z, block_x, block_y, block_z; None where unused.
        """

    def is_cooperative(self) -> bool:
        """Whether all blocks must be resident at once."""

    def shared_bytes(self) -> Val:
        """Dynamic shared memory of a block (bytes); None if there is none."""

    def buffers(self) -> list[tuple[TensorView, bool, bool]]:
        """
        Memory the host allocates for a run, in the order of the kernel's parameters.

        Returns
        -------
        list[tuple[TensorView, bool, bool]]
            The tensor, whether it is filled with zeros, whether it is an output.
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

def lowering_passes() -> list[tuple[str, str]]:
    """The passes of lowering in order: name, and why it stands there."""

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
        """

    def run(self, args: object, launch_constraints: LaunchParams | None = None, compile_params: CompileParams = ...) -> list:
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
        """

    def is_compiled(self) -> bool:
        """Whether `compile` succeeded."""

    def is_programmatic_dependent_launch_enabled(self) -> bool:
        """Whether the kernel starts before its predecessor ends."""

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

def translate_fusion(fusion: Fusion) -> str:
    """
    The math of a fusion as the Python function that builds it.

    Parameters
    ----------
    fusion : Fusion
        An unscheduled fusion.

    Returns
    -------
    str
        Source of `nvfuser_fusion(fd)`. Calling it inside `with FusionDefinition() as fd` gives an equal
        fusion.
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
