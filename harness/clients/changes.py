"""The differences between two observations, as data of `state` events for the journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fencepost.harness.clients.metadata.image import BrokerEntry, Image, PartitionEntry
from fencepost.harness.clients.views import Answer, BrokerView, ControllerView, Observation, PartitionView, ServerView
from fencepost.harness.plan.internal_topics import INTERNAL_TOPICS

ObservedChange = tuple[str | None, dict[str, object]]
"""The reporting node, None for the controllers' log or ZooKeeper, and the data."""


def changes(before: Observation, after: Observation, ids: Mapping[str, int]) -> Iterator[ObservedChange]:
    """In no particular order but that of the parts. `ids` are those of controllers and brokers, by name."""
    for name, view in after.brokers.items():
        if view is not before.brokers.get(name):
            yield from _of_broker(name, ids[name], before.brokers.get(name, BrokerView()), view)
    for name, claim in after.controllers.items():
        if claim != before.controllers.get(name):
            seen = before.controllers.get(name, ControllerView())
            if claim.answer is not seen.answer and name not in after.brokers:
                # Of a node of two roles the broker's answers count.
                yield name, {"what": "answer", "id": ids[name], "state": claim.answer.value}
            yield from _of_controller(name, claim)
    if after.news and before.controllers and not after.controllers:
        yield None, {"what": "controller", "active": -1, "epoch": max(c.epoch for c in before.controllers.values())}
    for name, server in after.servers.items():
        if server != before.servers.get(name):
            yield from _of_server(name, before.servers.get(name, ServerView()), server)
    if after.news is not before.news:
        yield None, {"what": "ensemble", "answers": after.news}
    for broker, length in after.queues.items():
        if length != before.queues.get(broker, 0):
            yield None, {"what": "queue", "broker": broker, "length": length}
    if after.image is not before.image:
        yield from _of_image(before.image, after.image, ids)


def _of_broker(name: str, id: int, before: BrokerView, after: BrokerView) -> Iterator[ObservedChange]:
    if after.answer is not before.answer:
        yield name, {"what": "answer", "id": id, "state": after.answer.value}
    if after.brokers != before.brokers and after.brokers:
        yield name, {"what": "listed", "id": id, "brokers": sorted(after.brokers)}
    for key, partition in after.partitions.items():
        if partition != before.partitions.get(key) and partition.topic not in INTERNAL_TOPICS:
            yield name, _partition(partition, after.partitions[key].topic_id)
    if after.answer is Answer.SERVING:  # also if it lists no partition any more
        yield from _gone(name, before.partitions, after.partitions)


def _of_controller(name: str, after: ControllerView) -> Iterator[ObservedChange]:
    if after.epoch >= 0:
        said = {"what": "controller", "active": after.leader, "epoch": after.epoch}
        yield (name, said) if after.says_it_itself else (None, {**said, "node": name})


def _of_server(name: str, before: ServerView, after: ServerView) -> Iterator[ObservedChange]:
    if after.mode != before.mode:
        yield name, {"what": "server", "mode": after.mode}
    if after.answer is not before.answer:
        yield name, {"what": "answer", "state": after.answer.value}


def _of_image(before: Image, after: Image, ids: Mapping[str, int]) -> Iterator[ObservedChange]:
    names = {id: name for name, id in reversed(list(ids.items()))}
    for id, broker in after.brokers.items():
        if broker != before.brokers.get(id):
            yield None, _broker(broker.process(ids) or names.get(id), broker)
    known, now = _with_state(before), _with_state(after)
    topic_ids = {name: id for id, name in after.topics.items()}
    for key, partition in now.items():
        if partition is not known.get(key) and partition != known.get(key):
            topic_id = topic_ids.get(partition.topic)
            data = _partition(partition, None if topic_id is None else str(topic_id))
            yield None, {**data, "replicas": list(partition.replicas)}
    yield from _gone(None, known, now)


def _with_state(image: Image) -> Mapping[str, PartitionEntry]:
    """Without those that are assigned only: of a topic that is new, or half gone."""
    return {key: partition for key, partition in image.partitions.items() if partition.leader_epoch >= 0}


def _gone(
    by: str | None,
    before: Mapping[str, PartitionView] | Mapping[str, PartitionEntry],
    after: Mapping[str, PartitionView] | Mapping[str, PartitionEntry],
) -> Iterator[ObservedChange]:
    for key, partition in before.items():
        if key not in after and partition.topic not in INTERNAL_TOPICS:
            yield by, {"what": "partition-gone", "topic": partition.topic, "partition": partition.partition}


def _broker(node: str | None, broker: BrokerEntry) -> dict[str, object]:
    data: dict[str, object] = {
        "what": "broker",
        "node": node,
        "id": broker.id,
        "state": broker.state,
        "epoch": broker.epoch,
        "offset": broker.offset,
    }
    return data if broker.version < 0 else {**data, "version": broker.version}


def _partition(partition: PartitionView | PartitionEntry, topic_id: str | None) -> dict[str, object]:
    data: dict[str, object] = {
        "what": "partition",
        "topic": partition.topic,
        "partition": partition.partition,
        "leader": partition.leader,
        "leader_epoch": partition.leader_epoch,
        "isr": list(partition.isr),
    }
    if topic_id is not None:
        data["topic_id"] = topic_id
    if isinstance(partition, PartitionView):
        return {**data, "offline": list(partition.offline)} if partition.offline else data
    if partition.controller_epoch >= 0:
        data |= {"version": partition.version, "controller_epoch": partition.controller_epoch}
    elif partition.version != partition.leader_epoch:
        data |= {"version": partition.version}
    if partition.adding or partition.removing:
        data |= {"adding": list(partition.adding), "removing": list(partition.removing)}
    return {**data, "offset": partition.offset}
