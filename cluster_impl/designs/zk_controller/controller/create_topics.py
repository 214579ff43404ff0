"""CreateTopics: each topic of a request is judged on its own, then written as znodes, and led within the same event."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from cluster_impl.coordination.operations import MAX_REQUEST_BYTES
from cluster_impl.coordination.steps import (
    ANY_VERSION,
    Create,
    Done,
    Exists,
    NodeExists,
    Present,
    SetData,
    Steps,
    run,
)
from cluster_impl.designs.most_partitions import problem_with_number
from cluster_impl.designs.placement import place
from cluster_impl.designs.topic_config import UNCLEAN, problem_with
from cluster_impl.designs.topic_name import collision, problem_with_name
from cluster_impl.designs.zk_controller import znodes
from cluster_impl.designs.zk_controller.controller.context import ControllerContext
from cluster_impl.designs.zk_controller.controller.core import ControllerConfig
from cluster_impl.designs.zk_controller.controller.topics import Topics
from cluster_impl.designs.zk_controller.znodes import PartitionReplicas, TopicInfo
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

CreatableTopic = m.CreateTopicsRequest.CreatableTopic
CreateResult = m.CreateTopicsResponse.CreatableTopicResult
CreatedConfig = m.CreateTopicsResponse.CreatableTopicConfigs


class Refused(Exception):
    """A topic that cannot be created: Kafka's error code, and a sentence for the client."""

    def __init__(self, error: Error, sentence: str) -> None:
        super().__init__(sentence)
        self.error = error


@dataclass(frozen=True, slots=True)
class Planned:
    """A topic that may be created."""

    name: str
    topic_id: UUID
    layout: tuple[tuple[int, ...], ...]
    config: dict[str, str]

    @property
    def info(self) -> TopicInfo:
        return TopicInfo(self.topic_id, {at: PartitionReplicas(each) for at, each in enumerate(self.layout)})


def create_topics(
    topics: Topics, context: ControllerContext, request: m.CreateTopicsRequest, config: ControllerConfig
) -> Steps[m.CreateTopicsResponse]:
    """Decide a whole request, and carry it out unless it is only to be validated."""
    if problem := problem_with_number(request, config.default_partitions):
        too_many = Refused(Error.POLICY_VIOLATION, problem)
        return m.CreateTopicsResponse(topics=[_refused(topic.name, too_many) for topic in request.topics])
    results: dict[int, CreateResult] = {}
    planned: dict[int, Planned] = {}
    named = Counter(topic.name for topic in request.topics)
    start = sum(map(len, context.assignments.values()))
    for at, topic in enumerate(request.topics):
        try:
            if named[topic.name] > 1:
                raise Refused(Error.INVALID_REQUEST, f"The request names topic {topic.name} more than once.")
            check_name(context, topic.name)
            settings = _config(topic)
            layout = _layout(context, topic, config, start)
            plan = Planned(topic.name, topics.new_topic_id(), tuple(layout), settings)
            _check_size(plan)
        except Refused as refused:
            results[at] = _refused(topic.name, refused)
            continue
        start += len(layout)
        planned[at] = plan
    if not request.validate_only:
        written = yield from _write(list(planned.values()))
        yield from topics.appeared([name for name, refused in written.items() if refused is None])
        for at, plan in list(planned.items()):
            failure = written[plan.name] or _without_leader(context, plan)
            if failure is not None:
                results[at] = _refused(plan.name, failure)
                del planned[at]
    results.update({at: _created(plan) for at, plan in planned.items()})
    return m.CreateTopicsResponse(topics=[results[at] for at in sorted(results)])


def check_name(context: ControllerContext, name: str) -> None:
    """Raises Refused."""
    problem = problem_with_name(name)
    if problem:
        raise Refused(Error.INVALID_TOPIC_EXCEPTION, problem)
    if name in context.to_delete:
        raise Refused(Error.TOPIC_ALREADY_EXISTS, f"Topic {name} is being deleted.")
    if name in context.assignments:
        raise Refused(Error.TOPIC_ALREADY_EXISTS, f"Topic {name} already exists.")
    same = collision(name, context.assignments)
    if same:
        raise Refused(Error.INVALID_TOPIC_EXCEPTION, same)


def _check_size(plan: Planned) -> None:
    """Raises Refused. All replicas of a topic are in one znode, and a write that ZooKeeper does not take would end the
    term, and the next controller's, as often as the request is repeated."""
    size = len(znodes.write_topic(plan.info))
    if size > MAX_REQUEST_BYTES:
        raise Refused(
            Error.INVALID_PARTITIONS,
            f"Topic {plan.name} would take {size} bytes of ZooKeeper, which takes {MAX_REQUEST_BYTES}.",
        )


