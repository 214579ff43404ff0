"""The answer of reruns to the newest failure of a test."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.results.mining.facts import Row
from fencepost.results.mining.reruns import reruns
from tests.results.mining.facts_of import of_test

IMPORTED = {"run_id": "r", "folder": None, "plan_hash": None, "runner": "pytest", "title": "test_appends"}


def builds(*verdicts: str) -> list[Row]:
    """Return the bars of builds by letters: p(ass), v(iolation), r(etried pass)."""
    return [
        {
            "build": f"b{number}",
            "pass": of.count("p") + of.count("r"),
            "violation": of.count("v"),
            "retried": of.count("r"),
        }
        for number, of in enumerate(verdicts)
    ]


def row(**columns: Any) -> Row:
    return of_test("tests.test_log::test_appends", **{"failure": IMPORTED, "broken": 0.4} | columns)


def test_a_single_failure_of_a_healthy_test_asks_for_reruns_by_the_command_of_its_runner() -> None:
    found = reruns("store", row(), builds("pp", "pp", "pp", "pp", "v"))
    assert found is not None
    assert "reruns on b4 tell flaky from broken: if all fail it is broken (95%)" in found.words
    number = int(found.words.split()[0])
    assert found.command is not None
    assert "test_appends" in found.command
    assert str(number) in found.command


def test_more_failures_need_fewer_reruns_and_a_flaky_past_needs_more() -> None:
    def number(*verdicts: str) -> int:
        found = reruns("store", row(), builds(*verdicts))
        assert found is not None
        return int(found.words.split()[0])

    once = number("pppp", "pppp", "v")
    assert number("pppp", "pppp", "vv") == once - 1
    assert number("ppvp", "vvpv", "pvvp", "v") > once


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (("pp", "pv"), "It passed and failed on b1: it is flaky there, and needs no rerun to tell."),
        (("pp", "r"), "It passed and failed on b1: it is flaky there, and needs no rerun to tell."),
        (("pp", "vvvvvvvvvvvvvv"), "It fails each time on b1, and needs no rerun to tell."),
    ],
)
def test_what_is_known_needs_no_rerun(verdicts: tuple[str, ...], said: str) -> None:
    found = reruns("store", row(), builds(*verdicts))
    assert found is not None
    assert (found.words, found.command) == (said, None)


def test_nothing_is_said_of_a_test_that_passes_now() -> None:
    assert reruns("store", row(), builds("vv", "pp")) is None
    assert reruns("store", row(), []) is None


def test_a_broken_test_needs_no_rerun() -> None:
    found = reruns("store", row(broken=0.99), builds("pp", "v"))
    assert found is not None
    assert found.words == "It fails each time on b1 (99%), and needs no rerun to tell."


def test_a_test_with_a_plan_is_replayed() -> None:
    failure = IMPORTED | {"plan_hash": "sha256:ab"}
    found = reruns("store", row(failure=failure), builds("pp", "pp", "v"))
    assert found is not None
    assert found.command is not None
    assert found.command.startswith("for i in $(seq ")
    assert "fencepost replay plan.yaml" in found.command
