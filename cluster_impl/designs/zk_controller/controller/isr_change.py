"""IsrChange: a leader asks the controller for a new ISR of partitions that it leads (KIP-343, Initiating ISR Changes).

The checks are ordered lists, so that a request that is wrong twice gets the error of the earlier one:

    whole request   negative ids (INVALID_REQUEST); an incarnation that is not the known one (INVALID_INCARNATION_ID)
    each partition  no such topic or partition; a change of it is already part of this request; then GUARDS

The request carries no version. The controller compares the leader epoch with the one it knows, and writes by
compare-and-set on the zkVersion it knows (decision: IsrChange): every write by a controller raises the leader epoch, so
within one only the leader's own changes can have come in between, and it makes one at a time. What is committed
already is answered with NONE and written no second time.

A copy of an earlier attempt may still lie in a link. To expand the ISR by it, when a later change of the same leader
epoch is already made, would make replicas electable that lack what was acknowledged since; so it is not looked at
(`SupersededConnections`). Who is not the controller answers NOT_CONTROLLER before any of this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cluster_impl.replication.control_plane import TopicPartition
from cluster_impl.wire import messages as m
from cluster_impl.wire.errors import Error

PartitionData = m.IsrChangeRequest.PartitionData
Result = m.IsrChangeResponse.Result


class KnownPartition(Protocol):
    """What the controller knows of a partition. `version` is the zkVersion of its state znode."""

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


class View(Protocol):
    """What the controller knows, as far as it matters here."""

    def incarnation(self, broker_id: int) -> int | None:
        """The latest known incarnation of a registered broker; None if none is registered."""
        ...

    def partition(self, of: TopicPartition) -> KnownPartition | None:
        """None for a topic or partition that does not exist, or is being deleted."""
        ...

    def is_live(self, broker_id: int) -> bool:
        """Registered, and legacy, active or stopping."""
        ...

    def is_stopping(self, broker_id: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class WantedIsr:
    """A change to write: the partition's state with this ISR, if its znode is still at `version`."""

    partition: TopicPartition
    isr: tuple[int, ...]
    leader_epoch: int
    version: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a leader proposes for a partition, beside what the controller knows of it."""

    sender: int
    asked: PartitionData
    known: KnownPartition
    view: View


@dataclass(frozen=True, slots=True)
class Guard:
    """Refuses with `error` what `refuses` is true of; `sentence` tells the sender why."""

    error: Error
    sentence: str
    refuses: Callable[[Proposal], bool]


def _does_not_lead(proposal: Proposal) -> bool:
    return proposal.sender != proposal.known.leader


def _has_another_leader_epoch(proposal: Proposal) -> bool:
    """Decision: an epoch ahead of this controller's is refused as well: another controller has granted it."""
    return proposal.asked.leader_epoch != proposal.known.leader_epoch


def _is_empty(proposal: Proposal) -> bool:
    return not proposal.asked.isr_nodes


def _repeats_a_member(proposal: Proposal) -> bool:
    return len(set(proposal.asked.isr_nodes)) != len(proposal.asked.isr_nodes)


def _lacks_the_leader(proposal: Proposal) -> bool:
    return proposal.sender not in proposal.asked.isr_nodes


def _has_a_member_that_is_not_assigned(proposal: Proposal) -> bool:
    return not set(proposal.asked.isr_nodes) <= set(proposal.known.replicas)


def _joining(proposal: Proposal) -> set[int]:
    """Who is in already was found fit before; when it fails the controller writes a new leader epoch."""
    return set(proposal.asked.isr_nodes) - set(proposal.known.isr)


def _adds_who_is_not_live(proposal: Proposal) -> bool:
    return not all(map(proposal.view.is_live, _joining(proposal)))


def _adds_who_is_stopping(proposal: Proposal) -> bool:
    """It is about to be taken out of every ISR, and would be waited for in vain."""
    return any(map(proposal.view.is_stopping, _joining(proposal)))