def _config(topic: CreatableTopic) -> dict[str, str]:
    for config in topic.configs:
        problem = problem_with(config.name, config.value, switches=(UNCLEAN,))
        if problem:
            raise Refused(Error.INVALID_CONFIG, problem)
    return {config.name: config.value or "" for config in topic.configs}


def _layout(
    context: ControllerContext, topic: CreatableTopic, config: ControllerConfig, start: int
) -> list[tuple[int, ...]]:
    """The replicas of each partition: as the request assigns them, or placed here."""
    if topic.assignments:
        return _assigned(context, topic)
    partitions = config.default_partitions if topic.num_partitions == -1 else topic.num_partitions
    factor = config.default_replication_factor if topic.replication_factor == -1 else topic.replication_factor
    if partitions < 1:
        raise Refused(Error.INVALID_PARTITIONS, f"A topic cannot have {partitions} partitions.")
    if not 1 <= factor <= len(context.live):
        raise Refused(
            Error.INVALID_REPLICATION_FACTOR,
            f"Replication factor {factor} cannot be met: {len(context.live)} brokers are live.",
        )
    return place(list(context.live), partitions, factor, start)


def _assigned(context: ControllerContext, topic: CreatableTopic) -> list[tuple[int, ...]]:
    if topic.num_partitions != -1 or topic.replication_factor != -1:
        raise Refused(
            Error.INVALID_REQUEST,
            "With an assignment of replicas the number of partitions and the replication factor must be -1.",
        )
    layout = {assignment.partition_index: tuple(assignment.broker_ids) for assignment in topic.assignments}
    if len(layout) != len(topic.assignments) or set(layout) != set(range(len(layout))):
        raise Refused(
            Error.INVALID_REPLICA_ASSIGNMENT, "The assigned partitions must be numbered from 0 on, each one once."
        )
    for index, replicas in layout.items():
        if not replicas or len(set(replicas)) != len(replicas) or not set(replicas) <= context.live.keys():
            raise Refused(
                Error.INVALID_REPLICA_ASSIGNMENT,
                f"Partition {index} cannot have the replicas {list(replicas)}: they must be different live brokers.",
            )
    if len({len(replicas) for replicas in layout.values()}) > 1:
        raise Refused(
            Error.INVALID_REPLICA_ASSIGNMENT, "All partitions of a topic must have the same number of replicas."
        )
    return [layout[index] for index in range(len(layout))]


def _write(planned: list[Planned]) -> Steps[dict[str, Refused | None]]:
    """Create the znodes; the settings come first, so that who sees the topic sees them. By topic None, or why not."""
    outcomes = yield from run([Exists(znodes.topic(each.name)) for each in planned])
    there = [each.name for each, outcome in zip(planned, outcomes, strict=True) if isinstance(outcome, Present)]
    absent = [each for each in planned if each.name not in there]
    configs = [(znodes.topic_config(each.name), znodes.write_topic_config(each.config)) for each in absent]
    outcomes = yield from run([Create(path, data) for path, data in configs])
    leftovers = [each for each, outcome in zip(configs, outcomes, strict=True) if isinstance(outcome, NodeExists)]
    yield from run([SetData(path, data, ANY_VERSION) for path, data in leftovers])
    outcomes = yield from run([Create(znodes.topic(each.name), znodes.write_topic(each.info)) for each in absent])
    created = {each.name for each, outcome in zip(absent, outcomes, strict=True) if isinstance(outcome, Done)}
    return {
        each.name: None
        if each.name in created
        else Refused(Error.TOPIC_ALREADY_EXISTS, f"Topic {each.name} already exists.")
        for each in planned
    }


def _without_leader(context: ControllerContext, plan: Planned) -> Refused | None:
    led = [each for each in context.partitions_of(plan.name) if each in context.leadership]
    if len(led) == len(plan.layout):
        return None
    return Refused(Error.REQUEST_TIMED_OUT, f"Topic {plan.name} is created, and not every partition has a leader yet.")


def _created(plan: Planned) -> CreateResult:
    return CreateResult(
        name=plan.name,
        topic_id=plan.topic_id,
        num_partitions=len(plan.layout),
        replication_factor=len(plan.layout[0]),
        configs=[CreatedConfig(name=name, value=value) for name, value in plan.config.items()],
    )


def _refused(name: str, refused: Refused) -> CreateResult:
    return CreateResult(name=name, error_code=refused.error, error_message=str(refused))
