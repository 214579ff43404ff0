"""Stability: leadership moves only for a cause, and no live broker is given up without one.

A cause is a disturbance (see `disturbances`) of what the change is about, not longer ago than its effect can take. The
bounds are wide, so that a change without a cause is certain; one with a cause is not judged at all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import inf
from typing import Any

from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import Need, checker
from fencepost.harness.checkers.control import (
    DECIDED,
    ControlHistory,
    ControllerObservation,
    PartitionObservation,
    TopicPartition,
)
from fencepost.harness.checkers.disturbances import Disturbances
from fencepost.harness.checkers.voters import voters_change
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding

CONTROLLER_STAYS = Check(
    "controller-stays", "The leadership of the controllers moved without a cause", "CTRL-02", Basis.FAULT
)
BROKERS_STAY = Check("brokers-stay", "A live broker was given up without a cause", "CTRL-03", Basis.FAULT)
LEADERS_STAY = Check("leaders-stay", "A partition's leader changed without a cause", "LEAD-01", Basis.FAULT)
FOLLOWERS_STAY = Check("followers-stay", "A follower left the ISR without a cause", "ISR-12", Basis.FAULT)

SECONDS = 2.0
"""Seconds beyond the timeouts of the protocol until an effect is seen."""
SLOWS_FOLLOWERS = re.compile(r"replica\.|replication\.throttled|num\.replica")
"""The settings by which an administrator may hold followers back, or be impatient with them."""
GIVEN_UP = frozenset({"fenced", "gone", "inactive"})


@dataclass(frozen=True)
class Stability:
    """The evidence of a run that tells a change with a cause from one without."""

    plan: Plan
    dialect: Dialect
    journal: Journal
    control: ControlHistory
    requests_disturb: bool = True
    pre_vote: bool = True
    """Without it, a voter that was away deposes the controller when it comes back (KIP-996)."""

    @cached_property
    def disturbances(self) -> Disturbances:
        return Disturbances(self.plan, self.journal, self.requests_disturb)

    @cached_property
    def undisturbed_by_requests(self) -> Stability:
        """Return the same evidence, where requests of clients explain nothing."""
        return replace(self, requests_disturb=False)

    def may_be_elected(self, at: TopicPartition, t: float) -> bool:
        """Return whether an election of this partition's preferred leader may have had its effect just before `t`.

        The controller of the draft elects on request only (D631-71), and what the request names (KIP-460).
        """
        if self.dialect is not Dialect.KIP_631:
            return True
        since = t - self.leader_seconds
        return any(
            (partitions is None or at in partitions) and begun <= t and ended >= since
            for begun, ended, partitions in self._elections
        )

    @cached_property
    def _elections(self) -> list[tuple[float, float, frozenset[TopicPartition] | None]]:
        """Return when each election was begun and answered, and of which partitions; None: of all."""
        begun = {event.id: event.t for event in self.journal.of("step", "begin")}
        ended = {event.id: event.t for event in self.journal.of("step", "end")}
        return [
            (begun[step.as_], ended.get(step.as_, inf), _named(step.body.get("topic_partitions")))
            for step in self.plan.steps
            if isinstance(step, ApiProbe) and step.api == "elect_leaders" and step.as_ in begun
        ]

    @property
    def quorum_seconds(self) -> float:
        """Return the seconds within which a disturbance of the controllers, or of ZooKeeper, has its effect."""
        timing = self.plan.timing
        own = timing.session_ms if self.dialect.uses_zookeeper else timing.fetch_ms + timing.election_ms
        return SECONDS + 2 * own / 1000

    @property
    def leader_seconds(self) -> float:
        """Return the seconds within which a disturbance has its effect on a broker or on a partition's leader."""
        timing = self.plan.timing
        return self.quorum_seconds + 2 * max(timing.lease_ms, timing.session_ms, timing.lag_ms) / 1000

    @cached_property
    def names(self) -> dict[int, str]:
        """Return the name of each broker and controller by its id."""
        return {
            id: node.name
            for node in self.plan.topology.nodes
            if node.is_original and "zookeeper" not in node.roles
            for id in (node.id, node.quorum_id)
        }

    @cached_property
    def voters(self) -> tuple[str, ...]:
        """Return the controllers that vote, or the servers of ZooKeeper."""
        role = "zookeeper" if self.dialect.uses_zookeeper else "controller"
        return tuple(node.name for node in self.plan.topology.nodes if role in node.roles)

    @cached_property
    def terms(self) -> tuple[ControllerObservation, ...]:
        """Return the first view of each controller epoch, in the order in which the epochs were seen to begin."""
        terms: list[ControllerObservation] = []
        for view in self.control.controllers:
            if view.active >= 0 and view.epoch > (terms[-1].epoch if terms else -1):
                terms.append(view)
        return tuple(terms)

    @property
    def shows_deciders(self) -> bool:
        """Return whether the controllers that decide about brokers and leaders were seen, if there are any."""
        return bool(self.terms) or not self.dialect.has_controllers

    def controllers(self, since: float, until: float) -> list[str]:
        """Return the controllers that were active at any time between the two, the last one last."""
        before = [term for term in self.terms if term.t <= since][-1:]
        during = [term for term in self.terms if since < term.t <= until]
        return [self.names[term.active] for term in (*before, *during) if term.active in self.names]

    def holds_majority(self, leader: str, since: float, until: float) -> bool:
        """Return whether the controller was left alone, and a majority of the voters reached it all the time."""
        disturbances = self.disturbances
        if disturbances.of_process(leader, since, until):
            return False
        if not self.pre_vote and any(disturbances.of_node(voter, since, until) for voter in self.voters):
            return False
        with_it = [
            voter for voter in self.voters if voter == leader or not disturbances.of_link(leader, voter, since, until)
        ]
        if self.dialect.uses_zookeeper:
            # A server that lost the others serves no client, and the sessions of its clients may end.
            parted = any(disturbances.of_link(*pair, since, until) for pair in combinations(self.voters, 2))
            return len(with_it) == len(self.voters) and not parted
        if voters_change(self.plan):  # any two of them may have been a majority
            return len(with_it) == len(self.voters)
        return len(with_it) > len(self.voters) / 2

    def is_starved(self, leader: str, since: float, t: float) -> bool:
        """Return whether the controller or a voter waited for a processor for too long."""
        return self.disturbances.of_processors({leader, *self.voters}, since, t, self._deadline)

    def is_left_alone(self, broker: str, t: float) -> bool:
        """Return whether nothing disturbed the broker, the controllers that decided about it, and their quorum."""
        since, disturbances = t - self.leader_seconds, self.disturbances
        deciding = (broker, *self.voters, *self.controllers(since, t))
        if disturbances.of_node(broker, since, t) or disturbances.of_processors(deciding, since, t, self._deadline):
            return False
        if self.dialect.uses_zookeeper and any(disturbances.of_node(each, since, t) for each in self.voters):
            return False
        if not self.dialect.has_controllers:
            return True
        active = self.controllers(since, t)
        if not active or any(disturbances.of_node(each, since, t, fatal=False) for each in active[:-1]):
            return False
        if len(active) > 1 and self._leases_ran_out(since, t):
            return False
        return self.holds_majority(active[-1], since, t)

    def is_reassigned(self, view: PartitionObservation) -> bool:
        """Return whether the partition's replicas changed about then: one that is to leave goes before or with that."""
        return any(abs(t - view.t) <= self.leader_seconds for t in self._reassigned[view.partition])

    @cached_property
    def _reassigned(self) -> Mapping[TopicPartition, Sequence[float]]:
        """Return when the replicas of each partition changed."""
        times = defaultdict[TopicPartition, list[float]](list)
        replicas: dict[TopicPartition, Any] = {}
        for view in self.control.partitions:
            if view.observer == DECIDED:
                if replicas.setdefault(view.partition, view.replicas) != view.replicas:
                    times[view.partition].append(view.t)
                replicas[view.partition] = view.replicas
        return times

    def _leases_ran_out(self, since: float, t: float) -> bool:
        """Return whether a failover may have outlasted a lease: a broker of the draft fences itself then (K631-31)."""
        if self.dialect is not Dialect.KIP_631:
            return False
        elected = max(term.t for term in self.terms if term.t <= t)
        return elected - self.disturbances.first(since, t) > self.plan.timing.lease_ms / 2000

    @property
    def _deadline(self) -> float:
        timing = self.plan.timing
        return min(timing.lease_ms, timing.session_ms, timing.lag_ms, timing.fetch_ms) / 1000


