import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fencepost.harness.judge import judge
from fencepost.harness.plan.file import dump_plan
from fencepost.harness.report.page import render, write_report
from fencepost.harness.report.text import summarise
from fencepost.results.records.folder import Manifest, RunFolder
from fencepost.results.records.journal import Damage
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.logs import batch, write_log
from tests.harness.checkers.plans import plan
from tests.harness.report.tale import lost_journal, lost_plan

REPLAY = "fencepost replay runs/2026-11-21-7f3c9a21"
VOID = {"meta", "input", "line", "rect", "circle", "polyline", "br"}


class Page(HTMLParser):
    """Holds an HTML page to being well nested, and collects its words and its references."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.references: list[str] = []
        self.ids: list[str] = []
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.references += [value or "" for name, value in attrs if name in ("href", "src")]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        return

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        self.words.append(data.strip())

    @property
    def text(self) -> str:
        return " ".join(word for word in self.words if word)


def lost_page() -> str:
    return render(lost_plan(), lost_journal(), judge(lost_plan(), lost_journal()), replay=REPLAY)


def test_the_page_says_what_happened_and_how_to_see_it_again() -> None:
    text = Page(lost_page()).text
    for words in (
        "A refused duplicate must not count as a replica",
        "220 records (u-0 offsets 100 to 319) acknowledged with acks=all are gone.",
        REPLAY,
        "was broken",
        "during-219",
        "… 208 more",
        "cut node-4 → node-6",
        "320 acknowledged",
        "100 there at the end",
        "× kill −9",
    ):
        assert words in text


def test_the_page_needs_no_network() -> None:
    page = lost_page()
    assert all(reference.startswith(("#", "logs/")) for reference in Page(page).references)
    assert not re.search(r"https?:|@import|url\(|//cdn", page)


def test_every_number_on_the_timeline_leads_to_its_finding() -> None:
    page = Page(lost_page())
    links = {reference for reference in page.references if reference.startswith("#")}
    assert links == {"#finding-1", "#moment"}
    assert {link.removeprefix("#") for link in links} <= set(page.ids)


def test_the_same_run_gives_the_same_page() -> None:
    assert lost_page() == lost_page()


def test_what_a_log_or_a_record_says_is_text_and_no_markup() -> None:
    builder = (
        JournalBuilder()
        .event("run", "r", "begin")
        .send("<b>x</b>", 0)
        .send("p", 1)
        .final((1, "p"))
        .event("run", "r", "end")
    )
    page = render(plan(), builder.journal(), judge(plan(), builder.journal()), replay="<script>")
    assert "<b>x</b>" not in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert page.count("<script>") == 2  # of all pages, and of this one
    Page(page)


@pytest.mark.parametrize(
    "builder",
    [
        JournalBuilder(),
        JournalBuilder().event("run", "r", "begin"),
        JournalBuilder()
        .event("fault", "cut", "intent", {"fault": "cut"})
        .event("fault", "cut", "unproven", {"how": "it answers"}),
        JournalBuilder()
        .event("fault", "cut", "intent")
        .event("fault", "cut", "proven")
        .event("fault", "cut", "recovering"),
        JournalBuilder()
        .event("step", "step-01", "begin")
        .event("node", "node-4", "exited", {"exit_code": 1}, "node-4"),
        JournalBuilder().controller(1, 5).controller(-1, 6).partition(-1, 0, []),
        JournalBuilder()
        .send("p-0", outcome=None)
        .event("op", "x", "info", {"f": "probe", "step": "s", "outcome": "unanswered"}),
    ],
)
def test_a_run_cut_short_anywhere_still_has_a_page(builder: JournalBuilder) -> None:
    for journal in (builder.journal(torn=1), builder.journal(damaged=(Damage(2, "not an event"),))):
        verdict = judge(lost_plan(), journal)
        assert verdict.verdict is Verdict.INFRASTRUCTURE
        assert "The run was cut short" in Page(render(lost_plan(), journal, verdict, replay=REPLAY)).text


@pytest.mark.parametrize("length", range(0, 900, 50))
def test_every_beginning_of_a_run_has_a_page(length: int) -> None:
    events = lost_journal().events[:length]
    journal = type(lost_journal())(events)
    Page(render(lost_plan(), journal, judge(lost_plan(), journal), replay=REPLAY))


def test_a_broken_requirement_leads_to_its_finding_and_does_not_repeat_it() -> None:
    page = lost_page()
    assert '<a href="#finding-1">finding 1</a>' in page
    assert Page(page).text.count("acknowledged with acks=all are gone.") == 3  # headline, finding, every check


def test_a_step_that_names_another_links_it_and_shows_no_quotes_of_code() -> None:
    steps = [
        {"do": "inject", "as": "dies", "fault": "kill", "nodes": "node-4"},
        {"do": "heal", "as": "back", "fault": "dies"},
    ]
    builder = JournalBuilder().event("run", "r", "begin").event("step", "back", "begin").event("step", "back", "end")
    tested, journal = plan(steps=steps), builder.event("run", "r", "end").journal()
    page = render(tested, journal, judge(tested, journal), replay=REPLAY)
    assert 'Heal <a class="step" href="#step-dies">dies</a>' in page
    assert "Heal dies (back)" in page
    assert "`" not in page.partition("<script>")[0]


def test_no_tip_has_a_time_twice() -> None:
    tips = re.findall(r'data-tip="([^"]+)"', lost_page())
    assert len(tips) > 30
    for tip in tips:
        times = re.findall(r"\d+\.\d\d", tip)
        assert len(times) == len(set(times)), tip


def test_steps_that_a_run_did_not_reach_are_folded() -> None:
    events = lost_journal().events[:300]
    journal = type(lost_journal())(events)
    page = render(lost_plan(), journal, judge(lost_plan(), journal), replay=REPLAY)
    assert re.search(r"<details><summary>\d not reached</summary>", page)


def test_a_requirement_that_nothing_judged_is_named() -> None:
    text = Page(lost_page()).text
    assert "K631-41" in text
    assert "not exercised" in text


def test_a_step_is_not_simply_done_if_its_claim_was_broken() -> None:
    """A `may` that did not happen is no success, and a `never` that did not is one."""
    claim = {"requirement": "LIVE-01"}
    waits = [
        {"do": "await", "as": level, "condition": "converged", "within_ms": 10, "expect": claim | {"level": level}}
        for level in ("must", "may", "never")
    ]
    probe = {"do": "probe", "as": "asked", "request": "metadata", "node": "node-4"}
    steps = [*waits, probe | {"expect": claim | {"level": "never", "outcome": "served"}}]
    builder = JournalBuilder().event("run", "r", "begin")
    for name in ("must", "may", "never", "asked"):
        builder.event("step", name, "begin")
        if name == "asked":
            builder.event("op", "x", "invoke", {"f": "probe", "step": name}, "node-4")
            builder.event("op", "x", "ok", {"f": "probe", "step": name, "outcome": "served", "error": None, "body": {}})
        builder.event("step", name, "end", {"outcome": "done" if name == "asked" else "missed"})
    journal = builder.event("run", "r", "end").journal()
    tested = plan(steps=steps)
    page = render(tested, journal, judge(tested, journal), replay=REPLAY)
    outcomes = re.findall(r'<tr id="step-(\w+)".*?<td class="state is-(\w+)">([^<]+)</td></tr>', page)
    assert outcomes == [
        ("must", "violation", "did not happen, and must"),
        ("may", "unjudged", "did not happen, as it may"),
        ("never", "pass", "never happened, as required"),
        ("asked", "violation", "done, claim broken"),
    ]


def test_the_page_of_a_folder_has_its_environment_and_the_ends_of_its_logs(tmp_path: Path) -> None:
    folder = RunFolder.create_at(tmp_path / "run")
    folder.plan.write_text(dump_plan(lost_plan()))
    lines = [f"line {n}" for n in range(100)]
    (folder.logs / "node-4.log").write_text("\n".join(lines))
    Manifest(
        run="run",
        scenario="s",
        target="apache-kafka",
        target_version="4.3.1",
        backend="process",
        seed=7,
        plan_hash="h",
        started=0.0,
        machine={"cpus": "2"},
        versions={"python": "3.11.7"},
    ).save(folder.manifest)
    folder.journal.write_text("".join(json.dumps(event.to_json()) + "\n" for event in lost_journal().events))
    judge(lost_plan(), lost_journal()).save(folder.verdict)
    page = Page(write_report(folder).read_text())
    assert "logs/node-4.log" in page.references
    assert "last 20 of 100 lines" in page.text
    assert "line 99" in page.text
    assert "3.11.7" in page.text


def test_a_run_that_died_before_it_was_judged_has_a_report_all_the_same(tmp_path: Path) -> None:
    folder = RunFolder.create_at(tmp_path / "run")
    folder.plan.write_text(dump_plan(lost_plan()))
    lines = [json.dumps(event.to_json()) for event in lost_journal().events]
    folder.journal.write_text("\n".join(lines[: len(lines) // 2]) + "\n" + '{"seq": 9')
    page = Page(write_report(folder).read_text())
    assert "did not reach its end" in page.text
    assert not folder.verdict.exists()


def test_a_violation_in_a_terminal_says_what_again_and_where(tmp_path: Path) -> None:
    folder = RunFolder.create_at(tmp_path / "run")
    folder.report.touch()
    lines = summarise(judge(lost_plan(), lost_journal()), folder).splitlines()
    assert lines[0].startswith("violation      refused-duplicate on apache-kafka:4.3.1")
    assert "220 records" in lines[1]
    said = " ".join(" ".join(lines).split())
    assert (
        "rule ACK-01: No record acknowledged at acks=all is lost. (fencepost guarantees, Acknowledged records)" in said
    )
    assert said.count("rule ACK-01") == 1
    assert lines[-2] == f"replay         fencepost replay {folder.path}"
    assert lines[-1] == f"report         {folder.report}"
    assert max(map(len, lines[:-2])) <= 110


def test_records_are_shown_on_every_replica_on_the_page_and_in_a_terminal(tmp_path: Path) -> None:
    """KIP-101's second case. The loss of the one record and the other one at its offset are one finding."""
    builder = JournalBuilder().event("run", "r", "begin").partition(4, 0, (4, 5)).send("m1", 0).send("m2", 1)
    builder.partition(5, 1, (5,)).send("m3", 1).partition(5, 1, (5, 4)).final((0, "m1"), (1, "m3")).event(
        "run", "r", "end"
    )
    for node, batches in (("node-4", [batch(1, "m2", epoch=0)]), ("node-5", [batch(1, "m3", epoch=1)])):
        write_log(tmp_path / node / "data" / "t-0", batch(0, "m1", epoch=0), *batches)
    verdict = judge(plan(), builder.journal(), tmp_path)
    page = Page(render(plan(), builder.journal(), verdict, replay=REPLAY))
    assert page.text.count("other: m3 (epoch 1)") == 1
    assert "It breaks ACK-04, ACK-06, HW-03, SEG-01 and SEG-02, too." in page.text
    lines = summarise(verdict, RunFolder(tmp_path)).splitlines()
    [head] = [number for number, line in enumerate(lines) if "node-4 (in the ISR)" in line]
    assert [" ".join(line.split()) for line in lines[head : head + 4]] == [
        "offset epoch record acknowledged ISR then served node-4 (in the ISR) node-5 (leads)",
        "0 0 m1 by 4 at 0.40 s 4, 5 in the final read there there",
        "1 0 m2 by 4 at 0.60 s 4, 5 never there m3 (epoch 1)",
        "1 1 m3 by 5 at 0.90 s 5 in the final read m2 (epoch 0) there",
    ]
    assert max(map(len, lines)) <= 110


