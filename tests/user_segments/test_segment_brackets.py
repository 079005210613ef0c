"""`segment` and the calls that it is made of: states, errors, ids, and runs with other inputs."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys

import pytest
import torch
from cut_definitions import check_structure, constant, define, maps, matrix, randn

from nvfuser import DataType, FusionCache, FusionDefinition
from nvfuser.segmentation import ArgumentManager


def cut_in_two(fd: FusionDefinition):
    return fd.ops.neg(fd.ops.segment_set(fd.ops.exp(matrix(fd))))


def test_segments_are_ordinary_definitions(target) -> None:
    """Ids, `num_fusions()`, attributes, complete definitions in run order"""
    x = randn(4, 6, target=target)
    fd = define(cut_in_two)
    segments = fd.segment([x])
    assert fd.segments is segments
    assert [segment.id() for segment in segments] == [1, 2]
    assert FusionCache.get().num_fusions() == 3
    assert set(fd.segment_index_space_maps) == set(segments)
    again = define(lambda fd: fd.ops.exp(matrix(fd)))
    assert again.id() == segments[0].id(), "may coincide with a definition written before or after"


def test_equal_segments_have_one_id(target) -> None:
    """ "Two segments that are the same program get the same id." """

    def build(fd):
        value = fd.ops.neg(matrix(fd))
        for _ in range(2):
            value = fd.ops.neg(fd.ops.segment_set(value))
        return value

    fd = define(build)
    segments = fd.segment([randn(4, 6, target=target)])
    assert len({segment.id() for segment in segments}) == 1
    assert len(segments) == 3
    check_structure(fd)


def test_nothing_is_compiled(target) -> None:
    """ "Nothing is run and nothing is compiled." """
    fd = define(cut_in_two)
    for segment in fd.segment([randn(4, 6, target=target)]):
        assert segment._complete_entry().fec is None


def test_nested_inputs_are_flattened(target) -> None:
    """ "nested lists and tuples are flattened", also for `execute`"""

    def build(fd):
        x = matrix(fd)
        sizes = fd.define_vector(2)
        return fd.ops.neg(fd.ops.segment_set(fd.ops.exp(fd.ops.reshape(x, sizes))))

    x = randn(4, 6, target=target)
    fd = define(build)
    assert len(fd.segment([x, (3, 8)])) == 2
    torch.testing.assert_close(fd.execute([x, [3, 8]])[0], -torch.exp(x).reshape(3, 8))


def test_segment_again_replaces(target) -> None:
    """ "Calling `segment` again replaces the three attributes." """
    x = randn(4, 6, target=target)
    fd = define(cut_in_two)
    first = fd.segment([x])
    second = fd.segment([x])
    assert second is fd.segments
    assert first[0] is not second[0]
    assert [s.id() for s in first] == [s.id() for s in second]


def test_a_cut_serves_other_sizes(target) -> None:
    """ "sizes stay symbolic": later executions reuse the cut"""
    fd = define(cut_in_two)
    segments = fd.segment([randn(4, 6, target=target)])
    for shape in ((7, 3), (1, 50), (0, 4)):
        x = randn(*shape, target=target)
        torch.testing.assert_close(fd.execute([x])[0], -torch.exp(x))
    assert fd.segments is segments


def test_other_resolutions_run_as_a_whole(target) -> None:
    """ "must notice and fall back to the unsegmented path with a warning" """

    def build(fd):
        x = matrix(fd)
        sizes = fd.define_vector(2)
        flat = fd.ops.segment_set(fd.ops.exp(fd.ops.reshape(x, sizes)))
        return fd.ops.add(flat, matrix(fd))

    fd = define(build)
    x, other = randn(4, 6, target=target), randn(3, 8, target=target)
    fd.segment([x, 3, 8, other])
    torch.testing.assert_close(fd.execute([x, 3, 8, other])[0], torch.exp(x).reshape(3, 8) + other)
    row = randn(7, 24, target=target)
    with pytest.warns(UserWarning, match="resolve differently"):
        (out,) = fd.execute([x, 1, 24, row])
    torch.testing.assert_close(out, torch.exp(x).reshape(1, 24) + row)
    assert len(fd.segments) == 2


def test_the_brackets_by_hand(target) -> None:
    """segmentation.md 2.1"""
    x = randn(4, 6, target=target)
    fd = define(cut_in_two)
    assert fd._setup_segmentation([x]) == 2
    found = []
    for index in range(2):
        blank = FusionDefinition()
        found.append(fd._build_segment(blank, index))
        assert blank.id() == index + 1
    fd._finalize_segmentation()
    assert not hasattr(fd, "segments")
    assert found == [{0: 0, 1: 1}, {0: 1, 1: 3}]
    fd.segment([x])
    assert maps(fd) == found
    one = define(lambda fd: fd.ops.exp(matrix(fd)))
    assert one._setup_segmentation([x]) == 1
    one._finalize_segmentation()


def test_errors_of_the_brackets(target) -> None:
    """segmentation.md 10, first five rows"""
    x = randn(4, 6, target=target)
    for call in ("segment", "_setup_segmentation"):
        with pytest.raises(RuntimeError, match="FusionDefinition definition does not exist!"):
            getattr(FusionDefinition(), call)([x])
    fd = define(cut_in_two)
    gist = "Run setupSegmentation first before trying to build segments!"
    with pytest.raises(RuntimeError, match=gist):
        fd._build_segment(FusionDefinition(), 0)
    fd._setup_segmentation([x])
    with pytest.raises(RuntimeError, match="SegmentationState already exists!"):
        fd._setup_segmentation([x])
    for index in (-1, 2):
        with pytest.raises(RuntimeError, match="The segment id is not valid"):
            fd._build_segment(FusionDefinition(), index)
    gist = "Expected an incomplete definition before translation."
    with pytest.raises(RuntimeError, match=re.escape(gist)):
        fd._build_segment(define(lambda fd: fd.ops.exp(matrix(fd))), 0)
    fd._finalize_segmentation()


def test_a_failed_segment_leaves_the_definition_as_it_was(target) -> None:
    """Wrong inputs as for `execute`; "usable as if it had not been called" """
    x = randn(4, 6, target=target)
    fd = define(cut_in_two)
    for wrong in ([], [x, x], [3], [x.to(torch.int64)]):
        texts = []
        for call in (fd.segment, fd.execute):
            with pytest.raises(RuntimeError) as error:
                call(wrong)
            texts.append(str(error.value).splitlines()[0])
        assert texts[0] == texts[1]
    assert not hasattr(fd, "segments")
    assert len(fd.segment([x])) == 2
    with pytest.raises(RuntimeError, match="Expected input 0"):
        fd.execute([3])
    torch.testing.assert_close(fd.execute([x])[0], -torch.exp(x))


def test_an_error_of_a_run_names_the_segment_and_the_original(
    target, caplog: pytest.LogCaptureFixture
) -> None:
    """segmentation.md 10, last paragraph"""

    def build(fd):
        value = fd.ops.segment_set(fd.ops.exp(matrix(fd)))
        return fd.ops.neg(value)

    x = randn(4, 6, target=target)
    fd = define(build)
    fd.segment([x])

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("out of something")

    fd.segments[1].execute = broken
    with caplog.at_level(logging.ERROR, logger="nvfuser"), pytest.raises(RuntimeError) as error:
        fd.execute([x])
    assert error.value.__notes__ == ["Segment 1 of 2, definition 2"]
    assert "executing nvFuser FusionDefinition 0" in caplog.text
    assert "segment_set" in caplog.text


def test_options_reach_the_segments(target) -> None:
    """`profile` of the whole run, captured text, script of the original"""
    x = randn(4, 6, target=target)
    fd = define(cut_in_two)
    fd.segment([x])
    fd.execute([x], profile=True)
    profile = fd.profile()
    assert profile.segments == 2
    assert len(profile.kernel_profiles) == 2
    fd.execute([x], capture_debug_output=True)
    assert isinstance(fd.debug_output(), str)
    script = fd.repro_script_for([x])
    assert "segment_set" in script
    with pytest.warns(UserWarning, match="Options for one call"):
        fd.execute([x], _disable_options=["fma"])


def test_what_execute_passes_on_to_segments() -> None:
    """`device`, `override_user_schedule` and options; not what is the whole's"""
    x = randn(4, 6)
    fd = define(cut_in_two)
    seen = []

    def watched(execute):
        def run(inputs, **options):
            seen.append(options)
            return execute(inputs)

        return run

    for segment in fd.segment([x]):
        segment.execute = watched(segment.execute)
    with pytest.warns(UserWarning, match="Options for one call"):
        fd.execute([x], device=0, override_user_schedule=True, _disable_options=["fma"])
    assert seen == 2 * [
        {
            "device": 0,
            "override_user_schedule": True,
            "_enable_options": (),
            "_disable_options": ("fma",),
        }
    ]