@checker(CONTROLLER_STAYS, rank=78, needs=[Need.CONTROLLERS], every_run=True, rests_on=["state:controller"])
def controller_stays(stability: Stability) -> Finding:
    """Judge that the leadership of the controllers stays where it is while its holder and a majority reach each other.

    Without Pre-Vote: while nothing disturbs any voter. With ZooKeeper: while the controller reaches every server of an
    ensemble that nothing disturbs. Sources: KIP-996; `/controller` is ephemeral, and its session is kept alive.
    """
    judged, wrong = max(0, len(stability.terms) - 1), moves_without_cause(stability)
    if not wrong:
        message = (
            f"None of {len(stability.terms)} terms of an active controller ended without a cause ({judged} ended)."
        )
        return CONTROLLER_STAYS.held(judged + 1 if stability.terms else 0, message)
    before, after = wrong[0]
    return CONTROLLER_STAYS.broken(
        judged,
        f"Controller {before.active} was deposed at epoch {before.epoch}, by {after.active} at epoch {after.epoch}, "
        f"although nothing had disturbed it and its links to a majority for {stability.quorum_seconds:.1f} s"
        f"{_times(len(wrong))}.",
        ("epoch", "active", "seen at", "then epoch", "active", "seen at"),
        [(a.epoch, a.active, f"{a.t:.2f} s", b.epoch, b.active, f"{b.t:.2f} s") for a, b in wrong],
        at=after.t,
    )


