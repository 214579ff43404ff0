"""The page of the gallery: a table of the bugs, and for each its headline, picture, replay command and origin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.report.picture import write_picture
from fencepost.results.records.folder import RunFolder
from fencepost.suites.released_bugs.bug import ReleasedBug
from fencepost.suites.released_bugs.gallery import Gallery

HEADER = ("| bug | kind | affected | fixed | rule | found by |", "| --- | --- | --- | --- | --- | --- |")
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
    """Write the page of the bugs that show, with their pictures beside it, and return its path.

    Bugs that were not run in this gallery stay as they are on the page.
    """
    earlier = _Earlier.of(page)
    kept = {bug.number for bug in bugs if gallery.last(bug, "affected") is None and bug.number in earlier.sections}
    missing = [bug for bug in bugs if not gallery.showed(bug) and bug.number not in kept]
    bugs = [bug for bug in bugs if bug not in missing]
    for bug in bugs:
        red = gallery.last(bug, "affected")
        if red is not None and red.folder and (gallery.runs / red.folder).is_dir():
            write_picture(RunFolder.open(gallery.runs / red.folder), page.parent / _picture(bug))
    generic = sum(bug.generic for bug in bugs)
    counted = f"{len(bugs)} bugs; {generic} were found by something generic, the others by their own plan only.\n"
    if missing:
        names = ", ".join(f"[{bug.number}]({bug.url})" for bug in missing)
        counted += f"\nIn the run that wrote this page these did not show, or were not run: {names}.\n"
    rows = [earlier.rows[bug.number] if bug.number in kept else _row(bug) for bug in bugs]
    sections = [earlier.sections[bug.number] if bug.number in kept else _section(bug, gallery) for bug in bugs]
    page.write_text("\n".join([TOP, counted, *HEADER, *rows, "", *sections]), encoding="utf-8")
    return page


@dataclass(frozen=True)
class _Earlier:
    """The rows and the sections of a page that is there, by the numbers of their bugs."""

    rows: Mapping[str, str]
    sections: Mapping[str, str]

    @classmethod
    def of(cls, page: Path) -> _Earlier:
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        _, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
        rows = {row[1]: row[0] for row in re.finditer(r"^\| \[(KAFKA-\d+)\].*$", text, re.MULTILINE)}
        return cls(rows, {section.split(maxsplit=2)[1]: section.rstrip("\n") + "\n" for section in sections})


def _row(bug: ReleasedBug) -> str:
    link = f"[{bug.number}](#{bug.slug})"
    return f"| {link} {bug.title} | {bug.kind} | `{bug.affected}` | `{bug.fixed}` | {bug.rule} | {bug.origin} |"


def _section(bug: ReleasedBug, gallery: Gallery) -> str:
    return "\n".join(_details(bug, gallery))


def _details(bug: ReleasedBug, gallery: Gallery) -> Iterator[str]:
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
