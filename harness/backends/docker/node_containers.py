"""What can be done to a container while a node runs in it: its network and its limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from docker.errors import APIError, DockerException

from faults.capabilities import CapabilityError, Limits
from harness.backends.docker import cgroups
from harness.backends.docker.engine import engine
from harness.errors import InfrastructureError

if TYPE_CHECKING:
    from harness.backends.docker.premises import Pods

PERIOD = 100_000
"""Microseconds: the kernel hands out a share of the processor in periods of this length."""
NO_QUOTA = -1
LOOPS = "1 2 3 4 5 6 7 8"


class NodeContainers:
    """Implements `faults.capabilities.Containers`."""

    def __init__(self, pods: Pods) -> None:
        self._pods = pods

    def disconnect(self, node: str) -> None:
        self._asked(f"disconnect {node}", lambda: self._pods.network.disconnect(self._pods.pod(node).id))

    def connect(self, node: str) -> None:
        pod = self._pods.pod(node)
        self._asked(f"connect {node}", lambda: self._pods.network.connect(pod.id, pod.node.address))

    def address(self, node: str) -> str | None:
        found: list[str | None] = []
        self._asked(f"ask about {node}", lambda: found.append(self._pods.network.address_of(self._pods.pod(node).id)))
        return found[0]

    def limit_memory(self, node: str, bytes_: int | None) -> None:
        """No limit is one of all the memory of the machine: the engine cannot take one away."""
        limit = bytes_ or cgroups.memory_of_the_machine()
        self._update(node, mem_limit=limit, memswap_limit=limit)

    def limit_cpus(self, node: str, cpus: float | None) -> None:
        self._update(node, cpu_period=PERIOD, cpu_quota=NO_QUOTA if cpus is None else round(cpus * PERIOD))

    def limits(self, node: str) -> Limits:
        return cgroups.limits(self._pods.backend.container_of(node).pid)

    def spin(self, node: str, seconds: float) -> None:
        container = self._pods.backend.container_of(node)
        # Several, since on a busy machine each gets little, and `timeout` ends all that it started.
        loop = ["timeout", f"{seconds:g}", "sh", "-c", f"for each in {LOOPS}; do while :; do :; done & done; wait"]

        def run() -> None:
            made = engine().api.exec_create(container.id, loop, stdout=False, stderr=False)
            engine().api.exec_start(made["Id"])

        self._asked(f"run a loop in {node}", run)

    def _update(self, node: str, **limits: int) -> None:
        container = self._pods.backend.container_of(node)
        self._asked(f"limit {node}", lambda: engine().api.update_container(container.id, **limits))

    def _asked(self, what: str, call: Callable[[], object]) -> None:
        """A refusal is the engine's word about what was asked for; silence is trouble with the engine itself."""
        try:
            call()
        except APIError as error:
            raise CapabilityError(f"the engine refused to {what}: {error.explanation or error}") from error
        except (DockerException, OSError) as error:
            raise InfrastructureError(f"the engine could not {what}: {error}") from error
