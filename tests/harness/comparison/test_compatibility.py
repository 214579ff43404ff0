"""docs/compatibility.md: all probes, at least eight brokers, and no difference without a reason."""

from __future__ import annotations

import re
from pathlib import Path

from fencepost.harness.comparison.catalogue import shipped_probes
from fencepost.harness.comparison.questions import name_of

PAGE = (Path(__file__).parents[3] / "docs" / "compatibility.md").read_text(encoding="utf-8")


def test_every_probe_has_a_row() -> None:
    names = {name_of(probes, probe) for probes in shipped_probes() for probe in probes.probes}
    assert names <= {line.split("|")[1].strip() for line in PAGE.splitlines() if line.startswith("| ")}


def test_at_least_eight_brokers_are_compared() -> None:
    found = re.search(r"--targets (\S+) --markdown", PAGE)
    assert found is not None
    assert len(set(found[1].split(","))) >= 8


def test_every_difference_is_listed_with_its_reason() -> None:
    cells = [cell for line in PAGE.splitlines() if line.startswith("| ") for cell in line.split("|")]
    assert not [cell for cell in cells if "≠" in cell]
