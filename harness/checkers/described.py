"""Descriptions against what the requests of a run must have led to (`harness/model`), a rule for each kind of state.

What the nodes describe is judged at each checkpoint, by the requests that the harness sent and their answers. A kind
that a fault may have made a voter forget is not judged after that. On a cluster that lives on, the nodes have to
describe at first what the plan before left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.starvation import ProcessorWait, read_waits, starved
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.harness.model.comparison import Comparison, compare
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.sent import WITHIN, Checkpoint, Description, Sent
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.topic_changes import writes_znodes
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding

INHERITED = "inherited"
"""The `f` of requests of earlier plans on the same cluster, whose times are before 0."""
BEFORE = "before-"
"""The names of the looks of earlier plans begin so."""

CHECKS = {
    kind.name: Check(
        f"described-{kind.name}",
        f"What is described as {kind.name} is not what requests led to",
        kind.requirement,
        Basis.ABSENCE,
    )
    for kind in KINDS.values()
}


def read_requests(journal: Journal) -> list[Sent]:
    """Return the changing requests of the harness in the order of their beginnings, those of earlier plans first."""
    return [*(sent for _, sent in read_inherited(journal)), *read_sent(journal)]


def read_inherited(journal: Journal) -> Iterator[tuple[int, Sent]]:
    """Yield the requests of earlier plans on the cluster, each with its age: 1 for those of the plan before."""
    for event in journal.of("op", "ok"):
        data = event.data
        if data.get("f") == INHERITED:
            ended = inf if data["ended"] is None else data["ended"]
            yield data["age"], Sent(data["api"], data["body"], data["begun"], ended, data["response"], data["node"])


def read_sent(journal: Journal) -> list[Sent]:
    """Return the changing requests that the harness sent in this run."""
    ends = {event.id: event for event in journal.of("op", "ok") if event.data.get("f") == "request"}
    return [
        Sent(
            event.data["api"],
            event.data["body"],
            event.t,
            ends[event.id].t,
            ends[event.id].data["response"],
            event.node or "",
        )
        if event.id in ends
        else Sent(event.data["api"], event.data["body"], event.t, node=event.node or "")
        for event in journal.of("op", "invoke")
        if event.data.get("f") == "request"
    ]


def read_checkpoints(journal: Journal) -> list[Checkpoint]:
    """Return what all nodes described, in the order of time."""
    descriptions: dict[str, list[Description]] = {}
    for event in journal.of("op", "ok"):
        if event.data.get("f") == "describe":
            data = event.data
            descriptions.setdefault(data["checkpoint"], []).append(
                Description(
                    data["kind"], event.node or "", data["objects"], data["begun"], data["ended"], data["scope"]
                )
            )
    return [Checkpoint(name, tuple(each)) for name, each in descriptions.items()]


@checker(*CHECKS.values(), rank=63, every_run=True, rests_on=["op:describe"], counts=["op:describe"])
def described(plan: Plan, journal: Journal, topics: TopicsAtEnd) -> Iterator[Finding]:
    """Judge each kind of state. Linear in requests and descriptions, for each object by itself.

    Where something is wrong, it is judged again without what was described while a node lacked a processor.
    """
    requests, looks = read_requests(journal), read_checkpoints(journal)
    by_znodes = writes_znodes(plan)
    whole = unstarved = compare(requests, looks, by_znodes)
    if whole.problems:
        unstarved = compare(requests, unstarved_looks(looks, read_waits(journal)), by_znodes)
    for kind, check in CHECKS.items():
        late = {each.kind for each in whole.problems} - {each.kind for each in unstarved.problems}
        if kind in late:
            first = next(each for each in whole.problems if each.kind == kind)
            yield check.unjudged(
                f"{first.shown}, while a node lacked a processor; by the requests is {first.possible}."
            )
        else:
            yield _finding(check, kind, unstarved, topics.forgotten_by)


def unstarved_looks(looks: Iterable[Checkpoint], waits: Mapping[str, Sequence[ProcessorWait]]) -> list[Checkpoint]:
    """Return the looks without descriptions before which a node waited for a processor for a third of their time."""
    return [
        Checkpoint(
            look.name,
            tuple(each for each in look.descriptions if not starved(waits, each.begun - WITHIN, each.ended, WITHIN)),
        )
        for look in looks
    ]


def _finding(check: Check, kind: str, comparison: Comparison, forgotten_by: str) -> Finding:
    judged = comparison.judged.get(kind, 0)
    problems = [problem for problem in comparison.problems if problem.kind == kind]
    if problems and forgotten_by:
        return check.unjudged(
            f"{problems[0].shown}; the fault {forgotten_by} took away what a voter had decided.", kind=kind
        )
    if not problems:
        unfollowed = [each for each in comparison.not_followed if each.startswith(f"{kind}: ")]
        if unfollowed:
            return check.unjudged(f"There are too many doubts to follow {', '.join(unfollowed)}.")
        return check.held(judged, f"Nodes describe as {kind} what was asked for ({judged} descriptions of objects).")
    first = problems[0]
    return check.broken(
        judged,
        f"{first.shown}; by the requests before it is {first.possible}.",
        ("object", "at", "described or answered", "by the requests", "requests"),
        [
            (each.object, f"{each.at:.3f} s", each.shown, each.possible, "; ".join(each.history[-6:]))
            for each in problems
        ],
        at=first.at,
    )
