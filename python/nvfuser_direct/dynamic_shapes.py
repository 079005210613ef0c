"""Dynamic shapes: one definition, resolved for the sizes of each execution.

Executions that resolve alike share a concretized fusion and its kernels. Whether they do is looked
up by sizes first; the fusion is only asked about sizes that are new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core

if TYPE_CHECKING:
    from ._core import Concretization, Fusion

# Sizes remembered by one definition. Past that they are resolved anew: programs with that many
# shapes gain nothing from remembering them.
_MAX_REMEMBERED = 4096


class Specialization(NamedTuple):
    """A definition for all inputs that resolve alike.

    Parameters
    ----------
    number : int
        In the order of first use.
    fusion : Fusion
        The concretized fusion.
    """

    number: int
    fusion: Fusion


class DynamicShapes:
    """The specializations of one definition.

    Parameters
    ----------
    fusion : Fusion
        A definition with symbolic axes; it must not be changed any more.
    """

    def __init__(self, fusion: Fusion) -> None:
        self._fusion = fusion
        self._size_inputs = _core.internal.size_inputs(fusion)
        self._remembered: dict[tuple[Any, ...], Specialization] = {}
        self._specializations: dict[Concretization, Specialization] = {}

    def resolve(self, args: list[Any]) -> Specialization:
        """The specialization for these inputs, made when it is the first of its kind.

        Parameters
        ----------
        args : list
            Inputs, flattened: tensors and numbers.

        Raises
        ------
        UserError
            For a reshape or an expand that is impossible with these sizes, for sizes that do not
            match where axes meet, and for inputs that do not fit.
        """
        try:
            shapes = tuple(tuple(arg.shape) if hasattr(arg, "shape") else None for arg in args)
            key = (shapes, *(args[i] for i in self._size_inputs if i < len(args)))
            known = self._remembered.get(key)
        except (TypeError, RuntimeError) as error:  # no tensors or numbers, or without sizes
            _core.internal.check_inputs(self._fusion, args)
            raise _core.UserTypeError(
                f"Expected tensors, numbers and lists of these as inputs, but got {args!r}"
            ) from error
        if known is None:
            known = self._resolve_new(args)
            if len(self._remembered) >= _MAX_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = known
        return known

    def _resolve_new(self, args: list[Any]) -> Specialization:
        record = _core.find_concretization(self._fusion, args)
        known = self._specializations.get(record)
        if known is None:
            fusion = _core.concretize(self._fusion, record)
            # Threads that meet the same new sizes at once agree on one.
            known = self._specializations.setdefault(
                record, Specialization(len(self._specializations), fusion)
            )
        _core.internal.check_meeting_sizes(known.fusion, args)
        return known
