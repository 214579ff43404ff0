"""A name table for each process, in the form of /etc/hosts: gives each node its own address for each peer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class Hosts:
    addresses: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path | str | None) -> Self:
        """Load lines of `address name [name ...]`, where `#` starts a comment. Without a path the table is empty.

        Raises ValueError with file and line for a line that has an address and no name.
        """
        addresses: dict[str, str] = {}
        lines = Path(path).read_text("utf-8").splitlines() if path is not None else []
        for number, line in enumerate(lines, start=1):
            address, *names = line.partition("#")[0].split() or [""]
            if address and not names:
                raise ValueError(f"{path}, line {number}: the address {address} has no name beside it")
            addresses.update(dict.fromkeys(names, address))
        return cls(addresses)

    def address(self, name: str) -> str:
        """Return the address in the table, or the name itself, which the system then resolves."""
        return self.addresses.get(name, name)
