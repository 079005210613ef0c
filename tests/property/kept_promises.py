"""Schedules that lower before a call that binds or inlines lower after it: random programs.

    python tests/property/kept_promises.py --call inline_most --kind boxes --count 3000

lowers each program before and after every call of the function (both targets), and counts the
refusals that a call has led to.
"""

from __future__ import annotations

import sys
import warnings

from random_programs import Report, argument_parser, run_arguments
from schedule_scripts import Lines, headline
from scheduled_programs import MAKERS, make_script, summary

from nvfuser_direct import Fusion, UserError


def refusal_by_lowering(fusion: Fusion, target: str) -> UserError | None:
    try:
        fusion.lower(target=target)
    except UserError as error:
        return error
    return None


class CallReport:
    """Looks at the calls of one function; can be sent to another process."""

    def __init__(self, name: str, kind: str = "plain") -> None:
        self.start = f"fd.sched.{name}("
        self.kind = kind

    def __call__(self, seed: int, target: str) -> Report:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            script, _ = make_script(seed, self.kind)
            lines = Lines(script.definition)
            has_call = False
            for call in script.calls:
                is_wanted = call.startswith(self.start)
                lowered = is_wanted and refusal_by_lowering(lines.fusion, target) is None
                lines.execute(call)
                has_call = has_call or lowered
                error = refusal_by_lowering(lines.fusion, target) if lowered else None
                if error is not None:
                    return Report(seed, "failed", f"{headline(error)}\n{call}\n{error}")
        return Report(seed, "kept" if has_call else "refused", "it does not lower before any call")


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--call", default="inline_most", help="the function of fd.sched")
    parser.add_argument("--kind", choices=list(MAKERS), default="plain", help="of programs")
    args = parser.parse_args()
    reports = run_arguments(args, CallReport(args.call, args.kind))
    print(summary(reports))
    return int(any(report.result == "failed" for report in reports))


if __name__ == "__main__":
    sys.exit(main())
