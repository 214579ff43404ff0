"""Address leases of dead runs, and the sockets that theirs listened on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fencepost.harness.cleaning.leftover import Leftover
from fencepost.harness.network.lease import forget, leases


def of_run(run: Path) -> list[Leftover]:
    held = [Leftover("addresses", "", f"127.{lease.k}.*", lease) for lease in leases() if lease.run == run]
    return [*held, *(Leftover("socket", path.name, str(path), path) for path in sorted(run.glob("*.sock")))]


def remove(found: Sequence[Leftover]) -> None:
    for each in found:
        if each.kind == "socket":
            each.handle.unlink(missing_ok=True)
        else:
            forget(each.handle)
