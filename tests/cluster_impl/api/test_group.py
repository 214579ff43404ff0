"""A consumer group: members come, share, stay, leave and die."""

from __future__ import annotations

from dataclasses import replace

from fencepost.cluster_impl.api.groups.group import Group, GroupState, Join, Joined, Replies, Synced
from fencepost.cluster_impl.wire.errors import Error

SESSION, REBALANCE = 10.0, 60.0


def member(member_id: str, *protocols: str, instance: str | None = None, is_new: bool = True) -> Join:
    names = protocols or ("range",)
    return Join(
        member_id=member_id,
        is_new=is_new,
        group_instance_id=instance,
        client_id="c",
        client_host="h",
        session_timeout=SESSION,
        rebalance_timeout=REBALANCE,
        protocol_type="consumer",
        protocols={name: f"{member_id} {name}".encode() for name in names},
    )


def joined(replies: Replies) -> dict[object, Joined]:
    return {token: reply for token, reply in replies if isinstance(reply, Joined)}


def synced(replies: Replies) -> dict[object, Synced]:
    return {token: reply for token, reply in replies if isinstance(reply, Synced)}


def stable(*member_ids: str) -> Group:
    """A group whose members have joined together and have the assignments `for <id>`; the first one leads."""
    group = Group("g", initial_delay=1.0)
    for member_id in member_ids:
        assert group.join(member(member_id), member_id, 0.0) == []
    assert set(joined(group.tick(1.0))) == set(member_ids)
    assignments = {member_id: f"for {member_id}".encode() for member_id in member_ids}
    for member_id in reversed(member_ids):
        replies = group.sync(member_id, None, 1, assignments if member_id == group.leader else {}, member_id, 1.0)
    assert {token: reply.assignment for token, reply in synced(replies).items()} == assignments
    return group


def test_one_member_joins_after_the_initial_delay_and_gets_what_it_assigns() -> None:
    group = Group("g", initial_delay=3.0)
    assert group.join(member("a"), "join", 0.0) == []
    assert group.next_deadline() == 3.0
    reply = joined(group.tick(3.0))["join"]
    assert (reply.error, reply.generation, reply.leader, reply.protocol) == (Error.NONE, 1, "a", "range")
    assert reply.members == (("a", None, b"a range"),)
    answer = synced(group.sync("a", None, 1, {"a": b"all"}, "sync", 3.0))["sync"]
    assert (answer.error, answer.assignment, group.state) == (Error.NONE, b"all", GroupState.STABLE)


def test_only_the_leader_receives_the_list_of_members() -> None:
    group = Group("g", initial_delay=1.0)
    group.join(member("a"), "a", 0.0)
    group.join(member("b"), "b", 0.0)
    replies = joined(group.tick(1.0))
    assert [len(replies[token].members) for token in ("a", "b")] == [2, 0]


def test_followers_wait_for_the_assignment_of_the_leader() -> None:
    group = Group("g", initial_delay=0.0)
    group.join(member("a"), "a", 0.0)
    group.join(member("b"), "b", 0.0)
    group.join(member("a", is_new=False), "a2", 0.1)
    assert group.sync("b", None, 2, {}, "sync b", 0.2) == []
    replies = synced(group.sync("a", None, 2, {"a": b"0", "b": b"1"}, "sync a", 0.3))
    assert {token: reply.assignment for token, reply in replies.items()} == {"sync a": b"0", "sync b": b"1"}


def test_a_new_member_makes_all_join_again() -> None:
    group = stable("a", "b")
    assert group.join(member("c"), "c", 2.0) == []
    assert group.heartbeat("a", None, 1, 2.0) is Error.REBALANCE_IN_PROGRESS
    assert group.join(member("a", is_new=False), "a", 2.5) == []
    replies = joined(group.join(member("b", is_new=False), "b", 3.0))
    assert {reply.generation for reply in replies.values()} == {2}
    assert set(replies) == {"a", "b", "c"}


def test_a_member_that_does_not_join_again_in_time_is_left_out() -> None:
    group = stable("a", "b")
    group.join(member("a", "range", is_new=False), "a", 2.0)
    for second in range(3, 62, 5):
        group.heartbeat("b", None, 1, float(second))
    replies = joined(group.tick(2.0 + REBALANCE))
    assert set(replies) == {"a"} and set(group.members) == {"a"}


def test_a_silent_member_is_dropped_and_its_share_goes_to_others() -> None:
    group = stable("a", "b")
    group.heartbeat("a", None, 1, 8.0)
    assert group.next_deadline() == 11.0
    group.tick(11.0)
    assert set(group.members) == {"a"}
    assert group.heartbeat("a", None, 1, 11.5) is Error.REBALANCE_IN_PROGRESS
    assert group.heartbeat("b", None, 1, 11.5) is Error.UNKNOWN_MEMBER_ID
    assert joined(group.join(member("a", is_new=False), "again", 12.0))["again"].generation == 2


def test_a_member_that_waits_to_join_is_not_silent() -> None:
    group = stable("a", "b")
    group.join(member("c"), "c", 2.0)
    group.heartbeat("a", None, 1, 11.0)
    group.heartbeat("b", None, 1, 11.0)
    group.tick(2.0 + SESSION + 1)
    assert "c" in group.members


def test_the_last_to_leave_leaves_an_empty_group() -> None:
    group = stable("a")
    assert group.leave("a", None, 2.0) == (Error.NONE, [])
    assert group.state is GroupState.EMPTY
    assert group.leave("a", None, 2.0)[0] is Error.UNKNOWN_MEMBER_ID


