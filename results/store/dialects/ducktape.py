"""ducktape, as in Kafka's system tests: `status` may say that a test was flaky."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.results.store.dialects.dialect import Dialect, Execution, ReportFile, TestCase


class Ducktape(Dialect):
    runner = "ducktape"
    lost = ("the number of attempts of a flaky test, and their durations", "when the tests ran")

    def recognizes(self, report: ReportFile) -> bool:
        return report.root.get("name") == "ducktape" or any(
            each.element.get("status") == "flaky" for each in report.cases
        )

    def attempts(self, case: TestCase) -> Iterator[Execution]:
        if case.element.get("status") != "flaky":
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
