"""The images of nodes: their content, and a tag that is derived from it.

The tag is a hash of the Dockerfile and of everything in its context: an image is built when, and only when, there is
none of that tag, so a change of the source tree is in the next run, and nothing is built twice.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from fencepost.harness.backends.docker import wheels
from fencepost.harness.backends.docker.wheels import ROOT
from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.network.server import find_toxiproxy
from fencepost.harness.targets.target import FILES

DOCKERFILES = ROOT / "fencepost" / "docker"
"""The folder `docker/`, which is a part of the package."""
JARS, LOGGING, ARCHIVE = "/opt/jars", "/opt/fencepost", "/opt/archive/classes.jsa"
AGENT = "fencepost.harness.backends.docker.agent"
SOURCES = "FENCEPOST_SOURCES"
"""The variable for another folder with the `cluster_impl` that containers run, such as that of a bundle."""
LARGE = 1 << 20
"""Bytes. Larger jars and wheels, which carry their version in their name, are hashed by name and size."""


@dataclass(frozen=True)
class Image:
    """An image that can be built: its Dockerfile is `docker/KIND/Dockerfile`."""

    kind: str
    title: str
    context: Mapping[str, Path] = field(hash=False)
    """Files of this machine, by their place in the context."""
    arguments: tuple[tuple[str, str], ...] = ()

    @property
    def dockerfile(self) -> Path:
        return DOCKERFILES / self.kind / "Dockerfile"

    @property
    def base(self) -> str:
        """The default base of the Dockerfile."""
        for line in self.dockerfile.read_text().splitlines():
            if line.startswith("ARG BASE="):
                return line.removeprefix("ARG BASE=")
        raise InfrastructureError(f"{self.dockerfile} has no line ARG BASE=…")

    def tag(self, base: str) -> str:
        """`fencepost-KIND:` and twelve digits, on that base."""
        digest = hashlib.sha256(self.dockerfile.read_bytes())
        digest.update(repr((base, self.arguments)).encode())
        for place, path in sorted(self.context.items()):
            digest.update(f"{place}\0{_content(path)}\0".encode())
        return f"fencepost-{self.kind}:{digest.hexdigest()[:12]}"


class NamedImage(Image):
    """An image that a target file names, used as it is. `title` is its name."""


@cache
def pod_image() -> Image:
    modules = {f"code/{path.relative_to(ROOT)}": path for path in modules_of(AGENT)}
    return Image("pod", "the pods", {"toxiproxy-server": find_toxiproxy().resolve(), **modules})


@cache
def reference_image(module: str, fetch: bool = True) -> Image:
    """Return the image of a reference node. `module` may wrap it; its package is copied as well.

    Without `fetch`, wheels that this machine does not have are fetched when the image is built.
    """
    root = _root_of_sources()
    folder = root.joinpath(*module.split("."))
    if not folder.is_dir():  # a module in a package: the package is what is copied
        folder = folder.parent
    if not (folder / "__init__.py").is_file():
        raise InfrastructureError(f"there is no package {folder} to make an image of")
    sources = {*_sources(root / "fencepost" / "cluster_impl"), *_sources(folder), *_packages_above(folder, root)}
    context = {f"wheels/{path.name}": path for path in (wheels.wheels() if fetch else wheels.wheels_or_requirements())}
    context |= {f"code/{path.relative_to(root)}": path for path in sources}
    return Image("reference", "the reference cluster", context)


def _root_of_sources() -> Path:
    named = os.environ.get(SOURCES)
    if named is None:
        return ROOT
    root = Path(named).resolve()
    if not (root / "fencepost" / "cluster_impl" / "__init__.py").is_file():
        raise UsageError(f"{SOURCES} is {named}, where there is no cluster_impl: name a bundle's images/reference/code")
    return root


@cache
def java_image(kind: str, jars: tuple[Path, ...]) -> Image:
    """Return the image of Apache Kafka or ZooKeeper with these jars on its class path."""
    if missing := [jar for jar in jars if not jar.is_file()]:
        raise InfrastructureError(f"{missing[0]} is not there, so no image can be made of it")
    context = {f"jars/{jar.name}": jar for jar in jars}
    context |= {f"logging/{path.name}": path for path in FILES.glob("log*.*") if path.suffix in (".properties", ".xml")}
    context["record"] = DOCKERFILES / kind / "record"
    if kind == "zookeeper":
        return Image(kind, "ZooKeeper", context)
    version = next((match[1] for jar in jars if (match := re.match(r"kafka_2\.\d+-([\d.]+)\.jar", jar.name))), "0")
    return Image(kind, f"Apache Kafka {version}", context, (("KAFKA_VERSION", version),))


def modules_of(name: str) -> list[Path]:
    """Return the files of this source tree that are loaded by the import of a module."""
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {name}; "
    script += "print(*(getattr(module, '__file__', None) for module in sys.modules.values()), sep='\\n')"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True)
    return sorted(path for path in map(Path, done.stdout.splitlines()) if path.is_relative_to(ROOT / "fencepost"))


def _sources(package: Path) -> list[Path]:
    files = (path for path in package.rglob("*") if path.is_file())
    return [path for path in files if "__pycache__" not in path.parts and path.suffix != ".pyc"]


def _packages_above(folder: Path, root: Path) -> Iterator[Path]:
    while (folder := folder.parent) != root:
        yield folder / "__init__.py"


def _content(path: Path) -> str:
    size = path.stat().st_size
    versioned = size > LARGE and path.suffix in (".jar", ".whl")
    return f"{path.name} {size}" if versioned else hashlib.sha256(path.read_bytes()).hexdigest()
