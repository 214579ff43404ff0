"""The trends as text for a terminal, as Markdown for the summary of a CI job, and as JSON for programs."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from fencepost.results.mining.facts import Facts, Row
from fencepost.results.mining.news import MEANINGS, TITLES, Item, Kind, day, hours, items, short, shortened, slower
from fencepost.results.pages.markdown import in_markdown

MARKS: Final = {Kind.NEW: "❌", Kind.KNOWN: "⚠️", Kind.FIXED: "✅", Kind.ONCE: "❔"}
CAUSES: Final = 5


def as_json(facts: Facts, top: int) -> dict[str, Any]:
    """Return the trends for programs; docs/trends.md describes the keys."""
    news = items(facts)
    return {
        "store": facts.store,
        "since": facts.since,
        "target": facts.target,
        "now": facts.now,
        "no_run_since": facts.no_run_since,
        **facts.totals,
        **{kind.value: [each.as_json() for each in news[kind][:top]] for kind in Kind},
        "counts": {kind.value: len(news[kind]) for kind in Kind},
        "slower": list(slower(facts)[:top]),
        "causes": facts.rows["attribution"][:top],
        "together": facts.rows["together"][:top],
    }


def in_words(facts: Facts) -> str:
    """Return what was mined: runs, tests, targets, from when to when, and what is not counted."""
    totals = facts.totals
    if not totals["runs"]:
        return "no runs"
    retries = totals["attempts"] - totals["runs"]
    before = f" and {retries:,} attempts before them" if retries else ""
    parts = [
        *(
            [f"no run since {day(facts.no_run_since)}, so the last week is the one before it"]
            if facts.no_run_since
            else []
        ),
        f"{totals['runs']:,} runs{before} of {totals['tests']:,} tests on {', '.join(totals['targets'])}",
        _builds(facts),
        f"{_number(len({row['date'] for row in facts.rows['days']}), 'day')}, "
        f"{day(totals['first_at'])} to {day(totals['last_at'])}",
        *(f"{number:,} not counted: {reason}" for reason, number in sorted(totals["left_out"].items())),
    ]
    return " · ".join(parts)


def _builds(facts: Facts) -> str:
    """Return how many builds are known, and how many runs are of unknown ones."""
    known = _number(sum(row["builds"] for row in facts.rows["basis"]), "known build")
    unknown = sum(row["unknown"] for row in facts.rows["days"])
    return f"{known}, {unknown:,} attempts of unknown ones" if unknown else known


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}" if number else f"no {noun}"


def text(facts: Facts, top: int) -> str:
    """Return the trends for a terminal: each kind of news with its most expensive tests, then causes and slow-downs."""
    lines = [in_words(facts)]
    for kind, of_kind in items(facts).items():
        if of_kind:
            lines += ["", f"{TITLES[kind]} ({len(of_kind)}): {MEANINGS[kind]}"]
            for item in of_kind[:top]:
                lines += _item_text(item)
            if len(of_kind) > top:
                lines.append(f"  and {len(of_kind) - top} more: --top {len(of_kind)}")
    if not any(items(facts).values()):
        lines += ["", "No test failed in the last week."]
    for title, rows in (("Causes", _causes(facts)), ("Slower", _slower(facts, top))):
        if rows:
            lines += ["", title, *(f"  {row}" for row in rows)]
    return "\n".join(lines)


def _item_text(item: Item) -> Iterator[str]:
    row = item.row
    yield f"  {item.name}: {row['state']}, failed {item.rate_words}"
    facts = [item.since_words]
    if row["week_red"] or row["week_retried"]:
        retried = f", {row['week_retried']} passed on retry" if row["week_retried"] else ""
        red = f"{row['week_red']} of {row['week_runs']} runs red this week{retried}"
        facts.append(f"{red}, cost {hours(row['cost_s'])}")
    yield f"      {'; '.join(facts)}"
    if item.cause:
        yield f"      {item.cause['rule'] or item.cause['check']}: {shortened(item.cause['message'])}"
    if item.replay and item.kind is not Kind.FIXED:
        yield f"      {item.replay}"


def markdown(facts: Facts, top: int) -> str:
    """Return the trends for the summary of a CI job: one table for each kind of news, then causes and slow-downs."""
    lines = ["## fencepost: trends", "", in_markdown(in_words(facts))]
    news = items(facts)
    for kind in Kind:
        if news[kind]:
            lines += ["", f"### {MARKS[kind]} {TITLES[kind]} ({len(news[kind])})", "", MEANINGS[kind].capitalize()]
            lines += ["", "| test | failed | since | cost of the week | why |", "| --- | --- | --- | --- | --- |"]
            lines += [_item_row(item) for item in news[kind][:top]]
            if len(news[kind]) > top:
                lines.append(f"\nand {len(news[kind]) - top} more")
    replays = [item for kind in (Kind.NEW, Kind.KNOWN) for item in news[kind][:top] if item.replay]
    if replays:
        lines += ["", "<details><summary>Replay</summary>", "", "```"]
        for item in replays:
            lines += [f"# {item.name}", str(item.replay)]
        lines += ["```", "", "</details>"]
    if not any(news.values()):
        lines += ["", "✅ No test failed in the last week."]
    for title, rows in (("Causes", _causes(facts)), ("Slower", _slower(facts, top))):
        if rows:
            lines += ["", f"### {title}", "", *(f"- {in_markdown(row)}" for row in rows)]
    return "\n".join([*lines, ""])


def _item_row(item: Item) -> str:
    row = item.row
    why = item.cause and f"{item.cause['rule'] or item.cause['check']}: {shortened(item.cause['message'])}"
    name = f"`{row['test']}`<br>{in_markdown(item.name.partition(' on ')[2], is_cell=True)}, {row['state']}"
    retried = f", {row['week_retried']} on retry" if row["week_retried"] else ""
    week = f"{row['week_red']} of {row['week_runs']} red{retried}, {hours(row['cost_s'])}"
    texts = (item.rate_words, item.since_words, why or "")
    rate, since, cause = (in_markdown(text, is_cell=True) for text in texts)
    cells = [name, rate, since, week, cause]
    return f"| {' | '.join(cells)} |"


def _causes(facts: Facts) -> list[str]:
    """Return the independent causes over all tests, in words."""
    named: Sequence[Row] = [row for row in facts.rows["attribution"] if row["independent"] is not None]
    return [
        f"{' with '.join(row['causes'])}: {row['failures']:,} of {row['runs']:,} runs failed "
        f"({row['rate_with']:.0%}, without it {row['rate_without']:.0%})"
        for row in named[:CAUSES]
    ]


def _slower(facts: Facts, top: int) -> list[str]:
    return [
        f"{row['test']} on {row['target']}: {row['timing']} {row['seconds_before']:.2f} → {row['seconds_after']:.2f} s "
        f"since {short(row['build'])}"
        for row in slower(facts)[:top]
    ]
