"""Counts the watches that ZooKeeper's servers hold, by their four-letter commands.

`wchc` lists watches on data, and on what is not there yet, by session; those on children are in the count of `mntr`
alone. A server knows only the watches of its own sessions, so all are asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fencepost.harness.clients.zookeeper.leaderless import ROOT
from fencepost.harness.clients.zookeeper.server import four_letters
from fencepost.harness.network.addresses import Endpoint

LEADER = re.compile(r"/brokers/topics/([^/]+)/[0-9]+/leader")
ALL = "[^/]+"
SESSION = re.compile(r"0x[0-9a-f]+")
TOTAL = re.compile(r"^zk_watch_count\s+([0-9]+)", re.MULTILINE)


@dataclass(frozen=True)
class WatchCounts:
    """`sessions`: the leader watches of each session. `others` by path, numbers left out: what else is watched."""

    leader: int = 0
    other: int = 0
    children: int = 0
    sessions: Mapping[str, int] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    def any(self) -> int:
        return self.leader + self.other + self.children

    def of(self, kind: str) -> int:
        number: int = getattr(self, kind)
        return number


def count_watches(servers: Collection[Endpoint], timeout: float, topics: str = ALL) -> WatchCounts | None:
    """Count the watches of all servers; None unless each answers. `topics`: a regular expression for leader watches."""
    answers = []
    for server in servers:
        listed, measured = (four_letters(server, letters, timeout) for letters in ("wchc", "mntr"))
        total = TOTAL.search(measured or "")
        if listed is None or total is None:
            return None
        answers.append((listed, int(total[1])))
    return counted(answers, topics)


def counted(answers: Collection[tuple[str, int]], topics: str = ALL) -> WatchCounts:
    """Count from the list of each server and its total."""
    sessions: Counter[str] = Counter()
    others: Counter[str] = Counter()
    children = 0
    for listed, total in answers:
        session = ""
        for line in map(str.strip, listed.splitlines()):
            if SESSION.fullmatch(line):
                session = line
            elif line:
                total -= 1
                if (leader := LEADER.fullmatch(line)) and re.fullmatch(topics, leader[1]):
                    sessions[session] += 1
                elif line != ROOT:  # that is the harness's own
                    others[re.sub(r"[0-9]+", "N", line)] += 1
        children += total
    return WatchCounts(sessions.total(), others.total(), children, dict(sessions), dict(others))
