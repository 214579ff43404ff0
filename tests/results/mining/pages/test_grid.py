"""The grid of tests and builds: its letters, its bounds, and the page as a browser shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fencepost.results.mining.pages.grid import LEGEND, MOST_CELLS, cell, grids
from fencepost.results.mining.pages.write import write_pages
from fencepost.results.store.store import Store
from tests.harness.report.chromium import Chromium, needs_chromium
from tests.results.mining.facts_of import many

LUMINANCE = """(() => {
  const light = (text) => {
    const [r, g, b] = text.match(/\\d+/g).map((each) => Number(each) / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const keys = [...document.querySelectorAll(".key")].map((each) => getComputedStyle(each));
  return keys.map((each) => [light(each.backgroundColor), ratio(light(each.color), light(each.backgroundColor))]);
})()"""


def counts(**numbers: int) -> dict[str, Any]:
    return dict.fromkeys(("pass", "violation", "infrastructure", "inconclusive", "retried"), 0) | numbers


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("grid")
    store = Store.create(str(root / "store"))
    write_pages(many(250, 40), store, root / "known")
    write_pages(many(8, 20, known=False), store, root / "unknown")
    return root


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser


def pressed(browser: Chromium, *keys: str) -> None:
    for key in keys:
        browser.value(
            f"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))"
        )


def loaded(browser: Chromium, action: str) -> None:
    """Do what leads to another page, and wait for it."""
    browser.value(action)
    while browser._read().get("method") != "Page.loadEventFired":
        pass


def test_a_letter_says_how_much_failed() -> None:
    for numbers, shown in (
        (counts(**{"pass": 9}), ("ok", "·", "9 0 0 0 0")),
        (counts(**{"pass": 9}, retried=1), ("again", "r", "9 0 0 0 1")),
        (counts(**{"pass": 999}, violation=1), ("few", "1", "999 1 0 0 0")),
        (counts(**{"pass": 1}, violation=1), ("most", "5", "1 1 0 0 0")),
        (counts(**{"pass": 1}, violation=999), ("most", "9", "1 999 0 0 0")),
        (counts(violation=2, inconclusive=1), ("all", "×", "0 2 0 1 0")),
        (counts(infrastructure=1, inconclusive=1), ("halt", "i", "0 0 1 1 0")),
        (counts(inconclusive=1), ("halt", "?", "0 0 0 1 0")),
    ):
        assert cell(numbers) == shown
    letters = [letter for _, letter in LEGEND]
    assert len(set(letters)) == len(letters)


def test_the_grid_has_the_worst_tests_and_says_how_many_it_leaves_out() -> None:
    [grid] = grids(many(300, 50))
    assert len(grid["columns"]) * len(grid["rows"]) == MOST_CELLS
    assert grid["more"] == 50
    assert grid["columns"][-1] == ("build-49", "build-49, 2026-11-23")
    assert grid["rows"][0]["row"]["state"] == "broken"


def test_unknown_builds_make_a_grid_of_days() -> None:
    [grid] = grids(many(8, 20, known=False))
    assert grid["by"] == "day"
    assert grid["columns"][-1] == ("2026-11-23", "2026-11-23")
    assert all(None not in row["cells"] for row in grid["rows"])


def test_a_single_build_makes_no_grid() -> None:
    assert grids(many(8, 1)) == []


@pytest.mark.integration
@needs_chromium
@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("media", ["screen", "print"])
@pytest.mark.parametrize("name", ["known", "unknown"])
def test_the_overview_is_as_wide_as_its_window(
    browser: Chromium, site: Path, name: str, media: str, width: int
) -> None:
    width = 718 if media == "print" else width
    browser.open(site / name / "index.html", width, media=media)
    assert browser.value("document.documentElement.scrollWidth") == width
    assert browser.value("document.querySelectorAll('td[data-c]').length") == (MOST_CELLS if name == "known" else 160)


@pytest.mark.integration
@needs_chromium
@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_of_a_test_is_as_wide_as_its_window_and_shows_its_days(
    browser: Chromium, site: Path, width: int
) -> None:
    browser.open(next((site / "unknown" / "tests").glob("*appends0001*.html")), width)
    assert browser.value("document.documentElement.scrollWidth") == width
    sections = browser.value("[...document.querySelectorAll('section[id]')].map((each) => each.id)")
    assert sections == ["days", "duration", "nondeterminism", "runs"]
    assert browser.value("document.querySelectorAll('#days .build').length") == 20
    words = "It takes longer since 2026-11-14: 2 s → 4 s, × 2."
    assert browser.value("document.querySelector('#duration p').textContent") == words


@pytest.mark.integration
@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
def test_a_chart_fills_its_place_and_its_line_is_seen(browser: Chromium, site: Path, dark: bool) -> None:
    browser.open(site / "known" / "index.html", 1400, dark=dark)
    wide = "document.querySelector('.chart {}').getBoundingClientRect().width"
    place, line = (browser.value(wide.format(part)) for part in (".plot", "path"))
    assert place > 300
    assert line > 0.95 * place
    colour = "getComputedStyle(document.querySelector('{}')).{}"
    assert browser.value(colour.format(".chart path", "stroke")) != browser.value(
        colour.format("#glance", "backgroundColor")
    )


@pytest.mark.parametrize("name", ["known", "unknown"])
def test_pages_and_sections_without_content_are_not_there(site: Path, name: str) -> None:
    assert {page.name for page in (site / name).glob("*.html")} == {"index.html", "tests.html"}
    overview = (site / name / "index.html").read_text()
    assert "rules.html" not in overview
    assert not {"causes", "together", "halts", "quarantine", "signatures"} & set(re.findall(r'id="([^"]+)"', overview))


def test_pages_say_what_they_rest_on(site: Path) -> None:
    known, unknown = ((site / name / "tests.html").read_text() for name in ("known", "unknown"))
    assert "5,500 runs of 250 tests on quorum · 40 known builds · 40 days, 2026-11-01 to 2026-11-23" in known
    assert "no known build, 1,600 attempts of unknown ones · 20 days" in unknown
    page = next((site / "unknown" / "tests").glob("*appends0001*.html")).read_text()
    assert "22 runs · no known build, 22 runs of unknown ones" in page


@pytest.mark.integration
@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
def test_cells_differ_without_their_colours(browser: Chromium, site: Path, dark: bool) -> None:
    """Passes, some, most and all failures are steps of lightness in one direction; each letter can be read."""
    browser.open(site / "known" / "index.html", 1400, dark=dark)
    shown = browser.value(LUMINANCE)
    by_class = {name: light for (name, _), (light, _) in zip(LEGEND, shown, strict=True)}
    steps = [by_class[name] for name in ("ok", "few", "most")]
    assert steps == sorted(steps, reverse=not dark)
    assert all(abs(one - other) > 0.05 for one, other in pairwise(steps))
    assert abs(by_class["all"] - by_class["ok"]) > 0.3
    assert min(ratio for _, ratio in shown) >= 4.5


@pytest.mark.integration
@needs_chromium
def test_a_click_on_a_cell_leads_to_the_failures_on_its_build(browser: Chromium, site: Path) -> None:
    browser.open(site / "known" / "index.html", 1400)
    loaded(browser, "document.querySelectorAll('.grid tbody tr')[3].cells[4 + 9].click()")
    rows = "[...document.querySelectorAll('#runs tbody tr:not([hidden])')].map((e) => e.cells[2].textContent)"
    assert browser.value("document.querySelector('h1').textContent") == "org.acme.broker.LogTest::appends0003"
    assert browser.value(rows) == ["build-09"]


@pytest.mark.integration
@needs_chromium
def test_arrow_keys_move_among_cells_and_say_them_in_words(browser: Chromium, site: Path) -> None:
    browser.open(site / "unknown" / "index.html", 1400)
    browser.value("document.querySelector('.grid tbody a').focus()")
    pressed(browser, "ArrowRight", "ArrowRight", "ArrowDown")
    said = "document.querySelector('.said').textContent"
    assert (
        browser.value(said)
        == "org.acme.broker.LogTest::appends0001 on 2026-11-05: 2 passed, 8 failed, 1 passed on retry"
    )
    pressed(browser, "ArrowLeft", "ArrowLeft")
    assert browser.value("document.activeElement.textContent") == "org.acme.broker.LogTest::appends0001"
    pressed(browser, "ArrowRight", "ArrowRight")
    loaded(
        browser, "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))"
    )
    assert browser.value("document.querySelector('h1').textContent") == "org.acme.broker.LogTest::appends0001"
    assert browser.value("location.hash") == "#runs?q=2026-11-05"


@pytest.mark.integration
@needs_chromium
def test_the_grid_is_filtered_and_sorted(browser: Chromium, site: Path) -> None:
    browser.open(site / "known" / "index.html", 1400)
    browser.value("document.querySelector('.gridded .chip[data-state=healthy]').click()")
    visible = "[...document.querySelectorAll('.grid tbody tr:not([hidden])')]"
    assert browser.value(f"{visible}.length") == 125
    browser.value("document.querySelectorAll('.grid th button')[1].click()")
    browser.value("document.querySelectorAll('.grid th button')[1].click()")
    assert browser.value(f"{visible}[0].querySelector('a').textContent") == "org.acme.broker.LogTest::appends0249"
