"""The images of nodes: their content, and a tag that is derived from it.

The tag is a hash of the Dockerfile and of everything in its context: an image is built when, and only when, there is
none of that tag, so a change of the source tree is in the next run, and nothing is built twice.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from fencepost.harness.errors import InfrastructureError, UsageError
from fencepost.harness.network.server import find_toxiproxy

ROOT = Path(__file__).parents[4]
DOCKERFILES = ROOT / "fencepost" / "docker"
"""The folder `docker/`, which is a part of the package."""
JARS, LOGGING, ARCHIVE = "/opt/jars", "/opt/fencepost", "/opt/archive/classes.jsa"
AGENT = "fencepost.harness.backends.docker.agent"
SOURCES = "FENCEPOST_SOURCES"
"""The variable for another folder with the `cluster_impl` that containers run, such as that of a bundle."""
LARGE = 1 << 20
"""Bytes. Larger files are hashed by name and size: jars carry their version in their name."""


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

    def tag(self, base: str) -> str:
        """`fencepost-KIND:` and twelve digits, on that base."""
        digest = hashlib.sha256(self.dockerfile.read_bytes())
        digest.update(repr((base, self.arguments)).encode())
        for place, path in sorted(self.context.items()):
            digest.update(f"{place}\0{_content(path)}\0".encode())
        return f"fencepost-{self.kind}:{digest.hexdigest()[:12]}"

    def ready(self) -> str:
        """Return the tag of the image; build it first if it is missing."""
        # `commands` and bundles describe images without the package docker, which only the build needs.
        from fencepost.harness.backends.docker.build import built

        return built(self)


class NamedImage(Image):
    """An image that a target file names, used as it is. `title` is its name."""

    def ready(self) -> str:
        """Return its name; fetch it first if this machine does not have it."""
        # As in `Image.ready`.
        from fencepost.harness.backends.docker.build import fetched

        return fetched(self.title)


@cache
def pod_image() -> Image:
    modules = {f"code/{path.relative_to(ROOT)}": path for path in modules_of(AGENT)}
    return Image("pod", "the pods", {"toxiproxy-server": find_toxiproxy().resolve(), **modules})


@cache
def reference_image(module: str, fetch: bool = True) -> Image:
    """Return the image of a reference node. `module` may wrap it; its package is copied as well.

    Without `fetch`, wheels that this machine does not have are fetched when the image is built.
    """
    from fencepost.harness.backends.docker.wheels import wheels, wheels_or_requirements

    root = _root_of_sources()
    folder = root.joinpath(*module.split("."))
    if not folder.is_dir():  # a module in a package: the package is what is copied
        folder = folder.parent
    if not (folder / "__init__.py").is_file():
        raise InfrastructureError(f"there is no package {folder} to make an image of")
    sources = {*_sources(root / "fencepost" / "cluster_impl"), *_sources(folder), *_packages_above(folder, root)}
    context = {f"wheels/{path.name}": path for path in (wheels() if fetch else wheels_or_requirements())}
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
    logging = ROOT / "fencepost" / "harness" / "targets"
    context |= {
        f"logging/{path.name}": path for pattern in ("log*.properties", "log*.xml") for path in logging.glob(pattern)
    }
    context["record"] = DOCKERFILES / kind / "record"
    if kind == "zookeeper":
        return Image(kind, "ZooKeeper", context)
    version = next((found[1] for jar in jars if (found := re.match(r"kafka_2\.\d+-([\d.]+)\.jar", jar.name))), "0")
    return Image(kind, f"Apache Kafka {version}", context, (("KAFKA_VERSION", version),))


def modules_of(name: str) -> list[Path]:
    """Return the files of this source tree that are loaded by the import of a module."""
    found: dict[str, Path] = {}
    _collect(name, found)
    return sorted(found.values())


def _collect(name: str, found: dict[str, Path]) -> None:
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        part = ".".join(parts[:length])
        if part in found:
            continue
        path = _file(part)
        if path is None:
            return
        found[part] = path
        for imported in _imports(path):
            _collect(imported, found)


def _file(module: str) -> Path | None:
    place = ROOT.joinpath(*module.split("."))
    return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)


def _imports(path: Path) -> Iterator[str]:
    """Yield the imports at the top level of a module: modules, and names that may be modules."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _sources(package: Path) -> list[Path]:
    files = (path for path in package.rglob("*") if path.is_file())
    return [path for path in files if "__pycache__" not in path.parts and path.suffix != ".pyc"]


def _packages_above(folder: Path, root: Path) -> Iterator[Path]:
    while (folder := folder.parent) != root:
        yield folder / "__init__.py"


def _content(path: Path) -> str:
    size = path.stat().st_size
    return f"{path.name} {size}" if size > LARGE else hashlib.sha256(path.read_bytes()).hexdigest()
