"""Kernels run no more iterations than their schedules ask for."""

from counted_programs import report_of
from counting_compiler import with_counter
from profiles import settings
from random_programs import run_seeds
from scheduled_programs import summary

COUNTED = range(8 * settings.default.max_examples)

KERNEL = """\
int helper() {
  for (int i = 0; i < 3; ++i) {
  }
}
extern "C" void kernel(const void* const* params) {
  run_blocks(rt, gridDim, /*parallel=*/true, 0, [=](Dim3 blockIdx, char* scratch) {
    for (nvfuser_index_t i1 = 0; i1 < i0; ++i1) { // iS1{i0}
      T1[i1] = T0[i1];
    }
  });
}
"""


def test_the_loops_of_a_kernel_are_counted_and_no_others() -> None:
    lines = with_counter(KERNEL).splitlines()
    counted = [line.split("{")[0].strip() for line in lines if "++nvf_count;" in line]
    assert counted == [
        "run_blocks(rt, gridDim, /*parallel=*/true, 0, [=](Dim3 blockIdx, char* scratch)",
        "for (nvfuser_index_t i1 = 0; i1 < i0; ++i1)",
    ]


def test_loops_run_as_often_as_the_schedule_asks() -> None:
    # In processes of their own: one that has found a compiler asks for no other.
    reports = run_seeds(COUNTED, "cpu", 1, report_of)
    assert not [report for report in reports if report.result == "failed"], summary(reports)
    assert any(report.result == "kernel" for report in reports), summary(reports)
