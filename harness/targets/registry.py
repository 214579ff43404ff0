"""The targets that can be named: those shipped, those of installed packages, and files of the user.

A user names a file by its path. From then on it is known by its name, in this process and in those that it starts:
its path is in the environment variable `FENCEPOST_TARGETS`, which lists target files, separated by colons. An entry
point of the group `fencepost.targets` has the name of a target, and names the package that has its file `NAME.yaml`.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import EntryPoint
from importlib.resources import files
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from fencepost.harness.catalogue import add_catalogue
from fencepost.harness.errors import UsageError
from fencepost.harness.extensions import ExtensionError, installed, load_reference, module_file
from fencepost.harness.plan.base import release_range
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.owned import WHY
from fencepost.harness.targets.elsewhere import Elsewhere
from fencepost.harness.targets.file import RoleSettings, TargetFile
from fencepost.harness.targets.reference import refuse_defect
from fencepost.harness.targets.target import FILES, Target
from fencepost.harness.targets.upgrade import UpgradedTarget
from fencepost.harness.targets.upgrade_rules import UpgradeRules
from fencepost.harness.yaml_file import Location, YamlFileError, line_of, parse_mapping, read_text, validated
from fencepost.results.records.folder import RunFolder

VARIABLE = "FENCEPOST_TARGETS"
TARGETS, DRIVERS = "fencepost.targets", "fencepost.drivers"
"""Groups of entry points."""

_PATH = re.compile(r"^(?P<path>.*\.ya?ml)(:(?P<version>[A-Za-z0-9._-]+))?$")


class UnknownTarget(UsageError):
    """A name that no target has."""


@dataclass(frozen=True)
class LoadedTarget:
    """A target file as it was read. `data` has its lines."""

    path: Path
    data: CommentedMap
    file: TargetFile

    @property
    def inheritable(self) -> dict[str, Any]:
        """All keys of the file, with those that it inherits itself."""
        return {**_inherited(self.path, self.data), **self.data}

    def error(self, key: str, message: str) -> YamlFileError:
        return YamlFileError([f"`{key}` at {self.path}:{line_of(self.data, [key])}: {message}"])


def names() -> list[str]:
    """Return the names of all shipped targets, and of those of installed packages and of `FENCEPOST_TARGETS`."""
    shipped = (path.stem for path in FILES.glob("*.yaml"))
    return sorted({*shipped, *installed(TARGETS), *(_read(path).file.name for path in _files_of_user())})


def shipped_names() -> list[str]:
    return sorted(path.stem for path in FILES.glob("*.yaml"))


def load_file(reference: str) -> TargetFile:
    """Return the target file for a name, or for a path, each with or without a version.

    UnknownTarget if there is none; YamlFileError, with a line for each mistake, if it cannot be used.
    """
    return find(reference)[0].file


def load(reference: str) -> Target:
    """Return the driver for `quorum`, `apache-kafka:3.9.2`, `path/to/acme.yaml` or `path/to/acme.yaml:2.1`.

    For `apache-kafka:3.9.2..4.4.0` it is one that upgrades nodes from the first release to the second.

    Raises as `load_file` does, also for a driver that does not exist; UsageError if the environment names a planted
    defect, which only the drivers of the reference cluster have.
    """
    loaded, version = find(reference)
    driver = _driver(loaded)
    if not getattr(driver, "plants_defects", False):
        refuse_defect(reference)
    try:
        releases = release_range(version)
        made = [driver(loaded.file, release) for release in releases or (version,)]
    except TypeError as error:
        raise loaded.error("driver", f"{loaded.file.driver} cannot be made: {error}") from error
    _refuse_owned(loaded, getattr(made[0], "owned", frozenset()))
    return made[0] if releases is None else UpgradedTarget(loaded.file, version, *made)


def _refuse_owned(loaded: LoadedTarget, owned: Collection[str]) -> None:
    """Raise YamlFileError if the file, or one that it extends, gives nodes a key that its driver sets."""
    wrong = []
    for section, where in _KEYS.items():
        path = next((file for file in _lineage(loaded.path) if section in _data(file)), None)
        if path is None:
            continue
        data = _data(path)
        for location, key in where(getattr(loaded.file, section)):
            if key in owned:
                wrong.append(f"`{key}` at {path}:{line_of(data, [section, *location])}: {WHY}; drop it")
    if wrong:
        raise YamlFileError(wrong)


def _of_roles(settings: RoleSettings) -> Iterator[tuple[Location, str]]:
    return (((role, key), key) for role, keys in settings for key in keys)


def _of_timeouts(timing: Mapping[str, Sequence[str]]) -> Iterator[tuple[Location, str]]:
    return (((name, place), key) for name, keys in timing.items() for place, key in enumerate(keys))


def _of_upgrades(rules: UpgradeRules | None) -> Iterator[tuple[Location, str]]:
    return ((("protocol", place), key) for place, key in enumerate(() if rules is None else rules.protocol))


def _of_levels(levels: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[Location, str]]:
    return (((level, key), key) for level, keys in levels.items() for key in keys)


_KEYS: Mapping[str, Callable[[Any], Iterator[tuple[Location, str]]]] = {
    "settings": _of_roles,
    "timing": _of_timeouts,
    "levels": _of_levels,
    "upgrade": _of_upgrades,
}
"""The configuration keys in each section of a target file, with their places in it."""


def reference_of(reference: str) -> str:
    """Return name and version of what the user named: `quorum:1`. Raises as `load_file` does."""
    loaded, version = find(reference)
    return f"{loaded.file.name}:{version}"


def find(reference: str) -> tuple[LoadedTarget, str]:
    """Return the target file for a reference, and the version that it asks for. Raises as `load_file` does."""
    if match := _PATH.match(reference):
        loaded, version = _add(Path(match["path"])), match["version"]
    elif "/" in reference:
        raise UnknownTarget(f"{reference} is no target: the name of a target file ends with .yaml")
    else:
        name, _, version = reference.partition(":")
        loaded = _named(name)
    for catalogue in loaded.file.catalogue_files:
        add_catalogue(catalogue)
    version = version or loaded.file.version
    return replace(loaded, file=loaded.file.at(version)), version


def keep_copy(name: str, folder: RunFolder) -> None:
    """Write the target file into a run folder, unless it is shipped, so that the run can be judged anywhere.

    Beside it stand copies of its catalogues, and of the modules of its checkers that are single files.
    """
    if name in shipped_names():
        return
    loaded = _named(name)
    file, data = loaded.file, dict(loaded.data)
    if data.get("extends") not in (None, *shipped_names()):  # it may be unknown where the run is judged
        data = {**loaded.inheritable, "extends": None}
    data["folder"] = str(file.folder)
    data["catalogues"] = [catalogue.name for catalogue in file.catalogues]
    folder.target.parent.mkdir()
    modules = (module_file(module, place) for module in file.checkers for place in file.beside)
    for path in {*file.catalogue_files, *filter(None, modules)}:
        shutil.copyfile(path, folder.target.parent / path.name)
    with folder.target.open("w", encoding="utf-8") as text:
        YAML(typ="rt").dump(data, text)


def open_run(path: Path) -> RunFolder:
    """Return the folder of an earlier run, and let the target file that it keeps stand for its name.

    FolderError if it is no run folder; YamlFileError if its target file cannot be used.
    """
    folder = RunFolder.open(path)
    if folder.target.is_file():
        _add(folder.target)
    return folder


def _add(path: Path) -> LoadedTarget:
    """Read a file of the user and put it first in the environment variable."""
    if not path.is_file():
        raise UnknownTarget(f"there is no target file {path}")
    path = path.resolve()
    loaded = _read(path)
    if loaded.file.name in shipped_names() and path.parent != FILES.resolve():
        raise loaded.error("name", f"{loaded.file.name} is a shipped target; give yours another name")
    others = [str(file) for file in _files_of_user() if file != path]
    os.environ[VARIABLE] = os.pathsep.join([str(path), *others])
    return loaded


def _named(name: str) -> LoadedTarget:
    return _read(_path_of(name))


def _path_of(name: str) -> Path:
    for path in _files_of_user():
        # Its name is in the file itself: what it extends is read only if the file is the one that is looked for.
        if _data(path).get("name") == name:
            return path
    shipped = FILES / f"{name}.yaml"
    if shipped.is_file():
        return shipped
    if name in (points := installed(TARGETS)):
        return _file_of(points[name])
    targets = names()
    near = [target for target in targets if name in target] or difflib.get_close_matches(name, targets, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UnknownTarget(
        f"there is no target {name!r}: {hint}the targets are {', '.join(targets)}; a file of your own is named by its "
        f"path, such as ./acme.yaml, or listed in {VARIABLE}"
    )


def _files_of_user() -> list[Path]:
    return [Path(entry) for entry in os.environ.get(VARIABLE, "").split(os.pathsep) if entry]


def _file_of(point: EntryPoint) -> Path:
    try:
        path = Path(str(files(point.value) / f"{point.name}.yaml"))
    except (ImportError, TypeError) as error:
        raise ExtensionError(f"the entry point {point.name} in {TARGETS} names no package: {error}") from None
    if not path.is_file():
        raise ExtensionError(f"the entry point {point.name} in {TARGETS} names {point.value}, which has no {path.name}")
    return path


def _read(path: Path) -> LoadedTarget:
    return _checked(path, *_version_of(path))


def _data(path: Path) -> CommentedMap:
    return _parsed(path, *_version_of(path))


def _version_of(path: Path) -> tuple[int, int]:
    """Return what differs after a change of the file, so that it is read again then."""
    try:
        status = path.stat()
    except OSError as error:
        raise UnknownTarget(f"the target file {path} of ${VARIABLE} cannot be read: {error.strerror}") from None
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=64)
def _parsed(path: Path, modified: int, size: int) -> CommentedMap:
    return parse_mapping(read_text(path, "target file"), str(path), "target file", "name: acme")


@lru_cache(maxsize=64)
def _checked(path: Path, modified: int, size: int) -> LoadedTarget:
    data = _parsed(path, modified, size)
    file = validated(TargetFile, data, str(path), _inherited(path, data))
    loaded = LoadedTarget(path, data, file.placed(path.parent))
    if file.process and file.process.command.controller is None and file.dialect in (Dialect.KIP_631, Dialect.KRAFT):
        at = f"`command` at {path}:{line_of(data, ['process', 'command'])}"
        raise YamlFileError(
            [
                f"{at}: it has no `controller`, and a cluster of `dialect: {file.dialect}` has controllers. Add "
                "the command line of controllers, write one list if one program is both, or say `dialect: clients` if "
                "no control plane is visible"
            ]
        )
    for catalogue in loaded.file.catalogue_files:
        if not catalogue.is_file():
            raise loaded.error("catalogues", f"there is no file {catalogue}")
    return loaded


def _inherited(path: Path, data: CommentedMap) -> dict[str, Any]:
    """Return the keys of the target that a file extends, but those that say which file it is."""
    if (extended := data.get("extends")) is None:
        return {}
    at = f"`extends` at {path}:{line_of(data, ['extends'])}"
    try:
        base = _path_of(str(extended))
    except UnknownTarget as error:
        raise YamlFileError([f"{at}: {error}"]) from None
    if path in _lineage(base):
        raise YamlFileError([f"{at}: {extended} cannot extend itself"])
    return {key: value for key, value in _read(base).inheritable.items() if key not in ("name", "title", "folder")}


def _lineage(path: Path) -> list[Path]:
    """Return a file and those that it extends, as far as they are there; each once, if they extend each other."""
    files: list[Path] = []
    while path not in files:
        files.append(path)
        try:
            path = _path_of(str(_data(path)["extends"]))
        except (KeyError, UnknownTarget):
            break
    return files


def _driver(loaded: LoadedTarget) -> Callable[[TargetFile, str], Target]:
    named = loaded.file.driver
    if loaded.file.running is not None:
        return Elsewhere
    try:
        if ":" in named:
            driver = load_reference(named, loaded.file.beside)
        else:
            points = installed(DRIVERS)
            if named not in points:
                near = difflib.get_close_matches(named, points, n=1)
                hint = f"did you mean {near[0]}?" if near else f"the drivers are {', '.join(points)}"
                raise ExtensionError(f"no installed package has a driver {named}: {hint} Or write `module:class`")
            driver = load_reference(points[named].value)
    except ExtensionError as error:
        raise loaded.error("driver", str(error)) from error.__cause__
    if not isinstance(driver, type):
        raise loaded.error("driver", f"{named} is no class")
    return driver
