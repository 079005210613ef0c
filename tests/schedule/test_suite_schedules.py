"""The schedules of the suite's cases, as Python: run again, they make the same kernels, byte for
byte, for both targets. Nothing is compiled, and nothing touches the inputs."""

from __future__ import annotations

import pytest
from scheduled_runs import check_prints_as_python
from suite_kernels import cases, optimized

from nvfuser_direct import SchedulerType, schedule, segment

WITHOUT_KERNEL = {SchedulerType.no_op, SchedulerType.expr_eval}
CASES = {
    "cuda": [case.name for case in cases.cuda_cases()],
    "cpu": [case.name for case in cases.cpu_cases()],
}
NAMES = [(made_for, name) for made_for, names in CASES.items() for name in names]


@pytest.mark.parametrize(("made_for", "name"), NAMES)
def test_segments_of_the_suite_print_as_python(made_for: str, name: str) -> None:
    plan = segment(*optimized(name, target=made_for), made_for)
    for group in plan.groups:
        if group.params is None or group.scheduler in WITHOUT_KERNEL:
            continue
        fusion = group.fusion.clone()
        schedule.schedule(fusion, group.scheduler, group.params)
        check_prints_as_python(fusion)


@pytest.mark.parametrize(("made_for", "name"), NAMES)
def test_every_scheduler_that_takes_a_case_prints_as_python(made_for: str, name: str) -> None:
    fusion, inputs = optimized(name, target=made_for)
    for scheduler in schedule.find_compatible_schedulers(fusion, inputs, made_for):
        if scheduler in WITHOUT_KERNEL:
            continue
        scheduled = fusion.clone()
        schedule.schedule(scheduled, scheduler, inputs, made_for)
        check_prints_as_python(scheduled)
