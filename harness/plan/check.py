"""Checks of a plan that a schema cannot make: unknown names, names used twice, addresses that clash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fencepost.harness.network.layout import MAIN_SITE, PROBE_SITE, SITE_PREFIX
from fencepost.harness.plan import messages
from fencepost.harness.plan.base import LogLine, PlanModel
from fencepost.harness.plan.conditions import (
    AwaitStep,
    LeaderIs,
    NodeExited,
    RunsRelease,
    WorkloadAcks,
    WorkloadReads,
)
from fencepost.harness.plan.injects import InjectStep
from fencepost.harness.plan.model import Committed, ConsumerSpec, NodeSpec, Plan, ProducerSpec
from fencepost.harness.plan.probes import (
    ApiProbe,
    CreatePartitionsProbe,
    CreateTopicProbe,
    DeleteTopicProbe,
    HeartbeatProbe,
    IsrChangeProbe,
    LeaderAndIsrProbe,
    MetadataLogProbe,
    ProbeStep,
    ProduceProbe,
    ReplicaStateEventProbe,
)
from fencepost.harness.plan.refs import refs
from fencepost.harness.plan.steps import Backup, Bind, Heal, Hold, Produce, Roll, Shutdown, Start, Workload, ZnodeStep

ROLES = ("controllers", "brokers", "active-controller", "standby-controller", "zookeeper", "zookeeper-leader")
OF_PARTITION = ("leader", "followers")
OF_MANY = ("brokers", "controllers", "followers:")
"""Beginnings of references that usually match several nodes."""
STRATEGIES = {"classic": ("range", "roundrobin", "cooperative-sticky"), "consumer": ("range", "uniform")}
"""The strategies by which partitions are assigned, by the group's protocol: its members assign, or the coordinator."""

TOPICS = "/brokers/topics/"
DELETIONS = "/admin/delete_topics/"
GROUP_COORDINATOR = "coordinator"
COORDINATORS = {GROUP_COORDINATOR: "__consumer_offsets", "transaction-coordinator": "__transaction_state"}
"""The roles of brokers that keep the state of a group or a transactional id, each with the topic that holds it."""
INTERNAL_TOPICS = tuple(COORDINATORS.values())
OF_HARNESS = frozenset(
    {
        "advertised.listeners",
        "broker.id",
        "controller.listener.names",
        "controller.quorum.voters",
        "inter.broker.listener.name",
        "listener.security.protocol.map",
        "listeners",
        "log.dir",
        "log.dirs",
        "metadata.log.dir",
        "node.id",
        "process.roles",
        "zookeeper.connect",
    }
)
"""The configuration keys by which the harness places nodes behind its links and finds their files."""


@dataclass(frozen=True)
class Problem:
    """A mistake at the place `at` of the plan: `("steps", 3, "fault")`."""

    at: tuple[str | int, ...]
    message: str


def problems(plan: Plan) -> list[Problem]:
    """Return all mistakes, in the order of the file."""
    return [
        *_topology(plan),
        *_settings(plan),
        *_topics(plan),
        *_clients(plan),
        *_memberships(plan),
        *_steps(plan),
        *_coverage(plan),
    ]


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
            yield from _combined((*at, place), node, owners)
        elif node.duplicate_of not in names:
            yield Problem((*at, place, "duplicate_of"), _unknown("node", node.duplicate_of, names))
        elif plan.node(node.duplicate_of).id != node.id:
            yield Problem(
                (*at, place, "id"),
                f"{node.name} duplicates {node.duplicate_of} but has another id: give it the same",
            )
        if node.directory != "empty" and node.duplicate_of is None:
            message = f"`directory: {node.directory}` is for a duplicate: give {node.name} a `duplicate_of`, or drop it"
            yield Problem((*at, place, "directory"), message)


def _first(plan: Plan) -> Iterator[Problem]:
    at, name = ("topology", "controller"), plan.topology.controller
    brokers = {node.name for node in plan.topology.nodes if "broker" in node.roles and node.start == "now"}
    if name is not None and name not in brokers:
        yield Problem(at, f"{_unknown('broker', name, brokers)} (of those that start with the cluster)")


def _combined(at: tuple[str | int, ...], node: NodeSpec, owners: dict[int, str]) -> Iterator[Problem]:
    """Check the id of the controller in a process that is a broker as well: it is a node id of its own."""
    id = node.controller_id
    if id is None:
        return
    if not {"broker", "controller"} <= set(node.roles):
        message = (
            f"{node.name} has one role, and one id: drop `controller_id`, or give it `roles: [broker, controller]`"
        )
        yield Problem((*at, "controller_id"), message)
    elif id in owners:
        yield Problem((*at, "controller_id"), f"{node.name} has a controller with the id {id} of {owners[id]}")
    owners.setdefault(id, node.name)