def test_log_lines_in_a_message_keep_their_lines(tmp_path: Path) -> None:
    words = "this message is longer than a terminal is wide, " * 4
    long = "  |   File node.py, line 7, in a call that is longer than the terminal is wide: " + "x" * 80
    builder = JournalBuilder().event("run", "r", "begin").partition(4, 0, (4,))
    data = {"what": "infrastructure", "message": f"{words}\n  | Traceback (most recent call last):\n{long}"}
    builder.event("note", "infrastructure", "seen", data).event("run", "r", "end")
    verdict = judge(plan(), builder.journal())
    lines = [line[15:] for line in summarise(verdict, RunFolder(tmp_path)).splitlines()]
    assert "  | Traceback (most recent call last):" in lines
    assert long in lines


def test_findings_about_the_same_records_show_them_once(tmp_path: Path) -> None:
    """`b` is lost; besides, the replicas have different records at the offset of `a`."""
    builder = JournalBuilder().event("run", "r", "begin").partition(4, 1, (4, 5)).send("a", 0).send("b", 1)
    for node, value in (("node-4", "a"), ("node-5", "z")):
        write_log(tmp_path / node / "data" / "t-0", batch(0, value))
    journal = builder.final((0, "a")).event("run", "r", "end").journal()
    verdict = judge(plan(), journal, tmp_path)
    shown = [finding.check for finding in verdict.shown(Verdict.VIOLATION)]
    assert shown == ["unseen", "committed-kept", "one-content", "replicas-agree"]
    page = Page(render(plan(), journal, verdict, replay=REPLAY))
    assert "The same records as in" in page.text


