"""The members of groups: of the classic protocol, of that of KIP-848, and of share groups.

Sources: the descriptions of JoinGroup, SyncGroup, Heartbeat and LeaveGroup (KIP-62; KIP-345: static members),
ConsumerGroupHeartbeat and ConsumerGroupDescribe (KIP-848), ShareGroupHeartbeat, ShareGroupDescribe,
AlterShareGroupOffsets and DeleteShareGroupOffsets (KIP-932), DescribeGroups, DeleteGroups (KIP-229) and ListGroups.

A member is owed for half of its session, and by the classic protocol from its SyncGroup on: a coordinator keeps members
once their generation has begun. After that it may have timed out at any time. Once its group rebalances, it has half of
its rebalance timeout at least to join again, before a generation begins without it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from fencepost.harness.model.effect import DONE, NOTHING_DONE, Effect
from fencepost.harness.model.kind import Kind, Question, Scope, results
from fencepost.harness.model.sent import Sent
from fencepost.harness.model.worlds import State

CLASSIC, CONSUMER, SHARE = "classic", "consumer", "share"
LISTED = "listed"
"""Stands for the protocol in what a list of groups shows, which names no members."""
UNKNOWN = "?"
"""The instance of a member in versions that do not name it."""
UNKNOWN_MEMBER, REBALANCES, NON_EMPTY, NOT_FOUND = 25, 27, 68, 69
LEAVES, LEAVES_FOR_A_WHILE = -1, -2
"""Epochs of members in heartbeats."""
SESSION = 6.0
"""Seconds: the shortest `group.consumer.session.timeout.ms` that plans give their nodes. The default is 45, as that of
share groups."""
_DESCRIBED_AS = {"consumer_group_describe": CONSUMER, "share_group_describe": SHARE}
"""The protocol of the groups that a request describes; all others are not found."""
OWED = 0.5
"""The fraction of its session for which a member is owed after a request of it: clocks of nodes may run fast."""
_WITH_DEAD_GROUPS = 5
"""The last version of DescribeGroups that calls a group that is not there dead; later ones refuse it."""
_NOT_JOINED = NOTHING_DONE | {79, 81, 82}
"""Errors of a member that did not join: its id is required first, the group is full, its place is another one's."""


class Member(NamedTuple):
    """A member. It is there for certain until `until`, in seconds of the run."""

    id: str
    instance: str | None
    until: float = -inf
    session: float = SESSION
    rebalance: float = 0.0
    """Seconds that it has to join again."""
    stays: float = -inf
    """No generation begins without it before this time, in seconds of the run, unless it times out or leaves."""


class Group(NamedTuple):
    """A group. One without members is the same as one that is not there, but for lists."""

    protocol: str | None = None
    members: frozenset[Member] = frozenset()
    epoch: int = -1
    """The lowest generation, or epoch of the group, that it can have."""
    is_open: bool = False
    """Others may have joined, and any of the members may be gone."""
    is_deleted: bool = False
    """It may not be listed."""