def _zookeeper(at: tuple[str | int, ...], node: NodeSpec) -> Iterator[Problem]:
    """Check a ZooKeeper server. Its id is in the id space of the ensemble, not of the brokers."""
    if node.roles != ("zookeeper",):
        yield Problem((*at, "roles"), f"{node.name} is a ZooKeeper server: drop its other roles")
    if node.duplicate_of is not None:
        yield Problem(
            (*at, "duplicate_of"), f"{node.name} is a ZooKeeper server, which cannot be duplicated: drop `duplicate_of`"
        )


def _settings(plan: Plan) -> Iterator[Problem]:
    for place, node in enumerate(plan.topology.nodes):
        for key in node.settings:
            if key in OF_HARNESS and node.start == "now":
                message = (
                    f"`{key}` is set by the harness, which places nodes and finds their files by it: drop it, or give "
                    f"{node.name} `start: later`, to see what a node with another value does"
                )
                yield Problem(("topology", "nodes", place, "settings"), message)
    for role, settings in plan.settings or ():
        for key in settings:
            if key in OF_HARNESS:
                message = f"`{key}` is set by the harness, which places nodes and finds their files by it: drop it"
                yield Problem(("settings", role), message)


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
    deleted = deleted_topics(plan)
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
                message = f"{spec.name} uses {spec.topic}, which is `prepared`: clients cannot use such a topic"
                yield Problem(("workload", kind, place, "topic"), message)
            if isinstance(spec, ProducerSpec) and spec.acks == "all" and spec.topic in deleted:
                message = f"{spec.name} has `acks: all` on {spec.topic}, which {deleted[spec.topic]} deletes with "
                yield Problem(
                    ("workload", kind, place, "topic"), message + "all acknowledged records: give it `acks: 1`"
                )
            if isinstance(spec, ProducerSpec) and spec.transactions is not None and spec.acks != "all":
                message = f"{spec.name} sends in transactions, which need `acks: all`: drop `acks`"
                yield Problem(("workload", kind, place, "acks"), message)
            if spec.site not in sites:
                yield Problem(("workload", kind, place, "site"), _unknown("site", spec.site, sites))


def deleted_topics(plan: Plan) -> dict[str, str]:
    """Return the topics that steps delete, each with the name of the last step that does."""
    return {topic: plan.step_name(place) for place, step in enumerate(plan.steps) for topic in _deletes(step)}


def _memberships(plan: Plan) -> Iterator[Problem]:
    """Check that the members of a group agree on how partitions are assigned: else it would refuse some of them."""
    strategies: dict[str, str] = {}
    for place, spec in enumerate(plan.workload.consumers):
        if (membership := spec.membership) is None:
            continue
        where = ("workload", "consumers", place, "membership", "strategy")
        known = STRATEGIES[membership.protocol]
        if membership.strategy not in known:
            message = f"groups of the {membership.protocol} protocol do not assign by {membership.strategy}"
            yield Problem(where, f"{message}: take {' or '.join(known)}")
        agreed = strategies.setdefault(membership.group, membership.strategy)
        if membership.strategy != agreed:
            message = f"{spec.name} assigns by {membership.strategy}, earlier members of {membership.group} by {agreed}"
            yield Problem(where, f"{message}: give all members one strategy")


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
        if isinstance(step, WorkloadReads):
            yield from _reads((*at,), step, plan)
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
            yield Problem((*at, "idempotent"), "an idempotent burst needs `acks: all` and no `node`")
        after = step.after if isinstance(step, Hold) else getattr(getattr(step, "after", None), "event", None)
        if after is not None:
            yield from _instant((*at, "after"), after, seen, faults)
        if isinstance(step, InjectStep):
            yield from _when(at, step, plan, bound, seen, faults)
            for key, message in step.problems(plan.topology.nodes, copies):
                yield Problem((*at, key), message)
        if isinstance(step, Start):
            yield from _later((*at, "nodes"), step, plan, ended)
        if isinstance(step, Shutdown | NodeExited):
            gone = step.nodes if isinstance(step, Shutdown) else step.node
            ended.update((gone,) if isinstance(gone, str) else gone)
        yield from _release(at, step, plan)
        has_user = isinstance(step, HeartbeatProbe | ReplicaStateEventProbe) and step.user is not None
        if has_user and plan.security != "sasl":
            yield Problem((*at, "user"), "`user` needs a plan with `security: sasl`")
        if isinstance(step, ApiProbe | MetadataLogProbe):
            yield from _claims(at, step, bound)
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


