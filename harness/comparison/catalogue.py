"""The probes: one file for each request of the protocol that a client may send."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from fencepost.harness.plan.base import Name, PlanModel
from fencepost.harness.yaml_file import parse_mapping, read_text, validated

PROBES = Path(__file__).parent / "probes"
"""The folder of the shipped files."""


class Ask(PlanModel):
    """One request. `binds` names values of its answer, by path, for later requests of the file: `$name`."""

    api: str | None = None
    """None: that of the file."""
    version: int | None = None
    """The newest version to send. None: that of the file."""
    body: dict[str, Any] = Field(default_factory=dict)
    """Its fields, beside those of the file. `$broker` is the id of the broker."""
    binds: dict[Name, str] = Field(default_factory=dict)


class Probe(Ask):
    """A request whose answers are compared."""

    name: Name
    says: str = ""
    """A hint, where the name is not enough."""
    before: tuple[Ask, ...] = ()
    """Requests that come first, each again until it is served."""


class Probes(PlanModel):
    """The probes of one request, which are sent in their order."""

    api: str
    version: int | None = None
    body: dict[str, Any] = Field(default_factory=dict)
    """Fields that all requests of the file have, unless they say otherwise."""
    topics: dict[Name, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    """Topics that are created before all probes, with their numbers of partitions."""
    before: tuple[Ask, ...] = ()
    """Requests that come first, each again until it is served."""
    probes: Annotated[tuple[Probe, ...], Field(min_length=1)]


@cache
def shipped_probes() -> tuple[Probes, ...]:
    """Return the probes of all shipped files, by the names of the files. YamlFileError for a mistake in one."""
    return tuple(read_probes(path) for path in sorted(PROBES.glob("*.yaml")))


def read_probes(path: Path) -> Probes:
    """Return the probes of a file. YamlFileError with a line for each mistake."""
    data = parse_mapping(read_text(path, "file of probes"), str(path), "file of probes", "api: metadata")
    return validated(Probes, data, str(path))
