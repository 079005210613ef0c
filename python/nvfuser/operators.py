"""`fd.ops`: a method for every operation, each of which records a statement.

Methods are written from `op_table`, since most differ in their names and parameters alone. Those
with older spellings, several forms or a default that depends on others are in `operator_forms`. The
signatures that type checkers see are in operators.pyi, which `python -m nvfuser.operator_stub`
writes from the same table.

A statement that was seen before costs one look-up, in the method itself (`quick`); `record` does
all else: checks, new statements, and errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nvfuser_direct import DataType

from .op_docs import documentation_of
from .operator_forms import OperatorForms
from .quick import names_of_quick_lines, quick_lines
from .record import record_slowly
from .statements import KINDS, StatementKind

if TYPE_CHECKING:
    from collections.abc import Callable


def signature_of(kind: StatementKind) -> str:
    """The parameters as Python, without ``self``."""
    words = []
    for parameter in kind.parameters:
        default = "" if parameter.default is None else f"={parameter.default}"
        if parameter.form == "if given" and "*" not in words:
            words.append("*")
        words.append(parameter.name + default)
    return ", ".join(words + (["/"] if kind.positional_only else []))


def make_method(kind: StatementKind) -> Callable[..., Any]:
    """The method that records statements of a kind."""
    names = ", ".join(parameter.name for parameter in kind.parameters)
    source = f"""
def {kind.method}(self, {signature_of(kind)}):
    fd = self._fd
{quick_lines(kind)}
    return record_slowly(fd, kind, [{names}])
"""
    namespace = names_of_quick_lines(kind)
    namespace |= {"__name__": __name__, "DataType": DataType, "record_slowly": record_slowly}
    exec(compile(source, __file__, "exec"), namespace)
    method: Callable[..., Any] = namespace[kind.method]
    method.__qualname__ = f"Operators.{kind.method}"
    method.__module__ = __name__
    method.__doc__ = documentation_of(kind)
    return method


class Operators(OperatorForms):
    """The operations of a definition: ``fd.ops``."""

    __slots__ = ()


for _kind in list(KINDS.values()):
    if not _kind.function.startswith("ops."):
        continue
    if _kind.method not in vars(OperatorForms):
        setattr(Operators, _kind.method, make_method(_kind))
    else:
        vars(OperatorForms)[_kind.method].__doc__ = documentation_of(_kind)
