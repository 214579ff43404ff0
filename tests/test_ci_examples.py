"""The workflows of this project, and those that users copy: their structure, and their shell steps run for real."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "docs" / "examples" / "ci"
ACME = ROOT / "docs" / "examples" / "acme-broker" / ".github" / "workflows"
GITHUB = sorted([*EXAMPLES.glob("github-*.yml"), *ACME.glob("*.yml"), *(ROOT / ".github" / "workflows").glob("*.yml")])
GITLAB = EXAMPLES / "gitlab-ci.yml"
TOOLS = (Path(sys.executable).parent, ROOT / ".tools" / "bin")
KNOWN_NAMES = {"github", "matrix", "inputs", "steps", "strategy", "hashFiles", "always", "failure"}
"""The values of the expressions in the workflows."""

Job = Mapping[str, Any]


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="safe").load(path)
    return content


def jobs(path: Path) -> dict[str, Job]:
    """Return the jobs of a GitLab file, without its keywords and templates, or of a workflow."""
    content = read(path)
    if path != GITLAB:
        return dict(content["jobs"])
    return {name: job for name, job in content.items() if name not in ("stages", "variables") and name[0] != "."}


def scripts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every shell script of a file."""
    for name, job in jobs(path).items():
        for step in job.get("steps", ()):
            if "run" in step:
                yield f"{name}: {step['name']}", step["run"]
        if "script" in job:
            yield name, "\n".join(job["script"])
    for name, job in read(path).items():
        if name.startswith("."):
            yield name, "\n".join(job["before_script"])


