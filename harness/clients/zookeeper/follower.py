"""Follows ZooKeeper's tree at one server that answers, and at the next when that one is silent.

A short question tells the server's last transaction; the tree is read when that moved on. So nothing is missed for
longer than the time between two questions, and an idle cluster costs next to nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from threading import Event

from fencepost.harness.clients.zookeeper.connection import ZooKeeperConnection
from fencepost.harness.clients.zookeeper.tree import Tree
from fencepost.harness.network.addresses import Endpoint
from fencepost.harness.wire.no_answer import NoAnswer

Read = Callable[[ZooKeeperConnection, Collection[str]], Tree]
"""Reads the tree of a cluster, and the znodes at the wanted paths besides. NoAnswer if the server stops answering."""

EVERY = 0.025
"""Seconds between two questions."""
SILENT_AFTER = 0.6
"""Seconds without an answer after which the next server is asked."""
AGAIN_AFTER = 0.1
"""Seconds of rest when all servers were asked in vain."""


class Follower:
    """`on_tree` is given each new tree, `on_silence` is called when no server answers, again and again until one does.

    `read` is how; `wanted` names the paths that are to be read besides the cluster's own.
    """

    def __init__(
        self,
        servers: Sequence[Endpoint],
        read: Read,
        wanted: Callable[[], Collection[str]],
        on_tree: Callable[[Tree], None],
        on_silence: Callable[[], None],
    ) -> None:
        self._servers = servers
        self._read = read
        self._wanted = wanted
        self._on_tree = on_tree
        self._on_silence = on_silence
        self._tree: Tree | None = None
        self._silent = False
        self._asked = 0
        self.answered = 0
        """The number of the last question of `ask_anew` that was answered."""

    def ask_anew(self) -> int:
        """Ask for all that any server knows by now; the answer is there when `answered` reached this number."""
        self._asked += 1
        return self._asked

    def run(self, stopping: Event) -> None:
        """Follow the tree until stopped."""
        failed = 0
        for server in itertools.cycle(self._servers):
            if stopping.is_set():
                return
            failed = 0 if self._follow(server, stopping) else failed + 1
            if failed >= len(self._servers):
                self._silent = True
                self._on_silence()
                stopping.wait(AGAIN_AFTER)

    def _follow(self, server: Endpoint, stopping: Event) -> bool:
        """For as long as it answers; whether it ever did. A server that is behind what was read refuses."""
        seen = self._tree.zxid if self._tree else 0
        answered = False
        try:
            with ZooKeeperConnection(server, SILENT_AFTER, seen) as connection:
                while not stopping.is_set():
                    self._look(connection)
                    answered = True
                    stopping.wait(EVERY)
        except NoAnswer:
            pass
        return answered

    def _look(self, connection: ZooKeeperConnection) -> None:
        asked, wanted = self._asked, self._wanted()
        if asked > self.answered:
            connection.catch_up()
        known, newest = self._tree, connection.newest()
        if known is None or newest > known.zxid or not known.whole or known.znodes.keys() != set(wanted):
            self._tree = self._read(connection, wanted)
        if self._tree is not None and (self._tree is not known or self._silent):
            self._silent = False
            self._on_tree(self._tree)
        self.answered = asked
