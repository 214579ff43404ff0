"""The identity of the programs that the nodes of a run were started with: digests, and the target's own commit.

It is taken from the command lines of the nodes, so it needs no help of a target's driver:

| program | content of the digest |
| --- | --- |
| a module run by Python | all source files of its package |
| Java with a class path | the jars |
| anything else | the executable; of a script also those beside it, and the jars of `lib` or `libs` beside `bin` |
| a container | none: the engine's id of the image |
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from fencepost.harness.backends import DOCKER
from fencepost.harness.errors import HarnessError
from fencepost.harness.processes.command import Command
from fencepost.harness.targets import reference

LIBRARIES = ("lib", "libs")
SCRIPTS = (".py", ".sh", ".js", ".rb", ".pl")
COMMIT = "FENCEPOST_TARGET_COMMIT"
"""The variable with the commit that the target was built from."""
REVISION = "org.opencontainers.image.revision"
"""The label of an image with the commit that it was built from (OCI image specification, annotations)."""


@dataclass(frozen=True)
class Identity:
    """The programs of a run: `programs` maps each, such as `kafka.Kafka`, to its digest: `jars sha256:0b3f...`."""

    programs: Mapping[str, str] = field(default_factory=dict)
    planted_nodes: Mapping[str, str] = field(default_factory=dict)
    """The planted defect of each node that was started with one."""
    commit: str = ""
    """The commit of the target, if it is known."""

    @property
    def planted_defect(self) -> str:
        """Return the names of the planted defects; empty if all nodes were healthy."""
        return ", ".join(sorted(set(self.planted_nodes.values())))

    @property
    def digest(self) -> str:
        """Return one digest over all programs; empty if no node was started."""
        if not self.programs:
            return ""
        lines = "".join(f"{name} {digest}\n" for name, digest in sorted(self.programs.items()))
        return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


def identify(starts: Collection[tuple[str, Command]], backend: str, commit: str = "") -> Identity:
    """Return the identity of nodes that were started with these commands, each with the name of its node.

    The target's commit is that of `FENCEPOST_TARGET_COMMIT`, else `commit`, else the label of an image.
    """
    distinct = list({_unlike(each): each for _, each in starts}.values())
    planted = {node: defect for node, each in starts if (defect := reference.planted_defect(each))}
    labels: dict[str, str] = {}
    if backend == DOCKER:
        programs = {}
        for each in distinct:
            digest, of_image = _image(each)
            programs[_with_version(each.image or _name(each.argv), each)] = digest
            labels |= of_image
    else:
        programs = {_with_version(_name(each.argv), each): _digest(each.argv) for each in distinct}
    known = os.environ.get(COMMIT) or commit or labels.get(REVISION, "")
    return Identity(programs, planted, known)


def _unlike(command: Command) -> tuple[object, ...]:
    """Return what distinguishes the programs of two commands; other arguments, such as a heap size, do not."""
    return (
        command.image,
        command.version,
        command.argv[0],
        _name(command.argv),
        _class_path(command.argv),
        reference.planted_defect(command),
    )


def _image(command: Command) -> tuple[str, Mapping[str, str]]:
    """Return the id and the labels of the image that the engine ran."""
    # Optional dependency: only this backend needs the package docker.
    from docker.errors import DockerException

    from fencepost.harness.backends.docker.build import ready
    from fencepost.harness.backends.docker.commands import contained
    from fencepost.harness.backends.docker.engine import engine

    try:
        image = engine().images.get(ready(contained(command).image))
    except (DockerException, HarnessError, OSError) as error:  # a run without an identity is still a run
        return f"unknown ({error})", {}
    return f"image {image.id}", image.labels


def _with_version(name: str, command: Command) -> str:
    """Return the name of a program, with its release if the nodes of the run have different ones."""
    return name if command.version is None else f"{name} {command.version}"


def _name(argv: Sequence[str]) -> str:
    if (module := _module(argv)) is not None:
        return reference.PROGRAM if module == reference.WITH_DEFECT else module
    if (at := _class_path_at(argv)) is not None:
        after = argv[at + 1 :]
        return next((each for each in after if not each.startswith("-")), "java")
    if "-jar" in argv[:-1]:
        return Path(argv[argv.index("-jar") + 1]).name
    script = _script(argv)
    return Path(argv[0] if script is None else script).name


def _digest(argv: Sequence[str]) -> str:
    try:
        kind, found = _content(argv)
        files = list(found)
        return f"{kind} {_sha256(files)}" if files else f"unknown (no file of {_name(argv)} was found)"
    except (OSError, ImportError, ValueError) as error:  # a run without an identity is still a run
        return f"unknown ({error})"


def _content(argv: Sequence[str]) -> tuple[str, Iterable[tuple[str, Path]]]:
    """Return the kind of a program and its files, by name."""
    if _module(argv) is not None:
        return "code", _sources(_name(argv))
    if (class_path := _class_path(argv)) is not None:
        jars = [jar for entry in class_path.split(os.pathsep) for jar in _jars(Path(entry))]
        return "jars", [(jar.name, jar) for jar in jars]
    if "-jar" in argv[:-1]:
        jar = Path(argv[argv.index("-jar") + 1])
        return "jars", [(jar.name, jar)]
    executable = Path(shutil.which(argv[0]) or argv[0])
    script = _script(argv)
    found = [executable, *_beside(executable), *([script, *_beside(script)] if script is not None else [])]
    return "program", [(each.name, each) for each in dict.fromkeys(found)]


def _beside(program: Path) -> list[Path]:
    """Return the files that a script is likely to use: a starter in `bin` says nothing about the build that it starts.

    A program that is no script has none.
    """
    with program.open("rb") as file:
        if file.read(2) != b"#!" and program.suffix not in SCRIPTS:
            return []
    siblings = [each for each in program.parent.glob(f"*{program.suffix}") if program.suffix in SCRIPTS]
    libraries = [program.parent.parent / name for name in LIBRARIES] if program.parent.name == "bin" else []
    return [*siblings, *(jar for folder in libraries for jar in folder.glob("*.jar"))]


def _module(argv: Sequence[str]) -> str | None:
    match argv:
        case [python, "-m", module, *_] if python == sys.executable or Path(python).name.startswith("python"):
            return module
    return None


def _class_path(argv: Sequence[str]) -> str | None:
    at = _class_path_at(argv)
    return None if at is None else argv[at]


def _class_path_at(argv: Sequence[str]) -> int | None:
    """Return the place of the class path on the command line of a JVM."""
    if Path(argv[0]).name != "java":
        return None
    return next((at + 1 for at, each in enumerate(argv[:-1]) if each in ("-cp", "-classpath", "--class-path")), None)


def _script(argv: Sequence[str]) -> Path | None:
    """Return the script that an interpreter runs: a first argument that is an executable or source file."""
    if len(argv) < 2 or not Path(argv[1]).is_file():
        return None
    path = Path(argv[1])
    return path if path.suffix in SCRIPTS or os.access(path, os.X_OK) else None


def _sources(module: str) -> Iterable[tuple[str, Path]]:
    """Yield the files of the package that a module is in, or of the package itself, with their paths in it."""
    spec = find_spec(module)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not places and spec is not None and spec.origin:
        yield Path(spec.origin).name, Path(spec.origin)
    for place in map(Path, places):
        for folder, folders, names in os.walk(place):
            if "__pycache__" in folders:
                folders.remove("__pycache__")
            for name in names:
                if not name.endswith(".pyc"):
                    path = f"{folder}/{name}"
                    yield path.removeprefix(f"{place}/"), Path(path)


def _jars(entry: Path) -> list[Path]:
    """Return the jars of one entry of a class path: `folder/*`, or a file."""
    found = entry.parent.glob("*.jar") if entry.name == "*" else [entry]
    return [jar for jar in found if jar.is_file()]


def _sha256(files: Iterable[tuple[str, Path]]) -> str:
    """Return one digest over names and contents, in the order of the names."""
    whole = hashlib.sha256()
    for name, path in sorted(files):
        status = path.stat()
        digest = _file_digest(path, status.st_ino, status.st_size, status.st_mtime_ns)
        whole.update(f"{name}\0{digest}\n".encode())
    return f"sha256:{whole.hexdigest()}"


@lru_cache(maxsize=4096)
def _file_digest(path: Path, inode: int, size: int, modified: int) -> str:
    """Return the digest of a file that is as it was: the runs of a suite have the same programs."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
