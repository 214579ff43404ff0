"""What the reference cluster depends on, as wheels for an image: fetched once, by pip, here on the machine."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.backends.docker.images import ROOT
from harness.errors import InfrastructureError
from harness.targets.jars import COMPLETE, cache_folder, locked

PYTHON = "3.11"
"""Of the base images: Debian's bookworm, and the default one."""
FETCH_TIMEOUT = 300


def wheels() -> list[Path]:
    """Of the versions that `requirements.lock` names."""
    wanted = _locked_versions()
    folder = (
        cache_folder() / f"wheels-{PYTHON}-{platform.machine()}-{'-'.join(each.replace('==', '-') for each in wanted)}"
    )
    with locked(folder):
        if not (folder / COMPLETE).exists():
            _fetch(wanted, folder)
    return sorted(folder.glob("*.whl"))


def _locked_versions() -> list[str]:
    """`crc32c==2.9` and so on: of all dependencies, those that pyproject.toml has without any extra."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[<>=~! ]", each)[0].lower() for each in project["dependencies"]}
    lines = (line.split(";")[0].strip() for line in (ROOT / "requirements.lock").read_text().splitlines())
    return sorted(line for line in lines if line.partition("==")[0].lower() in names)


def _fetch(wanted: list[str], folder: Path) -> None:
    print(f"fetching {', '.join(wanted)} for containers into {folder}", file=sys.stderr, flush=True)
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
                *("-d", str(target), *wanted),
            ],
            capture_output=True,
            text=True,
            timeout=FETCH_TIMEOUT,
            check=False,
        )
        if done.returncode != 0:
            raise InfrastructureError(f"pip could not fetch {', '.join(wanted)}: {done.stderr.strip()[-500:]}")
        (target / COMPLETE).touch()
        target.rename(folder)
