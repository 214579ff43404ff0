"""Each verdict is told in the way that pytest and Allure understand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.conformance.outcome import Inconclusive, Infrastructure, Violation, raise_unless_passed
from results.records.folder import RunFolder
from results.records.verdict import Finding, RunVerdict, Verdict

FOLDER = RunFolder(Path("runs/2026-11-21-7f3c9a21"))


def verdict(kind: Verdict) -> RunVerdict:
    finding = Finding(kind, "lost-write", "Lost", "220 records are lost.", requirement="ACK-01", level="never")
    return RunVerdict(kind, "records are lost", "s", "quorum", "7f3c9a21", 1.0, 10, 0, (finding,))


def test_a_pass_raises_nothing() -> None:
    raise_unless_passed(verdict(Verdict.PASS), FOLDER)


@pytest.mark.parametrize(
    ("kind", "raised"),
    [
        (Verdict.VIOLATION, Violation),
        (Verdict.INFRASTRUCTURE, Infrastructure),
        (Verdict.INCONCLUSIVE, Inconclusive),
    ],
)
def test_only_a_violation_is_an_assertion(kind: Verdict, raised: type[Exception]) -> None:
    with pytest.raises(raised) as caught:
        raise_unless_passed(verdict(kind), FOLDER)
    assert isinstance(caught.value, AssertionError) == (kind is Verdict.VIOLATION)


def test_a_failure_says_what_was_found_how_to_see_it_again_and_where_to_look() -> None:
    with pytest.raises(Violation) as caught:
        raise_unless_passed(verdict(Verdict.VIOLATION), FOLDER)
    assert str(caught.value).splitlines() == [
        "records are lost",
        "  never ACK-01: 220 records are lost.",
        "  again  fencepost replay runs/2026-11-21-7f3c9a21",
        "  look   runs/2026-11-21-7f3c9a21/report.html",
    ]


def test_findings_of_another_kind_are_left_to_the_report() -> None:
    mixed = verdict(Verdict.VIOLATION)
    other = Finding(Verdict.PASS, "one-leader", "Two leaders", "12 epochs had one leader.")
    with pytest.raises(Violation) as caught:
        raise_unless_passed(replace(mixed, findings=(*mixed.findings, other)), FOLDER)
    assert "12 epochs" not in str(caught.value)
