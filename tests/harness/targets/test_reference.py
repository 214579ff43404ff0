import os
from pathlib import Path

import pytest

from fencepost.harness.errors import UsageError
from fencepost.harness.targets.reference import (
    PROGRAM,
    VARIABLE,
    WITH_DEFECT,
    command,
    plant,
    plant_again,
    planted_defect,
    with_defect,
)
from fencepost.harness.targets.registry import load

FILE = Path("node.properties")


@pytest.fixture(autouse=True)
def healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")  # so that whatever a test sets is taken back
    monkeypatch.delenv(VARIABLE)


def test_a_node_is_healthy_unless_a_defect_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PROGRAM in command(FILE).argv
    assert planted_defect(command(FILE)) == ""
    monkeypatch.setenv(VARIABLE, "no_self_fence")
    assert WITH_DEFECT in command(FILE).argv
    assert planted_defect(command(FILE)) == "no_self_fence"


@pytest.mark.parametrize("target", ["quorum", "zk-controller", "leader-driven"])
def test_a_defect_that_does_not_exist_is_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setenv(VARIABLE, "no_such")
    with pytest.raises(UsageError, match=r"there is no tests/mutants/no_such\.py"):
        load(target)


@pytest.mark.parametrize("target", ["apache-kafka", "apache-kafka-zk:3.9.1"])
def test_a_target_without_planted_defects_refuses_one(target: str) -> None:
    plant("no_self_fence")
    with pytest.raises(UsageError, match=r"has no planted defects, and .* names no_self_fence"):
        load(target)


def test_an_option_that_is_not_given_leaves_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "no_self_fence")
    plant(None)
    assert planted_defect(command(FILE)) == "no_self_fence"
    plant("deposed_renews")
    assert planted_defect(command(FILE)) == "deposed_renews"


def test_the_defect_of_an_earlier_run_is_planted_again_unless_the_environment_says_otherwise() -> None:
    assert (plant_again(""), VARIABLE in os.environ) == ("", False)
    assert plant_again("no_self_fence") == "no_self_fence"
    assert with_defect("fencepost replay p.yaml") == f"{VARIABLE}=no_self_fence fencepost replay p.yaml"
    os.environ[VARIABLE] = ""
    assert plant_again("no_self_fence") == ""
    assert with_defect("fencepost replay p.yaml") == "fencepost replay p.yaml"
