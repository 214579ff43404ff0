"""Change the network and the limits of a container while its node runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from docker.errors import APIError, DockerException

from fencepost.faults.capabilities import CapabilityError, Limits
from fencepost.harness.backends.docker import cgroups
from fencepost.harness.backends.docker.engine import engine
from fencepost.harness.errors import InfrastructureError

if TYPE_CHECKING:
    from fencepost.harness.backends.docker.environment import PodEnvironment

PERIOD = 100_000
"""Microseconds: the kernel hands out a share of the processor in periods of this length."""
NO_QUOTA = -1
LOOPS = "1 2 3 4 5 6 7 8"


class NodeContainers:
    """Implements `fencepost.faults.capabilities.Containers`."""

    def __init__(self, pods: PodEnvironment) -> None:
        self._pods = pods

    def disconnect(self, node: str) -> None:
        self._request(f"disconnect {node}", lambda: self._pods.network.disconnect(self._pods.pod(node).id))

    def connect(self, node: str) -> None:
        pod = self._pods.pod(node)
        self._request(f"connect {node}", lambda: self._pods.network.connect(pod.id, pod.node.address))

    def address(self, node: str) -> str | None:
        found: list[str | None] = []
        self._request(f"ask about {node}", lambda: found.append(self._pods.network.address_of(self._pods.pod(node).id)))
        return found[0]

    def limit_memory(self, node: str, bytes_: int | None) -> None:
        """Limit the memory; None sets that of the machine, since the engine cannot remove a limit."""
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

        self._request(f"run a loop in {node}", run)

    def _update(self, node: str, **limits: int) -> None:
        container = self._pods.backend.container_of(node)
        self._request(f"limit {node}", lambda: engine().api.update_container(container.id, **limits))

    def _request(self, what: str, call: Callable[[], object]) -> None:
        """Raise CapabilityError if the engine refuses a request, InfrastructureError if it does not answer."""
        try:
            call()
        except APIError as error:
            raise CapabilityError(f"the engine refused to {what}: {error.explanation or error}") from error
        except (DockerException, OSError) as error:
            raise InfrastructureError(f"the engine could not {what}: {error}") from error