@dataclass(frozen=True)
class _OfMember(Effect):
    """A request of one member, as the answer says that it was done."""

    protocol: str
    title_: str
    at: float
    member: Member | None = None
    """The member as it is then; None if it left."""
    leaver: tuple[str, str | None] = ("", None)
    """Id and instance of the member that left; the instance alone will do."""
    epoch: int = -1
    others: frozenset[tuple[str, str | None]] | None = None
    """Id and instance of all members, where the answer says it."""
    starts_over: bool = False
    """Members that did not join as well are left out if the epoch rises."""

    @property
    def title(self) -> str:
        return f"{self.title_} of {self.object}"

    def step(self, state: State) -> Iterator[State]:
        group = _aged(state, self.at)
        if self.code is not None and self.code in _NOT_JOINED:
            yield group._replace(is_deleted=False)
        elif self.code != DONE:
            yield state
            yield group._replace(is_open=True, is_deleted=False)
        elif not self._goes_back(group) and not self._leaves_out(group):
            yield self.after(group)

    def _goes_back(self, group: Group) -> bool:
        """Return whether the answer has an earlier generation, or epoch, than the group had with members."""
        return self.member is not None and self.epoch < group.epoch and _is_certain(group, self.protocol)

    def _leaves_out(self, group: Group) -> bool:
        """Return whether the answer names all members without one that still had time to join again."""
        if self.others is None or self.member is None or group.is_open:
            return False
        named = {id for id, _ in self.others}
        owed = (each for each in group.members if each.until > -inf and each.stays > self.at)
        return any(each.id not in named and not _replaces(self.member, each) for each in owed)

    def after(self, state: State) -> State:
        group = _group(state)
        same = group.protocol == self.protocol
        rises = self.starts_over and self.epoch != group.epoch
        kept = (each._replace(until=-inf) if rises and each.stays <= self.at else each for each in group.members)
        members = list(kept) if same else []
        if self.others is not None:
            sessions = {each.id: each for each in members}
            members = [sessions.get(id, Member(id, instance)) for id, instance in self.others]
        if self.member is None:
            id, instance = self.leaver
            members = [each for each in members if each.id != id and (instance is None or each.instance != instance)]
        else:
            members = [each for each in members if not _replaces(self.member, each)] + [self.member]
        epoch = max(self.epoch, group.epoch) if same and members else self.epoch
        mixed = not same and bool(group.members)  # members of both protocols: one request does not describe them all
        return Group(self.protocol, frozenset(members), epoch, mixed or (group.is_open and self.others is None))


@dataclass(frozen=True)
class _Heard(Effect):
    """A member of the classic protocol has got its assignment: its generation has begun. Or it is heard later."""

    member: str
    begun: float
    at: float
    syncs: bool

    @property
    def title(self) -> str:
        return f"{'assignment' if self.syncs else 'heartbeat'} of {self.member} of {self.object}"

    def after(self, state: State) -> State:
        group = _group(state)
        members = (self._heard(each) if each.id == self.member else each for each in group.members)
        return group._replace(members=frozenset(members))

    def _heard(self, member: Member) -> Member:
        """Return the member as it is owed; one without an assignment is not."""
        if not self.syncs and member.stays == -inf:
            return member
        heard = member._replace(until=self.begun + OWED * member.session)
        return heard._replace(stays=self.begun + OWED * member.rebalance) if self.code == DONE else heard

    def step(self, state: State) -> Iterator[State]:
        group = _aged(state, self.at)
        sessions = {each.id: each.until for each in group.members}
        if self.code == DONE or (self.code == REBALANCES and not self.syncs):
            if self.member in sessions or group.is_open:
                yield self.after(state)
        elif self.code != UNKNOWN_MEMBER or self.syncs or group.is_open or sessions.get(self.member, -inf) == -inf:
            yield state  # a step that claims its SyncGroup says itself what is owed


@dataclass(frozen=True)
class _OfEmptyGroup(Effect):
    """A request that a group refuses while it has members."""

    verb: str
    at: float

    @property
    def title(self) -> str:
        return f"{self.verb} {self.object}"

    def refusals(self, state: State) -> frozenset[int]:
        has_members = any(each.until > -inf for each in _aged(state, self.at).members)
        return frozenset({NON_EMPTY}) if has_members else frozenset()

    def after(self, state: State) -> State:
        return state


@dataclass(frozen=True)
class _Deletion(_OfEmptyGroup):
    def after(self, state: State) -> State:
        return Group(is_deleted=True)


@dataclass(frozen=True)
class _Use(Effect):
    """A commit, which makes a group that is not there."""

    @property
    def title(self) -> str:
        return f"commit of {self.object}"

    def after(self, state: State) -> State:
        return _group(state)._replace(is_deleted=False)

    def step(self, state: State) -> Iterator[State]:
        yield self.after(state)


