from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.harness.model.comparison import compare
from fencepost.harness.model.kind import Question, Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.kinds.groups import (
    CLASSIC,
    CONSUMER,
    LEAVES,
    LEAVES_FOR_A_WHILE,
    NOT_FOUND,
    OWED,
    REBALANCES,
    SESSION,
    SHARE,
    UNKNOWN_MEMBER,
)
from fencepost.harness.model.sent import Checkpoint, Description, Sent

pytestmark = pytest.mark.requirement("MDL-11")

KIND = KINDS["groups"]
FENCED, UNRELEASED = 110, 111


@dataclass
class Coordinator:
    """The coordinator of one group of static members, by the protocol of KIP-848."""

    rng: random.Random
    places: dict[str, str] = field(default_factory=dict)
    """The members by their instances."""
    away: set[str] = field(default_factory=set)
    epoch: int = 0
    sent: list[Sent] = field(default_factory=list)
    looks: list[Checkpoint] = field(default_factory=list)
    now: float = 0.0
    names: itertools.count[int] = field(default_factory=itertools.count)

    def beat(self, instance: str, epoch: int, lost: float) -> None:
        id = f"m-{next(self.names)}" if epoch == 0 else self.places.get(instance, "stranger")
        body = beating(id, epoch, instance)
        self.now += 0.5
        is_lost = self.rng.random() < lost
        code = 0 if is_lost and self.rng.random() < 0.5 else self._do(id, epoch, instance)
        answer = {"error_code": code, "member_id": id, "member_epoch": max(self.epoch, 1) if epoch >= 0 else epoch}
        self.sent.append(
            Sent("consumer_group_heartbeat", body, self.now)
            if is_lost
            else Sent("consumer_group_heartbeat", body, self.now, self.now + 0.1, answer)
        )

    def _do(self, id: str, epoch: int, instance: str) -> int:
        holder = self.places.get(instance)
        if epoch == 0:
            if holder is not None and instance not in self.away:
                return UNRELEASED
            self.places[instance] = id
            self.away.discard(instance)
            self.epoch += 1
        elif holder is None:
            return UNKNOWN_MEMBER
        elif epoch == LEAVES:
            del self.places[instance]
            self.away.discard(instance)
            self.epoch += 1
        else:
            self.away.add(instance)
        return 0

    def look(self) -> None:
        self.now += 0.5
        members = [[id, instance] for instance, id in self.places.items()]
        self.looks.append(look(self.now, members, self.epoch))


def beating(id: str, epoch: int, instance: str | None = None) -> dict[str, Any]:
    return {"group_id": "g", "member_id": id, "member_epoch": epoch, "instance_id": instance}


def look(t: float, members: Any, epoch: int | None = None, protocol: str = CONSUMER) -> Checkpoint:
    seen = {"protocol": protocol, "members": members} | ({} if epoch is None else {"epoch": epoch})
    return Checkpoint(f"at {t}", [Description(KIND.name, "n", {"g": seen}, t, t + 0.1, ["g"])])


def listed(t: float) -> Checkpoint:
    return Checkpoint(f"at {t}", [Description(KIND.name, "n", {"g": {"listed": True}}, t, t + 0.1, ())])


def made(seed: int, lost: float = 0.2) -> Coordinator:
    """Return a history of three static members that join, leave, and leave for a while."""
    coordinator = Coordinator(random.Random(seed))
    for _ in range(coordinator.rng.randint(3, 8)):
        instance = coordinator.rng.choice("abc")
        coordinator.beat(instance, coordinator.rng.choice((0, 0, LEAVES, LEAVES_FOR_A_WHILE)), lost)
        if coordinator.rng.random() < 0.4:
            coordinator.look()
    coordinator.beat("last", 0, 0)
    coordinator.look()
    return coordinator


@given(st.integers(0, 10_000))
def test_a_coordinator_that_does_what_is_asked_for_is_accepted(seed: int) -> None:
    coordinator = made(seed)
    assert compare(coordinator.sent, coordinator.looks).problems == []