def moves_without_cause(stability: Stability) -> list[tuple[ControllerObservation, ControllerObservation]]:
    """Return each move of the leadership of the controllers without a cause: the terms before and after it."""
    wrong = []
    for before, after in zip(stability.terms, stability.terms[1:], strict=False):
        since, leader = after.t - stability.quorum_seconds, stability.names.get(before.active)
        if leader is None or after.t <= stability.disturbances.begun or stability.is_starved(leader, since, after.t):
            continue
        if stability.holds_majority(leader, since, after.t):
            wrong.append((before, after))
    return wrong


@checker(BROKERS_STAY, rank=77, needs=[Need.CONTROLLERS], every_run=True, rests_on=["state:broker", "state:controller"])
def brokers_stay(stability: Stability) -> Finding:
    """Judge that no broker that is left alone is fenced: not by a failover of the controllers either (D631-04)."""
    stability = stability.undisturbed_by_requests
    judged, rows, first = 0, list[tuple[object, ...]](), list[float]()
    states: dict[int, str] = {}
    for event in stability.journal.of("state"):
        if event.data.get("what") != "broker" or event.node:
            continue
        id, state = event.data["id"], event.data["state"]
        before, states[id] = states.get(id), state
        if event.t <= stability.disturbances.begun or id not in stability.names:
            continue
        judged += 1
        if before == "active" and state in GIVEN_UP and stability.is_left_alone(stability.names[id], event.t):
            rows.append(
                (stability.names[id], state, event.data["epoch"], f"{event.t:.2f} s", _active(stability, event.t))
            )
            first.append(event.t)
    if not rows:
        message = f"None of {len(states)} brokers was given up without a cause."
        return BROKERS_STAY.held(len(states) if stability.shows_deciders else 0, message)
    return BROKERS_STAY.broken(
        judged,
        f"{rows[0][0]} became {rows[0][1]} at {first[0]:.2f} s, although nothing had disturbed it and the active "
        f"controller for {stability.leader_seconds:.1f} s{_times(len(rows))}.",
        ("broker", "became", "broker epoch", "at", "active controller"),
        rows,
        at=first[0],
    )


@checker(
    LEADERS_STAY, rank=76, needs=[Need.DECISIONS], every_run=True, rests_on=["state:controller", "state:partition"]
)
def leaders_stay(stability: Stability) -> Finding:
    """Judge that a leader that is left alone goes on leading, but for making way for the preferred replica.

    The leader of the draft does so only if an election of its partition was asked for. No other request moves a leader.
    """
    stability = stability.undisturbed_by_requests
    judged, rows, first = 0, list[tuple[object, ...]](), list[float]()
    for before, after in _moves(stability):
        if after.t <= stability.disturbances.begun or before.leader not in stability.names:
            continue
        judged += 1
        if stability.is_reassigned(after):
            continue
        if not _is_balanced(stability, before, after) and _is_left_alone(stability, before, after.t):
            name = "-".join(map(str, after.partition))
            isr = ", ".join(map(str, after.isr))
            rows.append((name, before.leader, after.leader, after.leader_epoch, isr, f"{after.t:.2f} s"))
            first.append(after.t)
    if not rows:
        partitions = len({view.partition for view in stability.control.partitions if view.observer == DECIDED})
        message = f"None of {partitions} partitions changed its leader without a cause ({judged} changes)."
        return LEADERS_STAY.held(judged + partitions if stability.shows_deciders else 0, message)
    return LEADERS_STAY.broken(
        judged,
        f"{rows[0][0]} moved from leader {rows[0][1]} to {rows[0][2]} at {first[0]:.2f} s, although nothing had "
        f"disturbed that leader and the active controller for {stability.leader_seconds:.1f} s{_times(len(rows))}.",
        ("partition", "leader", "next leader", "leader epoch", "ISR", "at"),
        rows,
        at=first[0],
    )


