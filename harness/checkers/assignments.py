"""Replicas as asked: a partition of the plan's topics stays on the brokers that it was given, unless a step moves it.

A partition that lost a replica without a request is kept by fewer brokers than its records were promised to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.reassign import ReassignProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.harness.plan.topic_changes import TOPICS
from fencepost.harness.plan.znodes import REASSIGN
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding

REPLICAS_AS_ASKED = Check(
    "replicas-as-asked", "A partition has other replicas than were asked for", "TOPIC-04", Basis.PRESENCE
)


@checker(REPLICAS_AS_ASKED, rank=62, needs=[Need.REPLICAS], every_run=True, rests_on=["state:partition"])
def replicas_as_asked(plan: Plan, journal: Journal, topics: TopicsAtEnd) -> Finding:
    """Judge the decided states of partitions that no step creates anew or moves. Linear in the journal."""
    given = fixed_replicas(plan, topics)
    judged, rows = 0, []
    for event in journal.of("state"):
        data = event.data
        if event.node or data.get("what") != "partition" or data.get("replicas") is None:
            continue
        wanted = given.get((data["topic"], data["partition"]))
        if wanted is not None:
            judged += 1
            if set(data["replicas"]) != set(wanted):
                where = f"{data['topic']}-{data['partition']}"
                rows.append((where, _listed(wanted), _listed(data["replicas"]), f"{event.t:.2f} s"))
    if not rows:
        return REPLICAS_AS_ASKED.held(judged, f"Partitions have the replicas that were asked for ({judged} states).")
    if topics.forgotten_by:
        return REPLICAS_AS_ASKED.unjudged(f"The fault {topics.forgotten_by} took away what a voter had decided.")
    where, wanted_ids, found, at = rows[0]
    return REPLICAS_AS_ASKED.broken(
        judged,
        f"{where} has the replicas {found} at {at}, and {wanted_ids} were asked for; no step moves it.",
        ("partition", "asked for", "replicas", "at"),
        rows,
        at=float(at.removesuffix(" s")),
    )


def fixed_replicas(plan: Plan, topics: TopicsAtEnd) -> Mapping[TopicPartition, tuple[int, ...]]:
    """Return the replicas of the plan's partitions that no step creates anew, deletes or moves."""
    anew = {each.topic for each in topics.requests if each.kind != "grow"}
    moved = set(_moved(plan))
    return {
        (topic.name, number): tuple(replicas)
        for topic in (() if plan.shared else plan.topics)
        for number, replicas in enumerate(topic.assignments)
        if not anew & {topic.name, None} and not moved & {None, topic.name, (topic.name, number)}
    }


def _moved(plan: Plan) -> Iterator[str | TopicPartition | None]:
    """Yield the partitions, or the topics, whose replicas steps change; None if it may be any."""
    for step in plan.steps:
        yield from moved_by(step)


def moved_by(step: Step) -> Iterator[str | TopicPartition | None]:
    """Yield the partitions, or the topics, whose replicas a step changes; None if it may be any."""
    if isinstance(step, ReassignProbe):
        topic, _, number = step.partition.rpartition("-")
        yield topic, int(number)
    elif isinstance(step, ApiProbe) and step.api == "alter_partition_reassignments":
        for each in step.body.get("topics") or ():
            name = str(each.get("name"))
            yield None if name.startswith("$") else name
    elif isinstance(step, ZnodeStep) and step.path.startswith(REASSIGN):
        yield None
    elif isinstance(step, ZnodeStep) and step.path.startswith(TOPICS):
        yield step.path.removeprefix(TOPICS).partition("/")[0]


def _listed(ids: Iterable[int]) -> str:
    return ", ".join(map(str, ids))
