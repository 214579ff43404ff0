"""The handlers of the three requests that only this design answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, cast

import pytest

from fencepost.cluster_impl.config.data_plane import TopicDefaults
from fencepost.cluster_impl.designs.leader_driven.admin.administrator import Administrator
from fencepost.cluster_impl.designs.leader_driven.admin.apis import admin_handlers
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Message
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.registry import KAFKA, LEADER_DRIVEN_BROKER
from fencepost.cluster_impl.wire.server import Request, ServerConnection
from tests.cluster_impl.designs.leader_driven.admin.model_cluster import ModelCluster
from tests.cluster_impl.designs.leader_driven.admin.test_requests import MemoryExecutor
from tests.cluster_impl.static_world import StaticControl, World

REQUESTS: list[Message] = [
    m.CreatePartitionsRequest(topics=[m.CreatePartitionsRequest.CreatePartitionsTopic(name="t", count=2)]),
    m.AlterPartitionReassignmentsRequest(
        topics=[
            m.AlterPartitionReassignmentsRequest.ReassignableTopic(
                name="t",
                partitions=[
                    m.AlterPartitionReassignmentsRequest.ReassignablePartition(partition_index=0, replicas=[4])
                ],
            )
        ]
    ),
    m.ListPartitionReassignmentsRequest(),
]


def answer(body: Message, *, serves: bool) -> Message:
    control = StaticControl(World[Any](), 4)
    control.fenced = not serves
    model = ModelCluster()
    administrator = Administrator(lambda: MemoryExecutor(model, 77), model.monitor, TopicDefaults(1, 1), 100)
    handle = admin_handlers(control, administrator)[body.API_KEY]
    api = LEADER_DRIVEN_BROKER[body.API_KEY]
    connection = cast("ServerConnection", None)

    async def ask() -> Message:
        answered = handle(Request(api, api.max_version, 1, None, body, connection, 0.0, "CLIENT"))
        return cast("Message", await answered if isinstance(answered, Awaitable) else answered)

    return asyncio.run(ask())


def errors(of: Message) -> set[int]:
    """Return the error codes of the whole response and of all its parts."""
    match of:
        case m.CreatePartitionsResponse():
            return {result.error_code for result in of.results}
        case m.AlterPartitionReassignmentsResponse():
            parts = {each.error_code for topic in of.responses for each in topic.partitions}
            return parts | ({of.error_code} if of.error_code else set())
        case m.ListPartitionReassignmentsResponse():
            return {of.error_code}
    raise AssertionError(f"{of} is no answer to a request of this kind")


def test_every_request_that_others_do_not_answer_has_a_handler() -> None:
    model = ModelCluster()
    administrator = Administrator(lambda: MemoryExecutor(model, 77), model.monitor, TopicDefaults(1, 1), 100)
    handlers = admin_handlers(StaticControl(World[Any](), 4), administrator)
    assert handlers.keys() == LEADER_DRIVEN_BROKER.keys() - KAFKA.keys()


@pytest.mark.parametrize("body", REQUESTS, ids=lambda body: type(body).__name__)
def test_a_broker_that_does_not_serve_refuses_every_part_and_does_nothing(body: Message) -> None:
    assert errors(answer(body, serves=False)) == {Error.NOT_CONTROLLER}


@pytest.mark.parametrize("body", REQUESTS, ids=lambda body: type(body).__name__)
def test_a_broker_that_serves_answers(body: Message) -> None:
    expected = Error.NONE if isinstance(body, m.ListPartitionReassignmentsRequest) else Error.UNKNOWN_TOPIC_OR_PARTITION
    assert errors(answer(body, serves=True)) == {expected}
