"""The life of state changes, read from logs and metrics files, and how the page shows it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.harness.judge import judge
from fencepost.harness.plan.file import dump_plan
from fencepost.harness.report.page import render, write_report
from fencepost.harness.report.state_change_lanes import move_lanes, queue_lanes
from fencepost.harness.report.state_change_rows import broker_rows, state_change_rows, watch_rows
from fencepost.harness.report.state_changes import StateChanges, read_state_changes, requests_of
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import Journal, JournalWriter
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan

Line = tuple[float, str]
START = "start-replica for topic foo partition 0"
CLOSE = "close-replica for topic foo partition 0"


def requested(t: float, what: str = START, *, by: str = "leader, broker id 4", to: int = 5, epoch: int = 10) -> Line:
    return t, f"{by}, requested {what}, to broker id {to}, at epoch {epoch}"


def received(t: float, what: str = START, *, to: int = 5, leader: int = 4, epoch: int = 10) -> Line:
    return t, f"follower, broker id {to}, received {what}, from leader {leader}, at epoch {epoch}"


def ended(
    t: float, how: str, what: str = START, *, to: int = 5, leader: int = 4, epoch: int = 10, more: str = ""
) -> Line:
    return t, f"follower, broker id {to}, {how} {what}, request from leader {leader}, at epoch {epoch}{more}"


@pytest.mark.requirement("LD-07")
def test_a_request_is_followed_through_its_life_with_times_and_epoch() -> None:
    [life] = requests_of([requested(1.0), received(1.2), ended(1.5, "completed")])
    assert (life.change, life.partition, life.by, life.to, life.epoch) == ("start-replica", "foo-0", 4, 5, 10)
    assert (life.requested, life.received, life.ended, life.outcome) == (1.0, 1.2, 1.5, "completed")


def test_a_command_names_the_broker_that_carried_it_out_and_no_leader() -> None:
    lines = [
        requested(1.0, by="admin, broker id 6", epoch=-1),
        received(1.1, leader=-1, epoch=-1),
        ended(1.2, "completed", leader=-1, epoch=-1),
    ]
    [life] = requests_of(lines)
    assert (life.by, life.leader, life.outcome) == (6, -1, "completed")


def test_what_is_ignored_or_fails_says_why() -> None:
    lines = [
        *(received(t) for t in (1.0, 1.1)),
        ended(1.2, "ignored", more=", the epoch is 11"),
        ended(1.3, "failed", more=": no such replica"),
    ]
    assert [(life.outcome, life.remark) for life in requests_of(lines)] == [
        ("ignored", "the epoch is 11"),
        ("failed", "no such replica"),
    ]


def test_what_is_not_received_waits_and_what_is_not_logged_has_no_begin() -> None:
    waits, unknown = requests_of([requested(1.0), received(1.5, CLOSE, leader=6)])
    assert (waits.outcome, unknown.outcome, unknown.requested) == ("waits", "received", None)


def test_a_log_may_tell_of_receiving_before_another_tells_of_requesting() -> None:
    [life] = requests_of([received(1.0), requested(1.01), ended(1.2, "completed")])
    assert (life.requested, life.received, life.ended) == (1.01, 1.0, 1.2)


def test_requests_in_the_same_words_are_matched_in_order() -> None:
    first, second = requests_of([requested(1.0), received(1.1), ended(1.2, "ignored"), requested(4.0), received(4.1)])
    assert (first.outcome, second.outcome, second.received) == ("ignored", "received", 4.1)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run that began at 10:00:00 UTC, whose node logs in a time zone of its own."""
    folder = RunFolder.create_at(tmp_path / "run")
    lines = [
        f"2026-11-21 12:00:01,500 INFO [broker 4] leader, broker id 4, requested {CLOSE}, to broker id 5, at epoch 10",
        "2026-11-21 12:00:01,600 INFO [broker 4] leader, broker id 4, reassignment of topic foo partition 0, step "
        "caught-up, at epoch 10",
        "2026-11-21 12:00:01,700 ERROR [broker 4] leader, broker id 4, state change queue of broker id 5 is full: "
        "FollowerStateChangeQueueFull",
        "2026-11-21 12:00:01,800 INFO [broker 4] broker id 4, saw a leader change of topic foo partition 0",
        "2026-11-21 12:00:01,900 INFO [broker 4] something else",
    ]
    (folder.logs / "node-4.log").write_text("\n".join(lines) + "\n")
    figures = {"state_changes": {"requested": {"start-replica": 0, "close-replica": 1}}, "queue_backlog": {"5": 3}}
    (folder.nodes / "node-4").mkdir()
    (folder.nodes / "node-4" / "metrics.json").write_text(json.dumps(figures))
    return folder


