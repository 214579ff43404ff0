"""Scenarios in quarantine run, are shown, and do not fail the session until their entries expire."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from fencepost.harness.cli.board import Board
from fencepost.harness.cli.suite_outputs import scenario_results
from fencepost.harness.cli.summary import summary
from fencepost.harness.conformance.quarantine import Entry, Quarantine, renewed
from fencepost.harness.errors import UsageError
from fencepost.harness.report.suite_results import SuiteResult
from fencepost.results.records.verdict import Verdict
from tests.harness.conformance.sessions import session

FILE = """
format: fencepost-quarantine/1
tests:
  - {scenario: flaky, target: quorum, reason: fails in 12 % of its runs, expires: 2099-12-07}
  - {scenario: elsewhere, target: zk-controller, reason: slow, expires: 2099-12-07}
  - {scenario: in-docker, target: quorum, backend: docker, reason: slow, expires: 2099-12-07}
  - {scenario: old, target: quorum, reason: was slow, expires: 2026-11-01, since: 2026-10-01}
"""
SCENARIOS = """
from dataclasses import dataclass
import pytest
from fencepost.harness.conformance.results import SCENARIO_PROPERTY, VERDICT_PROPERTY

@dataclass
class Scenario:
    slug: str
    title: str = "A scenario"
    requirements: tuple = ()

@pytest.fixture
def fencepost(request):
    return request.node.user_properties

@pytest.mark.parametrize("scenario", [Scenario("flaky"), Scenario("old"), Scenario("other")], ids=lambda s: s.slug)
def test_scenario(scenario, fencepost):
    verdict = "violation" if scenario.slug in FAILING else "pass"
    fencepost += [(SCENARIO_PROPERTY, scenario.slug), (VERDICT_PROPERTY, verdict)]
    assert verdict == "pass"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "quarantine.yaml"
    path.write_text(FILE)
    return path


def test_an_entry_holds_for_its_target_and_backend_until_it_expires(file: Path) -> None:
    quarantine = Quarantine.load(file)
    assert dict(quarantine.active("quorum", "process", date(2026, 11, 2))) == {
        "flaky": "quarantined until 2099-12-07: fails in 12 % of its runs"
    }
    assert set(quarantine.active("quorum", "docker", date(2026, 11, 1))) == {"flaky", "in-docker", "old"}
    assert [each.scenario for each in quarantine.expired("quorum", "process", date(2026, 11, 2))] == ["old"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format: fencepost-quarantine/1\ntests:\n  - scenario: a\n    target: quorum\n    reason: b\n", "expires"),
        ("format: other\ntests: []\n", "fencepost-quarantine/1"),
        ("- a\n", "a quarantine is a mapping that begins with"),
    ],
)
def test_a_mistake_in_the_file_is_one_message_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as raised:
        Quarantine.load(path)
    assert f"{path}:" in str(raised.value)


@pytest.mark.parametrize(("failing", "status"), [(["flaky"], 0), (["flaky", "old"], 1), (["other"], 1)])
def test_only_a_scenario_whose_entry_holds_does_not_fail_the_session(
    tmp_path: Path, file: Path, failing: list[str], status: int
) -> None:
    (tmp_path / "test_it.py").write_text(f"FAILING = {failing!r}\n{SCENARIOS}")
    done = session(tmp_path, "-rx", "--fencepost-quarantine", str(file))
    assert done.returncode == status, done.stdout
    assert ("quarantined until 2099-12-07" in done.stdout) == ("flaky" in failing)


def test_a_session_with_a_wrong_file_does_not_start(tmp_path: Path) -> None:
    done = session(tmp_path, "--fencepost-quarantine", "nowhere.yaml")
    assert done.returncode == 4
    assert "the quarantine nowhere.yaml cannot be read" in done.stderr


def test_the_board_and_the_results_show_the_scenario_and_leave_its_failure_out() -> None:
    board = Board(0.0, quarantined={"flaky": "quarantined until 2099-12-07: flaky"})
    known = {"title": "t", "requirements": (), "phase": "done", "seconds": 1.0, "step": None, "run": None}
    board.apply({**known, "scenario": "flaky", "verdict": "violation", "headline": "lost"})
    alone = SuiteResult("quorum", "", "process", 1, 0.0, 1.0, scenario_results(board))
    assert board.verdict is alone.verdict is Verdict.INCONCLUSIVE
    board.apply({**known, "scenario": "other", "verdict": "pass", "headline": "held"})
    result = SuiteResult("quorum", "", "process", 1, 0.0, 1.0, scenario_results(board))
    assert board.verdict is result.verdict is Verdict.PASS
    assert [(each.scenario, each.quarantined) for each in result.failed] == [
        ("flaky", "quarantined until 2099-12-07: flaky")
    ]
    lines = [line.plain for line in summary(board, 1.0, 120)]
    assert any(line.startswith("quarantine     flaky: violation; quarantined until 2099-12-07") for line in lines)


def test_the_file_that_the_documents_show_is_a_quarantine() -> None:
    example = Path(__file__).parents[3] / "docs" / "examples" / "ci" / "quarantine.yaml"
    assert set(Quarantine.load(example).active("quorum", "process", date(2026, 12, 7))) == {"cut-from-controllers-cut"}


def test_a_renewed_file_has_the_proposals_and_no_entry_of_a_broken_scenario(tmp_path: Path) -> None:
    file = tmp_path / "quarantine.yaml"
    file.write_text(
        """\
format: fencepost-quarantine/1
# Of the team.
tests:
  - {scenario: again, target: quorum, reason: was flaky, expires: 2026-12-07, ticket: A-1}
  - {scenario: by-hand, target: quorum, reason: slow, expires: 2026-12-07}
  - {scenario: over, target: quorum, reason: was slow, expires: 2026-11-01}
  - {scenario: broken, target: quorum, reason: was flaky, expires: 2026-12-07}
  - {scenario: broken, target: zk-controller, reason: is flaky, expires: 2026-12-07}
"""
    )
    later = date(2026, 12, 21)
    proposed = [
        Entry(scenario="again", target="quorum", reason="flaky", expires=later, backend="process"),
        Entry(scenario="new", target="quorum", reason="flaky", expires=later, backend="process"),
    ]
    found = renewed(file, proposed, [("broken", "quorum", "process")], date(2026, 11, 24))
    assert ([each.scenario for each in found.expired], [each.scenario for each in found.broken]) == (
        ["over"],
        ["broken"],
    )
    file.write_text(found.text)
    assert "# Of the team." in found.text and "ticket: A-1" in found.text
    after = {(each.scenario, each.target, each.backend): each.expires for each in Quarantine.load(file).tests}
    first = date(2026, 12, 7)
    assert after == {
        ("again", "quorum", None): later,
        ("by-hand", "quorum", None): first,
        ("broken", "zk-controller", None): first,
        ("new", "quorum", "process"): later,
    }


def test_a_file_that_is_no_quarantine_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text("nodes: 3\n")
    with pytest.raises(UsageError, match=r"format"):
        renewed(file, (), ())
    assert file.read_text() == "nodes: 3\n"
