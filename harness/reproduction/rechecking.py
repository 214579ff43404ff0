"""A run judged again from its folder, and what is different from what was said when it was over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError
from harness.judge import judge
from harness.manifest import judge_version, named_judge
from harness.plan.file import load_plan
from harness.reproduction.command import replay_command
from harness.reproduction.replaying import stored_verdict
from results.records.folder import FolderError, Manifest, RunFolder
from results.records.journal import Journal, being_written, read_journal
from results.records.verdict import Finding, RunVerdict

Key = tuple[str, str, str | None, str | None, str]
"""Of a finding: verdict, check, requirement, difference, title. Sentences hold times and counts, and may be worded
anew."""


@dataclass(frozen=True)
class Recheck:
    """Then and now. `notes`: what of the folder is not as the run left it, a sentence each."""

    folder: RunFolder
    then: RunVerdict | None
    now: RunVerdict
    judged_then_by: str
    judged_now_by: str
    added: tuple[Finding, ...]
    dropped: tuple[Finding, ...]
    notes: tuple[str, ...]

    @property
    def same(self) -> bool:
        """The verdict is what it was. What findings say besides may differ. True if none was stored."""
        return self.then is None or self.then.verdict is self.now.verdict

    def sentences(self) -> Iterator[str]:
        """Why what is said now is, or is not, what was said then."""
        yield from self.notes
        if self.then is None:
            yield "No verdict was stored to hold this one against: the run's harness ended before it judged."
            return
        if self.same and not self.added and not self.dropped:
            yield f"The same as the run said when it was over ({self.judged_then_by})."
            return
        what = "The same verdict from other findings" if self.same else f"The run said {self.then.verdict.value}"
        if self.judged_then_by == self.judged_now_by:
            yield f"{what}, by the same version of the judge ({self.judged_now_by}): its files are not what they were."
        else:
            yield f"{what}. It was judged by {self.judged_then_by}, and now by {self.judged_now_by}."
        for word, findings in (("new", self.added), ("gone", self.dropped)):
            for finding in findings:
                yield f"{word}: {finding.verdict.value} {finding.requirement or finding.check}: {finding.sentence}"

    def to_json(self) -> dict[str, Any]:
        return {
            "format": "fencepost-recheck/1",
            "run": str(self.folder.path),
            "replay": replay_command(self.folder),
            "same": self.same,
            "then": None
            if self.then is None
            else {"verdict": self.then.verdict.value, "judge": self.judged_then_by, "headline": self.then.headline},
            "now": {"verdict": self.now.verdict.value, "judge": self.judged_now_by, "headline": self.now.headline},
            "added": [finding.to_json() for finding in self.added],
            "dropped": [finding.to_json() for finding in self.dropped],
            "notes": list(self.notes),
        }


def recheck(folder: RunFolder) -> Recheck:
    """Judge the folder anew; nothing in it is changed.

    FolderError with a sentence if it has no journal, UsageError while the run still goes on, PlanError for its plan.
    """
    if not folder.journal.is_file():
        raise FolderError(f"{folder.path} has no {folder.journal.name}: without it there is nothing to judge")
    if being_written(folder.journal):
        raise UsageError(f"the run in {folder.path} still goes on; it is judged when it is over")
    journal = read_journal(folder.journal)
    now = judge(load_plan(folder.plan), journal, folder.nodes)
    then = stored_verdict(folder)
    manifest, notes = _manifest(folder)
    before, after = _counted(then), _counted(now)
    return Recheck(
        folder=folder,
        then=then,
        now=now,
        judged_then_by=named_judge(manifest.versions, manifest.commit)
        if manifest is not None
        else "an unknown version",
        judged_now_by=judge_version(),
        added=tuple(_of(now, after - before)) if then is not None else (),
        dropped=tuple(_of(then, before - after)) if then is not None else (),
        notes=(*notes, *_state(folder, journal)),
    )


def _manifest(folder: RunFolder) -> tuple[Manifest | None, list[str]]:
    if not folder.manifest.is_file():
        return None, [f"{folder.manifest.name} is missing: which version judged this run is not known."]
    try:
        return Manifest.load(folder.manifest), []
    except (FolderError, ValueError, TypeError) as error:
        return None, [f"{folder.manifest.name} cannot be read: {error}."]


def _state(folder: RunFolder, journal: Journal) -> Iterator[str]:
    if journal.torn:
        yield "The journal's last line is torn: whoever wrote it was killed while it did. All before it counts."
    if journal.damaged:
        yield f"The journal has {len(journal.damaged)} damaged lines, the first: {journal.damaged[0]}."
    if not folder.nodes.is_dir():
        yield "The nodes' own folders are missing: nothing that replicas held is judged."


def _key(finding: Finding) -> Key:
    return finding.verdict.value, finding.check, finding.requirement, finding.difference, finding.title


def _counted(verdict: RunVerdict | None) -> Counter[Key]:
    return Counter(map(_key, verdict.findings)) if verdict is not None else Counter()


def _of(verdict: RunVerdict, keys: Counter[Key]) -> Iterator[Finding]:
    """The findings with these keys, the last of those that are alike."""
    left = Counter(keys)
    for finding in reversed(verdict.findings):
        if left[_key(finding)] > 0:
            left[_key(finding)] -= 1
            yield finding
