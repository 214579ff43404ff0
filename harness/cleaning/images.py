"""Images of nodes and pods that no container uses: each change of the code makes new ones, and the old ones stay.

They are no leftovers of a run, so they go only when they are asked for; what is needed again is built again.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.harness.backends.docker.build import LABEL
from fencepost.harness.backends.docker.engine import engine


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
