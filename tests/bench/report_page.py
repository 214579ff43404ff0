"""How fast the report page of a long run opens: pages of 10^3 and 10^5 events in one browser, and their ratio."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table

from fencepost.harness.judge import judge
from fencepost.harness.plan.model import Plan
from fencepost.harness.report.page import render
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal
from tests.harness.checkers.plans import plan
from tests.harness.report.chromium import Chromium

SIZES = (1_000, 100_000)
EVERY = 0.01
"""Seconds between two events."""
OPENED = """(() => { document.body.getBoundingClientRect();
const paint = performance.getEntriesByName("first-contentful-paint")[0];
return Math.max(performance.getEntriesByType("navigation")[0].loadEventEnd, paint ? paint.startTime : 0); })()"""


@dataclass(frozen=True, slots=True)
class Opening:
    """The page of a run of so many events. Times are medians, in seconds."""

    events: int
    opened: float
    zoomed: float
    elements: int
    megabytes: float
    written: float


def long_run(events: int) -> tuple[Plan, Journal]:
    """Return a run of about so many events in which much happens: elections, faults, restarts, probes, sends."""
    brokers = (4, 5, 6)
    rounds = max(1, events // 40)
    steps = [
        {"do": "probe", "as": f"probe-{n}", "request": "metadata", "node": "node-4"} for n in range(rounds // 10)
    ] or [{"do": "heal-all", "as": "heal"}]
    roles = {n: "broker" if n in brokers else "controller" for n in (1, *brokers)}
    nodes = [{"name": f"node-{n}", "id": n, "index": n, "roles": [role]} for n, role in roles.items()]
    made = plan(
        topology={"nodes": nodes},
        topics=[{"name": "t", "assignments": [[4, 5, 6], [5, 6, 4]]}],
        workload={"producers": [{"name": "p", "topic": "t"}]},
        steps=steps,
    )
    journal = _Writer()
    journal.add("run", "r", "begin")
    for node in brokers:
        journal.add("node", f"node-{node}", "started", node=f"node-{node}")
        journal.add("node", f"node-{node}", "ready", node=f"node-{node}")
    sent = 0
    for number in range(rounds):
        leader = brokers[number % 3]
        for partition in (0, 1):
            view = {"what": "partition", "topic": "t", "partition": partition, "leader": leader, "leader_epoch": number}
            for seen_by in (None, "node-4", "node-5", "node-6"):
                journal.add("state", "log", "seen", {**view, "isr": [leader, brokers[(number + 1) % 3]]}, seen_by)
        for broker in brokers:
            state = "serving" if (number + broker) % 4 else "refusing"
            answer = {"what": "answer", "id": broker, "state": state}
            journal.add("state", f"node-{broker}", "seen", answer, f"node-{broker}")
        name, hit = f"fault-{number}", f"node-{brokers[(number + 1) % 3]}"
        if number % 25 == 0:
            journal.add("fault", name, "intent", {"fault": "pause", "params": {"nodes": [hit]}})
            journal.add("fault", name, "proven", {"how": "its state is T"})
            journal.add("node", hit, "paused", node=hit)
            journal.add("fault", name, "recovering")
            journal.add("node", hit, "resumed", node=hit)
            journal.add("fault", name, "healed", {"how": "it answers"})
        step = f"probe-{number // 10}" if number % 10 == 0 and number // 10 < len(steps) else None
        if step:
            journal.add("step", step, "begin")
        for _ in range(3):
            probe = {"f": "probe", "step": step or "probe-0", "request": "metadata", "node": "node-4"}
            id = f"probe-{len(journal.events)}"
            journal.add("op", id, "invoke", probe, "node-4")
            journal.add("op", id, "ok", {**probe, "outcome": "served", "error": None, "body": {}}, "node-4")
        if step:
            journal.add("step", step, "end", {"outcome": "done"})
        for _ in range(10):
            send = {"process": "p", "f": "send", "topic": "t", "partition": 0, "value": f"p-{sent}", "acks": "all"}
            journal.add("op", f"send-{sent}", "invoke", {**send, "idempotent": True})
            journal.add("op", f"send-{sent}", "ok", {**send, "offset": sent, "error": None})
            sent += 1
    journal.add("run", "r", "end")
    return made, Journal(tuple(journal.events), 0, ())


class _Writer:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(
        self, event_type: str, id: str, phase: str, data: dict[str, Any] | None = None, node: str | None = None
    ) -> None:
        number = len(self.events)
        t = round(number * EVERY, 6)
        self.events.append(Event(number, t, 1.8e9 + t, event_type, id, phase, node, data or {}))


def measure(browser: Chromium, events: int, times: int) -> Opening:
    """Open the page of such a run so many times, and zoom into it once each time."""
    made, journal = long_run(events)
    verdict = judge(made, journal)
    begun = time.perf_counter()
    markup = render(made, journal, verdict, replay="fencepost replay run")
    written = time.perf_counter() - begun
    with TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(markup)
        opened, zoomed = [], []
        for _ in range(times):
            browser.open(page, 1400)
            opened.append(browser.value(OPENED) / 1000)
            zoomed.append(browser.value(_ZOOM) / 1000)
        elements = browser.value("document.querySelectorAll('*').length")
    return Opening(len(journal.events), median(opened), median(zoomed), elements, len(markup) / 1e6, written)


_ZOOM = """(() => { const begun = performance.now(); document.querySelector("[data-do=in]").click();
document.body.getBoundingClientRect(); return performance.now() - begun; })()"""


def measure_pages(times: int) -> list[Opening]:
    """Measure a page of each size in one browser."""
    with Chromium() as browser:
        return [measure(browser, size, times) for size in SIZES]


def table(pages: list[Opening]) -> Table:
    """Return the pages as a table, with the ratio of each figure to that of the smallest page in brackets."""
    shown = Table(title="Report pages in headless Chromium", title_justify="left")
    for heading in ("events", "opened, s", "zoomed, s", "elements", "MB", "written, s"):
        shown.add_column(heading, justify="right")
    first = pages[0]
    for page in pages:
        figures = [
            (getattr(page, name), getattr(first, name)) for name in ("opened", "zoomed", "elements", "megabytes")
        ]
        cells = [f"{each:.3g} ({each / base:.1f})" for each, base in (*figures, (page.written, first.written))]
        shown.add_row(f"{page.events:,}", *cells)
    return shown
