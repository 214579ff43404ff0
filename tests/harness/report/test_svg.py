import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import pytest

from fencepost.harness.judge import judge
from fencepost.harness.report.fitting import MOST, Line, condensed_marks, condensed_segments
from fencepost.harness.report.page import render
from fencepost.harness.report.shapes import Bars, Caption, Flag, Group, Mark, Segment, Timeline
from fencepost.harness.report.svg import draw, draw_alone
from fencepost.harness.report.time_scale import TimeScale, folds_of
from tests.bench.report_page import long_run


def timeline(*lanes: Bars, duration: float = 50.0, flags: Sequence[Flag] = ()) -> Timeline:
    return Timeline(duration, (Group("g", lanes),), (), tuple(flags))


def texts(markup: str, style: str) -> list[str]:
    return re.findall(rf'<text class="{style}[^"]*"[^>]*>([^<]+)</text>', markup)


def test_a_long_stretch_without_changes_is_folded_to_a_strip() -> None:
    folds = folds_of(51.0, [11.0, 12.0, 13.0, 16.0, 46.0])
    assert [(fold.start, fold.end) for fold in folds] == [(0.4, 10.6), (16.4, 45.6)]
    scale = TimeScale(51.0, 1000, folds)
    assert scale.x(16.4) + 35 == pytest.approx(scale.x(45.6))
    assert scale.x(16.0) - scale.x(11.0) > 400
    assert (scale.x(0.0), scale.x(51.0)) == (0.0, 1000.0)
    assert all(a < b for a, b in zip(map(scale.x, range(51)), map(scale.x, range(1, 52)), strict=True))


def test_a_picture_alone_has_its_own_style_and_nothing_for_a_pointer() -> None:
    bar = Bars("node-4", "id 4", (Segment(0, 5, "active", ("active",), "active from 0 to 5 s"),))
    markup = draw_alone(timeline(bar), ".s-active { fill: blue }")
    root = ElementTree.fromstring(markup)
    assert root.tag.endswith("svg") and "data-tip" not in markup
    assert "<style>.s-active { fill: blue }</style>" in markup
    assert texts(markup, "name") == ["node-4"] and 'class="s-active"' in markup


def test_a_run_that_is_busy_or_short_is_not_folded() -> None:
    assert folds_of(50.0, range(50)) == ()
    assert folds_of(3.0, []) == ()


def test_no_tick_stands_within_a_fold() -> None:
    scale = TimeScale(60.0, 1000, folds_of(60.0, [5.0, 55.0]))
    assert not [t for t in scale.ticks() if 6 < t < 54]
    assert scale.ticks()[0] == 0.0


def test_a_fold_is_marked_with_the_time_that_it_hides() -> None:
    markup = draw(timeline(Bars("n", "", (Segment(0, 5, "active"), Segment(45, 50, "active")))))
    assert texts(markup, "folded") == ["39 s"]
    assert "nothing changes for 39.2 s" in markup


def test_a_text_that_would_cover_another_is_left_out() -> None:
    line = Line(1000)
    assert line.inside(100, 300, ("leads t-0",)) is not None
    assert line.beside(120, 120, ("SIGSTOP",)) is None
    assert (after := line.beside(160, 160, ("SIGSTOP",))) is not None
    assert (after.x, after.is_end) == (165, False)


def test_a_mark_on_a_labelled_bar_does_not_cover_the_label() -> None:
    bar = Segment(0, 3.9, "paused", ("paused",))
    markup = draw(timeline(Bars("n", "", (bar,), (Mark(0.1, "paused", "SIGSTOP"),)), duration=4.0))
    assert texts(markup, "label") == ["paused"]
    assert texts(markup, "mark") == []


def test_a_fault_too_short_for_its_text_has_it_beside_its_bar() -> None:
    short = Segment(20, 20.1, "fault")
    words = ("kill node-6 · proven 20.00 · healed 20.10", "kill node-6")
    markup = draw(timeline(Bars("k", "", (short,), captions=(Caption(20, 20.1, words),)), duration=41.0))
    assert texts(markup, "caption") == [words[0]]


def test_a_fault_without_room_on_either_side_keeps_its_nodes() -> None:
    words = (f"kill node-6 {'x' * 70}", "kill node-6")
    lane = Bars("k", "", (Segment(20, 21, "fault"),), captions=(Caption(20, 21, words),))
    assert texts(draw(timeline(lane, duration=41.0)), "caption") == ["kill node-6"]


def test_the_tip_of_an_instant_has_its_time_once() -> None:
    segments = (Segment(1.001, 1.002, "step", (), "done"), Segment(2.0, 3.0, "step", (), "done"))
    markup = draw(timeline(Bars("steps", "", segments)))
    assert re.findall(r'data-tip="(done[^"]+)"', markup) == ["done · 1.00 s", "done · 2.00 to 3.00 s"]


def test_each_flag_has_a_row_and_the_decisive_one_is_the_moment() -> None:
    flags = [Flag(9.0 + n / 10, n, f"K631-3{n} title", known=False, is_decisive=n == 2) for n in (1, 2, 3)]
    markup = draw(timeline(Bars("n", "", (Segment(0, 10, "active"),)), duration=10.0, flags=flags))
    assert len(set(re.findall(r'<circle [^>]*cy="([^"]+)"', markup))) == 3
    assert re.findall(r'<a href="(#finding-\d)" id="moment"', markup) == ["#finding-2"]


def test_a_lane_of_thousands_of_changes_becomes_a_few_hundred_shapes() -> None:
    segments = [Segment(n / 100, (n + 1) / 100, "active" if n % 3 else "fenced", (), "t") for n in range(10_000)]
    few = condensed_segments(segments, 100.0)
    assert len(few) <= MOST + 1
    assert (few[0].start, few[-1].end) == (0.0, 100.0)
    assert {segment.kind for segment in few} == {"active"}
    assert few[0].tip == "42 changes; the longest state: t"


def test_the_page_of_a_long_run_has_no_more_elements_than_a_browser_lays_out_at_once() -> None:
    pages = []
    for events in (2_000, 20_000):
        made, journal = long_run(events)
        pages.append(render(made, journal, judge(made, journal), replay="r"))
    short, long = (page.count("<") for page in pages)
    assert long < 4 * short
    assert long < 10_000


def test_a_long_state_among_short_ones_stays_as_it_is() -> None:
    short = [Segment(n / 100, (n + 1) / 100, "active") for n in range(5_000)]
    long = Segment(50, 100, "paused", ("paused",))
    assert condensed_segments([*short, long], 100.0)[-1] == long


def test_thousands_of_answers_become_marks_that_count_them() -> None:
    marks = [Mark(n / 100, "served", "", f"answer {n}") for n in range(10_000)]
    few = condensed_marks(marks, 100.0)
    assert len(few) <= MOST
    assert few[0].tip == "answer 0, and 41 more"
