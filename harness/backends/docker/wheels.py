"""Python packages of images as wheels, which pip fetches once on this machine."""

from __future__ import annotations

import platform
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from importlib.metadata import requires, version
from pathlib import Path

from packaging.requirements import Requirement

from fencepost.harness.cache_folder import cache_folder, cached, is_cached
from fencepost.harness.errors import InfrastructureError

ROOT = Path(__file__).parents[4]
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
    name = _folder_name(versions)
    progress = f"fetching {', '.join(versions)} for containers into {cache_folder() / name}"
    return sorted(cached(name, progress, lambda folder: _fetch(versions, folder)).glob("*.whl"))


def wheels_or_requirements() -> list[Path]:
    """Return the wheels if this machine has them; otherwise a file with their versions, and fetch nothing."""
    versions = _locked_versions()
    name = _folder_name(versions)
    if is_cached(name):
        return wheels()
    requirements = cache_folder() / f"{name}.d" / REQUIREMENTS
    requirements.parent.mkdir(parents=True, exist_ok=True)
    requirements.write_text("\n".join(versions) + "\n")
    return [requirements]


def _folder_name(versions: Sequence[str]) -> str:
    return "-".join(["wheels", PYTHON, platform.machine(), *(version.replace("==", "-") for version in versions)])


def _installed_versions(names: Sequence[str]) -> list[str]:
    """Return the packages and all that they need, in the versions of this environment."""
    versions: dict[str, str] = {}
    ahead = list(names)
    while ahead:
        name = ahead.pop()
        if name not in versions:
            versions[name] = version(name)
            ahead += _required(requires(name))
    return sorted(f"{name}=={number}" for name, number in versions.items())


def _locked_versions() -> list[str]:
    """Return `crc32c==2.9` and so on: the dependencies without any extra.

    A source tree has their versions in `requirements.lock`; an installed package takes those of its environment.
    """
    if not (ROOT / "requirements.lock").is_file():
        return sorted(f"{name}=={version(name)}" for name in _required(requires("fencepost")))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {name.lower() for name in _required(project["dependencies"])}
    lines = (line.split(";")[0].strip() for line in (ROOT / "requirements.lock").read_text().splitlines())
    return sorted(line for line in lines if line.partition("==")[0].lower() in names)


def _required(requirements: Iterable[str] | None) -> list[str]:
    """Return the names of those that are needed here without any extra."""
    parsed = map(Requirement, requirements or ())
    return [
        requirement.name
        for requirement in parsed
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    ]


def _fetch(versions: list[str], folder: Path) -> None:
    machine = platform.machine()
    tags = [f"manylinux_2_{minor}_{machine}" for minor in (36, 28, 17)] + [f"manylinux2014_{machine}"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"),
            *("--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp"),
            *(f"--platform={tag}" for tag in tags),
            *("-d", str(folder), *versions),
        ],
        capture_output=True,
        text=True,
        timeout=FETCH_TIMEOUT,
        check=False,
    )
    if done.returncode != 0:
        raise InfrastructureError(f"pip could not fetch {', '.join(versions)}: {done.stderr.strip()[-500:]}")
