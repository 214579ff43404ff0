"""Change the network and the limits of a container while its node runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from docker.errors import APIError, DockerException

from fencepost.faults.capabilities import CapabilityError, Limits
from fencepost.harness.backends.docker import cgroups
from fencepost.harness.backends.docker.containers import Container
from fencepost.harness.backends.docker.engine import engine
from fencepost.harness.backends.docker.networks import PodNetwork
from fencepost.harness.backends.docker.pod import Pod
from fencepost.harness.errors import InfrastructureError

PERIOD = 100_000
"""Microseconds: the kernel hands out a share of the processor in periods of this length."""
NO_QUOTA = -1
LOOPS = "1 2 3 4 5 6 7 8"

T = TypeVar("T")


class NodeContainers:
    """Implements `fencepost.faults.capabilities.Containers`."""

    def __init__(
        self, network: PodNetwork, pod_of: Callable[[str], Pod], container_of: Callable[[str], Container]
    ) -> None:
        self._network = network
        self._pod_of = pod_of
        self._container_of = container_of

    def disconnect(self, node: str) -> None:
        self._request(f"disconnect {node}", lambda: self._network.disconnect(self._pod_of(node).id))

    def connect(self, node: str) -> None:
        pod = self._pod_of(node)
        self._request(f"connect {node}", lambda: self._network.connect(pod.id, pod.node.address))

    def address(self, node: str) -> str | None:
        return self._request(f"ask about {node}", lambda: self._network.address_of(self._pod_of(node).id))

    def limit_memory(self, node: str, bytes_: int | None) -> None:
        """Limit the memory; None sets that of the machine, since the engine cannot remove a limit."""
        limit = bytes_ or cgroups.memory_of_the_machine()
        self._update(node, mem_limit=limit, memswap_limit=limit)

    def limit_cpus(self, node: str, cpus: float | None) -> None:
        self._update(node, cpu_period=PERIOD, cpu_quota=NO_QUOTA if cpus is None else round(cpus * PERIOD))

    def limits(self, node: str) -> Limits:
        return cgroups.limits(self._container_of(node).pid)

    def spin(self, node: str, seconds: float) -> None:
        container = self._container_of(node)
        # Several, since on a busy machine each gets little, and `timeout` ends all that it started.
        loop = ["timeout", f"{seconds:g}", "sh", "-c", f"for each in {LOOPS}; do while :; do :; done & done; wait"]

        def run() -> None:
            made = engine().api.exec_create(container.id, loop, stdout=False, stderr=False)
            engine().api.exec_start(made["Id"])

        self._request(f"run a loop in {node}", run)

    def _update(self, node: str, **limits: int) -> None:
        container = self._container_of(node)
        self._request(f"limit {node}", lambda: engine().api.update_container(container.id, **limits))

    def _request(self, what: str, call: Callable[[], T]) -> T:
        """Raise CapabilityError if the engine refuses a request, InfrastructureError if it does not answer."""
        try:
            return call()
        except APIError as error:
            raise CapabilityError(f"the engine refused to {what}: {error.explanation or error}") from error
        except (DockerException, OSError) as error:
            raise InfrastructureError(f"the engine could not {what}: {error}") from error
