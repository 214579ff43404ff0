"""Looks, beside the steps, for what makes a run worthless: a connection past the links, a dead Toxiproxy.

Reading the socket tables of six processes takes a tenth of a second, on a busy machine more than one; a story with a
deadline to meet must not wait for that.
"""

from __future__ import annotations

import threading

from harness.engine.context import Context

AUDITED = frozenset({"start", "roll", "inject", "heal", "heal-all"})
"""Steps after which nodes connect anew, and might do it past their links."""


class Auditor:
    """Entered, it looks whenever it is asked to, in a thread of its own. Each problem is journalled once."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._asked = threading.Event()
        self._over = False
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._thread = threading.Thread(target=self._work, name="auditor")

    def soon(self) -> None:
        """Ask for a look; what is asked for while one is under way is one more."""
        self._asked.set()

    def audit(self) -> None:
        """Look now."""
        with self._lock:
            for sentence in self._context.cluster.problems():
                self._tell(sentence)

    def tell(self, sentence: str) -> None:
        """What somebody else found to make the run worthless."""
        with self._lock:
            self._tell(sentence)

    def _tell(self, sentence: str) -> None:
        if sentence not in self._known:
            self._known.add(sentence)
            self._context.journal.trouble(sentence)

    def __enter__(self) -> Auditor:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._asked.set()
        self._thread.join()

    def _work(self) -> None:
        while self._asked.wait() and not self._over:
            self._asked.clear()
            try:
                self.audit()
            except Exception as error:
                self._context.journal.trouble(f"looking for connections past the links failed: {error!r}")
