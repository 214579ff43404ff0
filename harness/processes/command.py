"""The command line of a process."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MOUNT = 'mount --bind "$0" /etc/hosts && exec "$@"'


@dataclass(frozen=True)
class Command:
    """A program with its arguments. `environment` is added to that of the harness, or of a container's image."""

    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    image: str | None = None
    """The image of the container backend. None: one is derived from the command line."""
    hosts: Path | None = None
    """The name table that a process sees as /etc/hosts. A container has its name table in any case."""
    version: str | None = None
    """The release of the program, if the nodes of one cluster have different ones."""

    @property
    def argv_with_hosts(self) -> Sequence[str]:
        """The command line of a process that sees its name table, in a mount namespace of its own; its pid stays."""
        if self.hosts is None:
            return self.argv
        return (*_unshare(), "sh", "-c", MOUNT, str(self.hosts), *self.argv)


@functools.cache
def no_name_tables() -> str | None:
    """Return why no process can see a name table as its /etc/hosts here; None if processes can."""
    command = [*_unshare(), "sh", "-c", MOUNT, "/etc/hosts", "true"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        return f"unshare cannot be run ({error.strerror})"
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def _unshare() -> Sequence[str]:
    user = () if os.getuid() == 0 else ("--user", "--map-root-user")
    return ("unshare", *user, "--mount", "--propagation", "slave")
