"""Leftovers of dead runs in the container engine, and the images that no container uses.

Containers and networks that outlived their harness carry the run and the token of the record as labels, and have the
recorded id where one was noted. Images of nodes and pods are no leftovers of a run: each change of the code makes new
ones, and the old ones go only when they are asked for; what is needed again is built again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fencepost.harness.backends.docker.build import LABEL
from fencepost.harness.backends.docker.engine import engine
from fencepost.harness.cleaning.leftover import Leftover, RemovalError
from fencepost.harness.processes import table
from fencepost.harness.processes.resources import (
    HARNESS_LABEL,
    RUN_LABEL,
    TOKEN_LABEL,
    RecordedResource,
    ResourceRecords,
    read_resources,
)

SECONDS = 30
"""How long the engine may take for one answer."""
CONFLICT = 409


class NoEngineError(Exception):
    """No engine answered; the message says which containers were not looked for."""


def of_run(run: Path) -> list[Leftover]:
    """Return the containers and networks of a run. Raises NoEngineError if it has records and no engine answers."""
    recorded = [each for each in read_resources(run) if each.kind in ("container", "network")]
    if not recorded:
        return []
    engine = _engine(f"{', '.join(each.id for each in recorded)} of {run} may still be there")
    found = []
    for resource in recorded:
        for each in _labelled(engine, resource.kind, f"{TOKEN_LABEL}={resource.token}"):
            known = resource.details.get(resource.kind)
            if each.id == (known or each.id):
                found.append(_leftover(resource.kind, each, (run, resource, each)))
    return found


def without_records() -> Iterator[tuple[Path, Leftover]]:
    """Yield labelled containers and networks whose harness is proven dead, with their run.

    Raises NoEngineError if no engine answers.
    """
    engine = _engine("whether containers of dead runs are there cannot be said")
    for kind in ("container", "network"):
        for each in _labelled(engine, kind, TOKEN_LABEL):
            labels = _labels(each)
            if labels.get(RUN_LABEL) and table.harness_lives(labels.get(HARNESS_LABEL, "")) is False:
                yield Path(labels[RUN_LABEL]), _leftover(kind, each, (None, None, each))


def remove(found: Sequence[Leftover]) -> None:
    """Containers before networks, which must be empty."""
    import docker  # optional dependency

    wrong = []
    for each in sorted(found, key=lambda one: one.kind == "network"):
        run, resource, thing = each.handle
        try:
            _remove(thing, each.kind)
        except docker.errors.NotFound:
            pass
        except (docker.errors.DockerException, OSError) as error:
            wrong.append(f"{each} could not be removed: {getattr(error, 'explanation', None) or error}")
            continue
        if resource is not None:
            _note_gone(run, resource)
    RemovalError.unless_none(wrong)


def _remove(thing: Any, kind: str) -> None:
    """Remove a container or network; raise NotFound if a request of its dead harness removed it meanwhile."""
    import docker  # optional dependency

    try:
        thing.remove(**({"force": True, "v": True} if kind == "container" else {}))
    except docker.errors.APIError as error:
        if error.status_code != CONFLICT or kind != "container":
            raise
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            thing.reload()
            time.sleep(0.1)
        raise


def _note_gone(run: Path, resource: RecordedResource) -> None:
    with suppress(OSError):  # a folder that is gone or read-only has nothing to note it in
        ResourceRecords(run).gone(resource.kind, resource.id)


def _engine(otherwise: str) -> Any:
    import docker  # optional dependency

    try:
        client = docker.from_env(timeout=SECONDS)
        client.ping()
    except (docker.errors.DockerException, OSError) as error:
        raise NoEngineError(
            f"no container engine answers, and {otherwise}: start it and clean again ({error})"
        ) from None
    return client


def _labelled(engine: Any, kind: str, label: str) -> list[Any]:
    import docker  # optional dependency

    try:
        if kind == "container":
            return list(engine.containers.list(all=True, filters={"label": label}, ignore_removed=True))
        return list(engine.networks.list(filters={"label": label}))
    except (docker.errors.DockerException, OSError) as error:
        raise NoEngineError(f"the container engine does not list its {kind}s: clean again ({error})") from None


def _labels(thing: Any) -> dict[str, str]:
    attributes = thing.attrs
    return dict(attributes.get("Labels") or attributes.get("Config", {}).get("Labels") or {})


def _leftover(kind: str, thing: Any, handle: tuple[Any, ...]) -> Leftover:
    return Leftover(kind, thing.name, thing.short_id, handle)


@dataclass(frozen=True)
class PruneReport:
    images: tuple[str, ...]
    """By tag, or by id where a newer image took the tag."""
    freed: int
    """Bytes on the engine's disk; images share layers, so it is less than their sum. 0 in a dry run."""
    problems: tuple[str, ...]


def prune(kind: str | None = None, *, dry_run: bool = False) -> PruneReport:
    """Remove all that fencepost built and no container has, or those of one kind. Raises UsageError without an
    engine."""
    from docker.errors import APIError, ImageNotFound  # optional dependency

    client = engine()
    used = {container.attrs["ImageID"] for container in client.containers.list(all=True, sparse=True)}
    built = client.images.list(filters={"label": f"{LABEL}={kind}" if kind else LABEL})
    # An image that was built on another is newer than that, and holds it fast.
    unused = sorted((each for each in built if each.id not in used), key=lambda one: one.attrs["Created"], reverse=True)
    names = [name for image in unused for name in image.tags or [image.short_id]]
    if dry_run:
        return PruneReport(tuple(names), 0, ())
    before, removed, problems = client.df()["LayersSize"], [], []
    for name in names:
        try:
            client.images.remove(name)
            removed.append(name)
        except ImageNotFound:
            continue
        except APIError as error:
            problems.append(f"{name} could not be removed: {error.explanation or error}")
    return PruneReport(tuple(removed), max(0, before - client.df()["LayersSize"]), tuple(problems))
