"""The network of one cluster: an internal bridge with a free range of addresses."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from docker.errors import APIError, DockerException, NotFound
from docker.types import IPAMConfig, IPAMPool

from fencepost.harness.backends.docker.engine import engine
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.processes.resources import ResourceRecords

RANGES = ("10.213", "10.87", "172.30", "192.168")
"""Tried in this order with the cluster's own k as the third number."""
GATEWAY = 254
"""The machine itself: above every index of a node."""
TAKEN = ("overlaps", "conflicts")


class PodNetwork:
    """A context in which the network exists; its end disconnects remaining containers and removes it."""

    name: str
    range: str

    def __init__(self, run: Path, tag: str, k: int) -> None:
        self.name = tag
        self._k = k
        self._records = ResourceRecords(run)
        self._id = ""

    def __enter__(self) -> Self:
        reasons = []
        for first in RANGES:
            self.range = f"{first}.{self._k}"
            if (reason := self._make()) is None:
                return self
            reasons.append(reason)
        raise InfrastructureError(f"no range of addresses is free for the containers: {'; '.join(reasons)}")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        api = engine().api
        try:
            for container in api.inspect_network(self._id)["Containers"]:
                api.disconnect_container_from_network(container, self._id, force=True)
            api.remove_network(self._id)
        except NotFound:
            pass
        except (DockerException, OSError) as failure:
            raise InfrastructureError(f"the network {self.name} could not be removed: {failure}") from failure
        self._records.gone("network", self.name)

    def disconnect(self, container: str) -> None:
        """Take a pod off the network. Does nothing if it is off already."""
        if self.address_of(container) is not None:
            engine().api.disconnect_container_from_network(container, self._id, force=True)

    def connect(self, container: str, address: str) -> None:
        """Put a pod back at its address. Does nothing if it is there."""
        if self.address_of(container) is None:
            engine().api.connect_container_to_network(container, self._id, ipv4_address=address)

    def address_of(self, container: str) -> str | None:
        """The address that the engine has for a pod in this network; None if it is not in it."""
        networks = engine().api.inspect_container(container)["NetworkSettings"]["Networks"]
        return networks[self.name]["IPAddress"] or None if self.name in networks else None

    def _make(self) -> str | None:
        """Create the network; return None, or the reason why this range is unavailable."""
        pool = IPAMPool(subnet=f"{self.range}.0/24", gateway=f"{self.range}.{GATEWAY}")
        stamp = self._records.intend("network", self.name)
        try:
            made = engine().api.create_network(
                self.name,
                driver="bridge",
                ipam=IPAMConfig(pool_configs=[pool]),
                internal=True,
                labels=stamp.labels,
            )
        except APIError as error:
            self._records.gone("network", self.name)
            if any(word in str(error.explanation) for word in TAKEN):
                return f"{self.range}.0/24 {error.explanation}"
            raise InfrastructureError(f"no network for the containers could be made: {error.explanation}") from error
        except (DockerException, OSError) as error:
            raise InfrastructureError(f"no network for the containers could be made: {error}") from error
        self._id = made["Id"]
        self._records.made("network", self.name, network=self._id)
        return None