GUARDS = (
    Guard(Error.NOT_LEADER_OR_FOLLOWER, "the sender does not lead the partition", _does_not_lead),
    Guard(
        Error.NOT_LEADER_OR_FOLLOWER, "the leader epoch is not that of the present leader", _has_another_leader_epoch
    ),
    Guard(Error.INVALID_REQUEST, "an ISR must not be empty", _is_empty),
    Guard(Error.INVALID_REQUEST, "the ISR names a replica twice", _repeats_a_member),
    Guard(Error.INVALID_REQUEST, "the ISR lacks the leader", _lacks_the_leader),
    Guard(Error.INVALID_REQUEST, "the ISR names a broker that holds no replica", _has_a_member_that_is_not_assigned),
    Guard(Error.INVALID_REQUEST, "a broker that is not live joins no ISR", _adds_who_is_not_live),
    Guard(Error.INVALID_REQUEST, "a broker that is stopping joins no ISR", _adds_who_is_stopping),
)

_UNKNOWN = Result(
    error_code=Error.UNKNOWN_TOPIC_OR_PARTITION, error_message="there is no such topic, or no such partition of it"
)
_TWICE = Result(error_code=Error.INVALID_REQUEST, error_message="the request names the partition twice")


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a request: changes to write, and then its answer."""

    changes: tuple[WantedIsr, ...]
    _results: tuple[Result | TopicPartition, ...]
    """In the order of the request; a partition stands for the result of its change."""
    _refusal: m.IsrChangeResponse | None = None

    def response(self, failures: Mapping[TopicPartition, Error]) -> m.IsrChangeResponse:
        """The answer, once all changes were tried; `failures` are those that did not come to pass."""
        if self._refusal is not None:
            return self._refusal
        results = []
        for result in self._results:
            if isinstance(result, Result):
                results.append(result)
                continue
            error = failures.get(result, Error.NONE)
            sentence = None if error is Error.NONE else "the change could not be written"
            results.append(Result(error_code=error, error_message=sentence))
        return m.IsrChangeResponse(results=results)


def decide(view: View, request: m.IsrChangeRequest) -> Decision:
    """Decide a whole request; its partitions are independent of each other.

    A change whose compare-and-set fails calls for another decision, once the partition's state was read again.
    """
    if refusal := _refusal(view, request):
        return Decision((), (), refusal)
    changes: dict[TopicPartition, WantedIsr] = {}
    results: list[Result | TopicPartition] = []
    seen: set[TopicPartition] = set()
    for topic in request.topics:
        for asked in topic.partitions:
            partition = TopicPartition(topic.topic_name, asked.partition_index)
            known = view.partition(partition)
            if known is None:
                results.append(_UNKNOWN)
            elif partition in seen:
                results.append(_TWICE)
            elif guard := refused_by(Proposal(request.broker_id, asked, known, view)):
                results.append(Result(error_code=guard.error, error_message=guard.sentence))
            elif set(asked.isr_nodes) == set(known.isr):
                results.append(Result())
            else:
                isr = tuple(replica for replica in known.replicas if replica in asked.isr_nodes)
                changes[partition] = WantedIsr(partition, isr, known.leader_epoch, known.version)
                results.append(partition)
            seen.add(partition)
    return Decision(tuple(changes.values()), tuple(results))


def refused_by(proposal: Proposal) -> Guard | None:
    """The first guard that refuses, None if none does."""
    return next((guard for guard in GUARDS if guard.refuses(proposal)), None)


def _refusal(view: View, request: m.IsrChangeRequest) -> m.IsrChangeResponse | None:
    if request.broker_id < 0 or request.incarnation_id < 0:
        error, sentence = Error.INVALID_REQUEST, "the broker id or the incarnation id is negative"
    elif view.incarnation(request.broker_id) != request.incarnation_id:
        error, sentence = Error.INVALID_INCARNATION_ID, "this is not the incarnation that holds the broker id"
    else:
        return None
    return m.IsrChangeResponse(top_level_error_code=error, top_level_error_message=sentence)
