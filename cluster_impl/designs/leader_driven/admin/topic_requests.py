"""The requests CreateTopics and DeleteTopics; each topic is handled on its own, all side by side."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from fencepost.cluster_impl.designs.leader_driven.admin.adding import await_leaders
from fencepost.cluster_impl.designs.leader_driven.admin.administrator import Administrator
from fencepost.cluster_impl.designs.leader_driven.admin.creating import (
    CreatedTopic,
    NewTopic,
    check_absent,
    check_topic,
    create_topic,
)
from fencepost.cluster_impl.designs.leader_driven.admin.deleting import delete_topic
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Command, Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import read_topic, topics_by_id
from fencepost.cluster_impl.designs.shared.topic_requests import (
    NO_TOPIC_ID,
    CreatableTopic,
    CreateResult,
    DeleteResult,
    RequestError,
    check_name,
    check_named_once,
    check_partition_count,
    created,
    named_again,
    not_created,
    not_deleted,
    requested_assignment,
    requested_counts,
    requested_deletions,
    topic_to_delete,
    unknown_topic,
)
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error


class TopicRequests:
    """Answers the two requests for one broker."""

    def __init__(self, administrator: Administrator) -> None:
        self._administrator = administrator

    async def create(self, request: m.CreateTopicsRequest) -> m.CreateTopicsResponse:
        """Create topics, and answer each when it has leaders or the client's timeout is over. Does not raise."""
        try:
            check_partition_count(request, self._administrator.topic_defaults)
        except RequestError as failed:
            return m.CreateTopicsResponse(topics=[not_created(topic.name, failed) for topic in request.topics])
        occurrences = Counter(topic.name for topic in request.topics)
        results = [self._create(topic, occurrences, request) for topic in request.topics]
        return m.CreateTopicsResponse(topics=await asyncio.gather(*results))

    async def _create(
        self, topic: CreatableTopic, occurrences: Counter[str], request: m.CreateTopicsRequest
    ) -> CreateResult:
        timeout = request.timeout_ms / 1000
        try:
            check_named_once(topic.name, occurrences)
            new = self._new_topic(topic)
            # Errors that need no wait are found first, so that a client with a short timeout gets them too.
            planned = await self._administrator.look(lambda: _check(new), timeout, f"The check of topic {topic.name}")
            if not request.validate_only:
                work = self._administrator.carry_out_alone(topic.name, lambda command: _create(command, new), timeout)
                planned = await self._administrator.within(timeout, work, f"The creation of topic {topic.name}")
        except RequestError as failed:
            return not_created(topic.name, failed)
        return created(topic.name, planned.topic_id, planned.layout, planned.config.items())

    def _new_topic(self, topic: CreatableTopic) -> NewTopic:
        """Return the topic that the request describes, with defaults filled in. Raises RequestError."""
        config = {setting.name: setting.value for setting in topic.configs}
        if topic.assignments:
            return NewTopic(topic.name, assignment=requested_assignment(topic), config=config)
        partitions, factor = requested_counts(topic, self._administrator.topic_defaults)
        return NewTopic(topic.name, partitions, factor, config=config)

    async def delete(self, request: m.DeleteTopicsRequest, version: int) -> m.DeleteTopicsResponse:
        """Delete topics, named by name or, from version 6 on, by id. Does not raise."""
        requested = requested_deletions(request, version)
        found = await self._find(requested, request.timeout_ms / 1000)
        named = Counter(name for name in found if isinstance(name, str))
        results = [
            self._delete(
                name,
                topic_id,
                name_or_error,
                isinstance(name_or_error, str) and named[name_or_error] > 1,
                request.timeout_ms / 1000,
            )
            for (name, topic_id), name_or_error in zip(requested, found, strict=True)
        ]
        return m.DeleteTopicsResponse(responses=await asyncio.gather(*results))

    async def _find(self, requested: Sequence[tuple[str | None, UUID]], timeout: float) -> list[str | RequestError]:
        """Return the name of each requested topic, or the error why it is not known."""
        names: dict[UUID, str] = {}
        if any(topic_id != NO_TOPIC_ID for _, topic_id in requested):
            try:
                names = await self._administrator.look(topics_by_id, timeout, "The search for topics by their ids")
            except RequestError as failed:
                return [failed] * len(requested)
        return [_named(name, topic_id, names) for name, topic_id in requested]

    async def _delete(
        self, name: str | None, topic_id: UUID, found: str | RequestError, is_named_twice: bool, timeout: float
    ) -> DeleteResult:
        try:
            if isinstance(found, RequestError):
                raise found
            if is_named_twice:
                raise named_again()
            there = await self._administrator.look(
                lambda: _existing_id(found), timeout, f"The search for topic {found}"
            )
            work = self._administrator.carry_out_alone(found, lambda command: delete_topic(command, found), timeout)
            await self._administrator.within(timeout, work, f"The deletion of topic {found}")
        except RequestError as failed:
            return not_deleted(name, topic_id, failed)
        return DeleteResult(name=found, topic_id=there)


def _check(new: NewTopic) -> Procedure[CreatedTopic]:
    yield from check_absent(new.name)
    layout = yield from check_topic(new)
    return CreatedTopic(NO_TOPIC_ID, layout, {name: value or "" for name, value in new.config.items()})


def _create(command: Command, new: NewTopic) -> Procedure[CreatedTopic]:
    made = yield from create_topic(command, new)
    without = yield from await_leaders(command, new.name, range(len(made.layout)))
    if without:
        message = f"Topic {new.name} is created, and {len(without)} of its partitions have no leader yet."
        raise RequestError(Error.REQUEST_TIMED_OUT, message)
    return made


def _named(name: str | None, topic_id: UUID, names: dict[UUID, str]) -> str | RequestError:
    try:
        return topic_to_delete(name, topic_id, names.get)
    except RequestError as failed:
        return failed


def _existing_id(name: str) -> Procedure[UUID]:
    """Return the topic's id, NO_TOPIC_ID if only partitions that were never assigned are left of it.

    Raises RequestError if there is nothing to delete.
    """
    check_name(name)
    topic = yield from read_topic(name)
    if topic.topic_id is None and not topic.partitions:
        raise unknown_topic(name)
    return topic.topic_id or NO_TOPIC_ID
