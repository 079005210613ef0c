"""Pretty printers for gdb: a node of the IR prints as its text.

    (gdb) source tools/gdb/nvfuser_gdb.py

From then on any pointer or reference to ``nvfuser::Statement`` or a class derived from it, alone or
in a container, shows the address and what ``to_string()`` says. ``print/r`` shows the plain fields.
The text comes from ``nvfuser::debug_string`` in the process that is debugged, so it needs a process
(a core file has only addresses) and debug information, which a build with
``NVFUSER_BUILD_BUILD_TYPE=RelWithDebInfo`` has.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import gdb

_BASE = "nvfuser::Statement"
_is_statement_type: dict[str, bool] = {}  # by the name of the class
_in_call = False  # gdb prints frames when a call fails; those must not lead to further calls


def _derives_from_statement(class_type: gdb.Type) -> bool:
    """Is this class ``nvfuser::Statement`` or derived from it?"""
    class_type = class_type.unqualified().strip_typedefs()
    if class_type.code != gdb.TYPE_CODE_STRUCT:
        return False
    name = str(class_type)
    if name not in _is_statement_type:
        _is_statement_type[name] = class_type.tag == _BASE or any(
            field.is_base_class and _derives_from_statement(field.type)
            for field in class_type.fields()
        )
    return _is_statement_type[name]


@contextlib.contextmanager
def _safe_calls() -> Iterator[None]:
    """Calls into the process leave its other threads alone and come back from a bad pointer."""
    global _in_call
    _in_call = True
    try:
        with (
            gdb.with_parameter("scheduler-locking", "on"),
            gdb.with_parameter("unwindonsignal", True),
        ):
            yield
    finally:
        _in_call = False


def _statement_text(pointer: gdb.Value) -> str:
    """The text of the statement that ``pointer`` (to any derived class) points to."""
    try:
        base = pointer.cast(gdb.lookup_type(_BASE).const().pointer())
        gdb.selected_inferior().read_memory(int(base), base.dereference().type.sizeof)
        with _safe_calls():
            return gdb.parse_and_eval("nvfuser::debug_string")(base).string().rstrip("\n")
    except gdb.error as error:
        return f"<no text: {str(error).splitlines()[0]}>"


class StatementPrinter:
    """A statement, given as a pointer to it."""

    def __init__(self, pointer: gdb.Value) -> None:
        self._pointer = pointer

    def to_string(self) -> str:
        address = int(self._pointer)
        if address == 0:
            return "nullptr"
        return f"{address:#x} {_statement_text(self._pointer)}"


def lookup_printer(value: gdb.Value) -> StatementPrinter | None:
    if _in_call:
        return None
    value_type = value.type.strip_typedefs()
    if value_type.code == gdb.TYPE_CODE_PTR:
        if _derives_from_statement(value_type.target()):
            return StatementPrinter(value)
    elif value_type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        if _derives_from_statement(value_type.target()):
            return StatementPrinter(value.referenced_value().address)
    elif value.address is not None and _derives_from_statement(value_type):
        return StatementPrinter(value.address)
    return None


lookup_printer.__name__ = "nvfuser"
gdb.pretty_printers = [
    printer
    for printer in gdb.pretty_printers
    if getattr(printer, "__name__", "") != "nvfuser"  # sourced twice
]
gdb.pretty_printers.append(lookup_printer)
