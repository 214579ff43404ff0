"""The requests CreatePartitions, ElectLeaders, AlterPartitionReassignments and ListPartitionReassignments."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence

from fencepost.cluster_impl.coordination.steps import Steps, names
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.admin.adding import await_leaders
from fencepost.cluster_impl.designs.leader_driven.admin.administrator import Administrator
from fencepost.cluster_impl.designs.leader_driven.admin.creating import MorePartitions, check_more, create_partitions
from fencepost.cluster_impl.designs.leader_driven.admin.electing import all_partitions, elect_leaders
from fencepost.cluster_impl.designs.leader_driven.admin.procedures import Command, Procedure
from fencepost.cluster_impl.designs.leader_driven.admin.reading import StoredPartition, read_topic
from fencepost.cluster_impl.designs.leader_driven.admin.reassigning import reassign
from fencepost.cluster_impl.designs.shared.partition_requests import (
    check_election_type,
    elected,
    requested_elections,
)
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError, check_named_once
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import refusal

MoreResult = m.CreatePartitionsResponse.CreatePartitionsTopicResult
Reassignable = m.AlterPartitionReassignmentsRequest.ReassignableTopic
TopicAnswer = m.AlterPartitionReassignmentsResponse.ReassignableTopicResponse
PartitionAnswer = m.AlterPartitionReassignmentsResponse.ReassignablePartitionResponse
OngoingTopic = m.ListPartitionReassignmentsResponse.OngoingTopicReassignment
Ongoing = m.ListPartitionReassignmentsResponse.OngoingPartitionReassignment


class PartitionRequests:
    """Answers the four requests; topics are handled on their own, side by side, where they are changed."""

    def __init__(self, administrator: Administrator) -> None:
        self._administrator = administrator

    async def create(self, request: m.CreatePartitionsRequest) -> m.CreatePartitionsResponse:
        """Add partitions to topics, and answer when they have leaders or the client's timeout is over. Does not
        raise."""
        occurrences = Counter(topic.name for topic in request.topics)
        results = [self._create(topic, occurrences, request) for topic in request.topics]
        return m.CreatePartitionsResponse(results=await asyncio.gather(*results))

    async def _create(
        self,
        topic: m.CreatePartitionsRequest.CreatePartitionsTopic,
        occurrences: Counter[str],
        request: m.CreatePartitionsRequest,
    ) -> MoreResult:
        timeout = request.timeout_ms / 1000
        assignment = None if topic.assignments is None else [partition.broker_ids for partition in topic.assignments]
        more = MorePartitions(topic.name, topic.count, assignment)
        try:
            check_named_once(topic.name, occurrences)
            await self._administrator.look(lambda: check_more(more), timeout, f"The check of topic {topic.name}")
            if not request.validate_only:
                work = self._administrator.carry_out_alone(topic.name, lambda command: _create(command, more), timeout)
                await self._administrator.within(timeout, work, f"The creation of partitions of topic {topic.name}")
        except RequestError as failed:
            return MoreResult(name=topic.name, error_code=failed.error, error_message=str(failed))
        return MoreResult(name=topic.name)

    async def elect(self, request: m.ElectLeadersRequest) -> m.ElectLeadersResponse:
        """Ask leaders to give way to preferred replicas, and answer when they lead. Does not raise."""
        timeout = request.timeout_ms / 1000
        try:
            election = check_election_type(request)
            everything: Sequence[TopicPartition] = ()
            if request.topic_partitions is None:
                everything = await self._administrator.look(all_partitions, timeout, "The search for partitions")
            wanted, named = requested_elections(request, everything)
            # The wait ends before the time of the client does, so that each partition gets an outcome of its own.
            work = self._administrator.carry_out(
                lambda command: elect_leaders(command, election, wanted, timeout / 2), timeout
            )
            return elected(await self._administrator.within(timeout, work, "The election"), named=named)
        except RequestError as failed:
            refused = refusal(request, failed.error, str(failed))
            assert isinstance(refused, m.ElectLeadersResponse)
            return refused

    async def reassign(self, request: m.AlterPartitionReassignmentsRequest) -> m.AlterPartitionReassignmentsResponse:
        """Write down the reassignments and answer at once; the leaders carry them out."""
        named = Counter(topic.name for topic in request.topics)
        return m.AlterPartitionReassignmentsResponse(
            allow_replication_factor_change=request.allow_replication_factor_change,
            responses=await asyncio.gather(
                *(self._reassign(topic, named[topic.name] > 1, request) for topic in request.topics)
            ),
        )

    async def _reassign(
        self, topic: Reassignable, is_named_twice: bool, request: m.AlterPartitionReassignmentsRequest
    ) -> TopicAnswer:
        timeout = request.timeout_ms / 1000
        indexes = [partition.partition_index for partition in topic.partitions]
        targets = {partition.partition_index: partition.replicas for partition in topic.partitions}
        same_factor = not request.allow_replication_factor_change
        try:
            if is_named_twice or len(targets) != len(indexes):
                raise RequestError(
                    Error.INVALID_REQUEST, "The request names this partition, or its topic, more than once."
                )
            work = self._administrator.carry_out_alone(
                topic.name, lambda command: reassign(command, topic.name, targets, same_factor=same_factor), timeout
            )
            refused: Mapping[int, RequestError] = await self._administrator.within(
                timeout, work, f"The reassignment of partitions of topic {topic.name}"
            )
        except RequestError as failed:
            refused = dict.fromkeys(indexes, failed)
        return TopicAnswer(name=topic.name, partitions=[_answer(index, refused.get(index)) for index in indexes])

    async def list_reassignments(
        self, request: m.ListPartitionReassignmentsRequest
    ) -> m.ListPartitionReassignmentsResponse:
        """Return the reassignments under way of the requested partitions, or of all. Does not raise."""
        wanted = None if request.topics is None else {topic.name: topic.partition_indexes for topic in request.topics}
        try:
            topics = await self._administrator.look(
                lambda: _ongoing(wanted), request.timeout_ms / 1000, "The search for reassignments"
            )
        except RequestError as failed:
            return m.ListPartitionReassignmentsResponse(error_code=failed.error, error_message=str(failed))
        return m.ListPartitionReassignmentsResponse(topics=topics)


def _create(command: Command, more: MorePartitions) -> Procedure[None]:
    layout = yield from create_partitions(command, more)
    without = yield from await_leaders(command, more.topic, list(layout))
    if without:
        message = f"The partitions are created, and {len(without)} of them have no leader yet."
        raise RequestError(Error.REQUEST_TIMED_OUT, message)


def _answer(index: int, refused: RequestError | None) -> PartitionAnswer:
    if refused is None:
        return PartitionAnswer(partition_index=index)
    return PartitionAnswer(partition_index=index, error_code=refused.error, error_message=str(refused))


def _ongoing(wanted: Mapping[str, Sequence[int]] | None) -> Steps[list[OngoingTopic]]:
    """Return the reassignments under way, until their last step is done; without creations and deletions."""
    marked = yield from names(znodes.REASSIGNED)
    topics = []
    for name in marked:
        if wanted is not None and name not in wanted:
            continue
        topic = yield from read_topic(name)
        moving = [
            _moving(partition, partition.replicas, partition.marker.replicas)
            for index, partition in sorted(topic.live.items())
            if partition.replicas
            and partition.marker is not None
            and partition.marker.replicas
            and (wanted is None or index in wanted[name])
        ]
        if moving:
            topics.append(OngoingTopic(name=name, partitions=moving))
    return topics


def _moving(partition: StoredPartition, replicas: Sequence[int], target: Sequence[int]) -> Ongoing:
    """Describe one reassignment. `replicas` are all that may hold one now, the new ones last, as Kafka lists them."""
    adding = [replica for replica in target if replica not in replicas]
    return Ongoing(
        partition_index=partition.index,
        replicas=[*replicas, *adding],
        adding_replicas=adding,
        removing_replicas=[replica for replica in replicas if replica not in target],
    )