@given(st.integers(0, 10_000), st.sampled_from(("gone", "at another place", "unasked", "epoch")))
def test_each_single_wrong_description_is_refused(seed: int, how: str) -> None:
    coordinator = made(seed, lost=0.0)
    members, epoch = {id: instance for instance, id in coordinator.places.items()}, coordinator.epoch
    last = coordinator.places["last"]
    match how:
        case "gone":
            del members[last]
        case "at another place":
            members[last] = "other"
        case "epoch":
            epoch = 0
        case _:
            members["stranger"] = "x"
    wrong = look(coordinator.now, [list(each) for each in members.items()], epoch)
    problems = compare(coordinator.sent, [*coordinator.looks[:-1], wrong]).problems
    assert [each.requirement for each in problems] == ["MDL-11"]


def beat(t: float, id: str, epoch: int, instance: str | None = None, code: int = 0) -> Sent:
    answer = {"error_code": code, "member_id": id, "member_epoch": max(epoch, 1) if epoch >= 0 else epoch}
    return Sent("consumer_group_heartbeat", beating(id, epoch, instance), t, t + 0.1, answer)


def join(t: float, id: str, generation: int, instance: str | None = None, members: Any = (), code: int = 0) -> Sent:
    body = {"group_id": "g", "session_timeout": 60_000, "member_id": "", "group_instance_id": instance}
    listed = [{"member_id": each, "group_instance_id": place} for each, place in members]
    answer = {"error_code": code, "member_id": id, "generation_id": generation, "members": listed}
    return Sent("join_group", body, t, t + 0.1, answer)


def sync(t: float, id: str, code: int = 0) -> Sent:
    body = {"group_id": "g", "generation_id": 1, "member_id": id}
    return Sent("sync_group", body, t, t + 0.1, {"error_code": code})


def heartbeat(t: float, id: str, code: int = 0) -> Sent:
    body = {"group_id": "g", "generation_id": 1, "member_id": id}
    return Sent("heartbeat", body, t, t + 0.1, {"error_code": code})


def leave(t: float, id: str, code: int = 0, instance: str | None = None) -> Sent:
    each = {"member_id": id, "group_instance_id": instance}
    body = {"group_id": "g", "members": [each]}
    return Sent("leave_group", body, t, t + 0.1, {"error_code": 0, "members": [{**each, "error_code": code}]})


def problems(requests: list[Sent], *looks: Checkpoint) -> int:
    return len(compare(requests, looks).problems)


def test_a_member_is_owed_for_half_of_its_session_and_may_stay_longer() -> None:
    joined = [beat(1, "m", 0)]
    within, beyond = 1 + OWED * SESSION - 1, 1 + OWED * SESSION
    assert problems(joined, look(within, []))
    assert not problems(joined, look(beyond, []))
    assert not problems(joined, look(beyond, [["m", None]]))
    assert problems([*joined, beat(within, "m", 1)], look(beyond, []))


def test_a_static_member_keeps_its_place_while_it_is_away_and_another_one_replaces_it() -> None:
    requests = [beat(1, "a", 0, "i"), beat(2, "a", LEAVES_FOR_A_WHILE, "i")]
    assert not problems(requests, look(3, [["a", "i"]]))
    assert problems(requests, look(3, []))
    requests.append(beat(4, "b", 0, "i"))
    assert not problems(requests, look(5, [["b", "i"]]))
    assert problems(requests, look(5, [["a", "i"], ["b", "i"]]))


def test_a_refused_member_is_not_there() -> None:
    requests = [beat(1, "a", 0, "i"), beat(2, "b", 0, "i", code=UNRELEASED)]
    assert not problems(requests, look(3, [["a", "i"]]))
    assert problems(requests, look(3, [["b", "i"]]))


def test_an_unanswered_join_may_have_been_done_once() -> None:
    requests = [beat(1, "a", 0), Sent("consumer_group_heartbeat", beating("b", 0), 2)]
    assert not problems(requests, look(3, [["a", None]]), look(4, [["a", None], ["b", None]]))
    assert problems(requests, look(3, [["a", None], ["b", None]]), look(4, [["a", None]]), look(5, [["c", None]]))


