"""Segments of a definition as definitions: cut it, look at the pieces, schedule and run them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import nvfuser_direct as direct
from nvfuser_direct._core import internal
from nvfuser_direct.evaluator import flatten_inputs
from nvfuser_direct.fusion_definition import _add_note

from .environment import dumps_segments, print_text
from .errors import user_error
from .segment_layouts import Layout, layouts_of
from .segment_plan import SegmentPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import torch

    from .definition import FusionDefinition


class ArgumentManager:
    """The values of a run in segments, by original index.

    A value is dropped behind the last segment that reads it, unless it is an output: memory of
    what lies between two segments is free as soon as its last reader was launched.

    >>> manager = ArgumentManager(fd, inputs)
    >>> for position, segment in enumerate(fd.segments):
    ...     manager.put(position, segment.execute(manager.arguments(position)))
    >>> outputs = manager.outputs()

    Any other function of the arguments may stand for ``segment.execute``.

    Parameters
    ----------
    fd : FusionDefinition
        A definition with segments.
    inputs : iterable
        As for `FusionDefinition.execute`.

    Attributes
    ----------
    values : dict[int, object]
        The table: tensors and numbers by original index.
    """

    def __init__(self, fd: FusionDefinition, inputs: Iterable[Any]) -> None:
        flat = flatten_inputs(inputs)
        if len(flat) != len(fd.inputs()) or not getattr(fd, "segments", None):
            raise user_error(
                "A run in segments starts from a definition with segments, and all its inputs",
                node=f"definition {fd.id()}",
                expected=f"{len(fd.inputs())} inputs; segments by fd.segment(inputs)",
                found=f"{len(flat)} inputs, {len(getattr(fd, 'segments', []))} segments",
                fix="where segment() returns none, fd.execute(inputs) runs one kernel",
            )
        self._segments = fd.segments
        self._maps = fd.segment_index_space_maps
        self._last_used = fd.map_value_to_last_used_segment
        self._returned: list[int] = fd._segment_outputs
        self._layouts: dict[int, Layout] = fd._segment_layouts
        self.values: dict[int, Any] = dict(zip(fd.inputs(), flat, strict=True))
        sizes = [size for value in flat if hasattr(value, "shape") for size in value.shape]
        self.values.update(zip(fd.extents(), sizes, strict=True))

    def arguments(self, position: int) -> list[Any]:
        """The arguments of a segment.

        Parameters
        ----------
        position : int
            Its position in ``fd.segments``.
        """
        segment = self._segments[position]
        indices = self._maps[segment]
        return [self.values[indices[own]] for own in segment.inputs()]

    def put(self, position: int, results: Sequence[torch.Tensor]) -> None:
        """Keep what a segment returned, and drop what no later one reads.

        Parameters
        ----------
        position : int
            Its position in ``fd.segments``.
        results : sequence of torch.Tensor
            Its outputs.
        """
        segment = self._segments[position]
        indices = self._maps[segment]
        own_outputs = segment.outputs()
        if len(results) != len(own_outputs):
            raise user_error(
                f"Segment {position} has {len(own_outputs)} outputs",
                expected=f"{len(own_outputs)} tensors, in the order of segment.outputs()",
                found=f"{len(results)}",
            )
        for own, result in zip(own_outputs, results, strict=True):
            layout = self._layouts.get(indices[own])
            self.values[indices[own]] = result if layout is None else layout.fitted(result)
        for own in segment.inputs():
            index = indices[own]
            is_last = self._last_used[index] == position
            if is_last and index >= 0 and index not in self._returned:
                self.values.pop(index, None)

    def outputs(self) -> list[torch.Tensor]:
        """The outputs of the definition."""
        return [self.values[index] for index in self._returned]


class SegmentMethods:
    """The methods of `FusionDefinition` for segmentation."""

    segments: list[FusionDefinition]
    segment_index_space_maps: dict[FusionDefinition, dict[int, int]]
    map_value_to_last_used_segment: dict[int, int]

    def segment(self: Any, inputs: Iterable[Any]) -> list[FusionDefinition]:
        """Cut the definition into pieces that one scheduler takes each. Nothing is compiled.

        Afterwards `execute` runs the pieces one after another, and each may be printed, scheduled
        and run by itself.

        Parameters
        ----------
        inputs : iterable
            As for `execute`. Sizes decide where is cut; later runs may have others.

        Returns
        -------
        list[FusionDefinition]
            Complete definitions in the order of their runs; empty if one kernel is enough.
        """
        flat = flatten_inputs(inputs)
        count = self._setup_segmentation(flat)
        try:
            segments, maps = [], {}
            for number in range(count if count > 1 else 0):
                piece = type(self)._blank_segment()
                maps[piece] = self._build_segment(piece, number)
                segments.append(piece)
            plan = self._segment_plan
        finally:
            self._finalize_segmentation()
        self._forget_segments()
        if segments:
            self.segments = segments
            self.segment_index_space_maps = maps
            self.map_value_to_last_used_segment = _last_uses(segments, maps)
            self._segment_outputs = plan.returned
            self._segment_layouts = layouts_of(segments, maps)
            self._segment_record = plan.record
            self._is_plain = False  # runs have to pass the segments
        return segments

    @staticmethod
    def _blank_segment() -> FusionDefinition:
        from .definition import FusionDefinition

        return FusionDefinition()

    def _forget_segments(self: Any) -> None:
        for name in ("segments", "segment_index_space_maps", "map_value_to_last_used_segment"):
            self.__dict__.pop(name, None)

    # -- brackets --

    def _setup_segmentation(self: Any, inputs: Iterable[Any]) -> int:
        """Cut a copy of the fusion for these inputs; the number of pieces, at least 1."""
        if self.id() is None:
            raise user_error(
                "FusionDefinition definition does not exist!",
                expected="a complete definition",
                fix="leave its with block first",
            )
        if self.__dict__.get("_segment_plan") is not None:
            raise user_error(
                "SegmentationState already exists!", fix="call _finalize_segmentation() first"
            )
        entry = self._complete_entry()
        entry.check_can_run()
        self._segment_plan = SegmentPlan(entry, flatten_inputs(inputs))
        return max(len(self._segment_plan.groups), 1)

    def _build_segment(self: Any, blank_fd: FusionDefinition, index: int) -> dict[int, int]:
        """Write a piece into a blank definition, and complete it; its map of indices."""
        plan: SegmentPlan | None = self.__dict__.get("_segment_plan")
        if plan is None:
            raise user_error(
                "Run setupSegmentation first before trying to build segments!",
                fix="call _setup_segmentation(inputs)",
            )
        if not 0 <= index < len(plan.groups):
            raise user_error(
                f"The segment id is not valid: {index}",
                expected=f"0 to {len(plan.groups) - 1}",
                found=str(index),
            )
        if blank_fd.id() is not None:
            raise user_error(
                "Expected an incomplete definition before translation.",
                expected="a blank definition",
                found=f"definition {blank_fd.id()}",
            )
        with blank_fd:
            indices = plan.write(index, blank_fd)
        if dumps_segments():
            print_text(f"Python definition for segmented group {index}:\n{blank_fd!r}")
            blank_fd._is_printed = True
        return indices

    def _finalize_segmentation(self: Any) -> None:
        """Drop what `_setup_segmentation` kept."""
        self._segment_plan = None

    # -- running --

    def _execute_segments(
        self: Any,
        inputs: Iterable[Any],
        *,
        profile: bool = False,
        capture_debug_output: bool = False,
        **options: Any,
    ) -> list[torch.Tensor]:
        """Run the pieces; the whole, with a warning, where shapes resolve in another way."""
        flat = flatten_inputs(inputs)
        try:
            if self._resolves_otherwise(flat):
                warnings.warn(
                    "Dynamic shapes resolve differently for these inputs than for those that the "
                    "definition was segmented for: it runs as a whole. Call segment(inputs) again "
                    "to have pieces for them.",
                    UserWarning,
                    stacklevel=3,
                )
                return self._execute_whole(
                    flat, profile=profile, capture_debug_output=capture_debug_output, **options
                )
            self._note_run(profile=profile, captured=None, is_plain=False)
            return self._observed(
                lambda: _run_segments(self, flat, options), capture_debug_output, profile
            )
        except Exception as error:
            self._log_failure("executing", flat, error)
            raise

    def _execute_whole(self: Any, inputs: Sequence[Any], **options: Any) -> list[torch.Tensor]:
        """Run as if there were no segments."""
        names = ("segments", "segment_index_space_maps", "map_value_to_last_used_segment")
        kept = {name: self.__dict__.pop(name) for name in names}
        try:
            return self.execute(inputs, **options)
        finally:
            self.__dict__.update(kept)
            self._is_plain = False

    def _resolves_otherwise(self: Any, inputs: Sequence[Any]) -> bool:
        fusion = self._complete_entry().build().fusion
        return bool(direct.find_concretization(fusion, inputs) != self._segment_record)


def _run_segments(
    fd: FusionDefinition, inputs: Sequence[Any], options: Mapping[str, Any]
) -> list[torch.Tensor]:
    if not internal.is_profiling():
        return _run_in_order(fd, inputs, options)
    internal.open_profiled_run("", fd._complete_entry().id)  # one profile for all
    outputs = _run_in_order(fd, inputs, options)
    internal.close_profiled_run()
    return outputs


def _run_in_order(
    fd: FusionDefinition, inputs: Sequence[Any], options: Mapping[str, Any]
) -> list[torch.Tensor]:
    manager = ArgumentManager(fd, inputs)
    for position, segment in enumerate(fd.segments):
        if internal.is_profiling():
            internal.begin_profiled_part()
        try:
            manager.put(position, segment.execute(manager.arguments(position), **options))
        except Exception as error:
            _add_note(error, f"Segment {position} of {len(fd.segments)}, definition {segment.id()}")
            raise
    return manager.outputs()


def _last_uses(
    segments: Sequence[FusionDefinition], maps: Mapping[FusionDefinition, Mapping[int, int]]
) -> dict[int, int]:
    """By original index the last segment that has it as an input."""
    return {
        maps[segment][own]: position
        for position, segment in enumerate(segments)
        for own in segment.inputs()
    }
