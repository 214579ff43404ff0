"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup, ListGroups and DescribeGroups."""

from __future__ import annotations

import asyncio
import time
from uuid import uuid4

from fencepost.cluster_impl.api.groups.coordinator import Coordinator
from fencepost.cluster_impl.api.groups.group import Group, GroupState, Join, Joined, Synced
from fencepost.cluster_impl.replication.validation import PartitionError
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.server import Request

_MEMBER_ID_REQUIRED_FROM = 4
_NULLABLE_PROTOCOL_FROM = 7
_LONGEST_SESSION_MS = 1_800_000

LeftMember = m.LeaveGroupResponse.MemberResponse


class Membership:
    """Translates between the wire and the groups' state machines."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    async def join(self, body: m.JoinGroupRequest, request: Request) -> m.JoinGroupResponse:
        if not 1 <= body.session_timeout_ms <= _LONGEST_SESSION_MS:
            return refused_join(body, request, Error.INVALID_SESSION_TIMEOUT)
        try:
            hosted = self._coordinator.group(body.group_id)
        except PartitionError as refused:
            return refused_join(body, request, refused.error)
        now = time.monotonic()
        join = _join(body, request)
        if join.is_new and (error := hosted.group.protocol_error(join)):
            return refused_join(body, request, error)
        is_static = body.group_instance_id is not None
        if join.is_new and not is_static and request.version >= _MEMBER_ID_REQUIRED_FROM:
            hosted.group.give_id(join.member_id, join.session_timeout, now)
            hosted.deliver([])
            response = refused_join(body, request, Error.MEMBER_ID_REQUIRED)
            response.member_id = join.member_id
            return response
        token: asyncio.Future[Joined] = asyncio.get_running_loop().create_future()
        hosted.deliver(hosted.group.join(join, token, now))
        joined = await token
        return m.JoinGroupResponse(
            error_code=joined.error,
            generation_id=joined.generation,
            protocol_type=joined.protocol_type,
            protocol_name=_nullable(joined.protocol, request.version),
            leader=joined.leader,
            member_id=joined.member_id,
            members=[
                m.JoinGroupResponse.JoinGroupResponseMember(
                    member_id=member_id, group_instance_id=instance, metadata=metadata
                )
                for member_id, instance, metadata in joined.members
            ],
        )

    async def sync(self, body: m.SyncGroupRequest, request: Request) -> m.SyncGroupResponse:
        try:
            hosted = self._coordinator.group(body.group_id)
        except PartitionError as refused:
            return m.SyncGroupResponse(error_code=refused.error)
        group = hosted.group
        if _contradicts(body.protocol_type, group.protocol_type) or _contradicts(body.protocol_name, group.protocol):
            return m.SyncGroupResponse(error_code=Error.INCONSISTENT_GROUP_PROTOCOL)
        token: asyncio.Future[Synced] = asyncio.get_running_loop().create_future()
        assignments = {one.member_id: bytes(one.assignment) for one in body.assignments}
        hosted.deliver(
            group.sync(body.member_id, body.group_instance_id, body.generation_id, assignments, token, time.monotonic())
        )
        synced = await token
        return m.SyncGroupResponse(
            error_code=synced.error,
            protocol_type=synced.protocol_type,
            protocol_name=synced.protocol,
            assignment=synced.assignment,
        )

    def heartbeat(self, body: m.HeartbeatRequest, request: Request) -> m.HeartbeatResponse:
        try:
            hosted = self._coordinator.group(body.group_id)
        except PartitionError as refused:
            return m.HeartbeatResponse(error_code=refused.error)
        error = hosted.group.heartbeat(body.member_id, body.group_instance_id, body.generation_id, time.monotonic())
        return m.HeartbeatResponse(error_code=error)

    def leave(self, body: m.LeaveGroupRequest, request: Request) -> m.LeaveGroupResponse:
        """Remove one member up to version 2, several from version 3 on."""
        try:
            hosted = self._coordinator.group(body.group_id)
        except PartitionError as refused:
            return m.LeaveGroupResponse(error_code=refused.error)
        one = m.LeaveGroupRequest.MemberIdentity(member_id=body.member_id)
        members = [one] if request.version < 3 else body.members
        response = m.LeaveGroupResponse()
        for member in members:
            error, replies = hosted.group.leave(member.member_id, member.group_instance_id, time.monotonic())
            hosted.deliver(replies)
            response.members.append(
                LeftMember(member_id=member.member_id, group_instance_id=member.group_instance_id, error_code=error)
            )
        if request.version < 3:
            response.error_code = response.members.pop().error_code
        return response

    def list_groups(self, body: m.ListGroupsRequest, request: Request) -> m.ListGroupsResponse:
        return m.ListGroupsResponse(
            groups=[
                m.ListGroupsResponse.ListedGroup(
                    group_id=group.group_id, protocol_type=group.protocol_type or "", group_state=group.state.value
                )
                for group in self._coordinator.groups()
                if not body.states_filter or group.state.value in body.states_filter
            ]
        )

    def describe_groups(self, body: m.DescribeGroupsRequest, request: Request) -> m.DescribeGroupsResponse:
        response = m.DescribeGroupsResponse()
        groups = {group.group_id: group for group in self._coordinator.groups()}
        for group_id in body.groups:
            try:
                self._coordinator.shard(group_id)
            except PartitionError as refused:
                described = m.DescribeGroupsResponse.DescribedGroup(group_id=group_id, error_code=refused.error)
            else:
                described = _described(group_id, groups.get(group_id))
            response.groups.append(described)
        return response


def _join(body: m.JoinGroupRequest, request: Request) -> Join:
    rebalance_ms = body.rebalance_timeout_ms if body.rebalance_timeout_ms >= 0 else body.session_timeout_ms
    client_id = request.client_id or ""
    return Join(
        member_id=body.member_id or f"{body.group_instance_id or client_id}-{uuid4()}",
        is_new=not body.member_id,
        group_instance_id=body.group_instance_id,
        client_id=client_id,
        client_host=request.connection.peer.rpartition(":")[0],
        session_timeout=body.session_timeout_ms / 1000,
        rebalance_timeout=rebalance_ms / 1000,
        protocol_type=body.protocol_type,
        protocols={protocol.name: bytes(protocol.metadata) for protocol in body.protocols},
    )


def _contradicts(named: str | None, actual: str | None) -> bool:
    """Check a protocol type or name, which only requests from version 5 on contain."""
    return bool(named) and actual is not None and named != actual


def _nullable(protocol: str | None, version: int) -> str | None:
    return protocol if protocol is not None or version >= _NULLABLE_PROTOCOL_FROM else ""


def _described(group_id: str, group: Group | None) -> m.DescribeGroupsResponse.DescribedGroup:
    """Describe a group; an unknown one is dead, which is no error."""
    if group is None:
        return m.DescribeGroupsResponse.DescribedGroup(group_id=group_id, group_state="Dead")
    stable = group.state is GroupState.STABLE
    return m.DescribeGroupsResponse.DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=group.protocol or "" if stable else "",
        members=[
            m.DescribeGroupsResponse.DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.join.group_instance_id,
                client_id=member.join.client_id,
                client_host=member.join.client_host,
                member_metadata=member.join.protocols.get(group.protocol or "", b"") if stable else b"",
                member_assignment=member.assignment,
            )
            for member in group.members.values()
        ],
    )


_UNAVAILABLE = Error.COORDINATOR_NOT_AVAILABLE


def refused_join(body: m.JoinGroupRequest, request: Request, error: Error = _UNAVAILABLE) -> m.JoinGroupResponse:
    return m.JoinGroupResponse(
        error_code=error,
        generation_id=-1,
        protocol_name=_nullable(None, request.version),
        member_id=body.member_id,
    )