def test_a_classic_member_is_owed_once_its_generation_has_begun() -> None:
    joined = [join(1, "a", 1)]
    assert not problems(joined, look(2, [], protocol=CLASSIC))
    assert not problems([*joined, sync(2, "a", code=27)], look(3, [], protocol=CLASSIC))
    assert problems([*joined, sync(2, "a")], look(3, [], protocol=CLASSIC))
    assert not problems([*joined, sync(2, "a")], look(3, [["a", "?"]], protocol=CLASSIC))
    assert problems([*joined, sync(2, "a")], look(3, [["a", "i"]], protocol=CLASSIC))


@pytest.mark.requirement("CRD-08")
def test_a_classic_member_is_owed_for_longer_with_each_heartbeat() -> None:
    begun, gone = [join(1, "a", 1), sync(2, "a")], look(40, [], protocol=CLASSIC)
    assert not problems(begun, gone)
    assert problems([*begun, heartbeat(30, "a")], gone)
    assert problems([*begun, heartbeat(30, "a", REBALANCES)], gone)
    assert not problems([*begun, heartbeat(30, "a", 22)], gone)
    assert not problems([join(1, "a", 1), heartbeat(30, "a")], gone)


@pytest.mark.requirement("CRD-08")
def test_a_classic_member_is_known_for_as_long_as_it_is_owed() -> None:
    begun, end = [join(1, "a", 1), sync(2, "a")], look(90, [], protocol=CLASSIC)
    assert problems([*begun, heartbeat(31, "a", UNKNOWN_MEMBER)], end)
    assert not problems([*begun, heartbeat(32, "a", UNKNOWN_MEMBER)], end)
    assert not problems([*begun, sync(31, "a", UNKNOWN_MEMBER)], end)
    assert not problems([join(1, "a", 1), heartbeat(2, "a", UNKNOWN_MEMBER)], end)
    unsure = Sent("join_group", join(0, "b", 1).body, 3)
    assert not problems([*begun, unsure, heartbeat(31, "a", UNKNOWN_MEMBER)], end)


def test_only_a_member_is_taken_for_one_in_a_heartbeat() -> None:
    begun, end = [join(1, "a", 1), sync(2, "a")], look(4, [["a", "?"]], protocol=CLASSIC)
    assert not problems([*begun, heartbeat(3, "b", UNKNOWN_MEMBER)], end)
    assert problems([*begun, heartbeat(3, "b")], end)


@pytest.mark.requirement("CRD-08")
@pytest.mark.parametrize(
    ("last", "at", "is_wrong"),
    [
        (sync(2, "a"), 6, True),
        (sync(2, "a"), 7, False),
        (heartbeat(5, "a"), 9, True),
        (heartbeat(5, "a"), 10, False),
        (heartbeat(5, "a", REBALANCES), 6, True),
        (heartbeat(5, "a", REBALANCES), 7, False),
    ],
)
def test_a_generation_begins_without_a_member_that_had_its_rebalance_timeout_only(
    last: Sent, at: float, is_wrong: bool
) -> None:
    def joined(t: float, id: str, generation: int, *members: tuple[str, None]) -> Sent:
        sent = join(t, id, generation, members=members)
        return replace(sent, body={**sent.body, "rebalance_timeout": 10_000})

    alone = joined(at, "b", 2, ("b", None))
    requests = [joined(1, "a", 1), sync(2, "a"), last, alone]
    assert bool(problems(requests, look(12, [["b", None]], protocol=CLASSIC))) == is_wrong
    follows = joined(at, "b", 2)
    gone = look(at + 0.5, [["b", None]], protocol=CLASSIC)
    assert bool(problems([joined(1, "a", 1), sync(2, "a"), last, follows], gone)) == is_wrong


def test_generations_do_not_go_back_while_a_member_is_there() -> None:
    requests = [join(1, "a", 5, "i"), sync(2, "a")]
    end = look(4, [["b", "i"]], protocol=CLASSIC)
    assert problems([*requests, join(3, "b", 4, "i")], end)
    assert not problems([*requests, join(3, "b", 5, "i")], end)
    assert not problems([join(1, "a", 5, "i"), join(3, "b", 4, "i")], end)


