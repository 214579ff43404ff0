"""The facts of one test as text for a terminal."""

from collections.abc import Iterator

from fencepost.results.mining.facts import Facts, Row
from fencepost.results.mining.news import day, hours, key, replay, retried_words, short
from fencepost.results.mining.reruns import reruns

STATES = {
    "healthy": "It is healthy: it fails less than once in a hundred runs",
    "flaky": "It is flaky: it passes and fails on one build",
    "by plan": "It fails by plan: some plans fail each time and others pass, so its failures are finds",
    "broken": "It is broken: it fails in all runs of the newest build",
    "unsure": "There are too few runs to tell whether it is healthy, flaky or broken",
}
OVER_TIME = {
    "flaky": "It is flaky: it passes and fails in turn, or when it is tried again",
    "broken": "It is broken: it failed whenever it ran of late",
}
"""The states of a test with runs of unknown builds, which do not rest on builds."""
RUNS = 8
LAST_BUILDS = 12


def summary(row: Row) -> list[str]:
    """Return what is known of a test, a line each: its state, its rate, its change, its cost."""
    sure = "" if row["state"] == "unsure" else f" ({row[_posterior(row['state'])]:.0%})"
    unknown, words = row["unknown_builds"], STATES
    if unknown:
        words = STATES | OVER_TIME
    lines = [f"{words[row['state']]}{sure}."]
    if unknown:
        lines.append(
            f"The build of {unknown} of {row['runs']} runs is not known, so their order in time counts; "
            f"`fencepost results import --commit` or `--commit-from` names it."
        )
    number = row["passes"] + row["violations"]
    if number:
        lines.append(
            f"{row['violations']} of {number} runs failed: {row['failure_rate']:.0%}, "
            f"95 % interval {row['rate_low']:.0%} to {row['rate_high']:.0%}{retried_words(row)}."
        )
    if halted := row["infrastructure"] + row["inconclusive"]:
        lines.append(f"{halted} more ended without proof.")
    if change := row["change"]:
        interval = (
            f" (99 %: {short(change['low_build'])} to {short(change['high_build'])})"
            if change["low_build"] != change["high_build"]
            else ""
        )
        lines.append(
            f"It became {change['direction']} with {short(change['build'])}{interval} on "
            f"{day(change['first_run_at'])}: {change['rate_before']:.0%} → {change['rate_after']:.0%}."
        )
    elif row["violations"]:
        lines.append(
            f"{'No known build' if unknown else 'No build'} changed its rate; "
            f"it first failed on {day(row['first_failed_at'])}, last on {day(row['last_failed_at'])}."
        )
    if row["week_red"] or row["week_retried"]:
        retried = f" and {row['week_retried']} passed on retry" if row["week_retried"] else ""
        lines.append(
            f"In the last week {row['week_red']} of {row['week_runs']} runs were red{retried}, "
            f"which cost {hours(row['cost_s'])}."
        )
    return lines


def _posterior(state: str) -> str:
    return "flaky" if state == "by plan" else state


def as_text(facts: Facts) -> str:
    """Return the facts of a scope of one test: it may have run on several targets and backends."""
    if not facts.tests:
        return "no such test"
    return "\n\n".join("\n".join(_lines(facts, row)) for row in facts.tests)


def _lines(facts: Facts, row: Row) -> Iterator[str]:
    def of(name: str) -> list[Row]:
        return [item for item in facts.rows[name] if key(item) == key(row)]

    yield f"{row['test']} on {row['target']}, {row['backend']}: {row['state']}"
    if row["title"]:
        yield f"  {row['title']}"
    yield ""
    yield from (f"  {line}" for line in summary(row))
    if row["unstable_plans"]:
        where = "one build, or in one report" if row["unknown_builds"] else "one build"
        yield f"  One plan passed and failed on {where}: {row['passed_run']}, {row['failed_run']}"
    builds = sorted(of("verdicts_by_build"), key=lambda build: build["first_run_at"])
    days = sorted(of("verdicts_by_day"), key=lambda each: each["date"])
    if answer := reruns(facts.store, row, days or builds):
        yield f"  {answer.words}"
        if answer.command:
            yield f"  rerun: {answer.command}"
    if days:
        yield "\n  Verdicts by day"
        yield from (f"    {each['date']}  {_counts(each)}" for each in days[-LAST_BUILDS:])
    elif builds:
        yield "\n  Verdicts by build"
        for build in builds[-LAST_BUILDS:]:
            yield f"    {day(build['first_run_at'])}  {short(build['build']):<16} {_counts(build)}"
    causes = [
        cause
        for cause in facts.rows["attribution_by_test"]
        if (cause["test"], cause["target"]) == (row["test"], row["target"])
    ]
    if causes:
        yield "\n  Faults that matter"
        for cause in causes[:5]:
            yield (
                f"    {cause['feature']}: {cause['rate_with']:.0%} of {cause['runs']} runs failed, "
                f"{cause['rate_without']:.0%} without it"
            )
    if kinds := of("signatures_by_test"):
        yield "\n  Kinds of failures"
        for kind in kinds:
            yield f"    {kind['failures']} × {kind['rule'] or kind['check']}: {kind['message']}"
    if slow := of("slow_downs"):
        yield "\n  Times that changed"
        for change in slow:
            yield (
                f"    {change['timing']}: {change['seconds_before']:.2f} → {change['seconds_after']:.2f} s "
                f"since {short(change['build'])}"
            )
    yield "\n  Newest runs"
    for run in sorted(of("newest_runs"), key=lambda run: run["started_at"], reverse=True)[:RUNS]:
        where = run["folder"] or run["ci_url"] or run["run_id"]
        which = f" (attempt {run['attempt']} of {run['attempts']})" if run["attempts"] else ""
        yield f"    {run['started_at'][:16].replace('T', ' ')}  {run['verdict']:<14} {where}{which}"
    if command := replay(facts.store, row):
        yield f"\n  replay: {command}"


def _counts(place: Row) -> str:
    """Return the numbers of verdicts on a build, or on a day."""
    verdicts = ("pass", "violation", "infrastructure", "inconclusive")
    counts = ", ".join(f"{place[verdict]} {verdict}" for verdict in verdicts if place[verdict])
    return counts + (f" ({place['retried']} on retry)" if place["retried"] else "")
