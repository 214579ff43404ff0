"""The timeline of a run as one SVG file, for pages that show pictures and not reports."""

from __future__ import annotations

import re
from pathlib import Path

from fencepost.harness.checkers.history import read_history
from fencepost.harness.plan.file import load_plan
from fencepost.harness.report.page import numbered_findings, step_titles
from fencepost.harness.report.state_changes import read_state_changes
from fencepost.harness.report.svg import draw_alone
from fencepost.harness.report.timeline import build_timeline
from fencepost.results import pages
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import RunVerdict

STYLES = (Path(pages.__file__).with_name("base.css"), Path(__file__).with_name("style.css"))


def write_picture(folder: RunFolder, path: Path) -> Path:
    """Write the lanes of a run that was judged, and return the path."""
    plan, journal, verdict = load_plan(folder.plan), read_journal(folder.journal), RunVerdict.load(folder.verdict)
    timeline = build_timeline(
        plan,
        journal,
        read_history(journal),
        numbered_findings(verdict),
        read_state_changes(folder, journal),
        step_titles(plan, journal),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(draw_alone(timeline, _style()), encoding="utf-8")
    return path


def _style() -> str:
    """Return the rules of the report's style sheets that colour shapes and texts of the timeline."""
    text = "\n".join(style.read_text(encoding="utf-8") for style in STYLES)
    variables = "".join(re.findall(r"^(?::root \{.*?^\}|@media screen.*?^\})\n", text, flags=re.M | re.S))
    shapes = re.findall(r"(?:\.[a-z]-[\w, .-]+|svg [^{}]*|\.(?:rule|grid|band|fold|cursor)[^{}]*)\{[^{}]*\}", text)
    return variables + "".join(shapes)
