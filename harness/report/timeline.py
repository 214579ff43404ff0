"""The timeline of a run, assembled from its lanes; those of clients are the records and the answers to probes."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from fencepost.harness.checkers.history import History, Send, SendOutcome
from fencepost.harness.plan.model import Plan
from fencepost.harness.report.fault_lanes import bands, fault_lanes, step_lane
from fencepost.harness.report.node_lanes import broker_lanes, controller_lanes, level_lanes, release_lanes
from fencepost.harness.report.partition_lanes import partition_groups
from fencepost.harness.report.shapes import Bars, Bin, Density, Flag, Group, Mark, Timeline
from fencepost.harness.report.state_change_lanes import move_lanes, queue_lanes
from fencepost.harness.report.state_changes import StateChanges
from fencepost.harness.report.zookeeper_lanes import staleness_lanes, zookeeper_lanes
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Finding

SLICES = 500
MOST_PROBES = 6
_FATES = {SendOutcome.OK: "ok", SendOutcome.INFO: "unknown", SendOutcome.FAIL: "failed"}
_ANSWERS = {"served": "served", "refused": "refused", "unanswered": "silent"}


def build_timeline(
    plan: Plan,
    journal: Journal,
    history: History,
    numbered: Sequence[Finding],
    state_changes: StateChanges,
    titles: Mapping[str, str],
    decisive: int | None = None,
) -> Timeline:
    """Return the timeline. `numbered` are the findings to flag, the first as number 1; `titles` are those of steps."""
    duration = max(journal.duration, 0.001)
    groups = [
        Group("scenario", (step_lane(plan, journal, titles), *fault_lanes(journal), *release_lanes(plan, journal))),
        Group("controllers", controller_lanes(plan, journal)),
        Group("ZooKeeper", zookeeper_lanes(plan, journal)),
        Group(
            "brokers",
            (
                *broker_lanes(plan, journal),
                *level_lanes(plan, journal),
                *staleness_lanes(journal),
            ),
        ),
        Group("state changes", (*queue_lanes(journal, state_changes), *move_lanes(journal, state_changes))),
        *partition_groups(plan, history, duration, numbered),
        Group("clients", (*_producer_lanes(plan, history, duration), *_probe_lanes(journal))),
    ]
    flags = tuple(
        Flag(
            finding.at,
            number,
            " ".join(filter(None, (finding.requirement, titles.get(finding.evidence.get("step", ""), finding.title)))),
            known=finding.difference is not None,
            is_decisive=number == decisive,
        )
        for number, finding in enumerate(numbered, start=1)
        if finding.at is not None
    )
    return Timeline(duration, tuple(group for group in groups if group.lanes), tuple(bands(journal)), flags)


def _producer_lanes(plan: Plan, history: History, duration: float) -> Iterator[Density]:
    """Yield a lane for each producer of the workload, and one for all bursts together."""
    named = {producer.name: producer for producer in plan.workload.producers}
    by_process: dict[str, list[Send]] = defaultdict(list)
    for send in history.sends:
        by_process[send.process if send.process in named else "bursts"].append(send)
    for name, sends in by_process.items():
        acks = ", ".join(sorted({f"acks={send.acks}" for send in sends}))
        yield Density(name, acks, tuple(_bins(sends, duration)))


def _probe_lanes(journal: Journal) -> Iterator[Bars]:
    """Yield a lane for each probe step, or one for all if there are many, with a tick for each answer."""
    marks: dict[str, list[Mark]] = defaultdict(list)
    for event in journal.of("op", "ok", "fail", "info"):
        data = event.data
        if data.get("f") != "probe":
            continue
        outcome = str(data.get("outcome", "unanswered"))
        error = f", error {data['error']}" if data.get("error") not in (None, 0) else ""
        tip = f"{data.get('request', 'probe')} to {data.get('node', event.node)} at {event.t:.2f} s: {outcome}{error}"
        marks[str(data.get("step", "probes"))].append(Mark(event.t, _ANSWERS.get(outcome, "silent"), "", tip))
    if len(marks) > MOST_PROBES:
        marks = defaultdict(list, {"probes": [mark for each in marks.values() for mark in each]})
    for step, ticks in marks.items():
        yield Bars(step, f"{len(ticks)} probe{'s'[: len(ticks) != 1]}", (), tuple(ticks))


def _bins(sends: Sequence[Send], duration: float) -> Iterator[Bin]:
    width = max(duration, 0.001) / SLICES
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for send in sends:
        t = send.invoked if send.completed is None else send.completed
        counts[min(SLICES - 1, int(t / width))][_FATES[send.outcome]] += 1
    for place in sorted(counts):
        yield Bin(place * width, (place + 1) * width, counts[place])
