import json
from pathlib import Path
from urllib.parse import unquote

import pytest

from fencepost.harness.report.index import write_index, write_indexes
from fencepost.harness.report.index_runs import read_index
from fencepost.harness.report.suite_results import ScenarioResult, SuiteResult
from fencepost.results.records.folder import FolderError, Manifest, RunFolder
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.survey import SUITE_FILE
from fencepost.results.records.verdict import RunVerdict, Verdict
from tests.harness.report.test_page import Page

HELD, BROKEN = RequirementState.HELD, RequirementState.BROKEN
RULE = "A fenced broker processes no client request."


def make_run(
    runs: Path,
    name: str,
    scenario: str,
    verdict: Verdict | None = Verdict.PASS,
    *,
    rule: str = "K631-32",
    state: RequirementState = HELD,
    started: float = 0.0,
    target: str = "quorum",
    planted_defect: str = "",
) -> RunFolder:
    folder = RunFolder.create_at(runs / name)
    folder.plan.touch()
    folder.report.write_text("a report")
    ci = {"system": "GitLab", "job": "nightly", "branch": "trunk", "url": "https://gitlab.example/jobs/77"}
    Manifest(
        name,
        scenario,
        target,
        "1",
        "process",
        7,
        "0",
        started,
        programs={"acme": "program sha256:0b3f"},
        target_digest="sha256:" + "0b3f" * 16,
        target_commit="77aa",
        planted_defect=planted_defect,
        ci=ci,
    ).save(folder.manifest)
    if verdict is not None:
        rules = (RequirementResult(rule, state, RULE, "KIP-631", "Fencing", "https://cwiki.example/631"),)
        RunVerdict(
            verdict, f"So it is in {name}: `x` & more.", scenario, target, "0", 4.0, 9, 0, (), rules, planted_defect
        ).save(folder.verdict)
    return folder


def page_of(folder: Path) -> Page:
    return Page(write_index(folder).read_text(encoding="utf-8"))


def test_every_run_is_linked_with_its_verdict_its_rule_and_its_identity(tmp_path: Path) -> None:
    make_run(tmp_path, "2026-11-23-a", "fences-late", Verdict.VIOLATION, state=BROKEN)
    make_run(tmp_path, "2026-11-23-b", "goes on 100%")
    page = page_of(tmp_path)
    for shown in (
        "fences-late",
        "So it is in 2026-11-23-a:",
        "K631-32",
        RULE,
        "KIP-631, Fencing",
        "0b3f0b3f0b3f",
        "77aa",
        "GitLab · nightly · trunk",
    ):
        assert shown in page.text
    reports = [each for each in page.references if each.endswith("report.html")]
    assert reports
    assert all((tmp_path / unquote(each)).is_file() for each in reports)
    outside = {each for each in page.references if "://" in each}
    assert outside == {"https://cwiki.example/631", "https://gitlab.example/jobs/77"}, "links only, nothing that loads"


def test_a_rule_that_was_broken_once_stands_first_and_is_not_held(tmp_path: Path) -> None:
    make_run(tmp_path, "a", "one", rule="ACK-01")
    make_run(tmp_path, "b", "two", rule="K631-32")
    make_run(tmp_path, "c", "three", Verdict.VIOLATION, rule="K631-32", state=BROKEN)
    rules = page_of(tmp_path).text.partition("Rules 2")[2]
    assert rules.index("K631-32") < rules.index("ACK-01")
    assert "1 broken 1 held" in rules


def test_only_the_newest_run_of_a_scenario_decides_its_rules(tmp_path: Path) -> None:
    make_run(tmp_path, "a", "one", Verdict.VIOLATION, state=BROKEN, started=1.0)
    make_run(tmp_path, "b", "one", started=2.0)
    text = page_of(tmp_path).text
    assert "by the newest run of each scenario" in text
    assert "1 held" in text.partition("Rules 1")[2]
    assert "1 pass 1 violation" in text


def test_a_run_with_a_planted_defect_never_reads_like_a_real_one(tmp_path: Path) -> None:
    make_run(tmp_path, "a", "one", planted_defect="no_self_fence")
    text = page_of(tmp_path).text
    assert "1 run with the planted defect no_self_fence: no verdict about a real build." in text
    assert text.count("planted defect") >= 3


def test_a_rule_that_only_a_planted_defect_broke_is_held_in_the_real_target(tmp_path: Path) -> None:
    make_run(tmp_path, "a", "one", started=1.0)
    make_run(tmp_path, "b", "one", Verdict.VIOLATION, state=BROKEN, started=2.0, planted_defect="no_self_fence")
    index = read_index(tmp_path)
    assert index.verdict is Verdict.PASS
    rules = page_of(tmp_path).text.partition("Rules 1")[2]
    assert "1 held" in rules
    assert "rule state quorum 1, process, planted defect no_self_fence quorum 1, process" in rules


