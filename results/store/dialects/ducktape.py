"""ducktape (0.17.0), as in Kafka's system tests: `status` may say that a test was flaky.

The text of a failure has a part for each kind of it: `runs 1, 3 summary:`, and after that why these attempts failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fencepost.results.store.dialects.dialect import Dialect, Execution, ReportFile, TestCase

_SUMMARY: Final = re.compile(r"^runs? (\d+(?:, \d+)*) summary:$", re.MULTILINE)


class Ducktape(Dialect):
    runner = "ducktape"
    lost = ("the number of attempts of a flaky test, and their durations", "when the tests ran")

    def recognizes(self, report: ReportFile) -> bool:
        return report.root.get("name") == "ducktape" or any(
            each.element.get("status") == "flaky" for each in report.cases
        )

    def attempts(self, case: TestCase) -> Iterator[Execution]:
        if case.element.get("status") != "flaky":
            _, *parts = _SUMMARY.split(case.failures[0].text or "") if case.failures else [""]
            reasons = {
                int(run): why for runs, why in zip(parts[::2], parts[1::2], strict=True) for run in runs.split(",")
            }
            time = case.element.get("time") if len(reasons) == 1 else None
            yield from (Execution(case, "failure", message=reasons[run].strip(), time=time) for run in sorted(reasons))
            if not reasons:
                yield from super().attempts(case)
            return
        failures = case.failures
        yield Execution(
            case,
            "failure",
            failures[0] if failures else None,
            "" if failures else "failed, and passed when it was run again",
        )
        yield Execution(case, time=case.element.get("time"), stamp=case.element.get("timestamp"))
