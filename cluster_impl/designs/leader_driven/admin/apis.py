"""Handlers for the requests that only brokers of this design answer."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.cluster_impl.api.serving import when_serving
from fencepost.cluster_impl.designs.leader_driven.admin.administrator import Administrator
from fencepost.cluster_impl.designs.leader_driven.admin.partition_requests import (
    MoreResult,
    PartitionAnswer,
    PartitionRequests,
    TopicAnswer,
)
from fencepost.cluster_impl.replication.control_plane import ControlPlane
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Handler, Request

_REFUSAL = "This broker does not serve clients now."


def admin_handlers(control: ControlPlane, administrator: Administrator) -> Mapping[int, Handler]:
    """Return the handlers by API key; each refuses while the broker does not serve."""
    requests = PartitionRequests(administrator)

    async def create(body: m.CreatePartitionsRequest, _: Request) -> m.CreatePartitionsResponse:
        return await requests.create(body)

    async def alter(body: m.AlterPartitionReassignmentsRequest, _: Request) -> m.AlterPartitionReassignmentsResponse:
        return await requests.reassign(body)

    async def listed(body: m.ListPartitionReassignmentsRequest, _: Request) -> m.ListPartitionReassignmentsResponse:
        return await requests.list_reassignments(body)

    return {
        m.CreatePartitionsRequest.API_KEY: when_serving(control, m.CreatePartitionsRequest, create, _refused_create),
        m.AlterPartitionReassignmentsRequest.API_KEY: when_serving(
            control, m.AlterPartitionReassignmentsRequest, alter, _refused_alter
        ),
        m.ListPartitionReassignmentsRequest.API_KEY: when_serving(
            control, m.ListPartitionReassignmentsRequest, listed, _refused_list
        ),
    }


def _refused_create(body: m.CreatePartitionsRequest, _: Request) -> m.CreatePartitionsResponse:
    return m.CreatePartitionsResponse(
        results=[
            MoreResult(name=topic.name, error_code=Error.NOT_CONTROLLER, error_message=_REFUSAL)
            for topic in body.topics
        ]
    )


def _refused_alter(body: m.AlterPartitionReassignmentsRequest, _: Request) -> m.AlterPartitionReassignmentsResponse:
    return m.AlterPartitionReassignmentsResponse(
        error_code=Error.NOT_CONTROLLER,
        error_message=_REFUSAL,
        responses=[
            TopicAnswer(
                name=topic.name,
                partitions=[
                    PartitionAnswer(
                        partition_index=each.partition_index,
                        error_code=Error.NOT_CONTROLLER,
                        error_message=_REFUSAL,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in body.topics
        ],
    )


def _refused_list(_: m.ListPartitionReassignmentsRequest, request: Request) -> m.ListPartitionReassignmentsResponse:
    return m.ListPartitionReassignmentsResponse(error_code=Error.NOT_CONTROLLER, error_message=_REFUSAL)
