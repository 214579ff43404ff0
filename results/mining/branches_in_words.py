"""The failures of a branch beside its base as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from fencepost.results.mining.blame import MOST_RERUNS, Blame, Failure
from fencepost.results.mining.branches import Comparison
from fencepost.results.mining.news import named, short, shortened
from fencepost.results.mining.reruns import rerun_command
from fencepost.results.pages.markdown import in_markdown

_ORDER: Final = (Blame.NEW, Blame.UNSURE, Blame.BROKEN, Blame.FLAKE)
_MARKS: Final = {Blame.NEW: "❌", Blame.UNSURE: "❔", Blame.BROKEN: "⚠️", Blame.FLAKE: "⚠️"}


def verdict(found: Comparison) -> str:
    """Return one line: how many failures the base has as well, and which are new with which probability."""
    failures = found.failures
    if not failures:
        return f"no test failed on {_head(found)}: {found.head_runs:,} runs"
    number = {blame: [each for each in failures if each.blame is blame] for blame in Blame}
    parts = []
    if flakes := len(number[Blame.FLAKE]):
        parts.append(
            f"{flakes} of {len(failures)} failures {'is a known flake' if flakes == 1 else 'are known flakes'}"
        )
    if broken := len(number[Blame.BROKEN]):
        verb = "is" if broken == 1 else "are"
        parts.append(f"{broken} of {len(failures)} {verb} broken on {found.base} as well")
    if new := number[Blame.NEW]:
        odds = f"p {_probability(min(each.new for each in new))}"
        if len(failures) == 1:
            parts.append(f"the failure is new: {odds}")
        else:
            parts.append(
                f"this one is new: {_test(new[0])}, {odds}" if len(new) == 1 else f"{len(new)} are new: {odds}"
            )
    if unsure := len(number[Blame.UNSURE]):
        parts.append(f"{unsure} {'is' if unsure == 1 else 'are'} not known yet: rerun")
    return "; ".join(parts)


def text(found: Comparison, store: str, top: int) -> str:
    """Return the comparison for a terminal, its verdict first."""
    lines = [verdict(found), _rests_on(found)]
    failures = _in_order(found)
    for failure in failures[:top]:
        lines += ["", f"  {_test(failure)}: {_blame(failure, found)}"]
        lines += [f"      {line}" for line in _details(failure, found, store)]
    if len(failures) > top:
        lines.append(f"  and {len(failures) - top} more: --top {len(failures)}")
    return "\n".join(lines)


def markdown(found: Comparison, store: str, top: int) -> str:
    """Return the comparison for a comment on a pull request."""
    failures = _in_order(found)
    lines = [f"## fencepost: {in_markdown(verdict(found))}", "", in_markdown(_rests_on(found))]
    if failures:
        base = in_markdown(found.base, is_cell=True)
        lines += ["", f"| test | verdict | on {base} | to tell flaky from broken |", "| --- | --- | --- | --- |"]
    for failure in failures[:top]:
        blame = f"{_MARKS[failure.blame]} {_blame(failure, found)}"
        headline = shortened(failure.of_head["failure"]["headline"] or "")
        cells = (blame, _on_base(failure), _reruns(failure))
        shown = " | ".join(in_markdown(each, is_cell=True) for each in cells)
        lines.append(f"| `{failure.of_head['test']}`<br>{in_markdown(headline, is_cell=True)} | {shown} |")
    if len(failures) > top:
        lines.append(f"\nand {len(failures) - top} more")
    commands = [(each, command) for each in failures[:top] if (command := _command(each, store))]
    if commands:
        lines += ["", "<details><summary>Rerun</summary>", "", "```"]
        lines += [line for each, command in commands for line in (f"# {_test(each)}", command)]
        lines += ["```", "", "</details>"]
    return "\n".join([*lines, ""])


def as_json(found: Comparison, store: str) -> dict[str, Any]:
    """Return the comparison for programs; docs/trends.md describes the keys."""
    return {
        "base": found.base,
        "head": found.head,
        "build": found.build,
        "base_runs": found.base_runs,
        "head_runs": found.head_runs,
        "verdict": verdict(found),
        "failures": [
            {
                **{name: each.of_head[name] for name in ("test", "target", "backend", "runs", "failures")},
                **{name: each.of_head[name] for name in ("attempts", "failed_attempts")},
                "message": each.of_head["failure"]["headline"],
                "signature": each.of_head["failure"]["signature"],
                "ci_url": each.of_head["failure"]["ci_url"],
                "blame": each.blame.name.lower(),
                "new": each.new,
                "broken_on_base": each.broken_on_base,
                "on_base": {
                    "runs": each.base_runs,
                    "failures": each.base_failures,
                    "attempts": sum(build.attempts for build in each.builds),
                    "failed_attempts": sum(build.failed for build in each.builds),
                    "same_signature": each.same,
                    "since": each.since,
                },
                "reruns": each.reruns,
                "rerun": _command(each, store),
            }
            for each in _in_order(found)
        ],
    }


def _in_order(found: Comparison) -> list[Failure]:
    return sorted(found.failures, key=lambda each: (_ORDER.index(each.blame), -each.new))


def _rests_on(found: Comparison) -> str:
    unknown = "" if found.build else f"; the build of {found.head} is not known, so all of its runs count"
    return f"{found.head_runs:,} runs on {_head(found)}, {found.base_runs:,} on {found.base}{unknown}"


def _head(found: Comparison) -> str:
    build = short(found.build) if found.build else ""
    return f"{found.head} ({build})" if build and build not in found.head else found.head


def _test(failure: Failure) -> str:
    return named(failure.of_head)


def _probability(value: float) -> str:
    return "> 0.99" if value > 0.995 else f"= {value:.2f}"


def _blame(failure: Failure, found: Comparison) -> str:
    if failure.blame is Blame.BROKEN:
        return f"broken on {found.base} as well (new: p {_probability(failure.new)})"
    words = {Blame.NEW: "new", Blame.FLAKE: "a known flake; new", Blame.UNSURE: "not known yet; new"}
    return f"{words[failure.blame]}: p {_probability(failure.new)}"


def _on_base(failure: Failure) -> str:
    if not failure.builds:
        return "it did not run there"
    attempts, failed = (sum(getattr(each, name) for each in failure.builds) for name in ("attempts", "failed"))
    if not failed:
        return f"none of {failure.base_runs} runs failed"
    since = f", since {short(failure.since)}" if failure.since else ""
    same = "with this failure" if failure.same == failed else f"{failure.same} with this failure"
    retried = f"; {failed} of {attempts} attempts" if attempts > failure.base_runs else ""
    return f"{failure.base_failures} of {failure.base_runs} runs failed{retried}{since}; {same}"


def _reruns(failure: Failure) -> str:
    if failure.of_head["failed_attempts"] < failure.of_head["attempts"]:
        return "it passed on this build as well: it is flaky"
    if failure.reruns == 0:
        return "no rerun: it is known"
    if failure.reruns is None:
        return f"more than {MOST_RERUNS} reruns: too little is known of it on the base"
    return f"{failure.reruns} reruns: if all fail it is broken (95 %), if one passes it is flaky"


def _details(failure: Failure, found: Comparison, store: str) -> Iterator[str]:
    if headline := failure.of_head["failure"]["headline"]:
        yield shortened(headline)
    yield f"on {found.base}: {_on_base(failure)}"
    yield _reruns(failure)
    if command := _command(failure, store):
        yield command


def _command(failure: Failure, store: str) -> str | None:
    """Return the command that runs it again as often as is needed; None where it is not known."""
    return rerun_command(store, failure.of_head, failure.reruns) if failure.reruns else None
