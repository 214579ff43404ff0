"""A test of a user gets a cluster, and the verdict of its run."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import psutil
import pytest
from pydantic import TypeAdapter, ValidationError

from fencepost.harness.conformance.live_plan import live_plan, unavailable
from fencepost.harness.conformance.live_run import in_words
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.conditions import Await
from fencepost.results.records.verdict import RunVerdict, Verdict
from tests.harness.conformance.sessions import session
from tests.harness.sample_target import VISIBLE
from tests.mutants.planting import VARIABLE

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs" / "pytest.md"
WRONG_MARKERS = """
import pytest

@pytest.mark.fencepost(partition=2)
def test_a_wrong_name(fencepost_cluster): ...

@pytest.mark.fencepost(rate=-1)
def test_a_wrong_value(fencepost_cluster): ...

@pytest.mark.fencepost(needs=["network"])
def test_of_containers_only(fencepost_cluster): ...
"""
FAILING = """
from fencepost.suites import vocabulary as v

def test_that_finds_the_planted_defect(fencepost_cluster, fencepost_faults):
    leader = fencepost_cluster.leader()
    with fencepost_faults.inject("cut", from_=leader, to="controllers"):
        fencepost_cluster.wait_until("broker-fenced", node=leader)
        probe = v.MetadataProbe(as_="alone", node=leader, topic="t", expect=v.never_serves("K631-32"))
        fencepost_cluster.perform(probe)
        assert leader == "of the test itself"

def test_that_cannot_do_a_step(fencepost_cluster):
    fencepost_cluster.wait_until("isr", partition="t-0", lacks="node-4", within=0.1)
"""


def strict(where: Path, text: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the text as a test module, in a session that knows no mark but those of plugins."""
    (where / "test_mine.py").write_text(text)
    return session(where, "--strict-markers", *arguments, **environment)


INTERRUPTED = """
import os, signal, time

def test_that_is_interrupted(fencepost_cluster, fencepost_faults):
    fencepost_faults.inject("pause", nodes="leader:t-0")
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
"""
NAMES = ("test_that_finds_the_planted_defect", None, "test_that_cannot_do_a_step")
"""The test in each category of Allure: violation, infrastructure, inconclusive."""


def allure_results(folder: Path) -> dict[str, dict[str, Any]]:
    """The results that Allure reads, by the names of the tests."""
    results = [json.loads(file.read_text()) for file in folder.glob("*-result.json")]
    return {result["name"]: result for result in results}


def node_of(result: dict[str, Any]) -> str:
    """The node that the first step cuts off."""
    return str(result["steps"][0]["name"].split()[0])


@pytest.mark.parametrize("target", VISIBLE)
def test_the_plan_of_a_test_is_sound_on_every_target(target: str) -> None:
    plan = live_plan(target, partitions=3, duplicate="node-4", needs=("log-dirs",))
    assert problems(plan) == []
    assert len({replicas[0] for replicas in plan.topics[0].assignments}) == 3
    assert plan == live_plan(target, partitions=3, duplicate="node-4", needs=("log-dirs",))


