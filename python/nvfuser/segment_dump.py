"""NVFUSER_DUMP=python_definition_segments: the segments of a run as definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nvfuser_direct import TensorView, UserError

from .environment import print_text
from .fusion_cache import Generation
from .ir_writer import StatementWriter

if TYPE_CHECKING:
    from nvfuser_direct import Fusion, FusionExecutorCache


def print_segments(fec: FusionExecutorCache) -> None:
    """Print the segments of the last run, in the order in which they run.

    Parameters
    ----------
    fec : FusionExecutorCache
        The kernels, some of which were just compiled.
    """
    for number, piece in enumerate(fec.last_pieces()):
        print_text(f"Python definition for segmented group {number}:")
        print_text(_definition_of(piece.fusion))


def _definition_of(fusion: Fusion) -> str:
    from .definition import FusionDefinition

    fd = FusionDefinition()
    # Statements of its own trie: no id is given, and nothing is counted.
    generation = Generation()
    fd._generation, fd._node = generation, generation.trie.root
    fd._quick_depth = fd._max_length
    try:
        _write(fusion, StatementWriter(fd))
    except UserError as error:  # what passes make may have no statement
        return f"{fusion.print_math()}\n(as IR: {str(error).splitlines()[0]})"
    return repr(fd)


def _write(fusion: Fusion, writer: StatementWriter) -> None:
    for value in fusion.inputs():
        if isinstance(value, TensorView):
            writer.tensor_input(value)
        else:
            writer.scalar_input(value)
    for expr in fusion.exprs():
        writer.expression(expr)
    for output in fusion.outputs():
        alias = fusion.alias_of(output)
        writer.output(output, None if alias is None else alias[0])
