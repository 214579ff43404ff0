"""All that faults see of a cluster."""

from __future__ import annotations

from typing import Protocol

from fencepost.faults.capabilities.clocks import Clocks
from fencepost.faults.capabilities.containers import Containers
from fencepost.faults.capabilities.directories import Directories
from fencepost.faults.capabilities.disks import Disks, LogDirs
from fencepost.faults.capabilities.links import Links
from fencepost.faults.capabilities.messages import Messages
from fencepost.faults.capabilities.processes import Duplicates, Processes
from fencepost.faults.capabilities.security import Certificates, Users


class Cluster(Protocol):
    """A running cluster, as far as faults see it."""

    @property
    def processes(self) -> Processes: ...

    @property
    def links(self) -> Links: ...

    @property
    def messages(self) -> Messages: ...

    @property
    def duplicates(self) -> Duplicates: ...

    @property
    def log_dirs(self) -> LogDirs: ...

    @property
    def directories(self) -> Directories: ...

    @property
    def disks(self) -> Disks: ...

    @property
    def clocks(self) -> Clocks: ...

    @property
    def containers(self) -> Containers: ...

    @property
    def certificates(self) -> Certificates: ...

    @property
    def users(self) -> Users: ...
