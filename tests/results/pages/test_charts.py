"""Charts as markup: where values stand, and what is beside them."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from fencepost.results.pages.charts import Chart, ceiling, line


def chart(**parts: Any) -> ET.Element:
    shown = Chart(
        "Rate", "by day", ["a: <1", "b: 2", "c: 3"], 0.0, 4.0, lambda value: f"{value:g} s", "a", "c", **parts
    )
    return ET.fromstring(shown.__html__())


def test_a_line_has_gaps_and_dots_where_values_are_missing() -> None:
    assert line([0.0, 2.0, None, 4.0, None, 1.0, 1.0], 0.0, 4.0) == "M5,100.0L15,50.0M35,0.0h.01M55,75.0L65,75.0"


def test_bars_are_stacked_and_none_leaves_a_gap() -> None:
    shown = chart(bars={"lost": [1.0, None, 0.0], "passed": [2.0, 4.0, None]})
    bars = [(each.get("class"), each.get("y"), each.get("height")) for each in shown.iter("rect")][:3]
    assert bars == [("lost", "75.0", "25.0"), ("passed", "25.0", "50.0"), ("passed", "0.0", "100.0")]


def test_each_place_has_a_tip_and_the_ends_have_names() -> None:
    shown = chart(band=(1, 2))
    assert [each.text for each in shown.iter("title")] == ["a: <1", "b: 2", "c: 3"]
    assert [each.text for each in shown.iter("span")] == ["4 s", "0 s", "a", "c"]
    [band] = [each for each in shown.iter("rect") if each.get("class") == "band"]
    assert (band.get("x"), band.get("width")) == ("10", "20")


@pytest.mark.parametrize(
    ("value", "end"), [(0.0, 1.0), (0.07, 0.08), (1.0, 1.0), (9.1, 10.0), (23.0, 30.0), (600.0, 600.0), (0.3, 0.3)]
)
def test_an_axis_ends_at_a_round_number_that_is_not_below(value: float, end: float) -> None:
    assert ceiling(value) == pytest.approx(end)