def test_a_need_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(UsageError, match=r"no capability is called 'paus': the capabilities are kill, pause"):
        unavailable("quorum", "process", ("paus",))
    with pytest.raises(UsageError, match=r"no node is called 'node-9': the nodes are node-1"):
        live_plan("quorum", duplicate="node-9")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"condition": "leadr"}, "condition 'leadr' is unknown: did you mean 'leader'?"),
        ({"condition": "leader", "partitoin": "t-0"}, "unknown key `partitoin`; did you mean `partition`?"),
        ({"condition": "leader"}, "`partition` is missing"),
        ({"condition": "leader", "partition": "t-0", "within_ms": -1}, "greater than or equal to 0, not -1"),
    ],
)
def test_a_wrong_call_is_answered_with_the_nearest_right_one(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter[Any](Await).validate_python({"do": "await", "within_ms": 1, **given})
    assert said in in_words(caught.value)


def test_a_wrong_marker_is_an_error_and_a_missing_capability_a_skip_before_anything_starts(tmp_path: Path) -> None:
    done = strict(tmp_path, WRONG_MARKERS, "-rs")
    assert "the marker fencepost of test_a_wrong_name: got an unexpected keyword argument 'partition'" in done.stdout
    assert "the marker fencepost of test_a_wrong_value: `rate`: Input should be greater than 0, not -1" in done.stdout
    assert re.search(r"SKIPPED.*only a container has a network", done.stdout)
    assert "1 skipped, 2 errors" in done.stdout
    assert not (tmp_path / "runs").exists()


@pytest.mark.integration
def test_the_examples_of_the_document_pass(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    example = "\n".join(blocks)
    done = strict(tmp_path, example, "-n", "2", "--junitxml", "junit.xml", "--alluredir", "allure")
    assert done.returncode == 0, done.stdout
    cases = list(ElementTree.parse(tmp_path / "junit.xml").iter("testcase"))
    assert len(cases) == example.count("def test_")
    for case in cases:
        said = {each.get("name"): each.get("value") or "" for each in case.iter("property")}
        assert (said["fencepost.verdict"], said["fencepost.target"]) == ("pass", "quorum")
        assert (tmp_path / said["fencepost.report"]).is_file()
        assert said["fencepost.report"] in done.stdout
    results = allure_results(tmp_path / "allure")
    assert sorted(results) == sorted(str(case.get("name")) for case in cases)
    for result in results.values():
        assert result["status"] == "passed"
        assert {step["status"] for step in result["steps"]} == {"passed"}
        assert result["start"] <= result["steps"][0]["start"] < result["steps"][-1]["stop"] <= result["stop"]
        [report] = [each for each in result["attachments"] if each["name"] == "report"]
        assert (tmp_path / "allure" / report["source"]).read_text().startswith("<!doctype html>")
    assert "Target = quorum\n" in (tmp_path / "allure" / "environment.properties").read_text()


@pytest.mark.integration
def test_a_violation_is_a_failure_in_the_words_of_the_rule_and_a_failed_step_an_error(tmp_path: Path) -> None:
    options = ("--junitxml", "junit.xml", "--alluredir", "allure")
    done = strict(tmp_path, FAILING, *options, **{VARIABLE: "no_self_fence"})
    cases = {case.get("name"): case for case in ElementTree.parse(tmp_path / "junit.xml").iter("testcase")}
    failure = cases["test_that_finds_the_planted_defect"].find("failure")
    assert failure is not None and failure.text is not None, done.stdout
    headline, rule, *rest = failure.text.splitlines()
    assert "were `served`, which must never be" in headline
    assert rule == "K631-32   A fenced broker processes no client request. (KIP-631, Fencing)"
    assert any(line.startswith("replay    fencepost replay runs/") for line in rest)
    assert "of the test itself" in failure.text, "the error of the test itself is lost"
    error = cases["test_that_cannot_do_a_step"].find("error")
    assert error is not None and "`isr` did not become true within 100 ms" in (error.get("message") or "")
    assert done.returncode == 1
    results = allure_results(tmp_path / "allure")
    violation = results["test_that_finds_the_planted_defect"]
    failed = [step for step in violation["steps"] if step["status"] == "failed"]
    assert [step["name"] for step in failed] == [f"Ask {node_of(violation)} for metadata: never served"]
    assert "which must never be" in failed[0]["statusDetails"]["message"]
    assert next(each["value"] for each in violation["labels"] if each["name"] == "tag") == "K631-32"
    assert results["test_that_cannot_do_a_step"]["steps"][-2]["status"] == "broken"
    for category, name in zip(json.loads((tmp_path / "allure" / "categories.json").read_text()), NAMES, strict=True):
        matching = [
            key
            for key, result in results.items()
            if result["status"] in category["matchedStatuses"]
            and re.fullmatch(category["messageRegex"], result["statusDetails"]["message"])
        ]
        assert matching == ([name] if name else [])


@pytest.mark.integration
def test_ctrl_c_ends_the_cluster_and_the_run_proves_nothing(tmp_path: Path) -> None:
    done = strict(tmp_path, INTERRUPTED)
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    [verdict] = (tmp_path / "runs").glob("*/verdict.json")
    assert RunVerdict.load(verdict).verdict is Verdict.INFRASTRUCTURE
    left = [each.info["cmdline"] for each in psutil.process_iter(["cmdline"])]
    assert not [line for line in left if line and str(tmp_path) in " ".join(line)]
