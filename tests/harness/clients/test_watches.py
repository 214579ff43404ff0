"""Watches are classified by their paths; the list of a server leaves some out."""

from __future__ import annotations

from fencepost.harness.clients.zookeeper.watches import WatchCounts, counted

FIRST = """0x100016664750001
\t/brokers
0x100016664750000
\t/brokers/topics/t/0/leader
\t/brokers/topics/t/11/leader
\t/brokers/partitions_reassigned/t/0

"""
SECOND = """0x200016664750000
\t/brokers/topics/t/0/leader
"""


def test_watches_of_all_servers_are_counted_by_kind() -> None:
    counts = counted([(FIRST, 7), (SECOND, 1)])
    assert (counts.leader, counts.other, counts.children, counts.any) == (3, 1, 3, 7)
    assert counts.sessions == {"0x100016664750000": 2, "0x200016664750000": 1}
    assert counts.others == {"/brokers/partitions_reassigned/t/N": 1}


def test_the_leaders_of_some_topics_are_counted_alone() -> None:
    counts = counted([(FIRST, 7), (SECOND.replace("/t/0", "/many-7/0"), 1)], "many-.*")
    assert (counts.leader, counts.other, counts.any) == (1, 3, 7)
    assert counts.others["/brokers/topics/t/N/leader"] == 2


def test_nothing_is_watched_where_only_the_harness_is() -> None:
    assert counted([("0x1\n\t/brokers\n", 1)]) == WatchCounts()
