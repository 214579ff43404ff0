"""Puts faults and operations in order: which may overlap, what each waits for, how all are healed, what may be claimed.

The rules, each of which keeps a plan from claiming or asking for something that no design promises:

- Two faults that may meet in one process, or on one link, never hold at a time: the second one waits for the healing of
  the first.
- No link is stalled while a process is paused, and pauses end before stalls.
- A fault that is aimed at a role waits until a node has the role, and nothing is broken meanwhile that could keep it
  vacant.
- A *fragile* fault finds the cluster whole, leaves an undisturbed replica of every partition, and nothing is broken
  after it before the cluster is whole again: the data that its process stored may be gone for good.
- Work is claimed to go on *while* a fault holds if the fault hits a whole cluster, alone, within what may be away
  (`ClusterSpec.spare_brokers`, `spare_quorum`), and every design of the target promises it.
- An operation is claimed to be served if nothing was broken since the cluster was last known to be whole.
- Everything is claimed to come back *after* all is healed if no more was ever away at a time than may be.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from fencepost.faults.generation import GeneratedFault
from fencepost.faults.parameters import FaultParameters
from fencepost.harness.campaign.client_claims import clients_get_on
from fencepost.harness.campaign.cluster_spec import ClusterSpec
from fencepost.harness.campaign.held_faults import HeldFault, clash, conflicting, in_order, tolerated
from fencepost.harness.campaign.leftovers import deletion
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation
from fencepost.harness.campaign.settling import SETTLED, settling
from fencepost.harness.campaign.topics import Existence, ScriptTopic
from fencepost.harness.plan.base import Expect, Level
from fencepost.harness.plan.conditions.active_controller import ActiveController
from fencepost.harness.plan.conditions.administrator_served import AdministratorServed
from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.conditions.converged import Converged
from fencepost.harness.plan.conditions.isr_is import IsrIs
from fencepost.harness.plan.conditions.leader_is import LeaderIs
from fencepost.harness.plan.conditions.settings_agree import SettingsAgree
from fencepost.harness.plan.conditions.topic_created_through import TopicCreatedThrough
from fencepost.harness.plan.conditions.workload_acks import WorkloadAcks
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.requests.delete_topic import DeleteTopicProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.heal_all import HealAll
from fencepost.harness.plan.steps.hold import Hold
from fencepost.harness.plan.steps.shutdown import Shutdown
from fencepost.harness.plan.steps.start import Start
from fencepost.harness.plan.steps.workload import Workload
from fencepost.harness.plan.topic_changes import changed_topics

OFFSETS_MS = (0, 0, 50, 200, 500)
"""The delays between a state and the fault that waits for it."""
CREATED = 0.5
"""The fraction of faults that no progress may stop while which a topic has to be created."""
NAMES_OF_A_PLAN = 1000
"""More names than a plan gives."""
PROGRESS = 20
"""The number of records that show that work goes on."""


@dataclass
class Script:
    """The steps so far, and the known state of the cluster after them."""

    rng: random.Random
    cluster: ClusterSpec
    tolerated_only: bool
    """No more is ever away at a time than may be."""
    steps: list[Step] = field(default_factory=list)
    held: list[HeldFault] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    whole: bool = True
    """Every partition has its full ISR again."""
    fragile: bool = False
    """A fragile fault was healed since the cluster was last whole."""
    within: bool = True
    """No more was away at any time than may be."""
    topics: dict[str, ScriptTopic] = field(default_factory=dict)
    """All topics that the plan has had, by name, as they are after the steps so far."""
    operations: list[str] = field(default_factory=list)
    """The names of the first steps of operations."""
    _clean: bool = True
    """Nothing was broken or moved since the cluster was last known to be whole."""
    taken: frozenset[str] = frozenset()
    """The names of topics that earlier plans had on this cluster."""
    earlier_steps: tuple[Step, ...] = ()
    """The steps of earlier plans on this cluster."""
    _names: int = 0

    @property
    def undisturbed(self) -> bool:
        """True if the cluster is known to be whole, with nothing broken: all that an operation needs is owed."""
        return self._clean and not self.held

    @property
    def named_topics(self) -> frozenset[str]:
        """The names of all topics that this plan has had, and earlier ones on its cluster."""
        return self.taken | self.topics.keys()

    @property
    def named_by_held(self) -> frozenset[str]:
        """The nodes that a fault names which holds; nodes behind roles are not known."""
        return frozenset(name for each in self.held for name in each.fault.aim.named)

    def follow(self, earlier: Sequence[Plan]) -> None:
        """Know the steps of earlier plans on this cluster, and let no name be one of theirs: of a topic, of a group."""
        self.earlier_steps = tuple(step for plan in earlier for step in plan.steps)
        planned = (topic.name for plan in earlier for topic in plan.topics)
        self.taken = frozenset((*planned, *(name for plan in earlier for name in changed_topics(plan))))
        self._names = NAMES_OF_A_PLAN * len(earlier)

    def open(self, left: Collection[str] = ()) -> None:
        """Start the work, and delete topics that an earlier plan left on the cluster."""
        for topic in self.cluster.topics:
            replicas = min(map(len, topic.assignments))
            self.topics[topic.name] = ScriptTopic(
                topic.name, len(topic.assignments), replicas, Existence.CERTAIN, ours=False
            )
        self.steps += [Workload(as_="work", action="start"), self._acks("working", None)]
        self.steps += self._clients("begin", claimed=True)
        if left:
            self.steps.append(deletion(self, left))

    def allows(self, fault: GeneratedFault) -> bool:
        """Return whether the plan may have the fault at all."""
        return not self.tolerated_only or tolerated(self.cluster, [fault])

    def allows_away(self, brokers: int, quorum: int) -> bool:
        """Return whether so many nodes may be away in this plan."""
        return not self.tolerated_only or self._may_be_away(brokers, quorum)

    def tolerates(self, cluster: ClusterSpec) -> bool:
        """Return whether this plan may have such a cluster while the present faults hold."""
        return not self.tolerated_only or tolerated(cluster, [each.fault for each in self.held])

    def ask_at_begin(self, question: ApiProbe) -> None:
        """Ask before the first move, while nothing is broken; once in a plan."""
        if all(step.as_ != question.as_ for step in self.steps):
            self.steps.insert(0, question)

    def enact(self, steps: Sequence[Step], faults: Sequence[str], brokers: int, quorum: int) -> None:
        """Append the steps of a situation, which finds the cluster whole; its faults are healed in them."""
        if self.held or not self.whole or self.fragile:
            self.heal_all()
            self.await_whole()
        self.steps += steps
        self.faults += faults
        self.within &= self._may_be_away(brokers, quorum)
        self.whole = self._clean = False

    def _may_be_away(self, brokers: int, quorum: int) -> bool:
        return brokers <= self.cluster.spare_brokers and quorum <= self.cluster.spare_quorum

    def operate(self, operation: GeneratedOperation) -> None:
        """Append the steps of an operation, and take over what it changes."""
        self.operations.append(str(operation.steps[0].as_))
        self.steps += operation.steps
        self.topics |= {topic.name: topic for topic in operation.topics}
        self.cluster = operation.cluster or self.cluster
        if operation.unsettles:
            self.whole = self._clean = False
        self._account()

    def add(self, fault: GeneratedFault) -> None:
        """Inject one more fault, after healing those that conflict with it."""
        for other in conflicting(fault, self.held, self.cluster, tolerated_only=self.tolerated_only):
            self._heal(other)
        unsure = fault.fragile or "zookeeper-leader" in fault.roles
        if self.fragile or (unsure and not self.whole) or (fault.fragile and self.held):
            self.heal_all()
            self.await_whole()
        self._inject(fault)
        self._account()

    def close(self, restore: Callable[[random.Random, Script], Iterable[Step]], last: Iterable[Operation] = ()) -> None:
        """Heal everything, in one of the possible ways, and await that the cluster is whole and works.

        `restore` gives the steps between the healing and that. The `last` operations come then, if all is claimed to be
        well again.
        """
        if self.rng.random() < 0.5 or any(each.fault.restart_when_healed for each in self.held):
            self.heal_all()
        expect = Expect(level=Level.MUST, requirement="LIVE-01", also=("META-01",)) if self.within else None
        agreed = Expect(level=Level.MUST, requirement="META-01") if self.within else None
        goes_on = Expect(level=Level.MUST, requirement="LIVE-03") if self.within else None
        served = Expect(level=Level.MUST, requirement="LIVE-05") if self.within else None
        self.steps += [
            HealAll(as_="mend"),
            *restore(self.rng, self),
            *(settling(self.rng, self) if self.within and self.rng.random() < SETTLED else ()),
            Converged(as_="whole", within_ms=self.cluster.liveness_timeout_ms, expect=expect),
            SettingsAgree(as_="settings", within_ms=self.cluster.liveness_timeout_ms, expect=agreed),
            self._acks("progress", goes_on),
            *self._clients("end", claimed=self.within),
            AdministratorServed(as_="administered", within_ms=self.cluster.liveness_timeout_ms, expect=served),
        ]
        if self.within:
            self.held.clear()
            self.whole, self.fragile, self._clean = True, False, True
            for operation in last:
                operation.add(self)
        self.steps.append(Workload(as_="rest", action="stop"))

    def _clients(self, name: str, *, claimed: bool) -> list[Step]:
        """Return steps that await, or claim, that groups and transactions get on. These wait for timeouts of both."""
        within = 2 * self.cluster.liveness_timeout_ms
        return list(clients_get_on(self.cluster.workload, self.steps, name, within, claimed=claimed))

    def _inject(self, fault: GeneratedFault) -> None:
        number = len(self.faults) + 1
        name, alone = f"fault-{number}", not self.held and self.whole
        parameters, when, plus_ms, bound = fault.parameters, None, None, None
        if (consequence := self._consequence(fault)) is not None:
            when, plus_ms = consequence, self.rng.choice(OFFSETS_MS)
        elif fault.aim.is_leader and not fault.fragile and self.rng.random() < (0.8 if fault.others_go_on else 0.4):
            bound = f"hit-{number}"
            if self.faults:
                self.steps.append(
                    LeaderIs(partition=str(fault.aim.partition), within_ms=self.cluster.liveness_timeout_ms)
                )
            self.steps.append(Bind(as_=bound, node=str(fault.aim.refs)))
            parameters = _aimed_at(f"${bound}", fault)
        else:
            when = self._precondition(fault)
        self.steps.append(inject(name, parameters, when=when, plus_ms=plus_ms))
        self.held.append(HeldFault(name, fault, bound))
        self._clean = False
        self.faults.append(name)
        self._account()
        promised = alone and fault.others_go_on and self.cluster.others_take_over and self._tolerated([fault])
        self.held[-1].moves_leader = promised and bound is not None and fault.brokers > 0
        self._meanwhile(self.held[-1], promised)
        if fault.brokers or fault.quorum:
            self.whole = False

    def _consequence(self, fault: GeneratedFault) -> AwaitStep | None:
        """Return a state that an earlier fault is sure to bring about, if this one is to wait for that."""
        for each in self.held:
            if not each.moves_leader or fault.fragile:
                continue
            if clash(fault, each.fault):
                return self._moved(each)
            if self.rng.random() < 0.6:
                return self.rng.choice((self._moved, self._left))(each)
        return None

    def _precondition(self, fault: GeneratedFault) -> AwaitStep | None:
        """Return the state that this fault has to find: a whole cluster if it may cost a copy; after other faults, a
        node in the role that it is aimed at."""
        if fault.fragile:
            return Converged(within_ms=self.cluster.liveness_timeout_ms)
        for role in fault.roles if self.faults else ():
            _, _, partition = role.partition(":")
            if partition:
                return LeaderIs(partition=partition, within_ms=self.cluster.liveness_timeout_ms)
            if role.endswith("-controller"):
                return ActiveController(within_ms=self.cluster.liveness_timeout_ms)
        return None

    def _meanwhile(self, held: HeldFault, promised: bool) -> None:
        """Hold the fault for a while, or until work has gone on."""
        number = held.name.removeprefix("fault-")
        if promised and (spared := self._spared(held.fault)) and self.rng.random() < CREATED:
            self.steps += self._created(f"created-{number}", self.rng.choice(spared))
        if promised and self.rng.random() < 0.4:
            goes_on = Expect(level=Level.MUST, requirement="LIVE-03")
            self.steps.append(self._acks(f"goes-on-{number}", goes_on))
            return
        if held.moves_leader and self.rng.random() < 0.4:
            return  # the next fault waits for a consequence of this one, or comes at once
        lease = self.cluster.timing.lease_ms
        how = self.rng.choices(("short", "about a lease", "long"), weights=(3, 3, 4))[0]
        low, high = {"short": (0.1, 0.7), "about a lease": (0.8, 1.3), "long": (1.4, 2.5)}[how]
        ms = round(self.rng.uniform(low, high) * lease, -1)
        self.steps.append(Hold(as_=f"held-{held.name}", after=f"{held.name}.proven", ms=int(ms)))

    def _created(self, name: str, node: str) -> Sequence[Step]:
        """Return that a topic is created through the node, and deleted.

        It has one replica. A broker that loses its directory, or its id to another process, may stay away for good for
        the sake of the last copy of a partition.
        """
        created = TopicCreatedThrough(
            as_=name,
            node=node,
            within_ms=self.cluster.liveness_timeout_ms + self.cluster.creation_timeout_ms,
            expect=Expect(level=Level.MUST, requirement="LIVE-06"),
        )
        return created, DeleteTopicProbe(as_=f"deleted-{name}", node=node, topic=TopicCreatedThrough.topic(name))

    def _spared(self, fault: GeneratedFault) -> Sequence[str]:
        """Return the brokers that the fault does not touch, as far as the plan knows them."""
        if fault.aim.side == "quorum":
            return self.cluster.brokers
        return [broker for broker in self.cluster.brokers if broker not in fault.aim.named] if fault.aim.named else ()

    def _moved(self, held: HeldFault) -> AwaitStep:
        """Return that another node leads than the leader that the fault hit."""
        partition = str(held.fault.aim.partition)
        return LeaderIs(partition=partition, is_not=f"${held.bound}", within_ms=self.cluster.liveness_timeout_ms)

    def _left(self, held: HeldFault) -> AwaitStep:
        """Return that the leader that the fault hit is out of the ISR."""
        return IsrIs(
            partition=str(held.fault.aim.partition), lacks=f"${held.bound}", within_ms=self.cluster.liveness_timeout_ms
        )

    def heal_some(self) -> None:
        """Heal all faults, one of them, or none yet."""
        how = self.rng.choices(("all", "one", "nothing"), weights=(4, 3, 3))[0]
        if not self.held or how == "nothing":
            return
        if how == "all":
            self.heal_all()
        else:
            self._heal(in_order(self.held, self.held)[0])
        what = self.rng.choices(("go on", "a moment", "whole"), weights=(4, 3, 3))[0]
        last = self.steps[-1].as_
        if what == "whole" and not self.held:
            self.await_whole()
        elif what == "a moment":
            ms = round(self.rng.uniform(0.1, 1.0) * self.cluster.timing.lease_ms, -1)
            self.steps.append(Hold(as_=self.name("after"), after=f"{last}.ended", ms=int(ms)))

    def heal_all(self) -> None:
        """Heal all faults, at once or one by one."""
        if not self.held:
            return
        if (
            len(self.held) > 1
            and self.rng.random() < 0.5
            and not any(each.fault.restart_when_healed for each in self.held)
        ):
            self.fragile |= any(each.fault.fragile for each in self.held)
            self.steps.append(HealAll(as_=self.name("heal-all")))
            self.held.clear()
            return
        for each in in_order(self.held, self.held):
            self._heal(each)

    def _heal(self, held: HeldFault) -> None:
        self.fragile |= held.fault.fragile
        number = held.name.removeprefix("fault-")
        self.steps.append(Heal(as_=f"heal-{number}", fault=held.name))
        self.held.remove(held)
        if held.fault.restart_when_healed:
            self.steps += [
                Shutdown(as_=f"end-{held.name}", nodes=held.fault.aim.refs, within_ms=self.cluster.liveness_timeout_ms),
                Start(as_=f"again-{held.name}", nodes=held.fault.aim.refs),
            ]

    def await_whole(self) -> None:
        """Await that the cluster is whole, with nothing broken any more: a replica that stays away is a violation."""
        expect = Expect(level=Level.MUST, requirement="LIVE-01") if self.within else None
        self.steps.append(Converged(as_=self.name("whole"), within_ms=self.cluster.liveness_timeout_ms, expect=expect))
        self.whole, self.fragile, self._clean = True, False, True

    def _account(self) -> None:
        self.within &= self._tolerated([each.fault for each in self.held])

    def _tolerated(self, faults: Iterable[GeneratedFault]) -> bool:
        return tolerated(self.cluster, faults)

    def _acks(self, name: str, expect: Expect | None) -> WorkloadAcks:
        """Await records of the producer that waits for all replicas. Where there are several: of the first topic's."""
        return WorkloadAcks(
            as_=name,
            more=PROGRESS,
            within_ms=self.cluster.liveness_timeout_ms,
            producer=f"p-{self.cluster.topics[0].name}",
            expect=expect,
        )

    def name(self, what: str) -> str:
        """Return a name for a step that no other step has."""
        self._names += 1
        return f"{what}-{self._names}"


def _aimed_at(ref: str, fault: GeneratedFault) -> FaultParameters:
    """Return the fault's parameters with this reference in place of its aim."""
    parameters = fault.parameters
    aims = {key: ref for key in type(parameters).model_fields if getattr(parameters, key) == fault.aim.refs}
    return parameters.model_copy(update=aims)
