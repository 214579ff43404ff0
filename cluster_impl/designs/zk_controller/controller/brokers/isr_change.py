"""IsrChange: a leader requests a new ISR of partitions that it leads (KIP-343, Initiating ISR Changes).

The checks are ordered lists; a request that fails two of them gets the error of the earlier one:

    whole request   negative ids (INVALID_REQUEST); an incarnation that is not the known one (INVALID_INCARNATION_ID)
    each partition  no such topic or partition; a change of it is already part of this request; then ISR_CHANGE_GUARDS

The request carries no version. The controller compares the leader epoch with the one it knows, and writes by
compare-and-set on the zkVersion it knows (decision: IsrChange): every write by a controller raises the leader epoch, so
within one only the leader's own changes can have come in between, and it makes one at a time. A change that is already
committed is answered with NONE and not written again.

A copy of an earlier attempt may arrive late. If it expanded the ISR after a later change of the same leader epoch,
replicas that lack acknowledged records would become electable; so it is dropped (`SupersededConnections`). A broker
that is not the controller answers NOT_CONTROLLER before any of this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from fencepost.cluster_impl.coordination.steps import Done, SetData, Steps
from fencepost.cluster_impl.designs.shared.guards import Guard, first_refusal
from fencepost.cluster_impl.designs.zk_controller import znodes
from fencepost.cluster_impl.designs.zk_controller.controller.state.leadership import read_states
from fencepost.cluster_impl.designs.zk_controller.controller.state.machines import StateMachines
from fencepost.cluster_impl.designs.zk_controller.controller.views import ContextView
from fencepost.cluster_impl.replication.control_plane import TopicPartition
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.errors import Error

PartitionData = m.IsrChangeRequest.PartitionData
Result = m.IsrChangeResponse.Result


class KnownPartition(Protocol):
    """The state of a partition. `version` is the zkVersion of its state znode."""

    @property
    def leader(self) -> int: ...

    @property
    def leader_epoch(self) -> int: ...

    @property
    def isr(self) -> Sequence[int]: ...

    @property
    def replicas(self) -> Sequence[int]: ...

    @property
    def version(self) -> int: ...


class IsrChangeView(Protocol):
    """The part of the controller's state that the checks read."""

    def incarnation(self, broker_id: int) -> int | None:
        """Return the latest known incarnation of a broker; None if the id is not registered."""
        ...

    def partition(self, of: TopicPartition) -> KnownPartition | None:
        """Return the state of a partition; None if it does not exist or is being deleted."""
        ...

    def is_live(self, broker_id: int) -> bool:
        """Return whether the broker is active or stopping, or registered without heartbeats."""
        ...

    def is_stopping(self, broker_id: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class IsrUpdate:
    """The ISR to write into a partition's state if its znode is still at `version`."""

    partition: TopicPartition
    isr: tuple[int, ...]
    leader_epoch: int
    version: int


@dataclass(frozen=True, slots=True)
class IsrChangeProposal:
    """The data that a leader sent for a partition, and the state that the controller knows."""

    sender: int
    requested: PartitionData
    known: KnownPartition
    view: IsrChangeView


def _does_not_lead(proposal: IsrChangeProposal) -> bool:
    return proposal.sender != proposal.known.leader


def _has_another_leader_epoch(proposal: IsrChangeProposal) -> bool:
    """Decision: a later epoch is refused as well, as another controller has granted it."""
    return proposal.requested.leader_epoch != proposal.known.leader_epoch


def _is_empty(proposal: IsrChangeProposal) -> bool:
    return not proposal.requested.isr_nodes


def _repeats_a_member(proposal: IsrChangeProposal) -> bool:
    return len(set(proposal.requested.isr_nodes)) != len(proposal.requested.isr_nodes)


def _lacks_the_leader(proposal: IsrChangeProposal) -> bool:
    return proposal.sender not in proposal.requested.isr_nodes


def _has_a_member_that_is_not_assigned(proposal: IsrChangeProposal) -> bool:
    return not set(proposal.requested.isr_nodes) <= set(proposal.known.replicas)


def _joining(proposal: IsrChangeProposal) -> set[int]:
    """Return the new members. The others were checked before; if one of them fails the leader epoch rises."""
    return set(proposal.requested.isr_nodes) - set(proposal.known.isr)


def _adds_a_broker_that_is_not_live(proposal: IsrChangeProposal) -> bool:
    return not all(map(proposal.view.is_live, _joining(proposal)))


def _adds_a_stopping_broker(proposal: IsrChangeProposal) -> bool:
    """A stopping broker is about to leave every ISR."""
    return any(map(proposal.view.is_stopping, _joining(proposal)))


IsrChangeGuard = Guard[[IsrChangeProposal]]

ISR_CHANGE_GUARDS = (
    IsrChangeGuard(Error.NOT_LEADER_OR_FOLLOWER, _does_not_lead, "the sender does not lead the partition"),
    IsrChangeGuard(
        Error.NOT_LEADER_OR_FOLLOWER, _has_another_leader_epoch, "the leader epoch is not that of the present leader"
    ),
    IsrChangeGuard(Error.INVALID_REQUEST, _is_empty, "an ISR must not be empty"),
    IsrChangeGuard(Error.INVALID_REQUEST, _repeats_a_member, "the ISR names a replica twice"),
    IsrChangeGuard(Error.INVALID_REQUEST, _lacks_the_leader, "the ISR lacks the leader"),
    IsrChangeGuard(
        Error.INVALID_REQUEST, _has_a_member_that_is_not_assigned, "the ISR names a broker that holds no replica"
    ),
    IsrChangeGuard(Error.INVALID_REQUEST, _adds_a_broker_that_is_not_live, "a broker that is not live joins no ISR"),
    IsrChangeGuard(Error.INVALID_REQUEST, _adds_a_stopping_broker, "a broker that is stopping joins no ISR"),
)

_UNKNOWN = Result(
    error_code=Error.UNKNOWN_TOPIC_OR_PARTITION, error_message="there is no such topic, or no such partition of it"
)
_TWICE = Result(error_code=Error.INVALID_REQUEST, error_message="the request names the partition twice")


@dataclass(frozen=True, slots=True)
class IsrChangeDecision:
    """The decision on a request: the changes to write, and its response."""

    changes: tuple[IsrUpdate, ...]
    _results: tuple[Result | TopicPartition, ...]
    """In the order of the request; a partition is the placeholder for the result of its change."""
    _refusal: m.IsrChangeResponse | None = None

    def response(self, failures: Mapping[TopicPartition, Error]) -> m.IsrChangeResponse:
        """Return the response after all changes were tried; `failures` are those that could not be written."""
        if self._refusal is not None:
            return self._refusal
        results = []
        for result in self._results:
            if isinstance(result, Result):
                results.append(result)
                continue
            error = failures.get(result, Error.NONE)
            message = None if error is Error.NONE else "the change could not be written"
            results.append(Result(error_code=error, error_message=message))
        return m.IsrChangeResponse(results=results)


def decide(view: IsrChangeView, request: m.IsrChangeRequest) -> IsrChangeDecision:
    """Decide a whole request; its partitions are independent of each other.

    If the compare-and-set of a change fails, read the partition's state and decide again.
    """
    if refusal := _refusal(view, request):
        return IsrChangeDecision((), (), refusal)
    changes: dict[TopicPartition, IsrUpdate] = {}
    results: list[Result | TopicPartition] = []
    seen: set[TopicPartition] = set()
    for topic in request.topics:
        for requested in topic.partitions:
            partition = TopicPartition(topic.topic_name, requested.partition_index)
            known = view.partition(partition)
            if known is None:
                results.append(_UNKNOWN)
            elif partition in seen:
                results.append(_TWICE)
            elif guard := first_refusal(
                ISR_CHANGE_GUARDS, IsrChangeProposal(request.broker_id, requested, known, view)
            ):
                results.append(Result(error_code=guard.error, error_message=guard.message))
            elif set(requested.isr_nodes) == set(known.isr):
                results.append(Result())
            else:
                isr = tuple(replica for replica in known.replicas if replica in requested.isr_nodes)
                changes[partition] = IsrUpdate(partition, isr, known.leader_epoch, known.version)
                results.append(partition)
            seen.add(partition)
    return IsrChangeDecision(tuple(changes.values()), tuple(results))


def _refusal(view: IsrChangeView, request: m.IsrChangeRequest) -> m.IsrChangeResponse | None:
    if request.broker_id < 0 or request.incarnation_id < 0:
        error, message = Error.INVALID_REQUEST, "the broker id or the incarnation id is negative"
    elif view.incarnation(request.broker_id) != request.incarnation_id:
        error, message = Error.INVALID_INCARNATION_ID, "this is not the incarnation that holds the broker id"
    else:
        return None
    return m.IsrChangeResponse(top_level_error_code=error, top_level_error_message=message)


def change_isr(machines: StateMachines, view: ContextView, request: m.IsrChangeRequest) -> Steps[m.IsrChangeResponse]:
    """Write the granted changes and return the response.

    If a write fails, the state has changed: it is read again, and the whole request is decided again. The leader epoch
    stays, so that the leader keeps its state.
    """
    context = machines.context
    changed: list[TopicPartition] = []
    while changes := (decision := decide(view, request)).changes:
        changed_states = {
            change.partition: replace(
                context.leadership[change.partition],
                isr=change.isr,
                version=change.version,
                controller_epoch=context.epoch,
            )
            for change in changes
        }
        outcomes = yield [
            SetData(znodes.state(partition), znodes.write_state(state), state.version)
            for partition, state in changed_states.items()
        ]
        lost = []
        for (partition, state), outcome in zip(changed_states.items(), outcomes, strict=True):
            if isinstance(outcome, Done):
                context.leadership[partition] = replace(state, version=outcome.version)
                changed.append(partition)
            else:
                lost.append(partition)
        yield from read_states(context, lost)
    if changed:
        machines.batch.update_metadata(changed)
    return decision.response({})
