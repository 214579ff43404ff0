"""Moves: a reassignment removes replicas only once those that take over are in the ISR.

A move that ends early leaves what was acknowledged on fewer replicas, or on none. The documents differ:

- Kafka Internals (2017) and replication design V2 wait for every replica of the target;
- so does KIP-631 as it is read here, and if no replica is removed, for the added ones (decision 0070);
- Apache Kafka waits for the added ones (KAFKA-19975), and for all if the target has fewer replicas.

Where a log has the decisions, the record that ends the move has the ISR, and follows the state before. In ZooKeeper
assignment and ISR are written one after the other, and what was between two looks is not seen. There a replica was not
in sync for certain if its broker was dead since before the first request for a move, and no ISR since then has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Final

from fencepost.harness.checkers.assignments import moved_by
from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.control import DECIDED, ControlHistory, PartitionObservation, TopicPartition
from fencepost.harness.checkers.stability import SECONDS
from fencepost.harness.checkers.too_few_alive import read_lives
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.harness.plan.topic_changes import TOPICS
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding

MOVES_WAIT: Final = Check(
    "moves-wait", "A reassignment ended before its replicas were in sync", "ISR-11", Basis.PRESENCE
)


@checker(MOVES_WAIT, rank=64, needs=[Need.DECISIONS], rests_on=["state:partition"])
def moves_wait(
    plan: Plan, journal: Journal, control: ControlHistory, topics: TopicsAtEnd, dialect: Dialect = Dialect.KIP_631
) -> Finding:
    """Judge the end of each reassignment. Linear in the journal, times the replicas that a move lacks."""
    was_out = _dead_since_the_request(plan, journal) if dialect.uses_zookeeper else _by_the_record
    rows, judged = [], 0
    for views in _by_life(control).values():
        for place, needed in _ends(views, dialect):
            missing = needed - set(views[place].isr)
            out = {each for each in missing if was_out(views[: place + 1], each)}
            judged += not missing or bool(out)
            if out:
                before, after = views[place - 1 : place + 1]
                ids = before.replicas or (), after.replicas or (), after.isr, sorted(out)
                rows.append(("-".join(map(str, after.partition)), *map(_listed, ids), f"{after.t:.2f} s"))
    if not rows:
        return MOVES_WAIT.held(judged, f"Each of {judged} reassignments ended with its replicas in sync.")
    if topics.forgotten_by:
        return MOVES_WAIT.unjudged(f"The fault {topics.forgotten_by} took away what a voter had decided.")
    where, replicas, left, isr, out_of_sync, at = rows[0]
    return MOVES_WAIT.broken(
        judged,
        f"The move of {where} from the replicas {replicas} to {left} ended at {at} without {out_of_sync}: "
        f"the ISR was {isr}.",
        ("partition", "replicas", "then", "ISR", "not in sync", "at"),
        rows,
        at=float(at.removesuffix(" s")),
    )


def _by_life(control: ControlHistory) -> Mapping[tuple[TopicPartition, int], Sequence[PartitionObservation]]:
    """Return the decided states of each partition, in order, for each topic of one name apart."""
    found = defaultdict(list)
    for view in control.partitions:
        if view.observer == DECIDED and view.replicas:
            found[view.partition, view.life].append(view)
    return found


def _ends(views: Sequence[PartitionObservation], dialect: Dialect) -> Iterator[tuple[int, set[int]]]:
    """Yield the place of each state in which a move was over, and the replicas that had to be in sync for that.

    Other replicas than the target are those before: the move was cancelled. In ZooKeeper the state between may be
    missed, and a state that lost replicas is the target itself.
    """
    for place, (before, after) in enumerate(pairwise(views), start=1):
        if after.adding or after.removing:
            continue
        was, now = set(before.replicas or ()), set(after.replicas or ())
        if before.adding or before.removing:
            if now == was - set(before.removing):
                yield place, _needed(before, now, dialect)
        elif dialect.uses_zookeeper and was - now:
            yield place, now


def _needed(moving: PartitionObservation, target: set[int], dialect: Dialect) -> set[int]:
    adding = set(moving.adding)
    if dialect is Dialect.KIP_631:
        return target if moving.removing else adding
    if dialect is Dialect.KRAFT:
        return target if len(moving.removing) > len(adding) else adding
    return target


def _by_the_record(views: Sequence[PartitionObservation], _: int) -> bool:
    """Return whether the last state is by the decision next to that of the state before."""
    return views[-1].decision == views[-2].decision + 1


def _dead_since_the_request(plan: Plan, journal: Journal) -> Callable[[Sequence[PartitionObservation], int], bool]:
    """Return a function of the states until the end of a move and a broker: it is dead since before the request."""
    lives = read_lives(plan, journal)
    begun = {event.id: event.t for event in reversed(list(journal.of("step", "begin")))}
    requested: dict[str | TopicPartition | None, float] = defaultdict(lambda: inf)
    written: set[str] = set()
    for place, step in enumerate(plan.steps):
        at = begun.get(plan.step_name(place), inf)
        for moved in moved_by(step):
            requested[moved] = min(requested[moved], at)
        if isinstance(step, ZnodeStep) and step.path.startswith(TOPICS):
            written.add(step.path.removeprefix(TOPICS).partition("/")[0])

    def was_out(views: Sequence[PartitionObservation], broker: int) -> bool:
        end = views[-1]
        topic = end.partition[0]
        since = min(requested[None], requested[topic], requested[end.partition])
        if plan.shared or topic in written or since > end.t:
            return False
        seen = [view for view, later in zip(views, (*views[1:], None), strict=True) if later is None or later.t > since]
        # The last fetch of a replica that was one before may have been under way.
        last = since - SECONDS if broker in (seen[0].replicas or ()) else since
        ran = any(begin <= end.t and until >= last for begin, until in lives.get(broker, ()))
        return not ran and not any(broker in view.isr for view in seen)

    return was_out


def _listed(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids))