def test_the_answer_to_the_leader_names_all_members() -> None:
    requests = [join(1, "a", 1, "i"), sync(2, "a"), join(3, "b", 2, "k", [("b", "k"), ("a", "i")])]
    assert not problems(requests, look(4, [["a", "i"], ["b", "k"]], protocol=CLASSIC))
    alone = [join(1, "a", 1, "i"), sync(2, "a"), join(3, "b", 2, "k", [("b", "k")])]
    assert problems(alone, look(4, [["a", "i"], ["b", "k"]], protocol=CLASSIC))


@pytest.mark.parametrize("leaver", [("a", None), ("", "i")])
def test_a_classic_member_leaves_by_its_id_or_its_instance(leaver: tuple[str, str | None]) -> None:
    id, instance = leaver
    requests = [join(1, "a", 1, "i"), sync(2, "a")]
    assert not problems([*requests, leave(3, id, instance=instance)], look(4, [], protocol=CLASSIC))
    assert problems([*requests, leave(3, id, instance=instance)], look(4, [["a", "i"]], protocol=CLASSIC))
    assert problems([*requests, leave(3, id, UNKNOWN_MEMBER, instance)], look(4, [], protocol=CLASSIC))


def test_members_of_both_protocols_are_not_judged_and_a_group_without_any_is_described_by_both() -> None:
    requests = [beat(1, "a", 0), join(2, "b", 2)]
    assert not problems(requests, look(3, [["a", None], ["b", None]]))
    assert not problems([beat(1, "a", 0)], look(2, [], protocol=CLASSIC))
    assert problems([beat(1, "a", 0)], look(2, [["a", None]], protocol=CLASSIC))


def test_a_deleted_group_is_not_listed_until_it_is_used_again() -> None:
    def deletion(code: int | None) -> Sent:
        body, answer = {"groups_names": ["g"]}, {"results": [{"group_id": "g", "error_code": code}]}
        return Sent("delete_groups", body, 2) if code is None else Sent("delete_groups", body, 2, 2.1, answer)

    joined, committed = beat(1, "a", 0), Sent("offset_commit", {"group_id": "g", "topics": []}, 3, 3.1, {"topics": []})
    left = beat(1.5, "a", LEAVES)
    assert problems([joined, left, deletion(0)], look(2.5, []), listed(4))
    assert not problems([joined, deletion(68)], look(2.5, [["a", None]]), listed(4))
    assert not problems([joined, deletion(None)], look(2.5, [["a", None]]), listed(4))
    assert not problems([joined, left, deletion(0), committed], look(2.5, []), listed(4))


def of_share_offsets(api: str, t: float, code: int, *partitions: int) -> Sent:
    named = {"topic_name": "t", "partitions": [{"partition_index": 0, "start_offset": 7}]}
    answers = [{"topic_name": "t", "partitions": [{"partition_index": 0, "error_code": each} for each in partitions]}]
    return Sent(
        api,
        {"group_id": "g", "topics": [named]},
        t,
        t + 0.1,
        {"error_code": code, "responses": answers if partitions else []},
    )


def share_beat(t: float, id: str, epoch: int) -> Sent:
    body = {"group_id": "g", "member_id": id, "member_epoch": epoch, "subscribed_topic_names": ["t"]}
    answer = {"error_code": 0, "member_id": id, "member_epoch": max(epoch, 1) if epoch >= 0 else epoch}
    return Sent("share_group_heartbeat", body, t, t + 0.1, answer)


def test_members_of_a_share_group_are_described_by_its_own_request() -> None:
    joined, left = share_beat(1, "a", 0), share_beat(2, "a", LEAVES)
    assert not problems([joined], look(1.5, [["a", None]], 1, SHARE), look(1.7, [], protocol=CONSUMER))
    assert problems([joined], look(1.5, [], protocol=SHARE))
    assert problems([joined], look(1.5, [["a", None], ["b", None]], 1, SHARE))
    assert problems([joined], look(1.5, [["a", None]], 1, CONSUMER))
    assert not problems([joined, left], look(3, [], protocol=SHARE))
    assert problems([joined, left], look(3, [["a", None]], 2, SHARE))


