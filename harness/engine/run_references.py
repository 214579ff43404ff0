"""The references of a run, as the base of what conditions, requests and steps see of it."""

from __future__ import annotations

from typing import Any

from fencepost.faults.capabilities import Processes
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.references import References


class RunReferences(References):
    """The references of a run, with its cluster, its clients and its journal."""

    def __init__(self, context: Context) -> None:
        known = context.references
        super().__init__(
            known.plan,
            known.dialect,
            known.observations,
            known.clock,
            known.promises,
            known.bound,
            known.redirects,
            known.finds_coordinators,
        )
        self.journal = context.journal
        self._cluster = context.cluster
        self._clients = context.clients

    @property
    def processes(self) -> Processes:
        return self._cluster.processes

    def bind(self, name: str, value: Any) -> None:
        """Let `$name` stand for a value from now on."""
        self.bound[name] = value
