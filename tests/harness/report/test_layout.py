"""The report page as a browser lays it out: nothing too wide, nothing that covers a label, readable on any paper."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.harness.judge import judge
from fencepost.harness.report.page import render, write_report
from fencepost.results.records.folder import RunFolder
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.report.chromium import Chromium, needs_chromium
from tests.harness.report.tale import lost_journal, lost_plan
from tests.harness.reproduction.test_earlier_formats import ARCHIVES

pytestmark = [pytest.mark.integration, needs_chromium]

COVERED = """(() => {
  const boxes = [...document.querySelectorAll(".plot text, .plot circle")]
    .filter((e) => (e.textContent || e.tagName === "circle") && !e.matches(".number, .clock"))
    .filter((e) => e.getBoundingClientRect().width)
    .map((e) => [e.textContent || "circle", e.getBoundingClientRect()]);
  const shared = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return boxes.flatMap(([text, box], n) => boxes.slice(n + 1).filter(([, other]) => shared(box, other))
    .map(([other]) => `${text} / ${other}`));
})()"""
TICKS = "[...document.querySelectorAll('#axis text')].map((e) => parseFloat(e.textContent))"
ACROSS = """[...document.querySelectorAll("section")].filter((e) => e.scrollWidth > e.clientWidth + 1)
    .map((e) => e.textContent)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser


@pytest.fixture(scope="module", params=["real", "invented"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    if request.param == "real":
        shutil.unpack_archive(ARCHIVES / "quorum-violation.tar.xz", folder)
        return write_report(RunFolder.open(folder / "quorum-violation"))
    replay = f"fencepost replay {'/a-long-folder-without-a-space' * 5}"
    (folder / "report.html").write_text(
        render(lost_plan(), lost_journal(), judge(lost_plan(), lost_journal()), replay=replay)
    )
    return folder / "report.html"


@pytest.mark.parametrize("width", [400, 760, 1400])
def test_a_page_is_as_wide_as_its_window_and_no_label_covers_another(browser: Chromium, page: Path, width: int) -> None:
    browser.open(page, width)
    assert browser.value("document.documentElement.scrollWidth") == width
    assert browser.value(ACROSS) == []
    assert browser.value(COVERED) == []
    for _ in range(4):
        browser.value("document.querySelector('[data-do=in]').click()")
        assert browser.value(COVERED) == []


@pytest.mark.parametrize("width", [400, 1400])
def test_marks_that_stand_close_together_do_not_cover_each_other(browser: Chromium, tmp_path: Path, width: int) -> None:
    """A window of 1400 shows the page as it was written; in one of 400 the script places all labels anew."""
    builder = JournalBuilder().event("run", "r", "begin").event("node", "node-6", "ready", None, "node-6")
    for _ in range(30):
        builder.event("node", "node-6", "paused", None, "node-6").event("node", "node-6", "resumed", None, "node-6")
    journal = builder.at(30.0).event("run", "r", "end").journal()
    page = tmp_path / "report.html"
    page.write_text(render(lost_plan(), journal, judge(lost_plan(), journal), replay="r"))
    browser.open(page, width)
    assert browser.value("document.querySelectorAll('.plot text.mark').length") == 30
    for _ in range(5):
        assert browser.value(COVERED) == []
        browser.value("document.querySelector('[data-do=in]').click()")


def test_the_names_of_lanes_stay_beside_a_narrow_plot_that_is_scrolled(browser: Chromium, page: Path) -> None:
    browser.open(page, 400)
    browser.value("document.querySelector('.plot').scrollLeft = 900")
    assert browser.value("document.querySelector('.plot').scrollLeft") > 100
    name = browser.value(
        "(({ left, right }) => [left, right])(document.querySelector('.names .name').getBoundingClientRect())"
    )
    assert 0 < name[0] < name[1] < 140


def test_the_decisive_moment_is_zoomed_to_and_the_whole_run_is_back_at_a_key(browser: Chromium, page: Path) -> None:
    browser.open(page, 1400)
    whole = browser.value(TICKS)
    browser.value("document.querySelector('[data-do=moment]').click()")
    near = browser.value(TICKS)
    moment = float(browser.value("document.querySelector('a[href=\"#moment\"]').textContent").removesuffix(" s"))
    assert min(near) - 1 <= moment <= max(near) + 1
    assert max(near) - min(near) < (max(whole) - min(whole)) / 2
    browser.value("document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', { key: '0' }))")
    assert browser.value(TICKS) == whole


def test_the_pointer_shows_the_time_that_the_axis_has_there(browser: Chromium, page: Path) -> None:
    browser.open(page, 1400)
    for step in ("0", "document.querySelector('[data-do=moment]').click()"):
        browser.value(step)
        x, y, text = browser.value(
            """(() => { const tick = [...document.querySelectorAll('#axis line')][2].getBoundingClientRect();
            return [tick.left, tick.top + 40, document.querySelectorAll('#axis text')[2].textContent]; })()"""
        )
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        clock = browser.value("document.getElementById('clock').textContent")
        assert float(clock.removesuffix(" s")) == pytest.approx(float(text.removesuffix(" s")), abs=0.06)


def test_dragging_and_the_wheel_zoom_to_the_place_under_the_pointer(browser: Chromium, page: Path) -> None:
    browser.open(page, 1400)
    whole = browser.value(TICKS)
    x, y = browser.value(
        "(({ left, top }) => [left, top + 60])(document.querySelectorAll('#axis line')[3].getBoundingClientRect())"
    )
    for kind, place in (("mousePressed", x - 30), ("mouseMoved", x + 30), ("mouseReleased", x + 30)):
        browser.call("Input.dispatchMouseEvent", type=kind, x=place, y=y, button="left", clickCount=1)
    near = browser.value(TICKS)
    assert near[0] <= whole[3] <= near[-1]
    assert near[-1] - near[0] < (whole[-1] - whole[0]) / 2
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-100, modifiers=2)
    assert (closer := browser.value(TICKS)) != near
    assert closer[-1] - closer[0] <= near[-1] - near[0]
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=100)
    assert browser.value(TICKS) == closer


