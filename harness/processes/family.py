"""All processes that the start of one node led to: what it started itself, and what those started."""

from __future__ import annotations

import time
from collections.abc import Mapping

from fencepost.harness.processes import table
from fencepost.harness.processes.records import TOKEN
from fencepost.harness.processes.table import Identity, Relation

ASK_EVERY = 0.02


class ProcessSnapshot:
    """One look at the process table, in which the families of several nodes are found."""

    def __init__(self) -> None:
        self._all: Mapping[Identity, Relation] = table.relations()
        self._tokens: dict[int, str] = {}

    def family(self, leader: int, token: str | None = None) -> list[Identity]:
        """Return the living processes in the session of `leader`, those with `token`, and the descendants of both.

        A helper that leads a session of its own is known by its parent as long as that lives, and by the token in its
        environment; only one that gives up all three is not found.
        """
        family = {
            identity.pid: identity
            for identity, relation in self._all.items()
            if leader in (identity.pid, relation.session) or (token and self._token(identity.pid) == token)
        }
        while children := {
            identity.pid: identity
            for identity, relation in self._all.items()
            if identity.pid not in family and relation.parent in (leader, *family)
        }:
            family |= children
        return list(family.values())

    def _token(self, pid: int) -> str:
        if pid not in self._tokens:
            self._tokens[pid] = table.variable(pid, TOKEN)
        return self._tokens[pid]


def end_family(leader: int, token: str, timeout: float) -> list[Identity]:
    """SIGKILL all of a family until none is left. Return those that are still there after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while living := ProcessSnapshot().family(leader, token):
        for identity in living:
            table.kill(identity)
        if time.monotonic() > deadline:
            break
        time.sleep(ASK_EVERY)
    return living
