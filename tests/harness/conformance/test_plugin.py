"""The plugin in a project of its own: it takes no names, asks for no configuration, and costs next to nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.harness.conformance.sessions import session

FOREIGN_CONFTEST = """
def pytest_addoption(parser):
    for name in ("--target", "--seed", "--runs", "--backend"):
        parser.addoption(name, default="of the project")
"""
FOREIGN_TESTS = """
import pytest

@pytest.mark.requirement("ACK-01")
def test_options(request):
    option = request.config.getoption
    assert option("--target") == option("--backend") == "of the project"
    assert option("--fencepost-target") == "acme"
    assert request.config.option.target == "of the project"
"""
HEAVY = ("fencepost.harness.engine", "allure", "confluent_kafka", "pydantic", "jinja2", "rich", "docker", "psutil")


def test_a_project_with_options_of_these_names_and_strict_markers_is_not_disturbed(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(FOREIGN_CONFTEST)
    (tmp_path / "test_it.py").write_text(FOREIGN_TESTS)
    for workers in ((), ("-n", "2")):
        done = session(tmp_path, "--strict-markers", "--strict-config", "--fencepost-target", "acme", *workers)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "fencepost" not in done.stdout.split("\n", 6)[-1]


def test_the_plugin_imports_nothing_heavy_before_a_fixture_asks_for_it() -> None:
    program = "import sys, fencepost.harness.conformance.plugin; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "fencepost.harness.conformance.plugin" in loaded
    assert not set(HEAVY) & set(loaded)


SCENARIO_TESTS = """
from types import SimpleNamespace
import pytest

SCENARIOS = [SimpleNamespace(slug=slug, seconds=seconds) for slug, seconds in (("long", 9), ("one", 4), ("two", 4))]

@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.slug)
def test_scenario(scenario, fencepost): ...

def test_other(): ...
"""


def test_a_shard_divides_the_scenarios_and_leaves_other_tests_alone(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SCENARIO_TESTS)
    for shard, chosen in (("1/2", ["long"]), ("2/2", ["one", "two"])):
        done = session(tmp_path, "--collect-only", "-q", "--fencepost-shard", shard)
        listed = [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]
        assert listed == [*(f"test_scenario[{each}]" for each in chosen), "test_other"]


def test_a_wrong_shard_is_a_message_also_with_workers(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SCENARIO_TESTS)
    done = session(tmp_path, "-n", "2", "--fencepost-shard", "3/2")
    assert done.returncode == 4
    assert "ERROR: the shard '3/2' is not I/N with I from 1 to N: for example 2/4\n" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