def test_a_pass_in_a_terminal_is_one_line_unless_rules_were_not_exercised(tmp_path: Path) -> None:
    builder = JournalBuilder().event("run", "r", "begin").send("p-0", 0).final((0, "p-0")).event("run", "r", "end")
    verdict = judge(plan(), builder.journal())
    first, second, *_ = summarise(verdict, RunFolder(tmp_path)).splitlines()
    assert first == "pass           tested on quorum, 0.7 s"
    assert second.startswith("               named by the scenario, and not exercised: ACK-02 ACK-03")
    held = replace(verdict, requirements=())
    assert summarise(held, RunFolder(tmp_path)) == first


def test_a_pass_says_what_its_scenario_names_and_nothing_judged(tmp_path: Path) -> None:
    builder = JournalBuilder().event("run", "r", "begin").send("p-0", 0).final((0, "p-0")).event("run", "r", "end")
    verdict = judge(plan().model_copy(update={"requirements": ("ACK-01", "K631-57")}), builder.journal())
    lines = summarise(verdict, RunFolder(tmp_path)).splitlines()
    idle = " ".join(line.strip() for line in lines[1:]).removeprefix("named by the scenario, and not exercised: ")
    assert tuple(idle.split()) == verdict.not_exercised
    assert {"K631-57", "TXN-02", "CTRL-01"} & {*verdict.not_exercised} == {"K631-57", "CTRL-01"}
    assert "ACK-01" not in verdict.not_exercised
