"""ElectLeaders: the preferred replica of a partition leads again, if it is in sync and its broker is active.

An unclean election, of a replica outside the ISR, is refused: in this design it does not exist.
"""

from __future__ import annotations

from fencepost.cluster_impl.designs.quorum.controller.elections import isr_change
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.image import NO_LEADER, PartitionRegistration
from fencepost.cluster_impl.designs.shared.partition_requests import (
    Election,
    check_election_type,
    elected,
    election_not_needed,
    preferred_not_available,
    requested_elections,
    unknown_partition,
)
from fencepost.cluster_impl.designs.shared.topic_requests import RequestError
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error
from fencepost.cluster_impl.wire.refusals import refusal


def elect_leaders(
    state: ControllerState, request: m.ElectLeadersRequest, now: float
) -> ControllerResult[m.ElectLeadersResponse]:
    """Decide a whole request; its partitions are independent of each other."""
    try:
        election = check_election_type(request)
    except RequestError as error:
        refused = refusal(request, error.error, str(error))
        assert isinstance(refused, m.ElectLeadersResponse)
        return ControllerResult(refused)
    names = state.image.topic_names
    everything = (
        TopicPartition(names[partition.topic_id], partition.index)
        for partition in state.image.all_partitions()
        if partition.topic_id not in state.image.deleting
    )
    requested, named = requested_elections(request, everything)
    outcomes: dict[TopicPartition, RequestError | None] = {}
    records: list[m.IsrChangeRecord] = []
    for at in requested:
        try:
            records.append(_elected(state, at, election, now))
        except RequestError as error:
            outcomes[at] = error
        else:
            outcomes[at] = None
    return ControllerResult(elected(outcomes, named=named), records)


def _elected(state: ControllerState, at: TopicPartition, election: Election, now: float) -> m.IsrChangeRecord:
    partition = state.image.partition(at.topic, at.partition)
    if partition is None:
        raise unknown_partition(at)
    if election is Election.UNCLEAN:
        raise _unclean(partition)
    preferred = partition.replicas[0]
    if partition.leader == preferred:
        raise election_not_needed(preferred)
    if preferred not in partition.isr or not state.leases.may_lead(preferred, now):
        raise preferred_not_available(preferred)
    return isr_change(partition, partition.isr, preferred)


def _unclean(partition: PartitionRegistration) -> RequestError:
    if partition.leader != NO_LEADER:
        return election_not_needed(partition.leader)
    message = f"Only the replicas in sync, {list(partition.isr)}, can lead; there are no unclean elections here."
    return RequestError(Error.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)
