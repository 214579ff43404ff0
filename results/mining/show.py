"""The facts of one test as text for a terminal."""

from collections.abc import Iterator

from fencepost.results.mining.facts import Facts, Row
from fencepost.results.mining.news import day, hours, key, replay, short

STATES = {
    "healthy": "It is healthy: it fails less than once in a hundred runs",
    "flaky": "It is flaky: it passes and fails on one build",
    "by plan": "It fails by plan: some plans fail each time and others pass, so its failures are finds",
    "broken": "It is broken: it fails in all runs of the newest build",
    "unsure": "There are too few runs to tell whether it is healthy, flaky or broken",
}
RUNS = 8
LAST_BUILDS = 12


def summary(row: Row) -> list[str]:
    """Return what is known of a test, a line each: its state, its rate, its change, its cost."""
    sure = "" if row["state"] == "unsure" else f" ({row[_posterior(row['state'])]:.0%})"
    found = [f"{STATES[row['state']]}{sure}."]
    number = row["passes"] + row["violations"]
    if number:
        found.append(
            f"{row['violations']} of {number} runs failed: {row['failure_rate']:.0%}, "
            f"95 % interval {row['rate_low']:.0%} to {row['rate_high']:.0%}."
        )
    if halted := row["infrastructure"] + row["inconclusive"]:
        found.append(f"{halted} more ended without proof.")
    if change := row["change"]:
        interval = (
            f" (99 %: {short(change['low_build'])} to {short(change['high_build'])})"
            if change["low_build"] != change["high_build"]
            else ""
        )
        found.append(
            f"It became {change['direction']} with {short(change['build'])}{interval} on "
            f"{day(change['first_run_at'])}: {change['rate_before']:.0%} → {change['rate_after']:.0%}."
        )
    elif row["violations"]:
        found.append(
            f"No build changed its rate; it first failed on {day(row['first_failed_at'])}, "
            f"last on {day(row['last_failed_at'])}."
        )
    if row["week_red"]:
        found.append(
            f"In the last week {row['week_red']} of {row['week_runs']} runs were red, "
            f"which cost {hours(row['cost_s'])}."
        )
    return found


def _posterior(state: str) -> str:
    return "flaky" if state == "by plan" else state


def as_text(facts: Facts) -> str:
    """Return the facts of a scope of one test: it may have run on several targets and backends."""
    if not facts.tests:
        return "no such test"
    return "\n\n".join("\n".join(_lines(facts, row)) for row in facts.tests)


def _lines(facts: Facts, row: Row) -> Iterator[str]:
    def of(name: str) -> list[Row]:
        return [each for each in facts.rows[name] if key(each) == key(row)]

    yield f"{row['test']} on {row['target']}, {row['backend']}: {row['state']}"
    if row["title"]:
        yield f"  {row['title']}"
    yield ""
    yield from (f"  {line}" for line in summary(row))
    if row["unstable_plans"]:
        yield f"  One plan passed and failed on one build: {row['passed_run']}, {row['failed_run']}"
    builds = sorted(of("verdicts_by_build"), key=lambda each: each["first_run_at"])[-LAST_BUILDS:]
    if builds:
        yield "\n  Verdicts by build"
        for each in builds:
            counts = ", ".join(
                f"{each[verdict]} {verdict}"
                for verdict in ("pass", "violation", "infrastructure", "inconclusive")
                if each[verdict]
            )
            yield f"    {day(each['first_run_at'])}  {short(each['build']):<16} {counts}"
    causes = [
        each
        for each in facts.rows["attribution_by_test"]
        if (each["test"], each["target"]) == (row["test"], row["target"])
    ]
    if causes:
        yield "\n  Faults that matter"
        for each in causes[:5]:
            yield (
                f"    {each['feature']}: {each['rate_with']:.0%} of {each['runs']} runs failed, "
                f"{each['rate_without']:.0%} without it"
            )
    if kinds := of("signatures_by_test"):
        yield "\n  Kinds of failures"
        for each in kinds:
            yield f"    {each['failures']} × {each['rule'] or each['check']}: {each['message']}"
    if slow := of("slow_downs"):
        yield "\n  Times that changed"
        for each in slow:
            yield (
                f"    {each['timing']}: {each['seconds_before']:.2f} → {each['seconds_after']:.2f} s "
                f"since {short(each['build'])}"
            )
    yield "\n  Newest runs"
    for each in sorted(of("newest_runs"), key=lambda each: each["started_at"], reverse=True)[:RUNS]:
        where = each["folder"] or each["ci_url"] or each["run_id"]
        yield f"    {each['started_at'][:16].replace('T', ' ')}  {each['verdict']:<14} {where}"
    if command := replay(facts.store, row):
        yield f"\n  replay: {command}"
