"""FusionDefinition: a fusion as a list of statements, which is defined once and found again later.

States: *blank*, made by the constructor; *open*, while statements are written; *complete*, with an
id; *failed*, where the IR could not be built. A blank definition with an id refers to the entry
with that id, and is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from nvfuser_direct.opaque import opaque

from .define import DefineMethods
from .environment import print_text, traces_statements
from .errors import COMPLETED, EARLY_SCHEDULE, NOT_OPEN, user_error
from .execution import RunMethods
from .fusion_cache import FusionCache, Generation
from .inspection import InspectionMethods
from .multidevice import CommunicatorBackend
from .operators import Operators as _Operators
from .printing import definition_text, statement_text
from .sched import SchedOperators as _SchedOperators
from .sched import ScheduleMethods
from .segmentation import SegmentMethods

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from .entry import Entry
    from .statements import StatementKind
    from .trie import Node

# Statements of more depth are no short cut: every one is looked at.
_NEVER_QUICK = -1


@opaque
class FusionDefinition(
    DefineMethods, RunMethods, InspectionMethods, ScheduleMethods, SegmentMethods
):
    """A fusion: written as statements, found again by them, and run.

    >>> with FusionDefinition() as fd:
    ...     t0 = fd.define_tensor([-1, -1], contiguity=True)
    ...     fd.add_output(fd.ops.relu(t0))
    >>> (out,) = fd.execute([torch.randn(8, 8)])

    A subclass may override `definition`, which the first `execute` calls, and `schedule`. A
    function may be decorated, which that `execute` calls with the definition:

    >>> @FusionDefinition
    ... def doubled(fd):
    ...     t0 = fd.define_tensor([-1])
    ...     fd.add_output(fd.ops.add(t0, t0))
    >>> (out,) = doubled.execute([torch.randn(8)])

    Parameters
    ----------
    id : int or callable, optional
        Refer to the fusion with this id instead of defining one; or the function that defines it.
    max_length : int
        How many statements it may have, literals and outputs included.
    use_multidevice_executor : bool
        Accepted; several devices are not supported.
    backend_type : CommunicatorBackend
        Accepted, as above.

    Attributes
    ----------
    ops : Operators
        The operations.
    sched : SchedOperators
        What schedules are written with.
    profiled : bool
        Whether the last `execute` was given ``profile=True``.
    """

    Operators: ClassVar[type[_Operators]] = _Operators
    SchedOperators: ClassVar[type[_SchedOperators]] = _SchedOperators

    ops: _Operators
    sched: _SchedOperators
    profiled: bool

    def __init__(
        self,
        id: int | Callable[[FusionDefinition], object] | None = None,
        max_length: int = 9999,
        use_multidevice_executor: bool = False,
        backend_type: CommunicatorBackend = CommunicatorBackend.nccl,
    ) -> None:
        self.ops = _Operators(self)
        self.sched = _SchedOperators(self)
        self.profiled = False
        self._given_id = None if callable(id) else id
        self._function = id if callable(id) else None
        self._max_length = max_length
        cache = FusionCache._instance
        self._cache = FusionCache._create() if cache is None else cache
        self._generation: Generation = self._cache._generation
        self._node: Node | None = None  # the last statement, while it is open
        self._failed: Node | None = None  # the last statement of a definition that failed
        self._entry: Entry | None = None  # of a complete definition
        self._quick_depth = _NEVER_QUICK
        self._traces = False
        self._spelled_out: set[int] = set()
        self._is_plain = True  # no profile and no captured text to forget
        self._is_printed = False  # a segment that a dump showed when it was built

    # -- states --

    def __enter__(self) -> FusionDefinition:
        self._setup_definition()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._finalize_definition()
        elif self._node is not None:
            self._fail()

    def _setup_definition(self) -> FusionDefinition:
        """Open a blank definition for statements."""
        if self._entry is not None or self._given_id is not None:
            raise user_error(
                "Fusion Schedule is already found!",
                node=f"definition {self.id()}",
                expected="a definition that is blank",
                fix="make a new FusionDefinition",
            )
        if self._node is not None:
            raise user_error(
                "The definition is open.",
                expected="a definition that is blank",
                fix="leave its with block first",
            )
        if self._failed is not None:
            raise user_error(
                "The definition failed and is spent.", fix="make a new FusionDefinition"
            )
        if self._max_length <= 0:
            raise user_error(
                "Can't make a FusionDefinition with 0 records!", fix="give a larger max_length"
            )
        generation = self._generation = self._cache._generation
        with generation.lock:
            generation.lookups += 1
        self._node = generation.trie.root
        self._traces = traces_statements()
        self._quick_depth = _NEVER_QUICK if self._traces else self._max_length
        return self

    def _finalize_definition(self) -> None:
        """Complete an open definition: it gets the id of equal ones, or a new one."""
        node = self._node
        if node is None:
            raise user_error(NOT_OPEN.format(what="_finalize_definition()"))
        try:
            generation = self._generation
            generation.check_alive()
            if self._traces:
                print_text(f"Terminal Node {'not found.' if node.entry is None else 'found!'}")
            entry = generation.complete(node, self._spelled_out, self._cache._max_fusions)
        except BaseException as error:
            self._fail()
            self._log_failure("defining", None, error)
            raise
        self._node = None
        self._quick_depth = _NEVER_QUICK
        self._entry = entry

    def _fail(self) -> None:
        self._failed, self._node = self._node, None
        self._quick_depth = _NEVER_QUICK

    def _define_by_method(self) -> None:
        """The definition of a subclass or of a function."""
        self._setup_definition()
        try:
            self.definition()
        except BaseException:
            # The next `execute` starts anew.
            self._node = None
            self._quick_depth = _NEVER_QUICK
            self._spelled_out = set()
            raise
        self._finalize_definition()

    def definition(self) -> None:
        """The statements of a subclass, on ``self``, or those of the decorated function.

        Raises
        ------
        NotImplementedError
            If it is not overridden and there is no function.
        """
        if self._function is not None:
            self._function(self)
            return
        raise NotImplementedError("definition() should be implemented by child class!")

    def _complete_entry(self) -> Entry:
        """The entry of a complete definition."""
        entry = self._entry
        if entry is None:
            if self._given_id is None:
                raise user_error(
                    "Invalid fusion definition!",
                    expected="a complete definition",
                    found="one that failed" if self._failed is not None else "an incomplete one",
                    fix="leave its with block, or execute it",
                )
            self._generation.check_alive()
            entry = self._entry = self._cache._entry(self._given_id)
        if entry.generation.is_reset:
            entry.generation.check_alive()
        return entry

    def _check_open(self, kind: StatementKind) -> None:
        """Statements are written while the definition is open."""
        if self._node is not None:
            if self._generation.is_reset:
                self._generation.check_alive()
            return
        if self._entry is not None or self._given_id is not None:
            raise user_error(
                COMPLETED,
                node=f"definition {self.id()}",
                found=f"fd.{kind.function}",
                fix="make a new FusionDefinition",
            )
        found = "one that failed" if self._failed is not None else "one that is blank"
        raise user_error(
            NOT_OPEN.format(what=f"fd.{kind.function}"),
            expected="an open definition",
            found=found,
            fix="with FusionDefinition() as fd: ...",
        )

    def _check_scheduling(self) -> Entry:
        """Schedules are written for complete definitions."""
        if self._entry is None and self._given_id is None:
            raise user_error(
                EARLY_SCHEDULE,
                expected="a complete definition",
                fix="write the schedule behind the with block, or in schedule()",
            )
        return self._complete_entry()

    def _handles(self, node: Node) -> Any:
        """Handles of the results of the statement `node`."""
        handles: list[Any] = []
        index = node.index
        for result in node.results:
            if result is None:
                handles.append(None)
                continue
            handles.append(result[0](self, index, result[1]))
            index += 1
        if node.key[0] == "tensor_sizes":
            return handles
        return handles[0] if len(handles) == 1 else tuple(handles)

    def _trace_statement(self, node: Node, is_hit: bool) -> None:
        state = "hit in" if is_hit else "missed in"
        print_text(f"Record (hash: 0x{hash(node.key) & (2**64 - 1):x}) {state} Fusion Cache.")
        if not is_hit:
            text = statement_text(node, node.states(), self._spelled_out)
            print_text(f"Create new trie node for: {text}")

    # -- what it is --

    def id(self) -> int | None:
        """The fusion id; None for a definition that is not complete."""
        return self._given_id if self._entry is None else self._entry.id

    def __repr__(self) -> str:
        if self._entry is None and self._given_id is not None:
            self._complete_entry()
        if self._entry is not None:
            spelled_out = self._spelled_out if self._given_id is None else self._entry.spelled_out
            return definition_text(self._entry.node, self._entry.id, spelled_out)
        node = self._node if self._node is not None else self._failed
        return definition_text(node, None, self._spelled_out)

    def inputs(self) -> list[int]:
        """State indices of the inputs, tensors and scalars, in the order of their definition."""
        return self._complete_entry().inputs()

    def outputs(self) -> list[int]:
        """State indices of the outputs that are returned, in the order of `add_output`."""
        return self._complete_entry().outputs()

    def extents(self) -> list[int]:
        """Indices of the sizes of inputs: -1, -2, .. for every dimension of every tensor."""
        return self._complete_entry().extents()