def journal() -> Journal:
    builder = JournalBuilder().at(0.0).event("run", "r", "begin")
    for length in (1, 3, 0):
        builder.event("state", "queue", "seen", {"what": "queue", "broker": 5, "length": length})
    watches = {"leader": 9, "other": 2, "children": 3, "any": 14, "sessions": {"0x1": 9}, "others": {"/brokers/ids": 2}}
    builder.event("step", "counted", "end", {"outcome": "done", "watches": watches})
    return builder.at(5.0).event("run", "r", "end").journal()


def test_logs_are_read_in_seconds_of_the_run_whatever_their_time_zone(folder: RunFolder) -> None:
    events = (replace(event, wall=1795255200.0 + event.t) for event in journal().events)
    lines = read_state_changes(folder, Journal(tuple(events)))
    assert [life.requested for life in lines.requests] == [pytest.approx(1.5)]
    assert [(round(step.t, 3), step.step) for step in lines.steps] == [(1.6, "caught-up")]
    assert [(round(t, 3), broker) for t, broker in lines.full] == [(1.7, 5)]
    assert lines.seen == {"foo-0": {4: 1}}
    assert lines.figures["node-4"]["queue_backlog"] == {"5": 3}


def test_lanes_show_queues_and_steps(folder: RunFolder) -> None:
    lines = read_state_changes(folder, journal())
    [queue] = queue_lanes(journal(), lines)
    [move] = move_lanes(journal(), lines)
    assert (queue.name, queue.note) == ("queue of 5", "1 close")
    assert [segment.labels[0] for segment in queue.segments] == ["1 waiting", "3 waiting"]
    assert [mark.label for mark in queue.marks] == ["full"]
    assert [segment.labels for segment in move.segments] == [("caught-up",)]


def test_tables_show_lives_counts_and_watches(folder: RunFolder) -> None:
    lines = read_state_changes(folder, journal())
    assert state_change_rows(lines)["summary"] == "1 waits"
    assert broker_rows(lines)[0]["requested"] == "0 + 1"
    assert broker_rows(lines)[0]["last seen in queues"] == "5: 3"
    assert watch_rows(journal())[0] | {"at": ""} == {
        "step": "counted", "at": "", "leader": 9, "other": 2, "children": 3, "any": 14, "sessions": "9",
        "others": "/brokers/ids × 2",
    }  # fmt: skip


def test_all_that_did_not_complete_is_shown_however_much_did() -> None:
    lines = [line for n in range(100) for line in (requested(n), received(n), ended(n, "completed"))]
    many = requests_of([*lines, requested(200.0, CLOSE)])
    rows = state_change_rows(StateChanges(requests=tuple(many)))
    assert (len(rows["rows"]), rows["omitted"], rows["rows"][-1]["outcome"]) == (61, 40, "waits")


def test_the_page_of_a_folder_has_them_and_others_have_none(folder: RunFolder) -> None:
    folder.plan.write_text(dump_plan(plan(target="leader-driven")))
    with JournalWriter(folder.journal) as writer:
        for event in journal().events:
            writer.write(event.type, event.id, event.phase, dict(event.data), node=event.node)
    page = write_report(folder).read_text()
    for words in ("State changes", "Counters of brokers", "Watches in ZooKeeper", "queue of 5"):
        assert words in page
    bare = render(plan(), JournalBuilder().journal(), judge(plan(), JournalBuilder().journal()), replay="x")
    assert "State changes" not in bare and "Counters of brokers" not in bare
