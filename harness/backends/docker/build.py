"""Building images on the engine, with progress, one process at a time."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import IO

from docker.errors import DockerException, ImageNotFound

from fencepost.harness.backends.docker.engine import engine
from fencepost.harness.backends.docker.images import DOCKERFILES, Image
from fencepost.harness.cache_folder import cache_folder
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.targets.jars import locked

OWN_BASE = "fencepost-base:bookworm"
"""The image that `docker/base` builds."""
LABEL = "fencepost.image"
BASE_TIMEOUT = 1800


@cache
def built(image: Image) -> str:
    """Return the tag of an image; build it if it is missing, under a lock between processes."""
    base = _base(_default_base(image))
    tag = image.tag(base)
    if _is_there(tag):
        return tag
    with locked(cache_folder() / f"image-{image.kind}"):
        if not _is_there(tag):
            _build(image, base, tag)
    return tag


def fetched(name: str) -> str:
    """Return the name of an image that exists here, or that the engine could fetch. UsageError if it could not."""
    if not _is_there(name):
        _print_progress(f"fetching the image {name}")
        try:
            engine().images.pull(name)
        except (DockerException, OSError) as error:
            raise UsageError(
                f"there is no image {name} on this machine, and it could not be fetched ({error}): build it, or "
                "correct `image` in the target file"
            ) from error
    return name


def _is_there(tag: str) -> bool:
    try:
        engine().images.get(tag)
    except ImageNotFound:
        return False
    return True


@cache
def _base(default: str) -> str:
    """Return the base image: `$FENCEPOST_BASE`, else one built here before, else the registry's, else build one."""
    if named := os.environ.get("FENCEPOST_BASE"):
        return named
    if _is_there(OWN_BASE):
        return OWN_BASE
    if _is_there(default):
        return default
    _print_progress(f"fetching the base image {default}")
    try:
        engine().images.pull(default)
        return default
    except (DockerException, OSError) as error:
        return _own_base(default, str(error))


def _own_base(default: str, reason: str) -> str:
    if os.getuid() != 0 or shutil.which("debootstrap") is None:
        raise UsageError(
            f"the base image {default} could not be fetched ({reason}): run docker/base as root, which makes one from "
            "Debian's packages (apt-get install debootstrap), or name one in FENCEPOST_BASE"
        )
    _print_progress("no image registry is in reach: making a base from Debian's packages, about a minute")
    with locked(cache_folder() / "image-base"):
        if not _is_there(OWN_BASE):
            done = subprocess.run(
                [str(DOCKERFILES / "base"), OWN_BASE], capture_output=True, text=True, timeout=BASE_TIMEOUT, check=False
            )
            if done.returncode != 0:
                raise UsageError(f"docker/base could not make a base image: {done.stderr.strip()[-500:]}")
    return OWN_BASE


def _default_base(image: Image) -> str:
    """Return the default base of the Dockerfile."""
    for line in image.dockerfile.read_text().splitlines():
        if line.startswith("ARG BASE="):
            return line.removeprefix("ARG BASE=")
    raise InfrastructureError(f"{image.dockerfile} has no line ARG BASE=…")


def _build(image: Image, base: str, tag: str) -> None:
    _print_progress(f"building the image of {image.title}, {tag}, on {base}")
    failed = f"the image of {image.title} could not be built"
    said: list[str] = []
    with tempfile.TemporaryFile() as context:
        _pack(image, context)
        context.seek(0)
        try:
            lines = engine().api.build(
                fileobj=context,
                custom_context=True,
                dockerfile="Dockerfile",
                tag=tag,
                buildargs={"BASE": base, **dict(image.arguments)},
                labels={LABEL: image.kind},
                rm=True,
                forcerm=True,
                decode=True,
            )
            for line in lines:
                if "error" in line:
                    raise InfrastructureError(f"{failed}: {line['error'].strip()}{_tail(said)}")
                if text := line.get("stream", "").strip():
                    said.append(text)
                    if text.startswith("Step "):
                        _print_progress(f"  {text}")
        except (DockerException, OSError) as error:
            raise InfrastructureError(f"{failed}: {error}{_tail(said)}") from error


def _print_progress(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)


def _tail(said: list[str]) -> str:
    return "".join(f"\n  | {line}" for line in said[-10:])


def _pack(image: Image, context: IO[bytes]) -> None:
    """Write the build context, identical on every machine: files have no owner and may be read by all users."""
    with tarfile.open(fileobj=context, mode="w") as archive:
        for place, path in sorted({**image.context, "Dockerfile": image.dockerfile}.items()):
            _add(archive, place, path)


def _add(archive: tarfile.TarFile, place: str, path: Path) -> None:
    content = path.read_bytes()
    entry = tarfile.TarInfo(place)
    entry.size = len(content)
    entry.mode = 0o755 if os.access(path, os.X_OK) else 0o644
    entry.mtime = int(path.stat().st_mtime)
    archive.addfile(entry, io.BytesIO(content))