@checker(
    FOLLOWERS_STAY,
    rank=75,
    needs=[Need.DECISIONS, Need.REPLICAS],
    every_run=True,
    rests_on=["state:controller", "state:partition"],
)
def followers_stay(stability: Stability) -> Finding:
    """Judge that a follower which is left alone, with its leader, stays in the ISR, however fast clients write.

    It keeps up: by its lag time it counts from the last time that it had all of what was there when it asked (KIP-16).
    """
    stability = stability.undisturbed_by_requests
    judged, rows, first = 0, list[tuple[object, ...]](), list[float]()
    if any(SLOWS_FOLLOWERS.search(name) for name in _settings_changed(stability.plan)):
        return FOLLOWERS_STAY.held(0, "Settings of replication were changed.")
    before: dict[TopicPartition, PartitionObservation] = {}
    for view in stability.control.partitions:
        if view.observer != DECIDED:
            continue
        earlier, before[view.partition] = before.get(view.partition), view
        if earlier is None or (earlier.life, earlier.leader) != (view.life, view.leader) or view.leader < 0:
            continue
        judged += 1
        if stability.is_reassigned(view):
            continue
        for id in sorted({*earlier.isr} - {*view.isr}):
            both = [stability.names.get(each, "") for each in (id, view.leader)]
            if view.t > stability.disturbances.begun and all(stability.is_left_alone(each, view.t) for each in both):
                name, isr = "-".join(map(str, view.partition)), ", ".join(map(str, view.isr))
                rows.append((name, id, view.leader, view.leader_epoch, isr, f"{view.t:.2f} s"))
                first.append(view.t)
    if not rows:
        return FOLLOWERS_STAY.held(
            judged if stability.shows_deciders else 0,
            f"No follower left an ISR without a cause ({judged} views of partitions).",
        )
    return FOLLOWERS_STAY.broken(
        judged,
        f"{rows[0][1]} left the ISR of {rows[0][0]} at {first[0]:.2f} s, although nothing had disturbed it and its "
        f"leader {rows[0][2]} for {stability.leader_seconds:.1f} s{_times(len(rows))}.",
        ("partition", "follower", "leader", "leader epoch", "ISR", "at"),
        rows,
        at=first[0],
    )


def _settings_changed(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        if isinstance(step, ApiProbe) and step.api.endswith("alter_configs"):
            yield from (change["name"] for each in step.body["resources"] for change in each["configs"])


def _is_left_alone(stability: Stability, led: PartitionObservation, t: float) -> bool:
    return stability.is_left_alone(stability.names[led.leader], t)


def _is_balanced(stability: Stability, before: PartitionObservation, after: PartitionObservation) -> bool:
    """Return whether the leader made way for its preferred replica, which took over or was prevented.

    A controller moves the leadership in one decision. Without controllers the leader only gives it up, and another
    replica wins it if the preferred one has died meanwhile (v2 design, checkLoadBalancing).
    """
    preferred = next(iter(after.replicas or ()), None)
    if preferred is None or after.leader == preferred:
        return preferred is not None and stability.may_be_elected(after.partition, after.t)
    if stability.dialect.has_controllers or preferred == before.leader or preferred not in before.isr:
        return False
    return preferred in stability.names and not stability.is_left_alone(stability.names[preferred], after.t)


def _moves(stability: Stability) -> Iterator[tuple[PartitionObservation, PartitionObservation]]:
    """Yield each decided change from a leader to another one, or at the end to none, within one life of a topic.

    The second view is the first in which the leader was gone, with the next leader in its place.
    """
    gone = {
        (event.data["topic"], event.data["partition"]) for event in stability.journal.of("state") if _is_gone(event)
    }
    led: dict[TopicPartition, PartitionObservation] = {}
    lost: dict[TopicPartition, PartitionObservation] = {}
    for view in stability.control.partitions:
        at, before = view.partition, led.get(view.partition)
        if view.observer != DECIDED:
            continue
        if before is None or before.life != view.life:
            lost.pop(at, None)
        elif view.leader < 0:
            lost.setdefault(at, view)
        else:
            since = lost.pop(at, view)
            if view.leader != before.leader:
                yield before, replace(view, t=since.t)
        if view.leader >= 0:
            led[at] = view
    yield from ((led[at], view) for at, view in lost.items() if at not in gone)


def _named(topics: list[dict[str, Any]] | None) -> frozenset[TopicPartition] | None:
    if topics is None:
        return None
    return frozenset((topic["topic"], number) for topic in topics for number in topic["partitions"])


def _is_gone(event: Event) -> bool:
    return event.data.get("what") == "partition-gone" and not event.node


def _active(stability: Stability, t: float) -> str:
    return next(iter(stability.controllers(t, t)), "unknown")


def _times(wrong: int) -> str:
    return "" if wrong == 1 else f" (the first of {wrong} times)"
