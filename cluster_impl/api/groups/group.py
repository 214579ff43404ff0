"""One consumer group of the classic protocol, as a state machine with the time as input.

A join or a sync may have to wait for other members. Each comes with a token, and every method returns the replies that
are due now, each with the token of the request that it answers: perhaps none, perhaps several. Times are seconds on a
monotonic clock.

    EMPTY -> PREPARING -> COMPLETING -> STABLE
      ^         ^------------'------------'     a member comes, leaves, expires or changes its metadata
      '---------'                               no member is left
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from fencepost.cluster_impl.wire.errors import Error

Token = object


class GroupState(Enum):
    """The values are those of ListGroups and DescribeGroups."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    member_id: str
    is_new: bool
    """The id was made for this request, which had none."""
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout: float
    rebalance_timeout: float
    protocol_type: str
    protocols: Mapping[str, bytes]
    """Metadata by protocol name, in the member's order of preference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    error: Error = Error.NONE
    generation: int = -1
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    member_id: str = ""
    members: tuple[tuple[str, str | None, bytes], ...] = ()
    """Id, instance id and metadata of each member; only the leader gets them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    error: Error = Error.NONE
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


Replies = list[tuple[Token, "Joined | Synced"]]


@dataclass(slots=True)
class Member:
    member_id: str
    join: Join
    heard_at: float
    joining: Token | None = None
    syncing: Token | None = None
    assignment: bytes = b""

    @property
    def expires_at(self) -> float:
        """The time at which the member expires; never while its join or sync waits, since it cannot send then."""
        waits = self.joining is not None or self.syncing is not None
        return float("inf") if waits else self.heard_at + self.join.session_timeout


