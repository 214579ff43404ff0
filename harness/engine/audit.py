"""Audit the machinery beside the steps: connections that bypass the links, a dead Toxiproxy.

Reading the socket tables of six processes takes a tenth of a second, on a busy machine more than one; a scenario with a
deadline to meet must not wait for that.
"""

from __future__ import annotations

import threading

from fencepost.harness.cluster.cluster import Cluster
from fencepost.results.records.journal import JournalWriter

AUDITED = frozenset({"start", "roll", "inject", "heal", "heal-all"})
"""Steps after which nodes connect anew, and might bypass their links."""


class Auditor:
    """Audits in a thread of its own whenever it is requested, while entered. Journals each problem once."""

    def __init__(self, cluster: Cluster, journal: JournalWriter) -> None:
        self._cluster = cluster
        self._journal = journal
        self._requested = threading.Event()
        self._over = False
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._thread = threading.Thread(target=self._work, name="auditor")

    def request(self) -> None:
        """Request an audit; a request during an audit leads to one more."""
        self._requested.set()

    def audit(self) -> None:
        """Audit now."""
        with self._lock:
            for message in self._cluster.problems():
                self._record(message)

    def record(self, message: str) -> None:
        """Journal a problem of the machinery that was found elsewhere."""
        with self._lock:
            self._record(message)

    def _record(self, message: str) -> None:
        if message not in self._known:
            self._known.add(message)
            self._journal.infrastructure(message)

    def __enter__(self) -> Auditor:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._requested.set()
        self._thread.join()

    def _work(self) -> None:
        while self._requested.wait() and not self._over:
            self._requested.clear()
            try:
                self.audit()
            except Exception as error:
                self._journal.infrastructure(f"the audit of the nodes' connections failed: {error!r}")
