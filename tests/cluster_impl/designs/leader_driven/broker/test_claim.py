"""A broker works in no session that has not claimed its id; the ZooKeeper here is only a session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from fencepost.cluster_impl.config.nodes import LeaderDrivenNodeConfig
from fencepost.cluster_impl.coordination import znodes as zk
from fencepost.cluster_impl.coordination.errors import NodeExistsError, SessionExpired
from fencepost.cluster_impl.coordination.zookeeper import ZooKeeper
from fencepost.cluster_impl.designs.leader_driven import znodes
from fencepost.cluster_impl.designs.leader_driven.broker import broker as broker_module
from fencepost.cluster_impl.designs.leader_driven.broker.broker import LeaderDrivenBroker
from fencepost.cluster_impl.designs.leader_driven.broker.claim import IdClaim
from fencepost.cluster_impl.failures import NodeFailure
from tests.cluster_impl.config.test_leader_driven import BROKER
from tests.cluster_impl.configs import config_of

ME = 4


@dataclass
class Sessions:
    """Stands in for `ZooKeeper`: ephemeral znodes of one session after the other."""

    session_id: int = 1
    session_timeout: float = 0.5
    owners: dict[str, int] = field(default_factory=dict)
    listeners: list[Any] = field(default_factory=list)
    refuses: bool = False
    """No other session is open yet."""
    watching: list[Callable[[None], None]] = field(default_factory=list)
    reading: Callable[[], None] = lambda: None
    """Called while the live brokers are read."""

    def expire(self) -> None:
        """Expire the session; the next one is not open yet."""
        self.owners = {path: owner for path, owner in self.owners.items() if owner != self.session_id}
        self.session_id, self.refuses, self._next = 0, True, self.session_id + 1

    async def until_connected(self) -> None:
        await asyncio.sleep(0)
        if self.refuses:
            self.session_id, self.refuses = self._next, False

    async def create(self, path: str, data: bytes, *, ephemeral: bool, make_parents: bool) -> zk.CreatedZnode:
        self._check()
        if path in self.owners:
            raise NodeExistsError(path)
        self.owners[path] = self.session_id
        return zk.CreatedZnode(path, self._stat(path))

    async def exists(self, path: str, watch: Any = None) -> zk.Stat | None:
        self._check()
        if watch is not None:
            self.watching.append(watch)
        return self._stat(path) if path in self.owners else None

    async def get(self, path: str) -> zk.Znode:
        return zk.Znode(znodes.write_claim(znodes.ClaimZnode(1, "elsewhere")), self._stat(path))

    async def children(self, path: str, watch: Any = None) -> list[str]:
        self.reading()
        self._check()
        return []

    def _check(self) -> None:
        if self.refuses:
            raise SessionExpired("the session expired")

    def _stat(self, path: str) -> zk.Stat:
        return zk.Stat(czxid=1, mzxid=1, pzxid=1, version=0, ephemeral_owner=self.owners[path])


class FakeBrokerSession:
    """Records the session in which it was created, and the holder of the claim at that time."""

    made: list[tuple[int, int | None]]

    def __init__(self, zookeeper: Sessions, *_: object) -> None:
        self.made.append((zookeeper.session_id, zookeeper.owners.get(znodes.claim(ME))))

    async def begin(self) -> None:
        pass

    def end(self) -> None:
        pass


def a_broker(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> tuple[IdClaim, LeaderDrivenBroker]:
    FakeBrokerSession.made = []
    monkeypatch.setattr(broker_module, "BrokerSession", FakeBrokerSession)
    zookeeper = cast("ZooKeeper", sessions)
    claim = IdClaim(zookeeper, ME)
    broker = LeaderDrivenBroker(
        config_of(LeaderDrivenNodeConfig, BROKER | {"broker.id": str(ME)}),
        zookeeper,
        claim,
        "cluster",
        cast("Any", ()),
        lambda _, rules: cast("Any", None),
    )
    return claim, broker


@pytest.mark.requirement("DLD-01", "DLD-16")
@pytest.mark.parametrize("when", ["before the broker begins", "while it reads the live brokers"])
async def test_a_broker_works_in_no_session_that_has_not_claimed_its_id(
    monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    sessions = Sessions()
    claim, broker = a_broker(sessions, monkeypatch)
    await claim.first()

    def once() -> None:
        sessions.reading = lambda: None
        sessions.expire()

    if when == "before the broker begins":
        sessions.expire()
    else:
        sessions.reading = once
    await broker._joined()
    assert FakeBrokerSession.made == [(2, 2)]


@pytest.mark.requirement("DLD-01")
async def test_a_broker_whose_id_was_claimed_by_another_process_before_it_began_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sessions = Sessions()
    claim, broker = a_broker(sessions, monkeypatch)
    await claim.first()
    sessions.expire()
    sessions.owners[znodes.claim(ME)] = 99
    with pytest.raises(NodeFailure, match="broker id 4 was claimed by another process"):
        await broker._joined()
    assert FakeBrokerSession.made == []


@pytest.mark.requirement("DLD-01")
async def test_a_claim_that_is_taken_again_right_after_an_expiry_waits_for_the_next_session() -> None:
    """The znode of the session that expired may still be there for a moment."""

    sessions = Sessions()
    claim = IdClaim(cast("ZooKeeper", sessions), ME)
    await claim.first()
    path = znodes.claim(ME)
    sessions.expire()
    sessions.owners[path] = 1
    again = asyncio.create_task(claim.again())
    while not sessions.watching:  # noqa: ASYNC110
        await asyncio.sleep(0)
    del sessions.owners[path]
    sessions.watching.pop()(None)
    await again
    assert sessions.owners[path] == 2
