"""CreateTopics: each topic is checked on its own, written as znodes, and gets leaders within the same event."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from fencepost.cluster_impl.api.topic_names import collision
from fencepost.cluster_impl.coordination.operations import MAX_REQUEST_BYTES
from fencepost.cluster_impl.coordination.steps import (
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
from fencepost.cluster_impl.designs.on_zookeeper import config_znodes
from fencepost.cluster_impl.designs.shared.placement import place_as_kafka
from fencepost.cluster_impl.designs.shared.topic_requests import (
    CreatableTopic,
    CreateResult,
    RequestError,
    check_assigned_brokers,
    check_counts,
    check_name,
    check_named_once,
    check_partition_count,
    check_settings,
    created,
    not_created,
    requested_assignment,
    requested_counts,
    topic_exists,
)
from fencepost.cluster_impl.designs.shared.topic_settings import UNCLEAN
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.state.context import ControllerContext
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import ControllerConfig
from fencepost.cluster_impl.designs.zk_controller.controller.topics.topic_listener import TopicListener
from fencepost.cluster_impl.designs.zk_controller.znodes import PartitionReplicas, TopicInfo
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """A topic that passed all checks."""

    name: str
    topic_id: UUID
    layout: tuple[tuple[int, ...], ...]
    config: dict[str, str]

    @property
    def info(self) -> TopicInfo:
        return TopicInfo(self.topic_id, {at: PartitionReplicas(replicas) for at, replicas in enumerate(self.layout)})


def create_topics(
    topics: TopicListener, context: ControllerContext, request: m.CreateTopicsRequest, config: ControllerConfig
) -> Steps[m.CreateTopicsResponse]:
    """Decide a whole request, and carry it out unless it is to be validated only."""
    try:
        check_partition_count(request, config.topic_defaults)
    except RequestError as error:
        return m.CreateTopicsResponse(topics=[not_created(topic.name, error) for topic in request.topics])
    results: dict[int, CreateResult] = {}
    planned: dict[int, TopicPlan] = {}
    occurrences = Counter(topic.name for topic in request.topics)
    start = sum(map(len, context.assignments.values()))
    for at, topic in enumerate(request.topics):
        try:
            check_named_once(topic.name, occurrences)
            check_absent(context, topic.name)
            check_settings(((setting.name, setting.value) for setting in topic.configs), switches=(UNCLEAN,))
            settings = {setting.name: setting.value or "" for setting in topic.configs}
            layout = _layout(context, topic, config, start)
            plan = TopicPlan(topic.name, topics.new_topic_id(), tuple(layout), settings)
            check_size(plan.name, plan.info)
        except RequestError as error:
            results[at] = not_created(topic.name, error)
            continue
        start += len(layout)
        planned[at] = plan
    if not request.validate_only:
        written = yield from _write(list(planned.values()))
        yield from topics.appeared([name for name, error in written.items() if error is None])
        for at, plan in list(planned.items()):
            failure = written[plan.name] or _without_leader(context, plan)
            if failure is not None:
                results[at] = not_created(plan.name, failure)
                del planned[at]
    for at, plan in planned.items():
        results[at] = created(plan.name, plan.topic_id, plan.layout, plan.config.items())
    return m.CreateTopicsResponse(topics=[results[at] for at in sorted(results)])


def check_absent(context: ControllerContext, name: str) -> None:
    """Raise RequestError if no topic can be created under this name."""
    check_name(name)
    if name in context.to_delete:
        raise RequestError(Error.TOPIC_ALREADY_EXISTS, f"Topic {name} is being deleted.")
    if name in context.assignments:
        raise topic_exists(name)
    if same := collision(name, context.assignments):
        raise RequestError(Error.INVALID_TOPIC_EXCEPTION, same)


def check_size(name: str, info: TopicInfo) -> None:
    """Raise RequestError if the topic's znode would be too large for ZooKeeper.

    The failing write would end this term, and the next controller's, as often as the request is repeated.
    """
    size = len(znodes.write_topic(info))
    if size > MAX_REQUEST_BYTES:
        raise RequestError(
            Error.INVALID_PARTITIONS,
            f"Topic {name} would take {size} bytes of ZooKeeper, which takes {MAX_REQUEST_BYTES}.",
        )


def _layout(
    context: ControllerContext, topic: CreatableTopic, config: ControllerConfig, start: int
) -> list[tuple[int, ...]]:
    """Return the replicas of each partition: those that the request assigns, or placed ones."""
    if topic.assignments:
        assignment = requested_assignment(topic)
        check_assigned_brokers(assignment, context.live, "live")
        return assignment
    partitions, factor = requested_counts(topic, config.topic_defaults)
    check_counts(partitions, factor, len(context.live), "live")
    return place_as_kafka(list(context.live), partitions, factor, start)


def _write(planned: list[TopicPlan]) -> Steps[dict[str, RequestError | None]]:
    """Create the znodes, settings before topics. Return by topic None, or the error."""
    outcomes = yield from run([Exists(znodes.topic(plan.name)) for plan in planned])
    there = [plan.name for plan, outcome in zip(planned, outcomes, strict=True) if isinstance(outcome, Present)]
    absent = [plan for plan in planned if plan.name not in there]
    configs = [(config_znodes.topic_config(plan.name), config_znodes.write_config(plan.config)) for plan in absent]
    outcomes = yield from run([Create(path, data) for path, data in configs])
    leftovers = [config for config, outcome in zip(configs, outcomes, strict=True) if isinstance(outcome, NodeExists)]
    yield from run([SetData(path, data, ANY_VERSION) for path, data in leftovers])
    outcomes = yield from run([Create(znodes.topic(plan.name), znodes.write_topic(plan.info)) for plan in absent])
    written = {plan.name for plan, outcome in zip(absent, outcomes, strict=True) if isinstance(outcome, Done)}
    return {plan.name: None if plan.name in written else topic_exists(plan.name) for plan in planned}


def _without_leader(context: ControllerContext, plan: TopicPlan) -> RequestError | None:
    led = [partition for partition in context.partitions_of(plan.name) if partition in context.leadership]
    if len(led) == len(plan.layout):
        return None
    return RequestError(
        Error.REQUEST_TIMED_OUT, f"Topic {plan.name} is created, and not every partition has a leader yet."
    )
