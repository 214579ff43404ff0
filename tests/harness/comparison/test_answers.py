"""The answers of a run, read from its plan and journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fencepost.harness.comparison.answers import Answers, answers_of, merged
from fencepost.harness.comparison.questions import questions
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal

ASKED = "create-partitions.validate-only"


def event(of: str, id: str, phase: str, t: float, node: str | None = None, **data: Any) -> Event:
    return Event(seq=0, t=t, wall=t, type=of, id=id, phase=phase, node=node, data=data)


def asked(step: str, phase: str, t: float, **data: Any) -> Event:
    return event("op", f"probe-{step}-0", phase, t, "node-4", f="probe", step=step, **data)


def answers(*events: Event) -> Answers:
    return answers_of(questions("quorum", ["create-partitions.validate-only"]), Journal(events))


def served(**response: Any) -> Mapping[str, Any]:
    return {"outcome": "served", "error": None, "body": {"version": 1, "response": response}}


def test_an_answer_is_masked_and_has_its_time_to_serve() -> None:
    ended = asked(ASKED, "ok", 1.5, **served(throttle_time=3, results=[]))
    answer = answers(asked(ASKED, "invoke", 1.0), ended).by_probe[ASKED]
    assert (answer.short, answer.version, answer.seconds) == ("ok", 1, 0.5)
    assert answer.response == {"throttle_time": "<time>", "results": []}


def test_an_error_is_its_code() -> None:
    refused = {"outcome": "refused", "error": 37, "body": {"version": 1, "response": {}}}
    assert answers(asked(ASKED, "fail", 1.0, **refused)).by_probe[ASKED].short == "37"


def test_the_last_of_several_answers_counts() -> None:
    waits = {"outcome": "awaited", "error": 15, "body": {}}
    found = answers(asked(ASKED, "info", 1.0, **waits), asked(ASKED, "ok", 2.0, **served()))
    assert found.by_probe[ASKED].short == "ok"


def test_a_request_that_the_target_lacks_is_not_offered() -> None:
    lacks = {"outcome": "not-asked", "error": None, "body": {"reason": "node-4 has no request CreatePartitions"}}
    answer = answers(asked(ASKED, "info", 1.0, **lacks)).by_probe[ASKED]
    assert (answer.short, answer.is_answer) == ("not offered", False)


def test_a_probe_whose_value_is_missing_was_not_asked() -> None:
    end = event("step", ASKED, "end", 1.0, outcome="failed", message="`$member` stands for nothing")
    answer = answers(end).by_probe[ASKED]
    assert (answer.short, answer.note) == ("not asked", "`$member` stands for nothing")


def test_a_broker_that_ends_at_a_probe_is_its_answer() -> None:
    closed = {"outcome": "refused", "error": None, "body": {"reason": "closed the connection"}}
    exited = event("node", "node-4", "exited", 1.1, "node-4", exit_code=134)
    answer = answers(asked(ASKED, "fail", 1.0, **closed), exited).by_probe[ASKED]
    assert (answer.short, answer.note) == ("ended", "node-4 ended: exit_code 134")


def test_what_only_prepares_is_no_row() -> None:
    assert not [name for name in answers().by_probe if name.startswith("before.")]


def test_what_is_described_in_the_end_is_the_state() -> None:
    described: dict[str, Any] = {
        "f": "describe",
        "checkpoint": "end",
        "kind": "topics",
        "objects": {"t": {"topic_id": "x"}},
    }
    earlier: dict[str, Any] = {**described, "checkpoint": "begin", "objects": {"u": {}}}
    found = answers(event("op", "describe-0", "ok", 1.0, **earlier), event("op", "describe-1", "ok", 2.0, **described))
    assert found.state == {"topics": {"t": {"topic_id": "<id>"}}}


def test_the_answers_of_several_plans_have_its_number() -> None:
    one = answers(asked(ASKED, "ok", 1.0, **served()))
    assert set(merged([one, one]).by_probe) == {f"1/{ASKED}", f"2/{ASKED}"}
    assert merged([one]) is one


def test_of_a_run_folder_only_the_probes_with_such_names_are_taken() -> None:
    """The state that all of its probes led to is left out."""
    ended = asked(ASKED, "ok", 1.5, **served(results=[]))
    described = event("op", "d", "ok", 2.0, f="describe", checkpoint="end", kind="topics", objects={"t": {"a": 1}})
    whole = answers(asked(ASKED, "invoke", 1.0), ended, described)
    assert whole.state
    kept = whole.only(["*.validate-*"])
    assert (set(kept.by_probe), set(kept.apis), kept.state) == ({ASKED}, {ASKED}, {})
    assert whole.only(["produce.*"]).by_probe == {}
