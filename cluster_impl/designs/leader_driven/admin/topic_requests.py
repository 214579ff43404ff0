"""CreateTopics and DeleteTopics, each topic on its own and all side by side."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from cluster_impl.designs.leader_driven.admin.adding import await_leaders
from cluster_impl.designs.leader_driven.admin.administrator import Administrator
from cluster_impl.designs.leader_driven.admin.creating import Made, NewTopic, check_absent, check_topic, create_topic
from cluster_impl.designs.leader_driven.admin.deleting import delete_topic
from cluster_impl.designs.leader_driven.admin.naming import check_name
from cluster_impl.designs.leader_driven.admin.reading import read_topic, topics_by_id
from cluster_impl.designs.leader_driven.admin.seam import Command, Failed, Procedure
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Message
from cluster_impl.wire.errors import Error

CreatableTopic = m.CreateTopicsRequest.CreatableTopic
CreateResult = m.CreateTopicsResponse.CreatableTopicResult
CreatedConfig = m.CreateTopicsResponse.CreatableTopicConfigs
DeleteResult = m.DeleteTopicsResponse.DeletableTopicResult

NO_TOPIC_ID = UUID(int=0)
FIRST_VERSION_WITH_IDS = 6


class TopicRequests:
    def __init__(self, administrator: Administrator) -> None:
        self._administrator = administrator

    async def forward(self, request: Message, version: int) -> Message:
        """What `ControlPlane.forward` passes on: here nobody else is asked. Does not raise."""
        match request:
            case m.CreateTopicsRequest():
                return await self.create(request)
            case m.DeleteTopicsRequest():
                return await self.delete(request, version)
        raise TypeError(f"{type(request).__name__} is no request about topics.")

    async def create(self, request: m.CreateTopicsRequest) -> m.CreateTopicsResponse:
        named = Counter(topic.name for topic in request.topics)
        results = [self._create(topic, named[topic.name] > 1, request) for topic in request.topics]
        return m.CreateTopicsResponse(topics=await asyncio.gather(*results))

    async def _create(
        self, topic: CreatableTopic, is_named_twice: bool, request: m.CreateTopicsRequest
    ) -> CreateResult:
        timeout = request.timeout_ms / 1000
        try:
            if is_named_twice:
                raise Failed(Error.INVALID_REQUEST, f"The request names topic {topic.name} more than once.")
            new = self._new_topic(topic)
            # What can be refused at once is, also where nobody waits for the rest.
            planned = await self._administrator.look(lambda: _check(new), timeout, f"The check of topic {topic.name}")
            if not request.validate_only:
                work = self._administrator.carry_out_alone(topic.name, lambda command: _create(command, new), timeout)
                planned = await self._administrator.within(timeout, work, f"The creation of topic {topic.name}")
        except Failed as failed:
            return CreateResult(name=topic.name, error_code=failed.error, error_message=str(failed))
        return CreateResult(
            name=topic.name,
            topic_id=planned.topic_id,
            num_partitions=len(planned.layout),
            replication_factor=len(planned.layout[0]),
            configs=[CreatedConfig(name=name, value=value) for name, value in planned.config.items()],
        )

    def _new_topic(self, topic: CreatableTopic) -> NewTopic:
        """Raises Failed."""
        config = {each.name: each.value for each in topic.configs}
        if topic.assignments:
            return NewTopic(topic.name, assignment=_assigned(topic), config=config)
        defaults = self._administrator.config
        partitions = defaults.default_partitions if topic.num_partitions == -1 else topic.num_partitions
        is_default = topic.replication_factor == -1
        factor = defaults.default_replication_factor if is_default else topic.replication_factor
        return NewTopic(topic.name, partitions, factor, config=config)

    async def delete(self, request: m.DeleteTopicsRequest, version: int) -> m.DeleteTopicsResponse:
        if version >= FIRST_VERSION_WITH_IDS:
            asked = [(topic.name, topic.topic_id) for topic in request.topics]
        else:
            asked = [(name, NO_TOPIC_ID) for name in request.topic_names]
        found = await self._find(asked, request.timeout_ms / 1000)
        named = Counter(each for each in found if isinstance(each, str))
        results = [
            self._delete(name, topic_id, each, isinstance(each, str) and named[each] > 1, request.timeout_ms / 1000)
            for (name, topic_id), each in zip(asked, found, strict=True)
        ]
        return m.DeleteTopicsResponse(responses=await asyncio.gather(*results))

    async def _find(self, asked: Sequence[tuple[str | None, UUID]], timeout: float) -> list[str | Failed]:
        """The names of the topics that are meant, or why one is not known."""
        names: dict[UUID, str] = {}
        if any(topic_id != NO_TOPIC_ID for _, topic_id in asked):
            try:
                names = await self._administrator.look(topics_by_id, timeout, "The search for topics by their ids")
            except Failed as failed:
                return [failed] * len(asked)
        return [_named(name, topic_id, names) for name, topic_id in asked]

    async def _delete(
        self, name: str | None, topic_id: UUID, found: str | Failed, is_named_twice: bool, timeout: float
    ) -> DeleteResult:
        try:
            if isinstance(found, Failed):
                raise found
            if is_named_twice:
                raise Failed(Error.INVALID_REQUEST, "The request names this topic more than once.")
            there = await self._administrator.look(
                lambda: _existing_id(found), timeout, f"The search for topic {found}"
            )
            work = self._administrator.carry_out_alone(found, lambda command: delete_topic(command, found), timeout)
            await self._administrator.within(timeout, work, f"The deletion of topic {found}")
        except Failed as failed:
            return DeleteResult(name=name, topic_id=topic_id, error_code=failed.error, error_message=str(failed))
        return DeleteResult(name=found, topic_id=there)


def _check(new: NewTopic) -> Procedure[Made]:
    layout = yield from check_topic(new)
    yield from check_absent(new.name)
    return Made(NO_TOPIC_ID, layout, {name: value or "" for name, value in new.config.items()})


def _create(command: Command, new: NewTopic) -> Procedure[Made]:
    made = yield from create_topic(command, new)
    without = yield from await_leaders(command, new.name, range(len(made.layout)))
    if without:
        sentence = f"Topic {new.name} is created, and {len(without)} of its partitions have no leader yet."
        raise Failed(Error.REQUEST_TIMED_OUT, sentence)
    return made


def _assigned(topic: CreatableTopic) -> list[list[int]]:
    if topic.num_partitions != -1 or topic.replication_factor != -1:
        raise Failed(
            Error.INVALID_REQUEST,
            "With an assignment of replicas the number of partitions and the replication factor must be -1.",
        )
    layout = {assignment.partition_index: assignment.broker_ids for assignment in topic.assignments}
    if len(layout) != len(topic.assignments) or set(layout) != set(range(len(layout))):
        raise Failed(
            Error.INVALID_REPLICA_ASSIGNMENT, "The assigned partitions must be numbered from 0 on, each one once."
        )
    return [layout[index] for index in range(len(layout))]


def _named(name: str | None, topic_id: UUID, names: dict[UUID, str]) -> str | Failed:
    if name is not None:
        if topic_id != NO_TOPIC_ID:
            return Failed(Error.INVALID_REQUEST, "A topic is named by its name or by its id, not by both.")
        return name
    found = names.get(topic_id)
    return Failed(Error.UNKNOWN_TOPIC_ID, f"There is no topic with the id {topic_id}.") if found is None else found


def _existing_id(name: str) -> Procedure[UUID]:
    """Raises Failed. A topic of which only partitions are left that never came to be can be deleted, too."""
    check_name(name)
    topic = yield from read_topic(name)
    if topic.topic_id is None and not topic.partitions:
        raise Failed(Error.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {name}.")
    return topic.topic_id or NO_TOPIC_ID