def test_a_leader_that_assigns_nothing_in_time_is_replaced() -> None:
    group = Group("g", initial_delay=0.0)
    group.join(member("a"), "a", 0.0)
    group.join(member("b"), "b", 0.0)
    group.join(member("a", is_new=False), "a2", 0.0)
    group.sync("b", None, 2, {}, "sync b", 0.0)
    for second in range(5, 61, 5):
        group.heartbeat("a", None, 2, float(second))
        group.heartbeat("b", None, 2, float(second))
    replies = group.tick(REBALANCE)
    assert synced(replies)["sync b"].error is Error.REBALANCE_IN_PROGRESS
    assert joined(group.join(member("b", is_new=False), "b again", REBALANCE))["b again"].leader == "b"


def test_the_protocol_is_one_that_all_know_and_most_prefer() -> None:
    group = Group("g", initial_delay=1.0)
    group.join(member("a", "sticky", "range", "mine"), "a", 0.0)
    group.join(member("b", "range", "sticky"), "b", 0.0)
    group.join(member("c", "range", "sticky"), "c", 0.0)
    assert {reply.protocol for reply in joined(group.tick(1.0)).values()} == {"range"}


def test_a_member_with_nothing_in_common_is_refused_and_disturbs_no_other() -> None:
    group = stable("a")
    assert joined(group.join(member("b", "other"), "b", 2.0))["b"].error is Error.INCONSISTENT_GROUP_PROTOCOL
    assert group.state is GroupState.STABLE
    foreign = replace(member("b"), protocol_type="connect")
    assert joined(group.join(foreign, "b", 2.0))["b"].error is Error.INCONSISTENT_GROUP_PROTOCOL


def test_a_repeated_join_of_a_follower_changes_nothing() -> None:
    group = stable("a", "b")
    assert joined(group.join(member("b", is_new=False), "again", 2.0))["again"].generation == 1
    assert group.state is GroupState.STABLE


def test_another_subscription_makes_all_join_again() -> None:
    group = stable("a", "b")
    changed = replace(member("b", is_new=False), protocols={"range": b"other topics"})
    assert group.join(changed, "b", 2.0) == []
    assert group.state is GroupState.PREPARING


def test_an_unknown_id_is_refused_and_a_given_one_is_taken() -> None:
    group = Group("g", initial_delay=0.0)
    assert joined(group.join(member("a", is_new=False), "a", 0.0))["a"].error is Error.UNKNOWN_MEMBER_ID
    group.give_id("a", SESSION, 0.0)
    assert joined(group.join(member("a", is_new=False), "a", 1.0))["a"].error is Error.NONE


def test_a_given_id_that_is_not_used_delays_no_other_member_for_long() -> None:
    group = Group("g", initial_delay=0.0)
    group.give_id("gone", SESSION, 0.0)
    assert group.join(member("a"), "a", 1.0) == []
    assert "a" in joined(group.tick(SESSION))


def test_a_static_member_comes_back_as_itself_and_its_former_process_is_fenced() -> None:
    group = stable("a")
    group.join(member("x1", instance="x"), "x1", 2.0)
    group.join(member("a", is_new=False), "a", 2.0)
    group.join(member("x2", instance="x"), "x2", 3.0)
    assert group.heartbeat("x1", "x", group.generation, 3.0) is Error.FENCED_INSTANCE_ID
    assert "x1" not in group.members


def test_stale_generations_are_refused() -> None:
    group = stable("a")
    assert group.heartbeat("a", None, 0, 2.0) is Error.ILLEGAL_GENERATION
    assert synced(group.sync("a", None, 0, {}, "s", 2.0))["s"].error is Error.ILLEGAL_GENERATION
    assert group.may_commit("a", None, 0, 2.0) is Error.ILLEGAL_GENERATION
    assert group.may_commit("a", None, 1, 2.0) is Error.NONE


def test_offsets_without_a_generation_are_for_groups_without_members() -> None:
    assert Group("g", initial_delay=0.0).may_commit("", None, -1, 0.0) is Error.NONE
    assert stable("a").may_commit("", None, -1, 2.0) is Error.UNKNOWN_MEMBER_ID


def test_two_members_that_died_together_are_both_gone_when_their_coordinator_wakes_late() -> None:
    group = stable("a", "b", "c")
    group.join(member("d"), "d", 5.0)
    group.join(member("a", is_new=False), "a", 5.0)
    replies = joined(group.tick(200.0))
    assert set(replies) == {"a", "d"}
    assert set(group.members) == {"a", "d"}


def test_a_member_that_waits_for_its_assignment_is_not_missed_when_the_leader_dies() -> None:
    group = stable("a", "b")
    group.join(member("a", is_new=False), "a", 2.0)
    assert set(joined(group.join(member("b", is_new=False), "b", 2.0))) == {"a", "b"}
    assert group.sync("b", None, 2, {}, "b waits", 2.0) == []
    replies = synced(group.tick(12.5))
    assert replies["b waits"].error is Error.REBALANCE_IN_PROGRESS
    assert set(group.members) == {"b"}


def test_a_group_with_members_is_of_one_type() -> None:
    group = stable("a")
    other = replace(member("a", is_new=False), protocol_type="connect")
    assert joined(group.join(other, "other", 2.0))["other"].error is Error.INCONSISTENT_GROUP_PROTOCOL
    assert group.state is GroupState.STABLE