def expressions(value: object) -> Iterator[str]:
    """Yield the content of each `${{ }}` in a workflow, and of each `if`."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from [each] if key == "if" else expressions(each)
    elif isinstance(value, list):
        for each in value:
            yield from expressions(each)
    elif isinstance(value, str):
        yield from re.findall(r"\$\{\{(.*?)\}\}", value)


@pytest.mark.parametrize("path", [*GITHUB, GITLAB], ids=lambda path: path.name)
def test_each_script_is_valid_for_the_shell(path: Path) -> None:
    found = dict(scripts(path))
    assert found
    for name, text in found.items():
        done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
        assert done.returncode == 0, f"{path.name}, {name}: {done.stderr}"
        assert "${{" not in text, f"{path.name}, {name}: a value that others choose would be run; pass it by env"


@pytest.mark.parametrize("path", GITHUB, ids=lambda path: path.name)
def test_a_workflow_holds_together(path: Path) -> None:
    content = read(path)
    assert content["name"] and content["permissions"] == {"contents": "read"}
    assert set(content["on"]) <= {"push", "pull_request", "workflow_dispatch", "schedule"}
    for name, job in content["jobs"].items():
        assert job["runs-on"], name
        assert {job.get("needs", name)} <= set(content["jobs"])
        runs_clusters = any(re.search(r"fencepost|\.ci/run", step.get("run", "")) for step in job["steps"])
        assert not runs_clusters or job["timeout-minutes"], "a cluster that hangs must not take hours"
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])
        assert all(re.fullmatch(r"actions/[a-z/-]+@v\d", step["uses"]) for step in job["steps"] if "uses" in step)
        axes = set(job.get("strategy", {}).get("matrix", ()))
        ids = {step["id"] for step in job["steps"] if "id" in step}
        for expression in expressions(job):
            assert set(re.findall(r"matrix\.([\w-]+)", expression)) <= axes, expression
            assert set(re.findall(r"steps\.([\w-]+)", expression)) <= ids, expression
            names = re.findall(r"(?<![\w.'-])([a-zA-Z][\w-]*)", re.sub(r"'[^']*'", "", expression))
            assert set(names) <= KNOWN_NAMES, expression


def test_a_gitlab_job_has_a_stage_and_needs_jobs_that_exist() -> None:
    content = read(GITLAB)
    for name, job in jobs(GITLAB).items():
        assert job["stage"] in content["stages"], name
        assert set(job.get("needs", ())) <= set(jobs(GITLAB))
        assert job.get("extends", ".fencepost") in content


@pytest.mark.parametrize("path", GITHUB, ids=lambda path: path.name)
def test_actionlint_finds_nothing(path: Path) -> None:
    actionlint = shutil.which("actionlint", path=os.pathsep.join([str(TOOLS[1]), os.environ["PATH"]]))
    if actionlint is None:
        pytest.skip("no actionlint: `.ci/actionlint` builds one where there is Go")
    done = subprocess.run([actionlint, "-no-color", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_what_the_document_shows_stands_in_a_file() -> None:
    shown = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs" / "ci.md").read_text(), re.MULTILINE | re.DOTALL)
    files = "\n".join(path.read_text() for path in [*GITHUB, GITLAB, EXAMPLES / "quarantine.yaml"])
    flat = [" ".join(line.split()) for line in files.splitlines()]
    for block in shown:
        lines = [" ".join(line.split()) for line in block.splitlines()]
        assert any(flat[place : place + len(lines)] == lines for place in range(len(flat))), block
    assert shown


def test_the_workflow_of_this_project_runs_what_it_says_it_runs() -> None:
    steps = jobs(ROOT / ".github" / "workflows" / "test.yml")["test"]["steps"]
    assert any(step.get("run", "").endswith(".ci/run") for step in steps)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


class Checkout:
    """A folder in which the scripts of a file run as on a runner of CI, with the installed commands."""

    def __init__(self, path: Path, folder: Path, **chosen: str) -> None:
        content = read(path)
        self.folder = folder
        self.summary = folder / "step-summary.md"
        self._jobs = jobs(path)
        self._declared = {**content.get("env", {}), **content.get("variables", {})}
        self._chosen = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_RUN_ID": "1001",
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(folder / "output.txt"),
            "CI_PIPELINE_ID": "1001",
            "CI_PROJECT_DIR": str(folder),
            **chosen,
        }

    def run(self, job: str) -> int:
        """Run the scripts of a job, without the one that installs; return the exit code of the first that fails."""
        described = self._jobs[job]
        declared = {**self._declared, **described.get("env", {})}
        unknown = {name for name, value in declared.items() if "${{" in str(value)} - set(self._chosen)
        assert not unknown, f"{unknown} have a value only on a runner"
        steps = [step["run"] for step in described.get("steps", ()) if "run" in step and step["name"] != "Install"]
        for script in [*steps, *(["\n".join(described["script"])] if "script" in described else [])]:
            done = subprocess.run(
                ["bash", "-eo", "pipefail", "-c", script],
                cwd=self.folder,
                env={**os.environ, **declared, **self._chosen, "PATH": self._path()},
                capture_output=True,
                text=True,
            )
            self.output = done.stdout + done.stderr
            if done.returncode:
                return done.returncode
        return 0

    @staticmethod
    def _path() -> str:
        return os.pathsep.join([*map(str, TOOLS), os.environ["PATH"]])


@pytest.mark.integration
def test_the_jobs_for_github_break_a_cluster_and_keep_the_history(tmp_path: Path) -> None:
    part = {"TARGET": "quorum", "BACKEND": "process", "SHARD": "1/1", "SCENARIOS": "starts-fenced"}
    checkout = Checkout(EXAMPLES / "github-conformance.yml", tmp_path, **part)
    assert checkout.run("history") == 0
    assert (tmp_path / "runs" / "earlier-suites.txt").read_text().strip() == "0"
    assert checkout.run("conformance") == 0, checkout.output
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    assert [(each["scenario"], each["verdict"]) for each in results["scenarios"]] == [("starts-fenced", "pass")]
    assert len(ElementTree.parse(tmp_path / "results" / "junit.xml").findall(".//testcase")) == 1
    assert checkout.summary.read_text().startswith("## ✅ fencepost: pass on quorum 1, process, seed 1, shard 1/1\n")
    assert (tmp_path / "output.txt").read_text() == "name=quorum-process-1_1\n"
    # What upload-artifact and download-artifact do between two jobs.
    (tmp_path / "parts").mkdir()
    (tmp_path / "results").rename(tmp_path / "parts" / "results-quorum-process-1_1")
    assert checkout.run("keep") == 0, checkout.output
    kept = tmp_path / "runs" / "suite-1001-results-quorum-process-1_1" / "results.json"
    assert json.loads(kept.read_text()) == results


@pytest.mark.integration
def test_the_jobs_for_gitlab_keep_the_results_also_of_a_suite_that_shows_nothing(tmp_path: Path) -> None:
    part = {"TARGET": "quorum", "BACKEND": "process", "SHARD": "1/1", "SCENARIOS": "off-the-network"}
    (tmp_path / "results" / "part-that-was-ended").mkdir(parents=True)
    checkout = Checkout(GITLAB, tmp_path, **part)
    assert checkout.run("history") == 0
    assert checkout.run("conformance") == 3, checkout.output
    assert "inconclusive" in (tmp_path / "results" / "quorum-process-1_1" / "summary.md").read_text()
    assert checkout.run("keep") == 0, checkout.output
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["suite-p1001-quorum-process-1_1"]


@pytest.mark.integration
def test_the_nightly_job_runs_a_campaign(tmp_path: Path) -> None:
    # No plan begins within no time, so nothing is shown: exit code 3.
    chosen = {"TARGET": "quorum", "BACKEND": "process", "MINUTES": "0", "SEED": "7"}
    checkout = Checkout(EXAMPLES / "github-nightly.yml", tmp_path, **chosen)
    assert checkout.run("campaign") == 3, checkout.output
    assert "fencepost: inconclusive on quorum 1, process" in checkout.summary.read_text()
    assert len(list((tmp_path / "runs").glob("campaign-*-quorum-1-*/summary.json"))) == 1