def _claims(at: tuple[str | int, ...], step: ApiProbe | MetadataLogProbe, bound: set[str]) -> Iterator[Problem]:
    """Check a request that is written out, and the claims about its answer; note the names that the answer binds."""
    asked = ("body", step.body) if isinstance(step, ApiProbe) else ("where", step.where)
    for key, data in (asked, ("answer", step.answer)):
        for name in messages.bound_names(data):
            if name not in bound:
                yield Problem((*at, key), _not_yet("bind", name, bound))
    bound.update(step.binds)
    if isinstance(step, ApiProbe):
        yield from _request(at, step)
    try:
        for path in (*step.answer, *step.binds.values()):
            messages.check_path(path)
    except messages.MessageError as error:
        yield Problem((*at, "answer"), str(error))


def _request(at: tuple[str | int, ...], step: ApiProbe) -> Iterator[Problem]:
    """Check the request against the schema of its newest version."""
    try:
        known = [each for each in messages.versions(step.api) if step.version is None or each <= step.version]
        if not known:
            raise messages.MessageError(f"`{step.api}` has no version {step.version} or older")
        messages.build(messages.payload_types(step.api, known[-1])[0], step.body, lambda _: messages.UNKNOWN)
    except messages.MessageError as error:
        yield Problem((*at, "body"), str(error))


def _release(at: tuple[str | int, ...], step: object, plan: Plan) -> Iterator[Problem]:
    """Check a step that names the old or the new release."""
    if not isinstance(step, Roll | RunsRelease) or step.release is None:
        return
    if plan.releases is None:
        message = f"`release: {step.release}` needs a target with two releases, but {plan.target} has one: "
        yield Problem((*at, "release"), message + "name both, as in `apache-kafka:3.9.1..4.3.1`")
    servers = [node.name for node in plan.topology.nodes if "zookeeper" in node.roles]
    if step.node in (*servers, "zookeeper", "zookeeper-leader"):
        message = f"{step.node} is a ZooKeeper server: only brokers and controllers are upgraded"
        yield Problem((*at, "node"), message)


def _reads(at: tuple[str | int, ...], step: WorkloadReads, plan: Plan) -> Iterator[Problem]:
    consumers = {spec.name for spec in plan.workload.consumers}
    if step.consumer is not None and step.consumer not in consumers:
        yield Problem((*at, "consumer"), _unknown("consumer", step.consumer, consumers))
    if step.group is not None and step.group not in plan.groups:
        yield Problem((*at, "group"), _unknown("group", step.group, plan.groups))


def _when(
    at: tuple[str | int, ...], step: InjectStep, plan: Plan, bound: set[str], seen: set[str], faults: set[str]
) -> Iterator[Problem]:
    """Check the condition that a fault waits for."""
    when, here = step.when, (*at, "when")
    if when is None:
        if step.plus_ms is not None:
            message = (
                "`plus_ms` counts from `when`, which is missing: add it, or use a hold step to wait after an instant"
            )
            yield Problem((*at, "plus_ms"), message)
        return
    yield from _refs(here, when, plan, bound)
    if isinstance(when, LogLine):
        if when.since is not None:
            yield from _instant((*here, "since"), when.since, seen, faults)
        if step.heard is None or step.heard.startswith(OF_MANY):
            yield Problem(here, "`when` reads the log of one node: name it, `when: {node: node-4, says: …}`")
        return
    if when.after is not None:
        yield from _instant((*here, "after"), when.after.event, seen, faults)
    for key in ("as_", "expect"):
        if getattr(when, key) is not None:
            message = f"`{key.rstrip('_')}` belongs to an await step: the condition of a fault claims nothing"
            yield Problem((*here, key.rstrip("_")), message)
    if isinstance(partition := getattr(when, "partition", None), str):
        yield from _partition((*here, "partition"), partition, plan)


