"""The pages of the trends as a browser lays them out, and as a person uses them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.results.mining.facts import Row
from fencepost.results.mining.pages import write
from fencepost.results.mining.pages.folder import NotOurs, check_folder
from fencepost.results.mining.pages.write import write_pages
from fencepost.results.store.store import Store
from fencepost.results.store.tables import PLANS
from tests.harness.report.chromium import Chromium, needs_chromium
from tests.results.mining.facts_of import change, facts, kind, of_test
from tests.results.store.stores import head, run

LONG = "a-scenario-with-a-name-of-many-words-and-no-space-in-it-at-all-that-would-make-any-table-too-wide"
LAST_WEEK = "2026-11-20T00:00:00+00:00"
PAGES = ("index.html", "tests.html", "rules.html", "timings.html")


def shown(section: str) -> str:
    """Return the JavaScript that gives the first links of the rows that a section shows."""
    return f"[...document.querySelectorAll('#{section} tbody tr:not([hidden]) a')].map((e) => e.textContent.trim())"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tests: a flaky one with everything on its page, a broken one, a quiet one."""
    root = tmp_path_factory.mktemp("site")
    report = root / "runs" / "run-2" / "report.html"
    report.parent.mkdir(parents=True)
    report.write_text("the report")
    store = Store.create(str(root / "store"))
    plan = head("run-2", verdict="violation") | {"row": 0, "plan_hash": "sha256:ab", "steps": 3, "plan": "format: 2"}
    store.add({"runs": [run("run-2", verdict="violation")], PLANS.name: [plan]})
    key = {"test": LONG, "target": "quorum", "backend": "process"}
    builds = [
        key
        | {"build": f"build-0{number}", "release": None, "first_run_at": f"2026-11-{10 + number}T00:00:00+00:00"}
        | {"pass": 3, "violation": number // 8, "infrastructure": 0, "inconclusive": 1, "retried": 0, "median_s": 2.0}
        for number in range(1, 10)
    ]
    ran: Row = key | {"started_at": LAST_WEEK, "build": "build-08", "release": None, "plan_hash": "ab", "seed": 1}
    ran |= {
        "duration_s": 2.5,
        "headline": "It was lost.",
        "left_out": None,
        "ci_url": "https://ci.example/1",
        "attempt": 1,
        "attempts": 2,
    }
    runs = [
        ran | {"run_id": "run-2", "verdict": "violation", "folder": str(report.parent)},
        ran | {"run_id": "run-1", "verdict": "pass", "folder": "/gone", "ci_url": "javascript:alert(1)"},
    ]
    timing: Row = {"timing": "failover", "fault_kind": "kill", "times": 9, "unseen": 1}
    slow = key | {"timing": "failover", "seconds_before": 1.5, "seconds_after": 3.0, "times_before": 9}
    by_build = {"target": "quorum", "backend": "process", **timing, "p95_s": 4.0, "longest_s": 5.0, "longest_run": "r"}
    rules = {"target": "quorum", "backend": "process", "as_listed": 0, "not_covered": 0, "idle": 0, "last_run": "r"}
    cause = {"runs": 10, "failures": 9, "rate_with": 0.9, "rate_without": 0.1, "q_value": 0.001}
    signature = {
        "masking": 1,
        "state": "whole",
        "tests": [LONG],
        "test_count": 1,
        "targets": ["quorum"],
        "faults": ["kill"],
        "last_run": "r",
    }
    found = facts(
        of_test(LONG, change=change("worse", LAST_WEEK)),
        of_test("broken-for-long", state="broken", cost_s=9000.0),
        of_test("quiet", state="healthy", last_failed_at=None, week_red=0, cost_s=0.0, failure=None),
        change_points=[key | change("worse", LAST_WEEK)],
        verdicts_by_build=builds,
        newest_runs=runs,
        signatures_by_test=[kind(LONG, f"{'x' * 300} was lost")],
        signatures=[kind(LONG, "5 were lost") | signature | {"new": True, "first_build": "build-08"}],
        times_by_test=[key | timing | {"median_s": 1.5, "longest_s": 5.0, "longest_run": "r"}],
        slow_downs=[slow | change("worse", LAST_WEEK)],
        times=[by_build | {"build": f"build-0{number}", "median_s": float(number)} for number in range(1, 4)],
        attribution=[
            cause | {"causes": ["fault:kill", "role:leader"], "independent": 1, "rank": 1, "lift": 9, "odds_ratio": 81}
        ],
        attribution_by_test=[cause | {"test": LONG, "target": "quorum", "feature": "fault:kill"}],
        together=[
            {"target": "quorum", "first": f"{LONG} on process", "second": "b on process"}
            | {"similarity": 0.9, "group": "b on process", "together": 9, "first_failures": 10, "second_failures": 9}
        ],
        coverage=[
            rules | {"rule": "ACK-01", "says": "No acknowledged record is lost.", "state": "broken", "broken": 2}
            | {"held": 3, "last_evidence_at": LAST_WEEK, "last_build": "build-08", "broken_run": "run-2"},
            rules | {"rule": "CLK-01", "says": "A clock may jump.", "state": "never exercised", "broken": 0}
            | {"held": 0, "last_evidence_at": None, "last_build": None, "broken_run": None},
        ],
        reached=[
            {"target": "quorum", "kind": "kill", "role": "leader", "cluster_state": "whole", "runs": 0}
            | {"proven": 0, "violations": 0, "last_at": None}
        ],
    )  # fmt: skip
    write_pages(found, store, root / "out")
    return root / "out"


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser


def page_of(site: Path, name: str) -> Path:
    [page] = site.glob(f"tests/{name[:60]}*.html")
    return page


@pytest.mark.integration
@needs_chromium
@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("name", [*PAGES, "test"])
def test_a_page_is_as_wide_as_its_window_and_asks_for_nothing(
    browser: Chromium, site: Path, name: str, width: int
) -> None:
    browser.open(page_of(site, LONG) if name == "test" else site / name, width)
    assert browser.value("document.documentElement.scrollWidth") == width
    assert browser.value("performance.getEntriesByType('resource').length") == 0


@pytest.mark.integration
@needs_chromium
def test_the_words_of_all_badges_can_be_read_in_light_and_dark(browser: Chromium, site: Path) -> None:
    colours = "[...document.querySelectorAll('.badge')].map((e) => getComputedStyle(e).color)"
    for dark in (False, True):
        browser.open(site / "tests.html", 1400, dark=dark)
        assert set(browser.value(colours)) == {"rgb(255, 255, 255)"}


@pytest.mark.integration
@needs_chromium
def test_a_filter_is_in_the_address_and_comes_back_with_it(browser: Chromium, site: Path) -> None:
    browser.open(site / "tests.html", 1400)
    assert browser.value(shown("tests")) == [LONG, "broken-for-long", "quiet"]
    browser.value("document.querySelector('#tests .chip[data-state=broken]').click()")
    assert browser.value(shown("tests")) == ["broken-for-long"]
    address = browser.value("location.hash")
    browser.value("document.querySelector('#tests .chip[data-state=broken]').click()")
    assert browser.value(shown("tests")) == [LONG, "broken-for-long", "quiet"]
    browser.value(f"new Promise((done) => {{ addEventListener('hashchange', done); location.hash = '{address}'; }})")
    assert browser.value(shown("tests")) == ["broken-for-long"]
    browser.open(site / "index.html", 1400)
    browser.open(site / "tests.html", 1400, fragment=address)
    assert browser.value(shown("tests")) == ["broken-for-long"]


@pytest.mark.integration
@needs_chromium
def test_a_link_to_an_order_shows_that_order(browser: Chromium, site: Path) -> None:
    browser.open(site / "tests.html", 1400)
    cost = browser.value("[...document.querySelectorAll('#tests th')].findIndex((e) => e.textContent === 'cost')")
    link = f"new Promise((done) => {{ addEventListener('hashchange', done); location.hash = 'tests?sort=-{cost}'; }})"
    browser.value(link)
    assert browser.value(shown("tests")) == ["broken-for-long", LONG, "quiet"]
    template = Path(write.__file__).with_name("index.html.j2").read_text()
    assert f"tests.html#tests?sort=-{cost}" in template


@pytest.mark.integration
@needs_chromium
def test_the_keyboard_reaches_the_filter_and_the_rows(browser: Chromium, site: Path) -> None:
    browser.open(site / "tests.html", 1400)

    def press(key: str) -> None:
        browser.value(
            f"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))"
        )

    press("/")
    assert browser.value("document.activeElement.type") == "search"
    press("ArrowDown")
    press("ArrowDown")
    assert browser.value("document.activeElement.textContent") == "broken-for-long"
    press("ArrowUp")
    press("ArrowUp")
    assert browser.value("document.activeElement.type") == "search"


@pytest.mark.integration
@needs_chromium
def test_the_builds_of_the_interval_and_the_probable_one_are_marked(browser: Chromium, site: Path) -> None:
    browser.open(page_of(site, LONG), 1400)
    bars = "[...document.querySelectorAll('.build')].map((e) => e.className)"
    assert browser.value(bars) == ["build"] * 6 + ["build interval", "build interval since", "build"]
    tip = browser.value("document.querySelectorAll('.build')[7].title")
    assert tip == "build-08, 2026-11-18: 1 violation, 1 inconclusive, 3 pass, median 2.0 s"


@pytest.mark.integration
@needs_chromium
def test_a_printed_page_is_light_and_whole(browser: Chromium, site: Path) -> None:
    browser.open(site / "index.html", 718, media="print", dark=True)
    assert browser.value("document.documentElement.scrollWidth") == 718
    assert browser.value("getComputedStyle(document.querySelector('#week')).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.value("document.querySelector('.tools').checkVisibility()") is False


def test_every_link_leads_to_a_file_that_is_there(site: Path) -> None:
    for page in site.rglob("*.html"):
        for link in re.findall(r'href="([^"]+)"', page.read_text()):
            path, _, _ = link.partition("#")
            assert path.startswith("https://ci.example") or (page.parent / path).is_file(), (page, link)


def test_the_page_of_a_test_has_its_facts(site: Path) -> None:
    page = page_of(site, LONG).read_text()
    for part in (
        "It became worse with build-08 (99 %: build-07 to build-08)",
        'href="../../runs/run-2/report.html"',
        "fencepost replay ",
        'href="../plans/ab.yaml"',
        'href="https://ci.example/1"',
        "No acknowledged record is lost.",
        "<code>fault:kill</code>",
        "1.5 s → 3 s",
        "2 plans both passed and failed on one build",
        "b on process",
    ):
        assert part in page
    assert "javascript:" not in page
    assert (site / "plans" / "ab.yaml").read_text() == "format: 2"


def test_kinds_of_failures_and_groups_lead_to_their_tests(site: Path) -> None:
    page = (site / "index.html").read_text()
    link = f'href="tests/{page_of(site, LONG).name}"'
    for section in ("signatures", "together"):
        assert link in page.partition(f'id="{section}"')[2].partition("</section>")[0]


def test_the_rules_have_their_texts_and_what_was_never_exercised(site: Path) -> None:
    page = (site / "rules.html").read_text()
    assert "A clock may jump." in page
    assert page.index("ACK-01") < page.index("CLK-01")
    assert page.count(">never exercised</") >= 2
    assert ">never</td>" in page


def test_pages_are_written_over_earlier_ones_but_over_nothing_else(site: Path, tmp_path: Path) -> None:
    check_folder(site)
    check_folder(tmp_path / "new")
    (tmp_path / "notes.txt").touch()
    with pytest.raises(NotOurs, match="has other files"):
        check_folder(tmp_path)
