"""Parts of the core that the package itself needs; no interface."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import nvfuser_direct._core


def hide_source_directory(directory: str) -> None:
    """
    Attribute statements made by code of a folder to the code that called it.

    Parameters
    ----------
    directory : str
        Absolute path of the folder, without a trailing separator.
    """

def call_at_line(file: str, line: int, function: Callable[[], Any]) -> Any:
    """
    Call a function whose statements are made at a line of the user's program.

    Parameters
    ----------
    file : str
        Its file.
    line : int
        Its number, from 1 on.
    function : callable
        Called without arguments.
    """

def captured_output(function: Callable[[], Any]) -> tuple[Any, str]:
    """
    Call a function, and keep what the core prints for it.

    Parameters
    ----------
    function : callable
        Called without arguments.

    Returns
    -------
    tuple
        What the function returns, and what dumps of this thread and of its tasks were, which are not
        printed.
    """

def capture_text(text: str) -> bool:
    """
    Add to the text that `captured_output` collects in this thread; False: none is collected.
    """

def stream_in_use(op: nvfuser_direct._core.RNGOp) -> int:
    """
    Which part of the random stream of a run the tensor of an RNGOp without seed takes.

    Parameters
    ----------
    op : RNGOp
        One without seed.

    Returns
    -------
    int
        Its place among such tensors that the fusion needs, by age: it draws at this offset from the
        one that the run has from the framework's generator.
    """

def store_in_order(tensor: nvfuser_direct._core.TensorView, stride_order: Sequence[int]) -> None:
    """
    Let a result be stored in an order of memory, as a part of the definition. 0 is the fastest.
    """

def cast_text(from_dtype: nvfuser_direct._core.DataType, to_dtype: nvfuser_direct._core.DataType) -> str:
    """
    Name of a conversion in printed IR, ``__half2float``; empty if there is none.
    """

def schedule_primitives() -> list[str]:
    """
    Names of the primitives that tensors record, as `TensorView.schedule_steps` has them.
    """

class ScalarProgram:
    """Scalar expressions as instructions over numbered registers."""

    def __init__(self, inputs: Sequence[nvfuser_direct._core.Val], outputs: Sequence[nvfuser_direct._core.Val]) -> None:
        """
        Compile expressions.

        Parameters
        ----------
        inputs : list[Val]
            What the program is told.
        outputs : list[Val]
            What it computes.
        """

    def evaluate(self, values: Sequence[bool | int | float | complex | None]) -> list[tuple[bool | int | float | complex | None, str]]:
        """
        Run the program.

        Parameters
        ----------
        values : sequence of bool, int, float, complex or None
            Those of the inputs; None: unknown.

        Returns
        -------
        list[tuple[bool | int | float | complex | None, str]]
            The value of each output and how it came out: ``"known"``, ``"overflowed"``, ``"unknown"`` or
            ``"divided by zero"``.
        """

    def seconds(self, values: Sequence[bool | int | float | complex | None], runs: int) -> float:
        """
        How long a number of runs takes.

        Parameters
        ----------
        values : sequence of bool, int, float, complex or None
            Those of the inputs.
        runs : int
            How many.

        Returns
        -------
        float
            Seconds.
        """

    def __str__(self) -> str: ...

def build_id() -> str:
    """Which build of this library this is."""

def code_versions() -> dict[str, Any]:
    """
    The compute capability of the first device (0, 0 without one), the version of NVRTC (0, 0 without it), and the build of this library.
    """

def set_statements(kernel: nvfuser_direct._core.Kernel, owner: nvfuser_direct._core.Expr | None, list: str, statements: Sequence[nvfuser_direct._core.Expr]) -> None:
    """
    Replace a list of statements, to see what passes and the verifier make of the kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    owner : Expr, optional
        The loop or condition; the kernel itself if None.
    list : str
        ``"body"``, ``"then_body"`` or ``"else_body"``.
    statements : list[Expr]
        Statements of the kernel.
    """

def print_statements(kernel: nvfuser_direct._core.Kernel) -> str:
    """
    The statements of a kernel with all fields and facts, as text that can be read back.
    """

def read_statements(kernel: nvfuser_direct._core.Kernel, text: str) -> None:
    """
    Replace the statements of a kernel by those of a text.

    Parameters
    ----------
    kernel : Kernel
        A kernel that has statements. Its tensors, axes and sizes are those of the text.
    text : str
        Text in the form of `print_statements`.

    Raises
    ------
    ValueError
        If a line does not have that form, or names what the kernel does not have.
    """

def find_violations(kernel: nvfuser_direct._core.Kernel) -> list[str]:
    """The faults of the statements of a kernel, one line for each finding."""

def input_list(inputs: Iterable[object]) -> list[Any]:
    """
    The inputs of a run as a list; an error for a tensor, which is no list of inputs.
    """

def flag(value: object | None) -> bool:
    """
    A flag as a bool: True, False, 1, 0, or one of NumPy; an error for anything else.
    """

def split_host_scalars(fusion: nvfuser_direct._core.Fusion, /) -> tuple[nvfuser_direct._core.Fusion | None, nvfuser_direct._core.Fusion, list[int], list[bool]]:
    """
    The two parts of a run on a GPU: scalars that the host computes, and all else.

    Parameters
    ----------
    fusion : Fusion
        A definition.

    Returns
    -------
    tuple
        The scalars of the host as a fusion, None if there are none; the others; for each input of the
        first its position in `fusion`; for each output of `fusion` whether it is such a scalar.
    """

def report_of_piece(fusion: nvfuser_direct._core.Fusion, inputs: Iterable[object], params: nvfuser_direct._core.HeuristicParams) -> nvfuser_direct._core.PieceReport:
    """
    How a fusion would be computed as one segment, if its first scheduler had decided on these params: nothing runs.
    """

def keep_schedule(scheduled: nvfuser_direct._core.Fusion, decisions: str, origin: str, compile_params: nvfuser_direct._core.CompileParams = ...) -> None:
    """
    Use a schedule for all segments of this process that compute what it does.

    Parameters
    ----------
    scheduled : Fusion
        A definition with its schedule.
    decisions : str
        Those that it is for, as the texts of `FusionExecutorCache.schedules` have them; empty: any.
    origin : str
        Where it comes from, for errors.
    compile_params : CompileParams
        How its kernel is compiled.
    """

def add_shortcut(method: Callable[..., Any]) -> bool:
    """
    Let calls of a method with one argument, and no keyword, go to the function in the attribute ``_run`` of the object, unless that is None. Requires: the method does the same. Returns whether this Python can.
    """

class NumberMap:
    """A ReadMostlyMap of numbers, which tests look into."""

    def __init__(self) -> None: ...

    def find(self, key: int) -> int | None:
        """The value of a key; None if there is none."""

    def insert(self, key: int, value: int) -> int:
        """Let a key have a value, unless it has one. Returns the one it has."""

    def clear(self) -> None:
        """Forget all entries."""

    def items(self) -> list[tuple[int, int]]:
        """Keys and values in the order in which they came."""

    def __len__(self) -> int: ...

def size_inputs(fusion: nvfuser_direct._core.Fusion) -> list[int]:
    """Positions of the scalar inputs that sizes are computed from."""

def find_unequal_sizes(fusion: nvfuser_direct._core.Fusion, inputs: object) -> nvfuser_direct._core.Refusal | None:
    """The refusal that `check_meeting_sizes` raises; None: all sizes match."""

def check_meeting_sizes(fusion: nvfuser_direct._core.Fusion, inputs: object) -> None:
    """
    Hold the sizes of axes that meet in an expression against each other.

    Parameters
    ----------
    fusion : Fusion
        A definition without dynamic shapes.
    inputs : iterable
        Inputs of a run.

    Raises
    ------
    UserError
        ``Expected sizes to match``, naming both axes; for inputs that do not fit their definitions.
    """

def start_profiling() -> None:
    """Measure runs of this thread from now on."""

def stop_profiling() -> None:
    """Undo one `start_profiling`."""

def is_profiling() -> bool:
    """Whether runs of this thread are measured."""

def open_profiled_run(label: str, fusion_id: int = -1) -> None:
    """
    Make one profile of all kernels until `close_profiled_run`, with `label` as scheduler; an empty one: kernels name theirs.
    """

def is_profiled_run_open() -> bool:
    """
    Whether this thread is between `open_profiled_run` and `close_profiled_run`.
    """

def begin_profiled_part(label: str = '') -> None:
    """
    Count the segments of what runs next behind those of the open run, with `label` as in `open_profiled_run`.
    """

def close_profiled_run() -> None:
    """End what `open_profiled_run` began."""

def function_of(expr: nvfuser_direct._core.Expr) -> str:
    """
    The function of ``ops`` that an operation is made by: "add", "sum"; empty for expressions of which there is one kind.
    """
