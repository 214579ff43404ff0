"""The active controller's handling of BrokerHeartbeat (KIP-631, Broker Registration and State Management).

    guards refuse     an invalid request (42), a broker that lacks the level of a feature (35), or a stale epoch while
                      the id is leased or a partition waits for another process of the id (77): changes nothing
    grant             the id is free, or INITIAL claims it: a new epoch
    grant_anew        the holder reports that its lease ran out: its leaderships move, and it gets a new epoch
    renew             the holder wants to be ACTIVE: granted, unless its metadata is stale
    shut_down         the holder wants to stop: its leaderships go first, then its id

The caller has ended expired leases before (`end_lease`), so a registered broker has a live lease. There is no fencing
record (decision: records): the end of a lease is a DeleteBroker record, the grant of one is a Broker record.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.cluster_impl.designs.quorum.controller.elections import (
    changes_to_move_leaders_off,
    changes_when_broker_goes,
    changes_when_broker_is_active,
    changes_when_broker_steps_down,
)
from fencepost.cluster_impl.designs.quorum.controller.leases import LeaseState
from fencepost.cluster_impl.designs.quorum.controller.state import ControllerResult, ControllerState
from fencepost.cluster_impl.designs.quorum.features import missing_level, support_of
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.quorum.image import NO_EPOCH, MetadataRecord
from fencepost.cluster_impl.designs.quorum.refused_heartbeat import refused_heartbeat
from fencepost.cluster_impl.designs.shared.guards import Guard, first_refusal
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

_LATEST_LEASE_START = 2**62
LONGEST_TEXT = 32767
"""Bytes of a string in a message without compact lengths."""

HeartbeatResult = ControllerResult[m.BrokerHeartbeatResponse]


def _names_no_broker(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """KIP-631, Node IDs: an id is not negative, and brokers and controllers share no id."""
    return request.broker_id < 0 or request.broker_id in state.controller_ids


def _wants_an_unknown_state(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    return FenceState(request.target_state) is FenceState.UNKNOWN


def _has_an_epoch_that_does_not_fit(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """Decision: only a process that was never granted a lease sends INITIAL and -1."""
    initial = request.target_state == FenceState.INITIAL
    return request.broker_epoch != NO_EPOCH if initial else request.broker_epoch < 0


def _has_listeners_that_no_client_can_read(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """A heartbeat may carry longer strings than the versions of Metadata that older clients ask for."""
    texts = [text for listener in request.listeners for text in (listener.name, listener.host)]
    texts.append(request.rack or "")
    return any(len(text.encode()) > LONGEST_TEXT for text in texts)


def _has_a_lease_start_that_does_not_fit(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """The end of the lease, which is counted from it, has to fit into the response."""
    return not 0 <= request.lease_start_time_ms <= _LATEST_LEASE_START


def _is_stale_while_the_id_is_leased(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """KIP-631, Broker ID Conflicts: INITIAL wins; after that, the process with the stale epoch loses."""
    holder = state.image.brokers.get(request.broker_id)
    return holder is not None and request.target_state != FenceState.INITIAL and request.broker_epoch != holder.epoch


def _is_not_awaited_by_a_partition(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """The ISR of a partition holds only this id, which another process held since the sender did.

    Elected under this id, the sender would lack acknowledged records. It is refused until the other process returns, or
    until an operator starts it again, because INITIAL always wins.
    """
    if request.broker_id in state.image.brokers or request.target_state == FenceState.INITIAL:
        return False
    return any(
        partition.isr == (request.broker_id,) and partition.joined[request.broker_id] > request.broker_epoch
        for partition in state.image.all_partitions()
    )


def _lacks_an_enabled_level(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """KIP-631, Broker Heartbeats: a broker must support the level of every enabled feature."""
    return missing_level(state.image.features, support_of(request.features)) is not None


BrokerHeartbeatGuard = Guard[[ControllerState, m.BrokerHeartbeatRequest]]

BROKER_HEARTBEAT_GUARDS = (
    BrokerHeartbeatGuard(Error.INVALID_REQUEST, _names_no_broker),
    BrokerHeartbeatGuard(Error.INVALID_REQUEST, _wants_an_unknown_state),
    BrokerHeartbeatGuard(Error.INVALID_REQUEST, _has_an_epoch_that_does_not_fit),
    BrokerHeartbeatGuard(Error.INVALID_REQUEST, _has_listeners_that_no_client_can_read),
    BrokerHeartbeatGuard(Error.UNSUPPORTED_VERSION, _lacks_an_enabled_level),
    BrokerHeartbeatGuard(Error.INVALID_REQUEST, _has_a_lease_start_that_does_not_fit),
    BrokerHeartbeatGuard(Error.STALE_BROKER_EPOCH, _is_stale_while_the_id_is_leased),
    BrokerHeartbeatGuard(Error.STALE_BROKER_EPOCH, _is_not_awaited_by_a_partition),
)


def heartbeat(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatResult:
    """Decide one heartbeat that was received at `now`."""
    if guard := first_refusal(BROKER_HEARTBEAT_GUARDS, state, request):
        return ControllerResult(refused_heartbeat(request, guard.error, state.controller_id))
    registered = request.broker_id in state.image.brokers
    match FenceState(request.target_state):
        case FenceState.SHUTDOWN:
            return shut_down(state, request, now) if registered else _without_lease(state, request, FenceState.SHUTDOWN)
        case FenceState.ACTIVE if registered:
            return renew(state, request, now)
        case FenceState.FENCED if registered:
            return grant_anew(state, request, now)
        case _:
            return grant(state, request, now)


def grant(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatResult:
    """Give the id to the sender with a new epoch; a holder loses it in the same batch.

    The epoch is the offset of the Broker record. The sender cannot have reached that offset yet, so it is FENCED until
    its metadata contains its own registration (decision: a broker that holds an epoch and has not caught up).

    A process that repeats INITIAL because it got no response ousts only itself. If the first request arrives after the
    second, no process knows the epoch that it was granted: the sender is refused until that lease ends, and then comes
    back.
    """
    return _grant(state, request, end_lease(state, request.broker_id, now), now)


def grant_anew(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatResult:
    """Grant a new epoch to a holder that could not renew in time and has fenced itself.

    It leads nothing until it is active again, but stays in the ISRs: the process and its log are the same. After a
    change of controllers that took longer than a lease, all live brokers arrive here. Were they removed from the ISRs
    one by one, a broker that is really gone could be left as the last member.
    """
    broker_id = request.broker_id
    moves = changes_when_broker_steps_down(state.image, broker_id, state.leases.eligible(now))
    return _grant(state, request, moves, now)


def renew(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatResult:
    """Extend the lease; answer ACTIVE unless the sender's metadata is stale (KIP-631, Fencing).

    Stale metadata revokes the lease of a broker that was active: it keeps its epoch, and sends FENCED next.
    """
    broker_id, epoch = request.broker_id, request.broker_epoch
    if _was_granted_only(state, request):
        state.leases.grant(broker_id, epoch, now)
        moves = changes_when_broker_steps_down(state.image, broker_id, state.leases.eligible(now))
        return ControllerResult(_leased(state, request, FenceState.FENCED, epoch), moves)
    lease_state = state.leases.state_of(broker_id)
    reached = request.cur_metadata_offset
    fresh = state.leases.keeps_up(broker_id, reached, state.stable_offset, now) and reached >= epoch
    if not fresh and lease_state is not LeaseState.GRANTED:
        return _without_lease(state, request, FenceState.FENCED, end_lease(state, broker_id, now))
    state.leases.renew(broker_id, now)
    if not fresh:
        return ControllerResult(_leased(state, request, FenceState.FENCED, epoch))
    records = [] if lease_state is LeaseState.ACTIVE else changes_when_broker_is_active(state.image, broker_id)
    state.leases.set_state(broker_id, LeaseState.ACTIVE)
    return ControllerResult(_leased(state, request, FenceState.ACTIVE, epoch), records)


def shut_down(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatResult:
    """Move the leaders off, in this response or earlier ones, then let the broker go (KIP-631, Controlled Shutdown).

    Partitions that no other ISR member can lead do not delay it. A broker that was never active has nothing to hand
    over.
    """
    broker_id = request.broker_id
    serves = not (state.leases.state_of(broker_id) is LeaseState.GRANTED or _was_granted_only(state, request))
    moves = changes_to_move_leaders_off(state.image, broker_id, state.leases.eligible(now))
    if serves and moves:
        state.leases.set_state(broker_id, LeaseState.STOPPING)
        state.leases.renew(broker_id, now)
        return ControllerResult(_leased(state, request, FenceState.ACTIVE, request.broker_epoch), moves)
    return _without_lease(state, request, FenceState.SHUTDOWN, end_lease(state, broker_id, now))


def end_lease(state: ControllerState, broker_id: int, now: float) -> list[MetadataRecord]:
    """End the lease of the id, if there is one: the broker leaves every ISR, its leaderships move, its registration
    goes."""
    state.leases.end(broker_id)
    if broker_id not in state.image.brokers:
        return []
    changes = changes_when_broker_goes(state.image, broker_id, state.leases.eligible(now))
    return [*changes, m.DeleteBrokerRecord(id=broker_id)]


def _was_granted_only(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """Return True if an earlier active controller granted the sender's epoch and never answered ACTIVE.

    It was assumed to be active all the same. A broker that got ACTIVE has reached its own record.
    """
    assumed = state.leases.state_of(request.broker_id) is LeaseState.ASSUMED
    return assumed and request.cur_metadata_offset < request.broker_epoch


def _leased(
    state: ControllerState, request: m.BrokerHeartbeatRequest, next_state: FenceState, epoch: int
) -> m.BrokerHeartbeatResponse:
    """Return the response with a full lease.

    KIP-631, BrokerHeartbeat: the end is based on the lease start in the request, not on the controller's clock.
    """
    return m.BrokerHeartbeatResponse(
        active_controller_id=state.controller_id,
        next_state=next_state,
        broker_epoch=epoch,
        lease_end_time_ms=request.lease_start_time_ms + round(state.leases.duration * 1000),
    )


def _grant(
    state: ControllerState, request: m.BrokerHeartbeatRequest, before: Sequence[MetadataRecord], now: float
) -> HeartbeatResult:
    epoch = state.end_offset + len(before)
    state.leases.grant(request.broker_id, epoch, now)
    return ControllerResult(_leased(state, request, FenceState.FENCED, epoch), [*before, _registration(request, epoch)])


def _registration(request: m.BrokerHeartbeatRequest, epoch: int) -> m.BrokerRecord:
    end_points = [
        m.BrokerRecord.BrokerEndpoint(name=at.name, host=at.host, port=at.port, security_protocol=at.security_protocol)
        for at in request.listeners
    ]
    return m.BrokerRecord(
        broker_id=request.broker_id,
        broker_epoch=epoch,
        end_points=end_points,
        rack=request.rack,
        features=[
            m.BrokerRecord.SupportedFeature(
                name=feature.name, min_version=feature.min_version, max_version=feature.max_version
            )
            for feature in request.features
        ],
    )


def _without_lease(
    state: ControllerState,
    request: m.BrokerHeartbeatRequest,
    next_state: FenceState,
    records: Sequence[MetadataRecord] = (),
) -> HeartbeatResult:
    """Return a response without a lease; the sender keeps its epoch to come back with."""
    reply = m.BrokerHeartbeatResponse(
        active_controller_id=state.controller_id,
        next_state=next_state,
        broker_epoch=request.broker_epoch,
        lease_end_time_ms=request.lease_start_time_ms,
    )
    return ControllerResult(reply, records)