class Groups(Kind):
    """A group has the members that joined it and did not leave, were not replaced, and did not time out."""

    name = "groups"
    requirement = "MDL-11"
    changed_by = frozenset(
        {"join_group", "sync_group", "heartbeat", "leave_group", "consumer_group_heartbeat", "share_group_heartbeat"}
        | {"delete_groups", "offset_commit", "txn_offset_commit"}
        | {"alter_share_group_offsets", "delete_share_group_offsets"}
    )
    begins_absent = True
    absent = Group()

    def questions(self, scope: Scope) -> Iterator[Question]:
        followed = [each for each in scope.objects if each not in scope.of_clients]
        for group in followed:
            yield Question("describe_groups", {"groups": [group]}, [group], newest=_WITH_DEAD_GROUPS)
            for api in _DESCRIBED_AS:
                yield Question(api, {"group_ids": [group]}, [group])
        if followed:
            yield Question("list_groups", {"states_filter": [], "types_filter": []}, (), followed=followed)

    def read(self, question: Question, answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if question.api == "list_groups":
            names = {each["group_id"] for each in answer["groups"]} & set(question.followed)
            return {name: {"listed": True} for name in sorted(names)} or None
        [described] = answer["groups"]
        protocol = _DESCRIBED_AS.get(question.api, CLASSIC)
        if described["error_code"] == NOT_FOUND and protocol != CLASSIC:
            return {question.body["group_ids"][0]: {"protocol": protocol, "members": []}}
        if described["error_code"]:
            return None
        if protocol == CLASSIC:
            members = [[each["member_id"], each.get("group_instance_id", UNKNOWN)] for each in described["members"]]
            return {described["group_id"]: {"protocol": CLASSIC, "members": members}}
        members = [[each["member_id"], each.get("instance_id")] for each in described["members"]]
        seen = {"protocol": protocol, "members": members, "epoch": described["group_epoch"]}
        return {described["group_id"]: seen}

    def state(self, seen: Any) -> State:
        if seen.get("listed"):
            return Group(LISTED, is_open=True)
        members = frozenset(Member(id, instance) for id, instance in seen["members"])
        return Group(seen["protocol"], members, seen.get("epoch", -1))

    def aged(self, state: State, now: float) -> State:
        return _aged(state, now)

    def fits(self, state: State, seen: State) -> Iterator[State]:
        """Members that the description has stay; those that are owed have to be in it."""
        group, shown = _group(state), _group(seen)
        if shown.protocol == LISTED:
            if not group.is_deleted:
                yield group
        elif shown.protocol != group.protocol:
            if not shown.members or group.is_open:
                yield group
        elif group.is_open or _describes(shown, group):
            by_id = {each.id: each for each in group.members}
            members = frozenset(by_id.get(each.id, each) for each in shown.members)
            yield Group(group.protocol, members, max(shown.epoch, group.epoch if members else -1))

    def says(self, state: State) -> str:
        group = _group(state)
        if group.is_deleted or group.protocol == LISTED:
            return "deleted" if group.is_deleted else LISTED
        members = [
            f"{each.id}{_place(each.instance)}" + (" for certain" * (each.until > -inf))
            for each in sorted(group.members, key=str)
        ]
        epoch = f", epoch {group.epoch}" if group.epoch >= 0 else ""
        others = " and perhaps others" if group.is_open else ""
        return f"{group.protocol} with {', '.join(members)}{epoch}{others}" if members else f"without members{others}"

    def effects(self, sent: Sent, objects: Collection[str]) -> Iterator[Effect]:
        match sent.api:
            case "join_group":
                yield _joined(sent)
            case "sync_group" | "heartbeat":
                syncs = sent.api == "sync_group"
                yield _Heard(sent.body["group_id"], _code(sent), sent.body["member_id"], sent.begun, sent.ended, syncs)
            case "leave_group":
                yield from _left(sent)
            case "consumer_group_heartbeat":
                yield _beaten(sent, CONSUMER)
            case "share_group_heartbeat":
                yield _beaten(sent, SHARE)
            case "delete_groups":
                codes = {each["group_id"]: each["error_code"] for each in results(sent.response, "results")}
                for group in sent.body["groups_names"]:
                    yield _Deletion(group, codes.get(group), "delete", sent.ended)
            case "alter_share_group_offsets" | "delete_share_group_offsets":
                verb = f"{sent.api.partition('_')[0]} offsets of"
                yield _OfEmptyGroup(sent.body["group_id"], _code_of_parts(sent), verb, sent.ended)
            case _:
                yield _Use(sent.body["group_id"], DONE)


def _joined(sent: Sent) -> Effect:
    body, response = sent.body, sent.response or {}
    session = body["session_timeout"] / 1000
    rebalance = body["rebalance_timeout"] / 1000 if "rebalance_timeout" in body else session
    member = Member(response.get("member_id", ""), body.get("group_instance_id"), session=session, rebalance=rebalance)
    listed = response.get("members") or None
    return _OfMember(
        body["group_id"],
        _code(sent),
        CLASSIC,
        f"join{_place(member.instance)}",
        sent.ended,
        member,
        epoch=response.get("generation_id", -1),
        others=listed and frozenset((each["member_id"], each.get("group_instance_id")) for each in listed),
        starts_over=True,
    )


def _left(sent: Sent) -> Iterator[Effect]:
    body = sent.body
    leavers = body.get("members") or [{"member_id": body.get("member_id", ""), "group_instance_id": None}]
    answers = results(sent.response, "members")
    for number, each in enumerate(leavers):
        code = _code(sent) or (answers[number]["error_code"] if number < len(answers) else _code(sent))
        leaver = each["member_id"], each.get("group_instance_id")
        yield _OfMember(
            body["group_id"], code, CLASSIC, f"leave{_place(leaver[1])}", sent.ended, leaver=leaver, starts_over=True
        )


def _beaten(sent: Sent, protocol: str) -> Effect:
    body, response = sent.body, sent.response or {}
    epoch, instance = body["member_epoch"], body.get("instance_id")
    id = response.get("member_id") or body["member_id"]
    member = None if epoch == LEAVES else Member(id, instance, sent.begun + OWED * SESSION)
    verb = {0: "join", LEAVES: "leave", LEAVES_FOR_A_WHILE: "leave for a while"}.get(epoch, "heartbeat")
    return _OfMember(
        body["group_id"],
        _code(sent),
        protocol,
        f"{verb}{_place(instance)}",
        sent.ended,
        member,
        (id, None),
        -1 if member is None else max(response.get("member_epoch", -1), -1),
    )


def _is_certain(group: Group, protocol: str) -> bool:
    """Return whether the generations of the group so far count: it has members that are there for certain."""
    return protocol == CLASSIC == group.protocol and any(each.until > -inf for each in group.members)


def _describes(shown: Group, group: Group) -> bool:
    owed = {each.id for each in group.members if each.until > -inf}
    instances = {each.id: each.instance for each in group.members}
    went_back = bool(owed) and 0 <= shown.epoch < group.epoch
    return (
        not went_back
        and owed <= {each.id for each in shown.members}
        and all(
            each.id in instances
            and (UNKNOWN in (each.instance, instances[each.id]) or each.instance == instances[each.id])
            for each in shown.members
        )
    )


def _replaces(member: Member, other: Member) -> bool:
    return member.id == other.id or (member.instance is not None and member.instance == other.instance)


def _aged(state: State, now: float) -> Group:
    """Return the group once members may have timed out."""
    group = _group(state)
    members = (each._replace(until=-inf) if each.until <= now else each for each in group.members)
    return group._replace(members=frozenset(members))


def _group(state: State) -> Group:
    assert isinstance(state, Group)
    return state


def _place(instance: str | None) -> str:
    return "" if instance is None else f" at {instance}"


def _code(sent: Sent) -> int | None:
    return sent.response.get("error_code") if sent.response is not None else None


def _code_of_parts(sent: Sent) -> int | None:
    """Return the error of a request about offsets of a share group: none if any part of it was accepted."""
    topics = results(sent.response, "responses")
    codes = [each["error_code"] for topic in topics for each in topic.get("partitions", [topic])]
    return _code(sent) or min(codes, key=bool, default=_code(sent))
