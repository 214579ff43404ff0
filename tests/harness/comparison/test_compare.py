"""`fencepost compare` against running clusters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.harness.cli.commands.compare import CompareOptions
from fencepost.harness.cli.compare import compare
from fencepost.harness.comparison.placed import placed
from fencepost.harness.comparison.questions import questions
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.file import dump_plan

ONLY = ["create-partitions.*", "offset-commit.*"]


@pytest.mark.integration
def test_two_clusters_of_one_target_answer_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each probe is answered, nothing differs, and all outputs are written; the runs can be compared again."""
    markdown, html, runs = tmp_path / "table.md", tmp_path / "table.html", tmp_path / "runs"
    asked = CompareOptions(targets="quorum,quorum", only=ONLY, runs=runs, as_json=True, markdown=markdown, html=html)
    assert compare(asked) == 0
    table = json.loads(capsys.readouterr().out)
    assert {row["kind"] for row in table["rows"]} == {"same"}
    cells = {row["probe"]: row["cells"]["quorum:1"] for row in table["rows"]}
    assert cells["create-partitions.fewer"]["answer"] == "37"
    assert cells["offset-commit.without-members"]["answer"] == "ok"
    assert "state.topics.grown" in cells
    assert all("create-partitions.fewer" in path.read_text() for path in (markdown, html))
    folders = ",".join(str(path) for path in sorted(runs.iterdir()))
    assert compare(CompareOptions(targets=folders, runs=runs)) == 0


@pytest.mark.parametrize("targets", [None, "", "quorum"])
def test_one_target_is_compared_with_nothing(targets: str | None) -> None:
    with pytest.raises(UsageError, match="name two targets or more"):
        compare(CompareOptions(targets=targets))


def test_releases_are_the_targets() -> None:
    with pytest.raises(UsageError, match="leave --targets out"):
        compare(CompareOptions(targets="quorum,zk-controller", releases=("4.3.1", "4.4.0")))


def test_a_target_that_does_not_exist_ends_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no target 'quorom': did you mean quorum"):
        compare(CompareOptions(targets="quorum,quorom", runs=tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()


def test_a_plan_gets_the_deciding_nodes_of_the_other_target() -> None:
    plan = questions("quorum", ["metadata.one-topic"])
    other = placed(plan, "zk-controller")
    assert [node.name for node in other.topology.nodes] == ["zk-1", "node-4"]
    assert placed(plan, "apache-kafka:4.4.0").topology == plan.topology
    assert dump_plan(placed(plan, "quorum")) == dump_plan(plan)
