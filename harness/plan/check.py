"""What no schema can see: names that lead nowhere, twice the same name, addresses that clash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.network.layout import MAIN_SITE, PROBE_SITE, SITE_PREFIX
from harness.plan.base import PlanModel, Said
from harness.plan.conditions import AwaitStep, LeaderIs, NodeExited, WorkloadAcks, Znode
from harness.plan.injects import (
    InjectClockJump,
    InjectClockSkew,
    InjectDuplicate,
    InjectRestored,
    InjectStep,
    InjectSwapped,
)
from harness.plan.model import ConsumerSpec, NodeSpec, Plan, ProducerSpec
from harness.plan.probes import (
    CreatePartitionsProbe,
    CreateTopicProbe,
    DeleteTopicProbe,
    IsrChangeProbe,
    LeaderAndIsrProbe,
    ProbeStep,
    ProduceProbe,
    ReplicaStateEventProbe,
)
from harness.plan.steps import Backup, Bind, Heal, Hold, Produce, Shutdown, Start, Workload, ZnodeStep

ROLES = ("controllers", "brokers", "active-controller", "zookeeper", "zookeeper-leader")
OF_PARTITION = ("leader", "followers")
OF_MANY = ("brokers", "controllers", "followers:")
"""How references begin that lead to several nodes, as a rule."""
TOPICS = "/brokers/topics/"
DELETIONS = "/admin/delete_topics/"
INTERNAL_TOPICS = ("__consumer_offsets",)


@dataclass(frozen=True)
class Problem:
    """`at` leads to the place in the plan: `("steps", 3, "fault")`."""

    at: tuple[str | int, ...]
    sentence: str


def problems(plan: Plan) -> list[Problem]:
    """All that is wrong, in the order of the file."""
    return [*_topology(plan), *_topics(plan), *_clients(plan), *_steps(plan), *_coverage(plan)]


def _topology(plan: Plan) -> Iterator[Problem]:
    nodes = plan.topology.nodes
    at = ("topology", "nodes")
    yield from _twice(at, "node", "name", (node.name for node in nodes))
    yield from _twice(at, "node", "index", (str(node.index) for node in nodes))
    names = {node.name for node in nodes}
    owners: dict[int, str] = {}
    yield from _first(plan)
    for place, node in enumerate(nodes):
        if "zookeeper" in node.roles:
            yield from _zookeeper((*at, place), node)
        elif node.duplicate_of is None:
            if node.id in owners:
                yield Problem(
                    (*at, place, "id"),
                    f"{node.name} has the id {node.id} of {owners[node.id]}; a second process for it names "
                    f"`duplicate_of: {owners[node.id]}`",
                )
            owners.setdefault(node.id, node.name)
        elif node.duplicate_of not in names:
            yield Problem((*at, place, "duplicate_of"), _unknown("node", node.duplicate_of, names))
        elif plan.node(node.duplicate_of).id != node.id:
            yield Problem((*at, place, "id"), f"{node.name} duplicates {node.duplicate_of} but has another id")
        if node.directory != "empty" and node.duplicate_of is None:
            sentence = f"{node.name} duplicates nobody, so there is no directory to be {node.directory}"
            yield Problem((*at, place, "directory"), sentence)


def _first(plan: Plan) -> Iterator[Problem]:
    at, name = ("topology", "controller"), plan.topology.controller
    brokers = {node.name for node in plan.topology.nodes if "broker" in node.roles and node.start == "now"}
    if name is not None and name not in brokers:
        yield Problem(at, f"{_unknown('broker', name, brokers)} (of those that start with the cluster)")


def _zookeeper(at: tuple[str | int, ...], node: NodeSpec) -> Iterator[Problem]:
    """Its ids are an id space of their own: those of the ensemble, from 1."""
    if node.roles != ("zookeeper",):
        yield Problem((*at, "roles"), f"{node.name} is a ZooKeeper server, which has no other role")
    if node.duplicate_of is not None:
        yield Problem((*at, "duplicate_of"), f"{node.name} is a ZooKeeper server, which has no duplicate")


def _topics(plan: Plan) -> Iterator[Problem]:
    brokers = {node.id for node in plan.topology.nodes if "broker" in node.roles}
    yield from _twice(("topics",), "topic", "name", (topic.name for topic in plan.topics))
    for place, topic in enumerate(plan.topics):
        for partition, replicas in enumerate(topic.assignments):
            at = ("topics", place, "assignments", partition)
            for replica in replicas:
                if replica not in brokers:
                    yield Problem(at, f"{topic.name}-{partition} is assigned to broker {replica}, which does not exist")
            if len(set(replicas)) < len(replicas):
                yield Problem(at, f"{topic.name}-{partition} is assigned twice to one broker")


def _clients(plan: Plan) -> Iterator[Problem]:
    topics, sites = {topic.name for topic in plan.topics}, set(plan.topology.sites)
    prepared = plan.prepared_topics
    deleted = {topic: plan.step_name(place) for place, step in enumerate(plan.steps) for topic in _deletes(step)}
    kinds: tuple[tuple[str, tuple[ProducerSpec | ConsumerSpec, ...]], ...] = (
        ("producers", plan.workload.producers),
        ("consumers", plan.workload.consumers),
    )
    for kind, specs in kinds:
        yield from _twice(("workload", kind), kind[:-1], "name", [spec.name for spec in specs])
        for place, spec in enumerate(specs):
            if spec.topic not in topics:
                yield Problem(("workload", kind, place, "topic"), _unknown("topic", spec.topic, topics))
            if spec.topic in prepared:
                sentence = f"{spec.name} works on {spec.topic}, which is `prepared`: no client is given such a topic"
                yield Problem(("workload", kind, place, "topic"), sentence)
            if isinstance(spec, ProducerSpec) and spec.acks == "all" and spec.topic in deleted:
                sentence = f"{spec.name} is promised records of {spec.topic}, which {deleted[spec.topic]} deletes with "
                yield Problem(("workload", kind, place, "topic"), sentence + "all promises: give it `acks: 1`")
            if spec.site not in sites:
                yield Problem(("workload", kind, place, "site"), _unknown("site", spec.site, sites))


def _deletes(step: object) -> Iterator[str]:
    if isinstance(step, DeleteTopicProbe):
        yield step.topic
    if isinstance(step, ZnodeStep) and step.action == "create" and step.path.startswith(DELETIONS):
        yield step.path.removeprefix(DELETIONS)


def _steps(plan: Plan) -> Iterator[Problem]:
    clients = {spec.name for spec in plan.workload.producers} | {spec.name for spec in plan.workload.consumers}
    senders = _senders(plan)
    seen: set[str] = set()
    bound: set[str] = set()
    faults: set[str] = set()
    ended: set[str] = set()
    copies: set[str] = set()
    for place, step in enumerate(plan.steps):
        at = ("steps", place)
        yield from _refs(at, step, plan, bound)
        if isinstance(step, AwaitStep) and isinstance(partition := getattr(step, "partition", None), str):
            yield from _partition((*at, "partition"), partition, plan)
        if isinstance(step, WorkloadAcks) and step.producer is not None and step.producer not in senders:
            yield Problem((*at, "producer"), _unknown("producer", step.producer, senders))
        for part in step.unchanged if isinstance(step, ProbeStep) else ():
            if part != "brokers":
                yield from _partition((*at, "unchanged"), part, plan)
        if isinstance(step, Heal) and step.fault not in faults:
            yield Problem((*at, "fault"), _not_yet("fault", step.fault, faults))
        if isinstance(step, Workload):
            for name in step.only:
                if name not in clients:
                    yield Problem((*at, "only"), _unknown("producer or consumer", name, clients))
        if isinstance(step, Produce) and step.idempotent and (step.node is not None or step.acks != "all"):
            yield Problem((*at, "idempotent"), "an idempotent burst has `acks: all` and no `node`")
        after = step.after if isinstance(step, Hold) else getattr(getattr(step, "after", None), "event", None)
        if after is not None:
            yield from _instant((*at, "after"), after, seen, faults)
        if isinstance(step, InjectStep):
            yield from _when(at, step, plan, bound, seen, faults)
        if isinstance(step, InjectSwapped) and isinstance(step.nodes, tuple) and len(step.nodes) != 2:
            yield Problem((*at, "nodes"), f"two nodes exchange their directories, and {len(step.nodes)} are named")
        if isinstance(step, InjectRestored) and step.backup is not None and step.backup not in copies:
            yield Problem((*at, "backup"), _not_yet("backup", step.backup, copies))
        if isinstance(step, InjectClockJump | InjectClockSkew):
            yield from _clock((*at, "nodes"), step.nodes, plan)
        if isinstance(step, InjectDuplicate):
            yield from _duplicate((*at, "node"), step.node, plan)
        if isinstance(step, Start):
            yield from _later((*at, "nodes"), step, plan, ended)
        if isinstance(step, Shutdown | NodeExited):
            gone = step.nodes if isinstance(step, Shutdown) else step.node
            ended.update((gone,) if isinstance(gone, str) else gone)
        if isinstance(step, ReplicaStateEventProbe) and step.user is not None and plan.security != "sasl":
            yield Problem((*at, "user"), "without `security: sasl` nobody asks as a user")
        name = plan.step_name(place)
        if name in seen:
            yield Problem((*at, "as"), f"a second step is named `{name}`")
        seen.add(name)
        if isinstance(step, Bind):
            bound.add(name)
        if isinstance(step, Backup):
            copies.add(name)
        if step.do == "inject":
            faults.add(name)


def _when(
    at: tuple[str | int, ...], step: InjectStep, plan: Plan, bound: set[str], seen: set[str], faults: set[str]
) -> Iterator[Problem]:
    """What a fault waits for before it hits."""
    when, here = step.when, (*at, "when")
    if when is None:
        if step.plus_ms is not None:
            sentence = (
                "`plus_ms` counts from what `when` waits for, and there is none; a hold step waits after an instant"
            )
            yield Problem((*at, "plus_ms"), sentence)
        return
    yield from _refs(here, when, plan, bound)
    if isinstance(when, Said):
        if when.since is not None:
            yield from _instant((*here, "since"), when.since, seen, faults)
        if step.heard is None or step.heard.startswith(OF_MANY):
            yield Problem(here, "`when` is about the log of one node: name it, `when: {node: node-4, says: …}`")
        return
    if when.after is not None:
        yield from _instant((*here, "after"), when.after.event, seen, faults)
    for key in ("as_", "expect"):
        if getattr(when, key) is not None:
            sentence = f"`{key.rstrip('_')}` belongs to an await step; what a fault waits for claims nothing"
            yield Problem((*here, key.rstrip("_")), sentence)
    if isinstance(partition := getattr(when, "partition", None), str):
        yield from _partition((*here, "partition"), partition, plan)


def _coverage(plan: Plan) -> Iterator[Problem]:
    names = {plan.step_name(place) for place in range(len(plan.steps))}
    senders = _senders(plan)
    faults = {plan.step_name(place) for place, step in enumerate(plan.steps) if step.do == "inject"}
    for place, item in enumerate(plan.coverage):
        at = ("coverage", place)
        for key in ("step", "fault"):
            name = getattr(item, key, None)
            if name is not None and name not in (faults if key == "fault" else names):
                yield Problem((*at, key), _unknown(key, name, names))
        by = getattr(item, "by", None)
        if by is not None and by not in senders:
            yield Problem((*at, "by"), _unknown("producer", by, senders))
        for key in ("after", "before"):
            instant = getattr(item, key, None)
            if instant is not None:
                yield from _instant((*at, key), instant, names, faults)


def _senders(plan: Plan) -> set[str]:
    """Whose records are counted: producers, and steps that send some."""
    steps = {plan.step_name(place) for place, step in enumerate(plan.steps) if isinstance(step, Produce | ProduceProbe)}
    return steps | {spec.name for spec in plan.workload.producers}


def refs(step: PlanModel) -> Iterator[tuple[str, str]]:
    """Every node reference and bound value of a step, with its key in the file."""
    for key in (
        "node",
        "nodes",
        "from_",
        "to",
        "over",
        "broker",
        "candidate",
        "controller",
        "asked",
        "is_",
        "is_not",
        "has",
        "lacks",
        "isr",
        "leader",
    ):
        value = None if key == "has" and isinstance(step, Znode) else getattr(step, key, None)  # data, there
        for ref in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
            yield key.rstrip("_"), ref
    for key in (
        "value",
        "broker_epoch",
        "leader_epoch",
        "version",
        "metadata_offset",
        "epoch",
        "controller_epoch",
        "incarnation",
    ):
        value = getattr(step, key, None)
        if isinstance(value, str) and value.startswith("$"):
            yield key, value


def _refs(at: tuple[str | int, ...], step: PlanModel, plan: Plan, bound: set[str]) -> Iterator[Problem]:
    for key, ref in refs(step):
        if ref == "none" and _may_be_nobody(step, key):
            continue
        yield from _ref((*at, key), ref, plan, bound)


def _may_be_nobody(step: PlanModel, key: str) -> bool:
    """A partition may be without a leader, and a probe may tell of such a one, or of an empty ISR."""
    match step:
        case LeaderIs():
            return key == "is"
        case LeaderAndIsrProbe():
            return key == "leader" or (key == "isr" and step.isr == "none")
        case IsrChangeProbe():
            return key == "isr" and step.isr == "none"
        case _:
            return False


def _ref(at: tuple[str | int, ...], ref: str, plan: Plan, bound: set[str]) -> Iterator[Problem]:
    names = {node.name for node in plan.topology.nodes}
    if ref in names or ref in ROLES:
        return
    if ref.startswith(SITE_PREFIX) and at[-1] in ("from", "nodes"):
        yield from _site(at, ref, plan)
        return
    if ref.startswith("$"):
        if ref[1:] not in bound:
            yield Problem(at, _not_yet("bind", ref[1:], bound))
        return
    role, colon, partition = ref.partition(":")
    if colon and role in OF_PARTITION:
        yield from _partition(at, partition, plan)
        return
    yield Problem(at, _unknown("node", ref, names))


def _site(at: tuple[str | int, ...], ref: str, plan: Plan) -> Iterator[Problem]:
    """Of clients, as the source of links. The probe site is not for faults: through it the harness looks."""
    known = {f"{SITE_PREFIX}{site}" for site in (MAIN_SITE, *plan.topology.sites) if site != PROBE_SITE}
    if ref not in known:
        yield Problem(at, _unknown("client site", ref, known))


def _partition(at: tuple[str | int, ...], partition: str, plan: Plan) -> Iterator[Problem]:
    known = {f"{topic.name}-{index}" for topic in plan.topics for index in range(len(topic.assignments))}
    if partition not in known and partition.rpartition("-")[0] not in (*INTERNAL_TOPICS, *_changed_topics(plan)):
        yield Problem(at, _unknown("partition", partition, known))


def _changed_topics(plan: Plan) -> Iterator[str]:
    """Topics that steps create, or give more partitions."""
    for step in plan.steps:
        if isinstance(step, CreateTopicProbe | CreatePartitionsProbe):
            yield step.topic
        if isinstance(step, ZnodeStep) and step.path.startswith(TOPICS):
            yield step.path.removeprefix(TOPICS).partition("/")[0]


def _instant(at: tuple[str | int, ...], instant: str, names: set[str], faults: set[str]) -> Iterator[Problem]:
    name, _, phase = instant.rpartition(".")
    if name not in names:
        yield Problem(at, _not_yet("step", name, names))
    elif phase in ("injected", "proven", "healed") and name not in faults:
        yield Problem(at, f"`{name}` is no fault, so `{instant}` never comes; a step has `begun` and `ended`")


def _duplicate(at: tuple[str | int, ...], ref: str, plan: Plan) -> Iterator[Problem]:
    spec = next((node for node in plan.topology.nodes if node.name == ref), None)
    if spec is not None and (spec.duplicate_of is None or spec.start != "later"):
        yield Problem(
            at, f"{ref} is no duplicate that waits; its topology entry needs `duplicate_of` and `start: later`"
        )


def _clock(at: tuple[str | int, ...], refs: str | tuple[str, ...], plan: Plan) -> Iterator[Problem]:
    """Of a role it shows when the step comes to it."""
    named = (refs,) if isinstance(refs, str) else refs
    for spec in plan.topology.nodes:
        if spec.name in named and spec.clock != "own":
            yield Problem(at, f"{spec.name} reads the machine's wall clock; its topology entry needs `clock: own`")


def _later(at: tuple[str | int, ...], step: Start, plan: Plan, ended: set[str]) -> Iterator[Problem]:
    """`ended`: the references, roles too, to whose nodes an end came earlier in the story."""
    anybody = any(ref not in {node.name for node in plan.topology.nodes} for ref in ended)
    for ref in (step.nodes,) if isinstance(step.nodes, str) else step.nodes:
        spec = next((node for node in plan.topology.nodes if node.name == ref), None)
        if spec is not None and spec.start != "later" and ref not in ended and not anybody:
            yield Problem(
                at,
                f"{ref} starts with the cluster; a step can start a node with `start: later`, and one that was shut "
                "down or is awaited to have exited before",
            )


def _twice(at: tuple[str | int, ...], kind: str, key: str, values: Iterable[str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for place, value in enumerate(values):
        if value in seen:
            yield Problem((*at, place, key), f"a second {kind} has the {key} `{value}`")
        seen.add(value)


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    return f"unknown {kind} `{name}`; known: {', '.join(sorted(known)) or 'none'}"


def _not_yet(kind: str, name: str, known: Iterable[str]) -> str:
    return f"no {kind} `{name}` comes before this; so far: {', '.join(sorted(known)) or 'none'}"
