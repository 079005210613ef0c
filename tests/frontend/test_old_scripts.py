"""Scripts for the first releases run as they are, and define what new ones do."""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
from old_scripts import SCRIPTS

from nvfuser import FusionCache, FusionDefinition


def defined(name: str) -> FusionDefinition:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with FusionDefinition() as fd:
            SCRIPTS[name].define(fd)
    return fd


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_old_script_computes_what_pytorch_does(
    name: str, target: str, rng: torch.Generator
) -> None:
    """Accepted spellings: at least 40 definitions in the oldest one."""
    script = SCRIPTS[name]
    inputs = [x.to(target) if isinstance(x, torch.Tensor) else x for x in script.inputs(rng)]
    before = copy.deepcopy(inputs)
    expected = script.reference(*before)
    wanted = list(expected) if isinstance(expected, tuple) else [expected]
    outputs = defined(name).execute(inputs, device=None if inputs or target == "cpu" else 0)
    assert len(outputs) == len(wanted)
    for output, reference in zip(outputs, wanted, strict=True):
        assert output.shape == reference.shape
        assert output.dtype == reference.dtype
        if script.check_values:
            reference = reference.to(output.device)
            torch.testing.assert_close(output, reference, rtol=2e-5, atol=2e-5, equal_nan=True)
        else:
            assert abs(output.mean() - reference.mean()) < 0.1
            assert abs(output.std() - reference.std()) < 0.1
    for given, reference in zip(inputs, before, strict=True):  # those that are updated
        if isinstance(given, torch.Tensor):
            torch.testing.assert_close(given, reference, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_printed_form_of_an_old_script_reaches_its_id(name: str) -> None:
    """Old spellings record what new ones do."""
    fd = defined(name)
    namespace: dict[str, object] = {}
    exec(f"from nvfuser import *\n{fd!r}", namespace)
    with FusionDefinition() as read:
        namespace[f"nvfuser_fusion_id{fd.id()}"](read)  # type: ignore[operator]
    assert read.id() == fd.id()
    assert repr(read) == repr(fd)
    assert FusionCache.get().num_fusions() == 1


def test_there_are_at_least_forty() -> None:
    assert len(SCRIPTS) >= 40