@pytest.mark.parametrize(
    "request_", [("alter_share_group_offsets", 68, 0), ("delete_share_group_offsets", 68, 0), ("delete_groups", 68, 0)]
)
def test_a_group_with_members_is_neither_deleted_nor_set(request_: tuple[str, int, int]) -> None:
    api, refused, done = request_

    def sent(t: float, code: int) -> Sent:
        if api != "delete_groups":
            return of_share_offsets(api, t, code)
        return Sent(api, {"groups_names": ["g"]}, t, t + 0.1, {"results": [{"group_id": "g", "error_code": code}]})

    joined, left = share_beat(1, "a", 0), share_beat(2, "a", LEAVES)
    end = look(9, [], protocol=SHARE)
    assert not problems([joined, sent(1.5, refused), left, sent(3, done)], end)
    assert problems([joined, sent(1.5, done), left], end)
    timed_out = 1 + OWED * SESSION
    assert not problems([joined, sent(timed_out, done)], look(timed_out + 1, [], protocol=SHARE))


def test_offsets_of_a_group_with_members_are_not_set_in_part_either() -> None:
    joined, api = share_beat(1, "a", 0), "alter_share_group_offsets"
    end = look(2, [["a", None]], 1, SHARE)
    assert not problems([joined, of_share_offsets(api, 1.5, 0, 68, 68)], end)
    assert problems([joined, of_share_offsets(api, 1.5, 0, 68, 0)], end)


def read(question: Question, answer: Mapping[str, Any]) -> Any:
    return KIND.read(question, answer)


def test_groups_of_clients_are_not_asked_for_and_only_the_coordinator_is_believed() -> None:
    classic, new, share, every = KIND.questions(Scope(objects=["g", "mine"], of_clients=frozenset({"mine"})))
    assert (classic.scope, new.scope, every.scope) == (["g"], ["g"], ())
    one = {"group_id": "g", "error_code": 0, "members": [{"member_id": "a"}]}
    assert read(classic, {"groups": [one]}) == {"g": {"protocol": CLASSIC, "members": [["a", "?"]]}}
    two = {**one, "group_epoch": 4, "members": [{"member_id": "a", "instance_id": "i"}]}
    assert read(new, {"groups": [two]}) == {"g": {"protocol": CONSUMER, "members": [["a", "i"]], "epoch": 4}}
    assert read(new, {"groups": [{**two, "error_code": 16}]}) is None
    assert read(classic, {"groups": [{**one, "error_code": 16}]}) is None
    gone = {"group_id": "g", "error_code": NOT_FOUND, "members": []}
    assert read(new, {"groups": [gone]}) == {"g": {"protocol": CONSUMER, "members": []}}
    assert read(share, {"groups": [gone]}) == {"g": {"protocol": SHARE, "members": []}}
    three = {**one, "group_epoch": 4}
    assert read(share, {"groups": [three]}) == {"g": {"protocol": SHARE, "members": [["a", None]], "epoch": 4}}
    assert read(every, {"groups": [{"group_id": "g"}, {"group_id": "mine"}]}) == {"g": {"listed": True}}
    assert read(every, {"groups": [{"group_id": "mine"}]}) is None
    assert list(KIND.questions(Scope())) == []


def test_a_state_is_put_into_words() -> None:
    [problem] = compare([beat(1, "a", 0, "i")], [look(2, [])]).problems
    assert problem.shown == "n describes g as without members"
    assert problem.possible == "consumer with a at i for certain, epoch 1"
    assert problem.history == ["1.000 s: join at i of g"]
    assert [KIND.says(KIND.state(seen)) for seen in ({"listed": True}, {"protocol": CLASSIC, "members": []})] == [
        "listed",
        "without members",
    ]
