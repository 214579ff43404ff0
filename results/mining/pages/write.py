"""Write the folder: an overview, rules, timings, one page for each test, plans, and the summary as JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from jinja2 import Environment, Template

from fencepost.results.mining.facts import MOST_BUILDS, Facts, Row
from fencepost.results.mining.news import MEANINGS, Kind, day, hours, items, key, replay, short
from fencepost.results.mining.pages.grid import LEGEND, grids
from fencepost.results.mining.pages.over_time import charts, last_week
from fencepost.results.mining.pages.test_view import TestView, by_test
from fencepost.results.mining.pages.views import groups, halts_by_week, reached, rules, series
from fencepost.results.mining.reruns import reruns
from fencepost.results.mining.show import summary as in_lines
from fencepost.results.mining.summary import as_json, in_words
from fencepost.results.pages import page_environment, relative_link
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.survey import TRENDS_FILE
from fencepost.results.store.store import Store
from fencepost.results.store.tables import PLANS

_PAGES: Final = {"overview": "index.html", "tests": "tests.html"}
STATES: Final = ("broken", "not covered", "as listed", "held", "idle", "never exercised")
TEST_STATES: Final = ("broken", "flaky", "by plan", "unsure", "healthy")
MESSAGE: Final = 220
MOST_NEWS: Final = 100
"""Tests that the overview names."""
PLANS_SAVED: Final = 500
"""Plans of failures that are put beside the pages."""


def write_pages(facts: Facts, store: Store, folder: Path) -> None:
    """Write all pages; those of tests that are no longer named are removed. Raise StoreError."""
    tests = folder / "tests"
    tests.mkdir(parents=True, exist_ok=True)
    # First, because it marks the folder as ours: pages that were ended half way can be written again.
    summary = json.dumps(as_json(facts, len(facts.tests)), separators=(",", ":"))
    (folder / TRENDS_FILE).write_text(summary, encoding="utf-8")
    for name in ("plans", "tests"):
        for old in (folder / name).glob("*.*"):
            old.unlink()
    plans = _save_plans(facts, store, folder / "plans")
    environment = _environment()
    rows = facts.rows
    slugs = {key(row): row["slug"] for row in facts.tests}
    about = in_words(facts)
    news = items(facts)
    week = [item for kind in (Kind.NEW, Kind.FIXED, Kind.KNOWN, Kind.ONCE) for item in news[kind]]
    combinations = reached(rows["reached"])
    places = rules(rows["coverage"], STATES)
    has_timings = any(rows[name] for name in ("times", "slow_downs", "latencies", "outliers"))
    pages = _PAGES | ({"rules": "rules.html"} if places["rules"] or combinations else {})
    pages |= {"timings": "timings.html"} if has_timings else {}
    shared: Row = {"facts": facts, "about": about, "pages": pages}

    def page(name: str, template: str, **values: Any) -> None:
        if name not in pages.values():
            (folder / name).unlink(missing_ok=True)
            return
        text = environment.get_template(template).render(**shared, **values)
        (folder / name).write_text(text, encoding="utf-8")

    page(
        "index.html",
        "index.html.j2",
        glance=last_week(facts),
        charts=charts(facts),
        grids=grids(facts),
        cells=LEGEND,
        grid_states=TEST_STATES,
        week=week,
        most=MOST_NEWS,
        kinds=[kind.value for kind in Kind],
        meanings=MEANINGS,
        causes=rows["attribution"],
        kinds_of_failures=rows["signatures"],
        page_of=_pages_of(facts),
        groups=groups(rows["together"]),
        halts=halts_by_week(rows["halts"]),
        quarantine=[row | {"slug": slugs[key(row)]} for row in rows["quarantine"]],
    )
    page("tests.html", "tests.html.j2", test_states=TEST_STATES)
    never = sum(not row["runs"] for row in combinations)
    page("rules.html", "rules.html.j2", **places, states=STATES, reached=combinations, never=never)
    page(
        "timings.html",
        "timings.html.j2",
        changes=[
            row | {"slug": slugs.get(key(row)), "ratio": row["seconds_after"] / row["seconds_before"]}
            for row in rows["slow_downs"]
        ],
        times=series(rows["times"], ("timing", "fault_kind"), "times", "median_s", "p95_s"),
        latencies=series(rows["latencies"], ("operation", "outcome", "during"), "operations", "p50_s", "p99_s"),
        outliers=[row | {"slug": slugs.get(key(row))} for row in rows["outliers"]],
    )
    _write_tests(facts, environment.get_template("test.html.j2"), tests, plans, pages)


def _write_tests(
    facts: Facts, template: Template, folder: Path, plans: Mapping[str, str], pages: Mapping[str, str]
) -> None:
    """Write the page of each test. `plans` are the files of saved plans by their runs."""
    views = by_test(facts)
    says = {row["rule"]: row["says"] for row in facts.rows["coverage"]}
    for row in facts.tests:
        view = views[key(row)]
        failure = row["failure"]
        text = template.render(
            pages=pages,
            row=row,
            summary=in_lines(row),
            basis=_basis(row, view),
            replay=replay(facts.store, row),
            reruns=reruns(facts.store, row, view.places()),
            days=view.days(),
            duration=view.duration(),
            has_plans=any(run["plan_hash"] for run in view.runs()),
            plan=plans.get(failure["run_id"]) if failure else None,
            builds=view.builds(),
            most_builds=MOST_BUILDS,
            runs=[_run(run, folder) for run in view.runs()],
            says=says,
            **_parts(view),
        )
        (folder / f"{row['slug']}.html").write_text(text, encoding="utf-8")


def _pages_of(facts: Facts) -> Callable[[str, Sequence[str]], str]:
    """Return what gives the page of a test by its name, with or without its backend, on one of its targets."""
    pages: dict[tuple[str, str], str] = {}
    for row in facts.tests:
        page = f"tests/{row['slug']}.html"
        pages[row["target"], f"{row['test']} on {row['backend']}"] = page
        pages.setdefault((row["target"], row["test"]), page)

    def page_of(name: str, targets: Sequence[str]) -> str:
        return next((pages[target, name] for target in targets if (target, name) in pages), "")

    return page_of


def _basis(row: Row, view: TestView) -> str:
    """Return what the page of a test rests on: runs, builds, days."""
    builds = len(view.builds())
    known = "no known build" if not builds else f"{'the newest ' if builds >= MOST_BUILDS else ''}{builds} known builds"
    unknown = f", {row['unknown_builds']} runs of unknown ones" if row["unknown_builds"] else ""
    return f"{row['runs']:,} runs · {known}{unknown}"


def _parts(view: TestView) -> Row:
    return {
        "changes": view.changes,
        "harness_changes": view.harness_changes,
        "causes": view.causes,
        "partners": view.partners,
        "signatures": view.signatures,
        "times": view.times(),
    }


def _run(run: Row, page_folder: Path) -> Row:
    """Return a run with the links of its row: the report and the command, if its folder is here, and the CI job."""
    folder = RunFolder(Path(run["folder"])) if run["folder"] else None
    is_here = folder is not None and folder.path.is_dir()
    return run | {
        "report": relative_link(folder.report, page_folder) if folder is not None else "",
        "replay": replay_command(folder) if folder is not None and is_here else None,
        "ci": run["ci_url"] if (run["ci_url"] or "").startswith(("http://", "https://")) else None,
    }


def _save_plans(facts: Facts, store: Store, folder: Path) -> Mapping[str, str]:
    """Save the plan of the newest failure of each test; return their paths below the pages by run."""
    failures = [row["failure"]["run_id"] for row in facts.tests if row["failure"] and row["failure"]["plan_hash"]]
    runs = failures[:PLANS_SAVED]
    if not runs or not store.has(PLANS):
        return {}
    table = store.read(PLANS, ["run_id", "plan_hash", "plan"])
    saved: dict[str, str] = {}
    for row in table.filter(pc.is_in(table["run_id"], pa.array(runs))).to_pylist():
        folder.mkdir(exist_ok=True)
        path = folder / f"{row['plan_hash'].removeprefix('sha256:')[:16]}.yaml"
        path.write_text(row["plan"], encoding="utf-8")
        saved[row["run_id"]] = f"plans/{path.name}"
    return saved


def _environment() -> Environment:
    environment = page_environment("fencepost.results.mining.pages")
    environment.filters |= {
        "percent": percent,
        "figure": lambda value: "–" if value is None else f"{value:.2f}" if value < 100 else f"{value:.0f}",
        "tiny": lambda value: "< 0.0001" if value < 0.0001 else f"{value:.4f}",
        "seconds": seconds,
        "hours": hours,
        "day": day,
        "minute": lambda time: f"{time[:16].replace('T', ' ')} UTC",
        "build": lambda build: short(build) if build else "–",
        "cut": lambda text: text if len(text) <= MESSAGE else f"{text[:MESSAGE]} …",
    }
    return environment


def percent(share: float | None) -> str:
    """Return a share in percent, with a decimal below 1 %."""
    if share is None:
        return "–"
    return f"{share:.1%}" if 0 < share < 0.01 else f"{share:.0%}"


def seconds(value: float | None) -> str:
    """Return a duration with three digits: `12.3 s`, `45.6 ms`."""
    if value is None:
        return "–"
    return f"{value:.3g} s" if value >= 0.1 else f"{1000 * value:.3g} ms"
