"""Python packages of images as wheels, which pip fetches once on this machine."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from importlib.metadata import requires, version
from pathlib import Path

from packaging.requirements import Requirement

from fencepost.harness.backends.docker.images import ROOT
from fencepost.harness.cache_folder import cache_folder
from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.jars import COMPLETE, locked

PYTHON = "3.11"
"""The Python of the base images: Debian's bookworm, and the default one."""
FETCH_TIMEOUT = 300


REQUIREMENTS = "requirements.txt"
"""The file that stands for wheels which the build of the image fetches."""


def wheels(names: Sequence[str] = ()) -> list[Path]:
    """Return wheels in locked versions, fetched once: of the named packages and all that they need.

    Without names they are those of the reference cluster.
    """
    versions = _installed_versions(names) if names else _locked_versions()
    folder = _folder(versions)
    with locked(folder):
        if not (folder / COMPLETE).exists():
            _fetch(versions, folder)
    return sorted(folder.glob("*.whl"))


def wheels_or_requirements() -> list[Path]:
    """Return the wheels if this machine has them; otherwise a file with their versions, and fetch nothing."""
    folder = _folder(_locked_versions())
    if (folder / COMPLETE).exists():
        return wheels()
    folder.parent.mkdir(parents=True, exist_ok=True)
    named = folder.with_name(f"{folder.name}.d") / REQUIREMENTS
    named.parent.mkdir(exist_ok=True)
    named.write_text("\n".join(_locked_versions()) + "\n")
    return [named]


def _folder(spec: Sequence[str]) -> Path:
    versions = "-".join(each.replace("==", "-") for each in spec)
    return cache_folder() / f"wheels-{PYTHON}-{platform.machine()}-{versions}"


def _installed_versions(names: Sequence[str]) -> list[str]:
    """Return the packages and all that they need, in the versions of this environment."""
    found: dict[str, str] = {}
    ahead = list(names)
    while ahead:
        name = ahead.pop()
        if name not in found:
            found[name] = version(name)
            needed = (Requirement(each) for each in requires(name) or ())
            ahead += [each.name for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
    return sorted(f"{name}=={number}" for name, number in found.items())


def _locked_versions() -> list[str]:
    """Return `crc32c==2.9` and so on: the dependencies without any extra.

    A source tree has their versions in `requirements.lock`; an installed package takes those of its environment.
    """
    if not (ROOT / "requirements.lock").is_file():
        named = (each for each in requires("fencepost") or () if "extra ==" not in each)
        return sorted(f"{name}=={version(name)}" for name in map(_name, named))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {_name(each).lower() for each in project["dependencies"]}
    lines = (line.split(";")[0].strip() for line in (ROOT / "requirements.lock").read_text().splitlines())
    return sorted(line for line in lines if line.partition("==")[0].lower() in names)


def _name(requirement: str) -> str:
    return re.split(r"[<>=~!; ]", requirement)[0]


def _fetch(spec: list[str], folder: Path) -> None:
    print(f"fetching {', '.join(spec)} for containers into {folder}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    machine = platform.machine()
    tags = [f"--platform=manylinux_2_{minor}_{machine}" for minor in (36, 28, 17)] + [
        f"--platform=manylinux2014_{machine}"
    ]
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        target = Path(scratch) / "wheels"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"),
                *("--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp", *tags),
                *("-d", str(target), *spec),
            ],
            capture_output=True,
            text=True,
            timeout=FETCH_TIMEOUT,
            check=False,
        )
        if done.returncode != 0:
            raise InfrastructureError(f"pip could not fetch {', '.join(spec)}: {done.stderr.strip()[-500:]}")
        (target / COMPLETE).touch()
        target.rename(folder)
