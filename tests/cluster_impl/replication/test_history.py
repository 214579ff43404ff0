"""Whatever three replicas go through: what each set of rules guarantees, and what it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.cluster_impl.replication.follower import GRAIN, AppendHistory
from fencepost.cluster_impl.replication.progress import ReplicaRole
from fencepost.cluster_impl.replication.rules import KIP_101, REPLICATION_V2, Rules
from fencepost.cluster_impl.wire.batches import split
from tests.cluster_impl.replication.direct import NO_LEADER, Replicas
from tests.cluster_impl.replication.parts import CONFIG

IDS = (1, 2, 3)
STEPS = (
    "produce", "fetch", "fetch", "fetch_in_vain", "checkpoint", "kill", "bounce", "start", "elect", "elect", "settle"
)  # fmt: skip
Step = tuple[str, int]
HISTORIES = st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from(IDS)), min_size=20, max_size=80).map(
    lambda steps: [("elect", 1), *steps]
)


class History:
    """Does what a step says, if that can happen; otherwise nothing. Checks after each step."""

    def __init__(self, rules: Rules, may_end: Callable[[Replicas], bool]) -> None:
        self.replicas = Replicas(rules, IDS)
        self._may_end = may_end
        self._written = 0
        self._marks: dict[int, int] = {}

    def run(self, steps: Sequence[Step]) -> Replicas:
        for name, node_id in steps:
            getattr(self, name)(node_id)
            self.check()
        return self.replicas

    def check(self) -> None:
        replicas = self.replicas
        for node_id, node in replicas.nodes.items():
            assert node.core.high_watermark <= len(replicas.disks[node_id])
        for entries in replicas.disks.values():
            epochs = [split(entry)[0].leader_epoch for entry in entries]
            assert epochs == sorted(epochs), "leader epochs go back"
        if replicas.leader in replicas.nodes and replicas.leading.core.role is ReplicaRole.LEADER:
            mark = replicas.leading.core.high_watermark
            assert mark >= self._marks.get(replicas.epoch, 0), "the high watermark of a leader term goes back"
            self._marks[replicas.epoch] = mark

    def produce(self, _: int) -> None:
        if self.replicas.leader != NO_LEADER:
            self._written += 1
            self.replicas.produce(f"m{self._written}")

    def fetch(self, node_id: int) -> None:
        if node_id in self.replicas.nodes:
            self.replicas.fetch(node_id)

    def fetch_in_vain(self, node_id: int) -> None:
        if node_id in self.replicas.nodes:
            self.replicas.fetch(node_id, answered=False)

    def checkpoint(self, node_id: int) -> None:
        if node_id in self.replicas.nodes:
            self.replicas.checkpoint(node_id)

    def kill(self, node_id: int) -> None:
        if node_id in self.replicas.nodes and (node_id != self.replicas.leader or self._may_end(self.replicas)):
            self.replicas.kill(node_id)

    def bounce(self, node_id: int) -> None:
        self.kill(node_id)
        self.start(node_id)

    def start(self, node_id: int) -> None:
        if node_id not in self.replicas.nodes:
            self.replicas.start(node_id)

    def elect(self, node_id: int) -> None:
        """A replica in sync is elected where there is no leader, lets those copy that live, and serves clients."""
        replicas = self.replicas
        if replicas.leader != NO_LEADER or node_id not in replicas.isr or node_id not in replicas.nodes:
            return
        replicas.elect(node_id, serves_clients=False)
        followers = [other for other in replicas.nodes if other != node_id]
        for other in followers:
            replicas.copy(other)
        ends = replicas.leading.core.progress(replicas.now).ends
        caught_up = [other for other in followers if ends[other] == len(replicas.disks[node_id])]
        replicas.serve((node_id, *caught_up))

    def settle(self, _: int) -> None:
        """Time passes: a lagging replica leaves the ISR, and one with all records joins."""
        if self.replicas.leader != NO_LEADER:
            self.replicas.settle_isr()
            self.replicas.now += CONFIG.lag_limit + 1
            self.replicas.settle_isr()


def at_any_time(_: Replicas) -> bool:
    return True


def when_all_in_sync_have_what_is_committed(replicas: Replicas) -> bool:
    return not any(replicas.lost(member) for member in replicas.isr)


def what_is_wrong(replicas: Replicas) -> str:
    if replicas.leader != NO_LEADER and replicas.serves_clients and replicas.lost(replicas.leader):
        return "the leader lacks what was committed"
    if any(len(set(at)) > 1 for at in zip(*(log[: len(replicas.committed)] for log in _known(replicas)), strict=False)):
        return "replicas differ in what was committed"
    return ""


def _known(replicas: Replicas) -> list[list[bytes]]:
    """Return the committed records of each living replica, as far as it knows."""
    return [replicas.disks[node_id][: node.core.high_watermark] for node_id, node in replicas.nodes.items()]


@settings(max_examples=300)
@given(HISTORIES)
def test_by_leader_epochs_nothing_committed_is_lost_whichever_replica_dies(steps: list[Step]) -> None:
    assert what_is_wrong(History(KIP_101, at_any_time).run(steps)) == ""


@settings(max_examples=300)
@given(HISTORIES)
def test_by_the_rules_of_v2_nothing_is_lost_if_leaders_outlive_followers_that_copy_again_what_they_cut(
    steps: list[Step],
) -> None:
    assert what_is_wrong(History(REPLICATION_V2, when_all_in_sync_have_what_is_committed).run(steps)) == ""


LOSS: list[Step] = [
    ("elect", 1), ("produce", 1), ("fetch", 2), ("fetch", 3), ("fetch", 2), ("fetch", 3),
    ("kill", 2), ("start", 2), ("kill", 1), ("kill", 3), ("elect", 2),
]  # fmt: skip
"""Both followers have the record, and neither knows that it is committed; one cuts it, and outlives the others."""


@pytest.mark.parametrize(("rules", "wrong"), [(KIP_101, ""), (REPLICATION_V2, "the leader lacks what was committed")])
def test_without_that_the_rules_of_v2_lose_what_leader_epochs_keep(rules: Rules, wrong: str) -> None:
    assert what_is_wrong(History(rules, at_any_time).run(LOSS)) == wrong
    if wrong:
        assert what_is_wrong(History(rules, when_all_in_sync_have_what_is_committed).run(LOSS)) == ""


GAPS = st.lists(st.tuples(st.integers(1, 5), st.floats(0, 3)), min_size=1, max_size=40)


@settings(max_examples=300)
@given(GAPS, st.floats(0.5, 10))
def test_a_record_is_never_taken_for_older_than_it_is_unless_it_is_long_ago(
    appends: list[tuple[int, float]], limit: float
) -> None:
    growth, now, end = AppendHistory(limit), 0.0, 0
    times: list[float] = []
    for count, gap in appends:
        now += gap
        end += count
        times += [now] * count
        growth.grew(end, now)
    for offset, written in enumerate(times):
        known = growth.written_at(offset)
        if known == float("-inf"):
            assert now - written > limit
        else:
            assert written <= known <= written + limit * GRAIN