def test_a_printed_page_has_the_whole_timeline(browser: Chromium, page: Path) -> None:
    browser.open(page, 718, media="print", dark=True)
    assert browser.value("document.documentElement.scrollWidth") == 718
    assert browser.value("document.getElementById('timeline').getBoundingClientRect().right") <= 718
    sizes = "['.names', '.plot svg'].map((each) => document.querySelector(each).getBoundingClientRect().height)"
    names, plot = browser.value(sizes)
    assert names == pytest.approx(plot, abs=1)
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.value("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"


def test_printing_shows_the_whole_run_whatever_was_zoomed_to(browser: Chromium, page: Path) -> None:
    browser.open(page, 760)
    whole = browser.value(TICKS)
    browser.value("document.querySelector('[data-do=moment]').click()")
    browser.value(f"addEventListener('beforeprint', () => {{ window.printed = {TICKS}; }}); 0")
    browser.call("Page.printToPDF", printBackground=True)
    printed = browser.value("window.printed")
    assert (printed[0], printed[-1]) == pytest.approx((whole[0], whole[-1]), abs=max(whole) / 4)
    assert len(printed) >= len(whole)


def test_without_scripts_the_page_is_a_picture_of_the_whole_run(browser: Chromium, page: Path) -> None:
    browser.open(page, 1400, scripts=False)
    assert browser.value("document.querySelector('.zoom').checkVisibility()") is False
    assert browser.value(COVERED) == []
    assert browser.value("document.querySelectorAll('.plot rect').length") > 20


def test_the_page_asks_for_nothing_beside_itself(browser: Chromium, page: Path) -> None:
    browser.open(page, 1400)
    assert browser.value("performance.getEntriesByType('resource').length") == 0
