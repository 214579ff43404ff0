"""What the shell completes: targets, stories, faults, backends and run folders. Quick, for it runs at each tab."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

TARGETS = Path(__file__).resolve().parents[1] / "targets"


def targets(incomplete: str) -> list[str]:
    return _beginning(incomplete, (file.stem for file in TARGETS.glob("*.yaml")))


def stories(incomplete: str) -> list[str]:
    from suites.stories import STORIES

    return _beginning(incomplete, (story.slug for story in STORIES))


def stories_and_plans(incomplete: str) -> list[str]:
    plans = Path().glob(f"{incomplete}*.yaml") if "/" not in incomplete else ()
    return stories(incomplete) + sorted(map(str, plans))


def faults(incomplete: str) -> list[str]:
    from faults.registry import FAULTS

    return _beginning(incomplete, FAULTS)


def backends(incomplete: str) -> list[str]:
    from harness.backends import BACKENDS

    return _beginning(incomplete, BACKENDS)


def runs(incomplete: str) -> list[str]:
    """Run folders below `runs`, the newest first; or below the folder that was begun."""
    parent = Path(incomplete).parent if "/" in incomplete else Path("runs")
    found = [plan.parent for plan in [*parent.glob("*/plan.yaml"), *parent.glob("*/*/plan.yaml")]]
    newest = sorted(found, key=lambda run: run.stat().st_mtime, reverse=True)
    return [str(run) for run in newest if str(run).startswith(incomplete) or run.name.startswith(incomplete)]


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