def test_a_run_that_was_killed_is_there_without_a_verdict(tmp_path: Path) -> None:
    make_run(tmp_path, "a", "one", None).journal.write_text("{}\n")
    assert "killed half way one" in page_of(tmp_path).text


def suite(runs: Path, *scenarios: ScenarioResult, interrupted: bool = False) -> Path:
    folder = runs / "suite-1"
    SuiteResult("quorum", "1", "process", 7, 0.0, 9.0, scenarios, interrupted=interrupted).save(folder / SUITE_FILE)
    return folder


def test_a_suite_tells_what_was_skipped_and_why_and_which_rules_nothing_asked(tmp_path: Path) -> None:
    run = make_run(tmp_path, "a", "one")
    elsewhere = Path("another/machine") / run.name
    folder = suite(
        tmp_path,
        ScenarioResult("one", "The first", ("K631-32",), Verdict.PASS, seconds=5.0, run=str(elsewhere)),
        ScenarioResult("two", "The second", ("LD-01",), skipped="no ZooKeeper here"),
        ScenarioResult("three", "The third", ("LD-02",), skipped="no ZooKeeper here"),
    )
    page = page_of(folder)
    assert "Skipped 2 no ZooKeeper here two, three" in page.text
    assert "1 held 2 skipped" in page.text
    assert "The first" in page.text
    assert "../a/report.html" in page.references


def test_a_suite_that_was_interrupted_says_what_is_missing(tmp_path: Path) -> None:
    folder = suite(tmp_path, ScenarioResult("one", "The first", ("K631-32",)), interrupted=True)
    text = page_of(folder).text
    assert "The suite was interrupted; 1 scenarios were not run." in text
    assert "not run one" in text


def campaign(runs: Path) -> Path:
    folder = runs / "campaign-1"
    make_run(folder, "a", "random-1")
    order = {"target": "quorum:1", "backend": "process", "seed": 7, "minutes": 5.0, "workers": 1, "plans": 2}
    outcome = {"number": 1, "seed": 1, "title": "kill -9 of <leader>", "verdict": "pass", "seconds": 4.0}
    lost = outcome | {"number": 2, "verdict": "infrastructure", "headline": "no run began", "run": None}
    summary = {
        "verdict": "infrastructure",
        "counts": {"pass": 1, "infrastructure": 1},
        "interrupted": 1,
        "outcomes": [outcome | {"headline": "held", "run": "elsewhere/a"}, lost],
        "coverage": [{"fault": "kill", "role": "leader", "state": "fenced", "times": 3}],
        "left_out": [{"kind": "cpu", "reason": "only containers have limits"}],
    }
    (folder / "campaign.json").write_text(json.dumps(order))
    (folder / "summary.json").write_text(json.dumps(order | summary))
    return folder


def test_a_campaign_shows_its_plans_what_they_broke_and_what_was_left_out(tmp_path: Path) -> None:
    text = page_of(campaign(tmp_path)).text
    for shown in (
        "Campaign on quorum 1",
        "kill -9 of <leader>",
        "no run began",
        "kill 3 fenced",
        "only containers have limits cpu",
        "1 plans were running when the campaign was interrupted",
    ):
        assert shown in text


def test_a_folder_of_runs_links_the_pages_of_its_suites_and_campaigns(tmp_path: Path) -> None:
    suite(tmp_path, ScenarioResult("one", "The first", ("K631-32",), Verdict.PASS))
    campaign(tmp_path)
    make_run(tmp_path, "b", "by-hand")
    pages = write_indexes(tmp_path)
    assert pages == [each / "index.html" for each in (tmp_path, tmp_path / "suite-1", tmp_path / "campaign-1")]
    page = Page(pages[0].read_text())
    assert {"suite-1/index.html", "campaign-1/index.html", "b/report.html"} <= set(page.references)
    assert "random-1" not in page.text, "the runs of a campaign stand on its own page"


def test_results_that_cannot_be_read_cost_no_other_page(tmp_path: Path) -> None:
    folder = campaign(tmp_path)
    (folder / "summary.json").write_text("[]")
    assert "cannot be read" in page_of(tmp_path).text
    with pytest.raises(FolderError, match=r"the results in .* cannot be read"):
        write_index(folder)


def test_what_holds_no_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="is not a folder"):
        write_index(tmp_path / "nothing")
    with pytest.raises(FolderError, match="is one run"):
        write_index(make_run(tmp_path, "a", "one").path)
    (tmp_path / "empty").mkdir()
    assert "There are no runs in this folder." in page_of(tmp_path / "empty").text
