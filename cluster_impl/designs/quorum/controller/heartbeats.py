"""What the active controller does with a BrokerHeartbeat (KIP-631, Broker Registration and State Management).

    GUARDS refuse     a request that makes no sense (42), or a stale epoch while the id is leased or while what another
                      process of the id holds is waited for (77): changes nothing
    grant             the id is free, or INITIAL claims it: a new epoch
    grant_anew        its holder says that its lease has run out: its leaderships move, and it gets a new epoch
    renew             the holder wants to be ACTIVE: it is, unless its metadata is stale
    shut_down         the holder wants to stop: its leaderships first, then its id

Whoever calls has ended the leases that are over before (`end_lease`), so a registered broker has a live lease. There is
no fencing record (decision: records): a lease that ends is a DeleteBroker record, one that is granted a Broker record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cluster_impl.designs.quorum.controller.elections import (
    changes_to_move_leaders_off,
    changes_when_broker_goes,
    changes_when_broker_is_active,
    changes_when_broker_steps_down,
)
from cluster_impl.designs.quorum.controller.leases import Standing
from cluster_impl.designs.quorum.controller.state import ControllerState, Outcome
from cluster_impl.designs.quorum.image import NO_EPOCH, MetadataRecord
from cluster_impl.designs.quorum.states import BrokerState
from cluster_impl.wire import messages as m
from cluster_impl.wire.codec import Unencodable
from cluster_impl.wire.errors import Error
from cluster_impl.wire.records import encode_record

HeartbeatOutcome = Outcome[m.BrokerHeartbeatResponse]


@dataclass(frozen=True, slots=True)
class Guard:
    """Refuses with `error` what `refuses` is true of."""

    error: Error
    refuses: Callable[[ControllerState, m.BrokerHeartbeatRequest], bool]


def _names_no_broker(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """KIP-631, Node IDs: not negative, and no controller shares its id with a broker."""
    return request.broker_id < 0 or request.broker_id in state.controller_ids


def _wants_an_unknown_state(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    return BrokerState(request.target_state) is BrokerState.UNKNOWN


def _has_an_epoch_that_does_not_fit(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """Decision: only a process that was never granted a lease sends INITIAL and -1."""
    initial = request.target_state == BrokerState.INITIAL
    return request.broker_epoch != NO_EPOCH if initial else request.broker_epoch < 0


def _has_listeners_that_no_record_holds(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """A heartbeat may carry longer strings than a Broker record."""
    try:
        encode_record(_registration(request, NO_EPOCH))
    except Unencodable:
        return True
    return False


def _is_stale_while_the_id_is_leased(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """KIP-631, Broker ID Conflicts: INITIAL wins; thereafter the one with the stale epoch loses."""
    holder = state.image.brokers.get(request.broker_id)
    return holder is not None and request.target_state != BrokerState.INITIAL and request.broker_epoch != holder.epoch


def _is_not_whom_a_partition_waits_for(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """Another process had the id since, alone holds what a partition acknowledged, and is gone.

    Under its id the sender would be elected with a log that lacks all that. It is refused until the other one returns,
    or until it is started again, which is for people to decide: INITIAL always wins.
    """
    if request.broker_id in state.image.brokers or request.target_state == BrokerState.INITIAL:
        return False
    return any(
        partition.isr == (request.broker_id,) and partition.joined[request.broker_id] > request.broker_epoch
        for partition in state.image.all_partitions()
    )


GUARDS = (
    Guard(Error.INVALID_REQUEST, _names_no_broker),
    Guard(Error.INVALID_REQUEST, _wants_an_unknown_state),
    Guard(Error.INVALID_REQUEST, _has_an_epoch_that_does_not_fit),
    Guard(Error.INVALID_REQUEST, _has_listeners_that_no_record_holds),
    Guard(Error.STALE_BROKER_EPOCH, _is_stale_while_the_id_is_leased),
    Guard(Error.STALE_BROKER_EPOCH, _is_not_whom_a_partition_waits_for),
)


def heartbeat(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatOutcome:
    """Decide one heartbeat that was received at `now`."""
    for guard in GUARDS:
        if guard.refuses(state, request):
            return Outcome(refusal(request, guard.error, state.controller_id))
    registered = request.broker_id in state.image.brokers
    match BrokerState(request.target_state):
        case BrokerState.SHUTDOWN:
            return (
                shut_down(state, request, now) if registered else _without_lease(state, request, BrokerState.SHUTDOWN)
            )
        case BrokerState.ACTIVE if registered:
            return renew(state, request, now)
        case BrokerState.FENCED if registered:
            return grant_anew(state, request, now)
        case _:
            return grant(state, request, now)


def refusal(request: m.BrokerHeartbeatRequest, error: Error, active_controller: int) -> m.BrokerHeartbeatResponse:
    """An answer that grants nothing and extends nothing: its lease ends where it starts."""
    return m.BrokerHeartbeatResponse(
        error_code=error,
        active_controller_id=active_controller,
        next_state=BrokerState.FENCED,
        broker_epoch=NO_EPOCH,
        lease_end_time_ms=request.lease_start_time_ms,
    )


def grant(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatOutcome:
    """Give the id to the sender, with a new epoch; whoever held it loses it in the same batch.

    The epoch is the offset of the Broker record. The sender cannot have reached that offset yet, so it is FENCED until
    its metadata contains its own registration (decision: a broker that holds an epoch and has not caught up).

    A process that repeats INITIAL because no answer came ousts only itself. If the first request arrives after the
    second, nobody knows the epoch that it was given: the process is refused until that lease ends, and then comes back.
    """
    return _grant(state, request, end_lease(state, request.broker_id, now), now)


def grant_anew(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatOutcome:
    """Its holder could not renew the lease in time, and has fenced itself: it leads nothing until it is active again.

    It stays in the ISRs. It is the same process with the same log, so it has what every member has; and after a change
    of controllers that took longer than a lease all brokers come this way, but for those that are really gone: were the
    others taken out of the ISRs one by one, one that is gone would be left as the last member.
    """
    broker_id = request.broker_id
    moves = changes_when_broker_steps_down(state.image, broker_id, lambda other: state.leases.may_lead(other, now))
    return _grant(state, request, moves, now)


def renew(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatOutcome:
    """Extend the lease; say ACTIVE as long as the sender's metadata is not stale (KIP-631, Fencing).

    Stale metadata revokes the lease of a broker that was active: it keeps its epoch, and says FENCED next.
    """
    broker_id, epoch = request.broker_id, request.broker_epoch
    if _was_granted_only(state, request):
        state.leases.grant(broker_id, epoch, now)
        moves = changes_when_broker_steps_down(state.image, broker_id, lambda other: state.leases.may_lead(other, now))
        return Outcome(_leased(state, request, BrokerState.FENCED, epoch), moves)
    standing = state.leases.standing(broker_id)
    reached = request.cur_metadata_offset
    fresh = state.leases.keeps_up(broker_id, reached, state.stable_offset, now) and reached >= epoch
    if not fresh and standing is not Standing.GRANTED:
        return _without_lease(state, request, BrokerState.FENCED, end_lease(state, broker_id, now))
    state.leases.renew(broker_id, now)
    if not fresh:
        return Outcome(_leased(state, request, BrokerState.FENCED, epoch))
    records = [] if standing is Standing.ACTIVE else changes_when_broker_is_active(state.image, broker_id)
    state.leases.stand(broker_id, Standing.ACTIVE)
    return Outcome(_leased(state, request, BrokerState.ACTIVE, epoch), records)


def shut_down(state: ControllerState, request: m.BrokerHeartbeatRequest, now: float) -> HeartbeatOutcome:
    """KIP-631, Controlled Shutdown: first move the leaders off, in this answer or in an earlier one; then let it go.

    What no other member of its ISR can lead is not waited for. Who was never active has nothing to hand over.
    """
    broker_id = request.broker_id
    serves = not (state.leases.standing(broker_id) is Standing.GRANTED or _was_granted_only(state, request))
    moves = changes_to_move_leaders_off(state.image, broker_id, lambda other: state.leases.may_lead(other, now))
    if serves and moves:
        state.leases.stand(broker_id, Standing.STOPPING)
        state.leases.renew(broker_id, now)
        return Outcome(_leased(state, request, BrokerState.ACTIVE, request.broker_epoch), moves)
    return _without_lease(state, request, BrokerState.SHUTDOWN, end_lease(state, broker_id, now))


def end_lease(state: ControllerState, broker_id: int, now: float) -> list[MetadataRecord]:
    """End whatever lease the id has: it leaves every ISR, its leaderships move, its registration goes."""
    state.leases.end(broker_id)
    if broker_id not in state.image.brokers:
        return []
    changes = changes_when_broker_goes(state.image, broker_id, lambda other: state.leases.may_lead(other, now))
    return [*changes, m.DeleteBrokerRecord(id=broker_id)]


def _was_granted_only(state: ControllerState, request: m.BrokerHeartbeatRequest) -> bool:
    """Whether an earlier active controller gave the sender its epoch and nobody told it yet to be active.

    It was taken for active all the same; who was told has reached its own record.
    """
    assumed = state.leases.standing(request.broker_id) is Standing.ASSUMED
    return assumed and request.cur_metadata_offset < request.broker_epoch


def _leased(
    state: ControllerState, request: m.BrokerHeartbeatRequest, next_state: BrokerState, epoch: int
) -> m.BrokerHeartbeatResponse:
    """KIP-631, BrokerHeartbeat: the end of the lease is based on the start that the request named, not on our clock."""
    return m.BrokerHeartbeatResponse(
        active_controller_id=state.controller_id,
        next_state=next_state,
        broker_epoch=epoch,
        lease_end_time_ms=request.lease_start_time_ms + round(state.leases.duration * 1000),
    )


def _grant(
    state: ControllerState, request: m.BrokerHeartbeatRequest, before: Sequence[MetadataRecord], now: float
) -> HeartbeatOutcome:
    epoch = state.end_offset + len(before)
    state.leases.grant(request.broker_id, epoch, now)
    return Outcome(_leased(state, request, BrokerState.FENCED, epoch), [*before, _registration(request, epoch)])


def _registration(request: m.BrokerHeartbeatRequest, epoch: int) -> m.BrokerRecord:
    end_points = [
        m.BrokerRecord.BrokerEndpoint(name=at.name, host=at.host, port=at.port, security_protocol=at.security_protocol)
        for at in request.listeners
    ]
    return m.BrokerRecord(broker_id=request.broker_id, broker_epoch=epoch, end_points=end_points)


def _without_lease(
    state: ControllerState,
    request: m.BrokerHeartbeatRequest,
    next_state: BrokerState,
    records: Sequence[MetadataRecord] = (),
) -> HeartbeatOutcome:
    """The sender is heard, and has no lease from now on; it keeps its epoch to come back with."""
    reply = m.BrokerHeartbeatResponse(
        active_controller_id=state.controller_id,
        next_state=next_state,
        broker_epoch=request.broker_epoch,
        lease_end_time_ms=request.lease_start_time_ms,
    )
    return Outcome(reply, records)
