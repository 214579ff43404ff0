"""The state of a running suite, line by line, and what is said at its end."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fencepost.harness.cli.board import Board
from fencepost.harness.cli.display import Display
from fencepost.harness.cli.summary import summary
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.progress import Phase
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict


def _line(scenario: str, phase: str, **more: Any) -> dict[str, Any]:
    known = dict.fromkeys(("step", "verdict", "seconds", "run", "headline"))
    return {
        "scenario": scenario,
        "title": f"the {scenario}",
        "requirements": ["K631-01"],
        "phase": phase,
        **known,
        **more,
    }


@pytest.fixture
def board() -> Board:
    board = Board(began=100.0)
    for scenario in "abc":
        board.apply(_line(scenario, "queued"))
    return board


def _done(board: Board, scenario: str, verdict: str, **more: Any) -> None:
    board.apply(_line(scenario, "starting"))
    board.apply(_line(scenario, "done", verdict=verdict, seconds=4.0, **more))


def _text(board: Board) -> str:
    return "\n".join(text.plain for text in summary(board, 160.0, 110))


def test_a_scenario_goes_from_queued_over_running_to_done(board: Board) -> None:
    assert (len(board.running), len(board.done)) == (0, 0)
    board.apply(_line("a", "starting"))
    row = board.apply(_line("a", "step", step="cut proven", seconds=2.0))
    assert board.running == [row]
    assert row.step == "cut proven"
    board.apply(_line("a", "done", verdict="pass", seconds=3.0))
    assert (board.running, board.done) == ([], [row])


@pytest.mark.parametrize(
    ("verdicts", "worst", "code"),
    [
        (["pass", "pass", "pass"], Verdict.PASS, 0),
        (["pass", "inconclusive", "pass"], Verdict.INCONCLUSIVE, 3),
        (["inconclusive", "infrastructure", "pass"], Verdict.INFRASTRUCTURE, 2),
        (["infrastructure", "violation", "inconclusive"], Verdict.VIOLATION, 1),
    ],
)
def test_the_worst_verdict_decides(board: Board, verdicts: list[str], worst: Verdict, code: int) -> None:
    for scenario, verdict in zip("abc", verdicts, strict=True):
        _done(board, scenario, verdict)
    assert (board.verdict, board.verdict.exit_code) == (worst, code)


def test_a_scenario_that_the_suite_left_in_the_middle_is_no_pass(board: Board) -> None:
    _done(board, "a", "pass")
    board.apply(_line("b", "skipped", headline="cannot be paused"))
    board.apply(_line("c", "step", step="healing"))
    board.close()
    assert board.verdict is Verdict.INFRASTRUCTURE
    assert "the suite ended while it was step, healing" in _text(board)
    assert "1 pass   0 violation   1 infrastructure   0 inconclusive   1 skipped" in _text(board)


def test_a_suite_in_which_nothing_was_judged_shows_nothing(board: Board) -> None:
    for scenario in "abc":
        board.apply(_line(scenario, "skipped", headline="only a container has a network"))
    assert board.verdict is Verdict.INCONCLUSIVE


def test_the_time_left_follows_the_pace_so_far(board: Board) -> None:
    assert board.left(now=110.0) is None
    _done(board, "a", "pass")
    assert board.left(now=110.0) == pytest.approx(20.0)


def test_failures_are_listed_the_worst_first_with_the_way_to_see_them_again(board: Board, tmp_path: Path) -> None:
    folder = RunFolder.create_at(tmp_path / "run-b")
    found = Finding(Verdict.VIOLATION, "expectations", "t", "a topic was created at epoch 3", requirement="K631-22")
    RunVerdict(Verdict.VIOLATION, "it went wrong", "b", "quorum", "0", 4.0, 9, 0, (found,)).save(folder.verdict)
    _done(board, "a", "inconclusive", headline="the fault was not proven")
    _done(board, "b", "violation", run=str(folder.path))
    _done(board, "c", "pass")
    text = _text(board)
    assert text.index("a topic was created at epoch 3") < text.index("the fault was not proven")
    assert f"fencepost replay {folder.path}" in text


def test_a_listed_difference_that_showed_is_named_though_it_passed(board: Board, tmp_path: Path) -> None:
    folder = RunFolder.create_at(tmp_path / "run-a")
    found = Finding(Verdict.PASS, "expectations", "t", "serves on", requirement="K631-31", difference="AK-03")
    RunVerdict(Verdict.PASS, "h", "a", "apache-kafka:4.3.1", "0", 4.0, 9, 0, (found,)).save(folder.verdict)
    _done(board, "a", "pass", run=str(folder.path))
    assert "AK-03          differs from the document, as listed: a" in _text(board)


def test_a_suite_that_passed_with_a_planted_defect_does_not_read_like_a_real_one(board: Board, tmp_path: Path) -> None:
    folder = RunFolder.create_at(tmp_path / "run-a")
    RunVerdict(Verdict.PASS, "h", "a", "quorum", "0", 4.0, 9, 0, (), (), "no_self_fence").save(folder.verdict)
    _done(board, "a", "pass", run=str(folder.path))
    assert "planted        no_self_fence in 1 run: no verdict about a real build" in _text(board)


def test_without_a_terminal_each_finished_scenario_is_one_plain_line(board: Board) -> None:
    out = StringIO()
    with Display(Console(file=out, width=100), board) as display:
        display.update(board.apply(_line("a", "starting")), 101.0)
        display.update(board.apply(_line("a", "done", verdict="pass", seconds=3.0)), 104.0)
        display.update(board.apply(_line("b", "skipped", headline="no pause here")), 104.0)
    lines = out.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["pass", "skipped"]
    assert "3.0 s" in lines[0]
    assert "no pause here" in lines[1]
    assert "\x1b" not in out.getvalue()


def test_without_a_terminal_nothing_is_cut(board: Board) -> None:
    name, title = "reaches-controller-not-zookeeper-at-heartbeats", f"A {'long ' * 30}title"
    rules = [f"K631-{number}" for number in range(10, 40)]
    out = StringIO()
    with Display(Console(file=out, width=80), board) as display:
        line = {**_line(name, "done", verdict="pass", seconds=3.0), "title": title, "requirements": [*rules, "ACK-01"]}
        display.update(board.apply(line), 104.0)
    (shown,) = out.getvalue().splitlines()
    assert shown.split()[:4] == ["pass", "3.0", "s", name]
    assert f"{title}  [{' '.join(rules)}]" in shown, "all but ACK-01, which every run is judged by"


def test_one_scenario_is_no_plural(board: Board) -> None:
    single = Board(began=100.0)
    _done(single, "a", "pass")
    assert "\n1 scenario  " in _text(single)
    assert "\n3 scenarios  " in _text(board)


def test_on_a_terminal_running_scenarios_show_their_step_below_the_finished_ones(board: Board) -> None:
    out = StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system=None)
    with Display(console, board) as display:
        display.update(board.apply(_line("a", "done", verdict="pass", seconds=3.0)), 104.0)
        display.update(board.apply(_line("b", "step", step="cut 4→6 proven")), 105.0)
        shown = out.getvalue()
    assert "cut 4→6 proven" in shown
    assert "1 of 3" in shown
    assert "about 10 s left" in shown


def test_every_phase_of_the_progress_file_is_understood(board: Board) -> None:
    for phase in Phase:
        assert board.apply(_line("a", phase.value)).phase is phase
