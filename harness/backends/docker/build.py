"""Building images on the engine, with progress, one process at a time.

    python -m fencepost.harness.backends.docker.build TARGET...

fetches these targets and builds their images; or says why it cannot, with exit code 2.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from typing import IO

from docker.errors import DockerException, ImageNotFound

from fencepost.harness.backends.docker.commands import images_of
from fencepost.harness.backends.docker.engine import engine
from fencepost.harness.backends.docker.images import DOCKERFILES, Image, NamedImage
from fencepost.harness.cache_folder import locked
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.targets.registry import load
from fencepost.harness.targets.target import Target

OWN_BASE = "fencepost-base:bookworm"
"""The image that `docker/base` builds."""
LABEL = "fencepost.image"
BASE_TIMEOUT = 1800


def prepare_images(target: Target) -> list[str]:
    """Return the tags of all images that a prepared target's nodes need: a build takes longer than a start may."""
    return [ready(image) for image in images_of(target)]


@cache
def ready(image: Image) -> str:
    """Return the tag of an image; build it if it is missing, or fetch one that is named.

    UsageError if the engine cannot fetch it, InfrastructureError if it cannot be built.
    """
    if isinstance(image, NamedImage):
        return _fetched(image.title)
    base = _base(image.base)
    tag = image.tag(base)
    if not _is_there(tag):
        with locked(f"image-{image.kind}"):
            if not _is_there(tag):
                _build(image, base, tag)
    return tag


def _fetched(name: str) -> str:
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
    for tag in (OWN_BASE, default):
        if _is_there(tag):
            return tag
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
    with locked("image-base"):
        if not _is_there(OWN_BASE):
            done = subprocess.run(
                [str(DOCKERFILES / "base"), OWN_BASE], capture_output=True, text=True, timeout=BASE_TIMEOUT, check=False
            )
            if done.returncode != 0:
                raise UsageError(f"docker/base could not make a base image: {done.stderr.strip()[-500:]}")
    return OWN_BASE


def _build(image: Image, base: str, tag: str) -> None:
    _print_progress(f"building the image of {image.title}, {tag}, on {base}")
    failed = f"the image of {image.title} could not be built"
    output: list[str] = []
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
                    raise InfrastructureError(f"{failed}: {line['error'].strip()}{_tail(output)}")
                if text := line.get("stream", "").strip():
                    output.append(text)
                    if text.startswith("Step "):
                        _print_progress(f"  {text}")
        except (DockerException, OSError) as error:
            raise InfrastructureError(f"{failed}: {error}{_tail(output)}") from error


def _print_progress(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)


def _tail(output: list[str]) -> str:
    return "".join(f"\n  | {line}" for line in output[-10:])


def _pack(image: Image, context: IO[bytes]) -> None:
    """Write the build context, identical on every machine: files have no owner and may be read by all users."""
    with tarfile.open(fileobj=context, mode="w") as archive:
        for place, path in sorted({**image.context, "Dockerfile": image.dockerfile}.items()):
            entry, status = tarfile.TarInfo(place), path.stat()
            entry.size, entry.mtime = status.st_size, int(status.st_mtime)
            entry.mode = 0o755 if os.access(path, os.X_OK) else 0o644
            with path.open("rb") as content:
                archive.addfile(entry, content)


if __name__ == "__main__":
    try:
        for name in sys.argv[1:]:
            target = load(name)
            target.prepare()
            prepare_images(target)
    except (InfrastructureError, UsageError) as message:
        print(f"fencepost: {message}", file=sys.stderr)
        sys.exit(2)