@dataclass(slots=True)
class Group:
    group_id: str
    initial_delay: float
    """The time for which the first member waits for others, so that they start together."""
    state: GroupState = GroupState.EMPTY
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    members: dict[str, Member] = field(default_factory=dict)
    _ids_given: dict[str, float] = field(default_factory=dict)
    """Ids given to clients that have not joined with them yet, with the times at which they expire."""
    _deadline: float = float("inf")
    """The time at which PREPARING or COMPLETING ends even if members are missing."""
    _delayed_until: float = float("-inf")
    """Before this time PREPARING does not end, even if no member is missing."""

    @property
    def is_idle(self) -> bool:
        """True if there is no member, nor a client about to join: the state of an unknown group."""
        return self.state is GroupState.EMPTY and not self._ids_given

    def give_id(self, member_id: str, session_timeout: float, now: float) -> None:
        """Expect a client to join with an id that was made for it (KIP-394)."""
        self._ids_given[member_id] = now + session_timeout

    def join(self, request: Join, token: Token, now: float) -> Replies:
        """Let a member in, or let it wait for the others."""
        if error := self._join_error(request):
            return [(token, Joined(error=error, member_id=request.member_id))]
        replies = self._replace_instance(request)
        self._ids_given.pop(request.member_id, None)
        member = self.members.get(request.member_id)
        if member is None:
            member = self.members[request.member_id] = Member(request.member_id, request, now)
        elif self._is_repeated(member, request):
            member.heard_at = now
            return [(token, self._joined(member))]
        elif member.joining is not None:
            replies.append((member.joining, Joined(error=Error.REBALANCE_IN_PROGRESS, member_id=member.member_id)))
        member.join, member.joining, member.heard_at = request, token, now
        self.protocol_type = request.protocol_type
        return replies + self._rebalance(now) + self._complete_joins(now)

    def _join_error(self, request: Join) -> Error:
        if not request.is_new:
            if request.member_id not in self.members and request.member_id not in self._ids_given:
                return Error.UNKNOWN_MEMBER_ID
            if error := self._instance_error(request.member_id, request.group_instance_id):
                return error
        return self.protocol_error(request)

    def protocol_error(self, request: Join) -> Error:
        """Return INCONSISTENT_GROUP_PROTOCOL unless the group is of this type, and all other members have a protocol of
        the request. A group without members is of any type.
        """
        others = [member.join for member in self.members.values() if member.member_id != request.member_id]
        agrees = not self.members or self.protocol_type == request.protocol_type
        common = [name for name in request.protocols if all(name in other.protocols for other in others)]
        return Error.NONE if agrees and common and request.protocol_type else Error.INCONSISTENT_GROUP_PROTOCOL

    def _instance_error(self, member_id: str, instance: str | None) -> Error:
        """Return FENCED_INSTANCE_ID if another member has taken over this member's instance id (KIP-345)."""
        holder = self._holder(instance)
        return Error.FENCED_INSTANCE_ID if holder and holder.member_id != member_id else Error.NONE

    def _holder(self, instance: str | None) -> Member | None:
        if instance is None:
            return None
        return next((member for member in self.members.values() if member.join.group_instance_id == instance), None)

    def _replace_instance(self, request: Join) -> Replies:
        """Let a static member that joins again without its member id replace its former membership."""
        former = self._holder(request.group_instance_id) if request.is_new else None
        return self._dismiss(former, Error.FENCED_INSTANCE_ID) if former else []

    def _is_repeated(self, member: Member, request: Join) -> bool:
        """Return True for a client that repeats its join unchanged, since it missed the response: no rebalance."""
        if request.protocols != member.join.protocols:
            return False
        if self.state is GroupState.COMPLETING:
            return True
        return self.state is GroupState.STABLE and member.member_id != self.leader

    def _rebalance(self, now: float) -> Replies:
        """Ask all members to join again, unless that is under way."""
        if self.state is GroupState.PREPARING:
            if self._delayed_until > now:
                self._delayed_until = min(now + self.initial_delay, self._deadline)
            return []
        first = self.state is GroupState.EMPTY
        self.state = GroupState.PREPARING
        self._deadline = now + max(member.join.rebalance_timeout for member in self.members.values())
        self._delayed_until = min(now + self.initial_delay, self._deadline) if first else now
        return self._answer_syncs(Error.REBALANCE_IN_PROGRESS)

    def _complete_joins(self, now: float) -> Replies:
        """Begin the next generation if all members have joined, or at the deadline without the others."""
        if self.state is not GroupState.PREPARING or now < self._delayed_until:
            return []
        missing = [member_id for member_id, member in self.members.items() if member.joining is None]
        if now < self._deadline and (missing or self._ids_given):
            return []
        for member_id in missing:
            del self.members[member_id]
        if not self.members:
            self._become_empty()
            return []
        self.generation += 1
        self.state = GroupState.COMPLETING
        self._deadline = now + max(member.join.rebalance_timeout for member in self.members.values())
        self.protocol = self._elect_protocol()
        if self.leader not in self.members:
            self.leader = next(iter(self.members))
        replies: Replies = []
        for member in self.members.values():
            replies.append((member.joining, self._joined(member)))
            member.joining, member.heard_at, member.assignment = None, now, b""
        return replies

    def _elect_protocol(self) -> str:
        """Return the first choice of most members, among the protocols that all of them support."""
        joins = [member.join for member in self.members.values()]
        common = [name for name in joins[0].protocols if all(name in join.protocols for join in joins)]
        votes = Counter(next(name for name in join.protocols if name in common) for join in joins)
        return max(common, key=lambda name: votes[name])

    def _joined(self, member: Member) -> Joined:
        protocol = self.protocol or ""
        members = tuple(
            (other.member_id, other.join.group_instance_id, other.join.protocols[protocol])
            for other in self.members.values()
        )
        return Joined(
            generation=self.generation,
            protocol_type=self.protocol_type,
            protocol=protocol,
            leader=self.leader,
            member_id=member.member_id,
            members=members if member.member_id == self.leader else (),
        )

    def sync(
        self,
        member_id: str,
        instance: str | None,
        generation: int,
        assignments: Mapping[str, bytes],
        token: Token,
        now: float,
    ) -> Replies:
        """Give the member its assignment; the leader sends the assignments of all members."""
        if error := self._member_error(member_id, instance, generation):
            return [(token, Synced(error=error))]
        member = self.members[member_id]
        member.heard_at = now
        if self.state is GroupState.PREPARING:
            return [(token, Synced(error=Error.REBALANCE_IN_PROGRESS))]
        if self.state is GroupState.STABLE:
            return [(token, self._synced(member))]
        replies: Replies = []
        if member.syncing is not None:
            replies.append((member.syncing, Synced(error=Error.REBALANCE_IN_PROGRESS)))
        member.syncing = token
        if member_id == self.leader:
            self.state, self._deadline = GroupState.STABLE, float("inf")
            for other in self.members.values():
                other.assignment = assignments.get(other.member_id, b"")
            replies += self._answer_syncs(Error.NONE)
        return replies

    def _synced(self, member: Member) -> Synced:
        return Synced(protocol_type=self.protocol_type, protocol=self.protocol, assignment=member.assignment)

    def _answer_syncs(self, error: Error) -> Replies:
        replies: Replies = []
        for member in self.members.values():
            if member.syncing is not None:
                replies.append((member.syncing, Synced(error=error) if error else self._synced(member)))
                member.syncing = None
        return replies

    def _member_error(self, member_id: str, instance: str | None, generation: int) -> Error:
        if error := self._instance_error(member_id, instance):
            return error
        if member_id not in self.members:
            return Error.UNKNOWN_MEMBER_ID
        return Error.NONE if generation == self.generation else Error.ILLEGAL_GENERATION

    def heartbeat(self, member_id: str, instance: str | None, generation: int, now: float) -> Error:
        if error := self._member_error(member_id, instance, generation):
            return error
        self.members[member_id].heard_at = now
        return Error.REBALANCE_IN_PROGRESS if self.state is GroupState.PREPARING else Error.NONE

    def may_commit(self, member_id: str, instance: str | None, generation: int, now: float) -> Error:
        """Return NONE if offsets may be committed; without a generation only by a client outside of groups."""
        if generation < 0 and self.state is GroupState.EMPTY:
            return Error.NONE
        if error := self._member_error(member_id, instance, generation):
            return error
        self.members[member_id].heard_at = now
        return Error.REBALANCE_IN_PROGRESS if self.state is GroupState.COMPLETING else Error.NONE

    def leave(self, member_id: str, instance: str | None, now: float) -> tuple[Error, Replies]:
        """Remove a member; a static one may be named by its instance id alone."""
        if self._ids_given.pop(member_id, None) is not None:
            return Error.NONE, self._complete_joins(now)
        member = self.members.get(member_id) if member_id else self._holder(instance)
        if member is None:
            return Error.UNKNOWN_MEMBER_ID, []
        if error := self._instance_error(member.member_id, instance):
            return error, []
        return Error.NONE, self._without(member, now)

    def tick(self, now: float) -> Replies:
        """Expire members that have been silent for too long, and end rebalances at their deadline."""
        self._ids_given = {member: lapses for member, lapses in self._ids_given.items() if lapses > now}
        replies: Replies = []
        silent = [member for member in self.members.values() if member.expires_at <= now]
        if self.state is GroupState.COMPLETING and self._deadline <= now:
            silent += [member for member in self.members.values() if member.syncing is None and member not in silent]
        for member in silent:
            if member.member_id in self.members:  # the expiry of one may have begun a generation without others
                replies += self._without(member, now)
        return replies + self._complete_joins(now)

    def next_deadline(self) -> float:
        """Return the earliest time at which `tick` has something to do."""
        times = [self._deadline, *self._ids_given.values(), *(member.expires_at for member in self.members.values())]
        all_joined = not self._ids_given and all(member.joining is not None for member in self.members.values())
        if self.state is GroupState.PREPARING and all_joined:
            times.append(self._delayed_until)
        return min(times)

    def _without(self, member: Member, now: float) -> Replies:
        replies = self._dismiss(member, Error.UNKNOWN_MEMBER_ID)
        if not self.members:
            self._become_empty()
            return replies
        return replies + self._rebalance(now) + self._complete_joins(now)

    def _dismiss(self, member: Member, error: Error) -> Replies:
        del self.members[member.member_id]
        replies: Replies = []
        if member.joining is not None:
            replies.append((member.joining, Joined(error=error, member_id=member.member_id)))
        if member.syncing is not None:
            replies.append((member.syncing, Synced(error=error)))
        return replies

    def _become_empty(self) -> None:
        self.state, self.leader, self.protocol = GroupState.EMPTY, "", None
        self._deadline, self._delayed_until = float("inf"), float("-inf")
