"""Nodes that are not in containers."""

from __future__ import annotations

from typing import NoReturn

from fencepost.faults.capabilities import CapabilityError, Limits


class NoContainers:
    """Implements `fencepost.faults.capabilities.Containers` with an error: only plans for containers need it."""

    def disconnect(self, node: str) -> None:
        self._refuse(node)

    def connect(self, node: str) -> None:
        self._refuse(node)

    def address(self, node: str) -> str | None:
        self._refuse(node)

    def limit_memory(self, node: str, bytes_: int | None) -> None:
        self._refuse(node)

    def limit_cpus(self, node: str, cpus: float | None) -> None:
        self._refuse(node)

    def limits(self, node: str) -> Limits:
        self._refuse(node)

    def spin(self, node: str, seconds: float) -> None:
        self._refuse(node)

    def _refuse(self, node: str) -> NoReturn:
        raise CapabilityError(
            f"{node} is a process, which has no network and no limits of its own: run the plan with --backend docker"
        )
