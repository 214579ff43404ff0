"""The two cases of KIP-101 on two replicas: found by the rules of replication design V2, absent by those of KIP-101."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.replication.rules import KIP_101, REPLICATION_V2, LeaderStartsAt, Rules, TruncatesTo
from tests.cluster_impl.replication.direct import Replicas

A, B = 1, 2


def second_record_is_acknowledged(rules: Rules) -> Replicas:
    """A leads; both have m1 and m2; m2 is acknowledged, and B does not know yet that it is committed."""
    replicas = Replicas(rules)
    replicas.elect(A)
    replicas.produce("m1")
    replicas.copy(B)
    replicas.produce("m2")
    replicas.fetch(B)
    replicas.fetch(B, answered=False)
    replicas.checkpoint(A)
    replicas.checkpoint(B)
    assert len(replicas.committed) == 2 and replicas.nodes[B].core.high_watermark == 1
    return replicas


def case_1(rules: Rules) -> Replicas:
    """B restarts and cuts its log; before it has copied again what it cut, A dies and B is elected."""
    replicas = second_record_is_acknowledged(rules)
    replicas.kill(B)
    replicas.start(B)
    replicas.kill(A)
    replicas.elect(B)
    replicas.serve((B,))
    return replicas


def case_2(rules: Rules) -> Replicas:
    """And B writes on before A comes back."""
    replicas = case_1(rules)
    replicas.produce("m3")
    replicas.start(A)
    replicas.copy(A)
    return replicas


@pytest.mark.requirement("DLD-28")
def test_case_1_loses_an_acknowledged_record_where_followers_cut_to_their_high_watermark() -> None:
    replicas = case_1(REPLICATION_V2)
    assert replicas.values(B) == ["m1"] and replicas.lost(B)


def test_case_1_loses_nothing_where_followers_ask_for_the_leaders_epochs() -> None:
    replicas = case_1(KIP_101)
    assert replicas.values(B) == ["m1", "m2"] and not replicas.lost(B)


@pytest.mark.requirement("DLD-28")
def test_case_2_leaves_different_records_at_one_offset_where_followers_cut_to_their_high_watermark() -> None:
    replicas = case_2(REPLICATION_V2)
    assert (replicas.values(A), replicas.values(B)) == (["m1", "m2"], ["m1", "m3"])
    assert replicas.differ() == [1]
    replicas.serve((A, B))
    replicas.produce("m4")
    replicas.copy(A)
    assert replicas.differ() == [1], "and no replica ever notices"


def test_case_2_leaves_all_alike_where_followers_ask_for_the_leaders_epochs() -> None:
    replicas = case_2(KIP_101)
    assert replicas.values(A) == replicas.values(B) == ["m1", "m2", "m3"]


def test_case_2_leaves_all_alike_by_leader_epochs_also_where_a_disk_lost_what_it_had() -> None:
    """As the document tells it, with a power failure: nothing can bring m2 back, but the replicas agree."""
    replicas = second_record_is_acknowledged(KIP_101)
    replicas.kill(B)
    del replicas.disks[B][1:]
    replicas.kill(A)
    replicas.start(B)
    replicas.elect(B)
    replicas.serve((B,))
    replicas.produce("m3")
    replicas.start(A)
    replicas.copy(A)
    assert replicas.values(A) == replicas.values(B) == ["m1", "m3"]


def test_it_is_the_cut_that_loses_wherever_a_leader_starts() -> None:
    only_cut = Rules(truncates_to=TruncatesTo.HIGH_WATERMARK)
    only_start = Rules(leader_starts_at=LeaderStartsAt.LOG_END)
    assert case_1(only_cut).lost(B) and case_2(only_cut).differ() == [1]
    assert not case_1(only_start).lost(B) and case_2(only_start).differ() == []


def test_a_leader_that_is_deposed_while_it_waits_keeps_what_no_other_has() -> None:
    """The text raises the high watermark to the log's end before anybody has copied it; cut to it, nothing is cut."""
    replicas = Replicas(REPLICATION_V2)
    replicas.elect(A)
    replicas.produce("m1")
    replicas.copy(B)
    replicas.produce("only A has it")
    replicas.depose()
    replicas.elect(A, serves_clients=False)
    replicas.depose()
    replicas.elect(B)
    replicas.produce("m2")
    replicas.copy(A)
    assert (replicas.values(A), replicas.values(B)) == (["m1", "only A has it"], ["m1", "m2"])