def _coverage(plan: Plan) -> Iterator[Problem]:
    names = {plan.step_name(place) for place in range(len(plan.steps))}
    senders = _senders(plan)
    clients = {spec.name for spec in plan.workload.producers} | {spec.name for spec in plan.workload.consumers}
    faults = {plan.step_name(place) for place, step in enumerate(plan.steps) if step.do == "inject"}
    for place, item in enumerate(plan.coverage):
        at = ("coverage", place)
        for key in ("step", "fault"):
            name = getattr(item, key, None)
            if name is not None and name not in (faults if key == "fault" else names):
                yield Problem((*at, key), _unknown(key, name, names))
        by = getattr(item, "by", None)
        known = clients if isinstance(item, Committed) else senders
        if by is not None and by not in known:
            yield Problem((*at, "by"), _unknown("client" if isinstance(item, Committed) else "producer", by, known))
        for key in ("after", "before"):
            instant = getattr(item, key, None)
            if instant is not None:
                yield from _instant((*at, key), instant, names, faults)


def _senders(plan: Plan) -> set[str]:
    """Return the names of producers, and of steps that send records."""
    steps = {plan.step_name(place) for place, step in enumerate(plan.steps) if isinstance(step, Produce | ProduceProbe)}
    return steps | {spec.name for spec in plan.workload.producers}


def _refs(at: tuple[str | int, ...], step: PlanModel, plan: Plan, bound: set[str]) -> Iterator[Problem]:
    for key, ref in refs(step):
        if ref == "none" and _may_be_none(step, key):
            continue
        yield from _ref((*at, key), ref, plan, bound)


def _may_be_none(step: PlanModel, key: str) -> bool:
    """Return whether `none` is allowed: a partition may have no leader, and a probe may name none or an empty ISR."""
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
    if colon and role in COORDINATORS:
        known = plan.groups if role == GROUP_COORDINATOR else plan.transactional_ids
        if partition not in known:
            yield Problem(at, _unknown("group" if role == GROUP_COORDINATOR else "transactional id", partition, known))
        return
    yield Problem(at, _unknown("node", ref, names))


def _site(at: tuple[str | int, ...], ref: str, plan: Plan) -> Iterator[Problem]:
    """Check a client site as the source of links. Faults cannot use the probe site, through which the harness looks.

    Nor can they use another site than main: a broker advertises one address, that of main, so that all clients come by
    it once they have asked for metadata, and the fault would meet none.
    """
    known = {f"{SITE_PREFIX}{site}" for site in (MAIN_SITE, *plan.topology.sites) if site != PROBE_SITE}
    if ref not in known:
        yield Problem(at, _unknown("client site", ref, known))
    elif ref != f"{SITE_PREFIX}{MAIN_SITE}":
        advertised = f"brokers advertise the addresses of `{SITE_PREFIX}{MAIN_SITE}`: break the links of that"
        yield Problem(at, f"the links of `{ref}` carry no client, since {advertised}")


def _partition(at: tuple[str | int, ...], partition: str, plan: Plan) -> Iterator[Problem]:
    known = {f"{topic.name}-{index}" for topic in plan.topics for index in range(len(topic.assignments))}
    if partition not in known and partition.rpartition("-")[0] not in (*INTERNAL_TOPICS, *changed_topics(plan)):
        yield Problem(at, _unknown("partition", partition, known))


def changed_topics(plan: Plan) -> Iterator[str]:
    """Yield the topics that steps create, or give more partitions."""
    for step in plan.steps:
        if isinstance(step, CreateTopicProbe | CreatePartitionsProbe):
            yield step.topic
        if isinstance(step, ApiProbe) and step.api == "create_topics":
            yield from (str(topic.get("name")) for topic in step.body.get("topics") or ())
        if isinstance(step, ZnodeStep) and step.path.startswith(TOPICS):
            yield step.path.removeprefix(TOPICS).partition("/")[0]


def _instant(at: tuple[str | int, ...], instant: str, names: set[str], faults: set[str]) -> Iterator[Problem]:
    name, _, phase = instant.rpartition(".")
    if name not in names:
        yield Problem(at, _not_yet("step", name, names))
    elif phase in ("injected", "proven", "healed") and name not in faults:
        yield Problem(at, f"`{name}` is not a fault, so `{instant}` never comes: use `{name}.begun` or `{name}.ended`")


def _later(at: tuple[str | int, ...], step: Start, plan: Plan, ended: set[str]) -> Iterator[Problem]:
    """Check the nodes of a start step. `ended` has the references, also roles, of nodes that ended before it."""
    any_node = any(ref not in {node.name for node in plan.topology.nodes} for ref in ended)
    for ref in (step.nodes,) if isinstance(step.nodes, str) else step.nodes:
        spec = next((node for node in plan.topology.nodes if node.name == ref), None)
        if spec is not None and spec.start != "later" and ref not in ended and not any_node:
            yield Problem(
                at,
                f"{ref} starts with the cluster: give it `start: later`, or shut it down or await its exit in an "
                "earlier step",
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
