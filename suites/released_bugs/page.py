"""The page of the gallery: a table of the bugs, and for each its headline, picture, replay command and origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fencepost.harness.report.picture import write_picture
from fencepost.results.records.folder import RunFolder
from fencepost.suites.released_bugs.bug import ReleasedBug
from fencepost.suites.released_bugs.gallery import Gallery

TOP = """\
# Gallery: bugs of released Apache Kafka

`make gallery` wrote this page. It ran each plan twice: on the release with the bug, where it must end in a violation
of the rule, and on the release with the fix, where it must pass. A bug that a random
plan found is named with that plan, by its seed: `fencepost campaign` generates such plans, which know nothing of the
bug. Each was chosen for being short, from several hundred plans for the release.

`make gallery ARGS='KAFKA-14616 groups'` runs one bug and one kind of bugs, and `make gallery ARGS=--list` lists them.
A gallery that was interrupted goes on where it ended.
"""


def write_page(bugs: Sequence[ReleasedBug], gallery: Gallery, page: Path) -> Path:
    """Write the page of the bugs that show, with their pictures beside it, and return its path."""
    missing = [bug for bug in bugs if not gallery.showed(bug)]
    bugs = [bug for bug in bugs if gallery.showed(bug)]
    for bug in bugs:
        red = gallery.last(bug, "affected")
        if red is not None and red.folder and (gallery.runs / red.folder).is_dir():
            write_picture(RunFolder.open(gallery.runs / red.folder), page.parent / _picture(bug))
    generic = sum(bug.generic for bug in bugs)
    counted = f"{len(bugs)} bugs; {generic} were found by something generic, the others by their own plan only.\n"
    if missing:
        names = ", ".join(f"[{bug.number}]({bug.url})" for bug in missing)
        counted += f"\nIn the run that wrote this page these did not show, or were not run: {names}.\n"
    page.write_text("\n".join([TOP, counted, *_table(bugs), "", *_details(bugs, gallery)]), encoding="utf-8")
    return page


def _table(bugs: Sequence[ReleasedBug]) -> Iterator[str]:
    yield "| bug | kind | affected | fixed | rule | found by |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for bug in bugs:
        link = f"[{bug.number}](#{bug.slug})"
        yield f"| {link} {bug.title} | {bug.kind} | `{bug.affected}` | `{bug.fixed}` | {bug.rule} | {bug.origin} |"


def _details(bugs: Sequence[ReleasedBug], gallery: Gallery) -> Iterator[str]:
    for bug in bugs:
        red, green = gallery.last(bug, "affected"), gallery.last(bug, "fixed")
        assert red is not None and green is not None, f"{bug.number} was not run"
        yield f"## {bug.number}"
        yield ""
        yield f"{bug.title}. {bug.loses} ([issue]({bug.url}))"
        yield ""
        yield f"> {red.headline}"
        yield ""
        yield f"![The lanes of the run on {bug.affected}]({_picture(bug)})"
        yield ""
        yield f"- `{red.target}`: {red.verdict.value} of {', '.join(red.broken)} in {red.seconds:.0f} s"
        yield f"- `{green.target}`: {green.verdict.value} in {green.seconds:.0f} s"
        yield f"- replay: `fencepost run {bug.slug} --target {bug.affected}`"
        yield f"- found by: {bug.origin}"
        random = gallery.last(bug, "random")
        if bug.random_plan is not None and random is not None:
            ended = f"{random.verdict.value} of {', '.join(random.broken)} in {random.seconds:.0f} s"
            yield f"- that plan: `fencepost run suites/released_bugs/found/{bug.slug}.yaml`, {ended}: {random.headline}"
        if not gallery.shown(bug):
            yield "- the plan has changed since it was run"
        if not bug.generic:
            yield f"- without this plan it would take: {bug.wanted}"
        yield ""


def _picture(bug: ReleasedBug) -> str:
    return f"pictures/gallery/{bug.slug}.svg"