def test_texts_of_a_run_are_those_of_the_segments(target) -> None:
    """`last_cuda_code` of the original is that of its last run as a whole"""
    x = randn(4, 6, target=target)
    fd = define(cut_in_two)
    segments = fd.segment([x])
    fd.execute([x])
    with pytest.raises(RuntimeError, match="Fusion 0 has never been executed"):
        fd.last_cuda_code()
    assert all("nvfuser_" in segment.last_cuda_code() for segment in segments)


def test_captured_texts_are_joined_in_the_order_of_runs() -> None:
    """`capture_debug_output` with segments"""
    program = """
import torch
from nvfuser import FusionDefinition
with FusionDefinition() as fd:
    x = fd.define_tensor([-1], contiguity=True)
    fd.add_output(fd.ops.neg(fd.ops.segment_set(fd.ops.exp(x))))
x = torch.ones(8)
fd.segment([x])
fd.execute([x], capture_debug_output=True)
text = fd.debug_output()
assert 0 < text.index("= expf(T0") < text.index("= -T0"), text
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"NVFUSER_DUMP": "fusion_ir_math"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""


def test_segments_are_in_the_file_of_the_cache(target, tmp_path) -> None:
    """A segment is "serialized with the cache" """
    x = randn(4, 6, target=target)
    fd = define(cut_in_two)
    ids = [segment.id() for segment in fd.segment([x])]
    (expected,) = fd.execute([x])
    count = FusionCache.get().num_fusions()
    FusionCache.get().serialize(str(tmp_path / "cache"))
    FusionCache.reset()
    FusionCache.get().deserialize(str(tmp_path / "cache"))
    fd = define(cut_in_two)
    assert [segment.id() for segment in fd.segment([x])] == ids
    assert FusionCache.get().num_fusions() == count
    assert torch.equal(fd.execute([x])[0], expected)


def test_random_numbers_are_drawn_in_one_segment(target) -> None:
    """ "in exactly one segment, never duplicated"; 5: missing bounds"""

    def build(fd):
        x = matrix(fd, 3)
        noise = fd.ops.rand_like(x)
        left = fd.ops.add(x, noise)
        return [fd.ops.sum(left, [0]), fd.ops.sum(left, [1]), noise]

    x = randn(30, 20, 10, target=target)
    fd = define(build)
    fd.segment([x])
    assert sum("ops.uniform" in repr(segment) for segment in fd.segments) == 1
    (text,) = (repr(s) for s in fd.segments if "ops.uniform" in repr(s))
    assert "fd.define_scalar(0.00000, dtype=DataType.Double)" in text
    assert "fd.define_scalar(1.00000, dtype=DataType.Double)" in text
    over_rows, over_columns, noise = fd.execute([x])
    torch.testing.assert_close(over_rows, (x + noise).sum(0), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(over_columns, (x + noise).sum(1), atol=1e-4, rtol=1e-4)


def test_scalars_are_inputs_or_recomputed(target) -> None:
    """Scalar inputs used in several segments, and computed ones"""

    def build(fd):
        x = matrix(fd)
        s = fd.define_scalar(None, dtype=DataType.Double)
        twice = fd.ops.mul(s, constant(fd, 2.0))
        value = fd.ops.segment_set(fd.ops.mul(fd.ops.exp(x), twice))
        return fd.ops.add(value, twice)

    x = randn(4, 6, target=target)
    fd = define(build)
    segments = fd.segment([x, 1.5])
    check_structure(fd)
    assert all(1 in indices.values() for indices in maps(fd))
    assert all(repr(segment).count("fd.ops.mul(S") == 1 for segment in segments)
    torch.testing.assert_close(fd.execute([x, 1.5])[0], torch.exp(x) * 3 + 3)


def test_zero_elements_cross(target) -> None:
    """ "no launch, right shapes" """
    fd = define(cut_in_two)
    x = randn(0, 6, target=target)
    fd.segment([x])
    assert fd.execute([x])[0].shape == (0, 6)


def test_index_spaces(target) -> None:
    """`inputs()` and `extents()`"""

    def tensors(fd):
        return fd.ops.add(matrix(fd), matrix(fd))

    def scalar_first(fd):
        s = fd.define_scalar(None, dtype=DataType.Double)
        a, b = matrix(fd, 1), matrix(fd)
        return fd.ops.add(fd.ops.mul(a, s), b)

    def rank_zero(fd):
        t = fd.define_tensor([])
        return fd.ops.mul(t, fd.define_scalar(None, dtype=DataType.Double))

    for build, inputs, extents in (
        (tensors, [0, 1], [-1, -2, -3, -4]),
        (scalar_first, [0, 1, 2], [-1, -2, -3]),
        (rank_zero, [0, 1], []),
    ):
        fd = define(build)
        assert fd.inputs() == inputs
        assert fd.extents() == extents


def test_a_value_inside_a_composite_operation_crosses(target) -> None:
    """A private index, one past the last state of the original"""

    def build(fd):
        x = matrix(fd)
        variance = fd.ops.var(x, [0], 1, True)
        return fd.ops.sum(fd.ops.div(x, variance), [1])

    x = randn(5000, 300, target=target)
    fd = define(build)
    segments = fd.segment([x])
    if segments:
        check_structure(fd)
    torch.testing.assert_close(fd.execute([x])[0], (x / x.var(0)).sum(1), atol=1e-2, rtol=1e-3)


def test_a_manager_needs_segments_and_all_inputs() -> None:
    """The errors of `ArgumentManager`, in five parts."""
    x = randn(4, 6)
    fd = define(cut_in_two)
    gist = "A run in segments starts from a definition with segments"
    with pytest.raises(RuntimeError, match=gist):
        ArgumentManager(fd, [x])
    fd.segment([x])
    with pytest.raises(RuntimeError, match=gist):
        ArgumentManager(fd, [x, x])
    manager = ArgumentManager(fd, [x])
    with pytest.raises(RuntimeError, match="Segment 0 has 1 outputs"):
        manager.put(0, [])
