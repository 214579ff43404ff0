"""A run judged again from its folder, and the differences from its stored verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fencepost.harness.engine.manifest import judge_version, named_judge
from fencepost.harness.errors import UsageError
from fencepost.harness.judge import judge
from fencepost.harness.plan.file import load_plan
from fencepost.harness.reproduction.replaying import stored_verdict
from fencepost.results.records.files import as_json
from fencepost.results.records.folder import FolderError, Manifest, RunFolder
from fencepost.results.records.journal import Journal, being_written, read_journal
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.verdict import Finding, RunVerdict

Key = tuple[str, str, str | None, str | None]
"""The verdict, check, requirement and difference of a finding. Titles and messages may be worded anew."""


@dataclass(frozen=True)
class Recheck:
    """The stored and the new verdict. `notes` say what is missing or damaged in the folder, a message each."""

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
        """True if the verdict is the stored one, or none was stored. Findings may differ all the same."""
        return self.then is None or self.then.verdict is self.now.verdict

    def messages(self) -> Iterator[str]:
        """Yield what is the same and what differs, and why."""
        yield from self.notes
        if self.then is None:
            yield "No verdict is stored to compare with: the harness ended before it judged the run."
            return
        if self.same and not self.added and not self.dropped:
            yield f"The verdict is the same as the stored one (by {self.judged_then_by})."
            return
        what = (
            "The verdict is the same, from other findings"
            if self.same
            else f"The stored verdict is {self.then.verdict.value}"
        )
        if self.judged_then_by == self.judged_now_by:
            yield f"{what}, by the same version of the judge ({self.judged_now_by}): the files of the run have changed."
        else:
            yield f"{what}. It is by {self.judged_then_by}, the new one by {self.judged_now_by}."
        for word, findings in (("new", self.added), ("gone", self.dropped)):
            for finding in findings:
                yield f"{word}: {finding.verdict.value} {finding.requirement or finding.check}: {finding.message}"

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
            "added": [as_json(finding) for finding in self.added],
            "dropped": [as_json(finding) for finding in self.dropped],
            "notes": list(self.notes),
        }


def recheck(folder: RunFolder) -> Recheck:
    """Judge the folder again; nothing in it is changed.

    FolderError if it has no journal, UsageError while the run still goes on, PlanError for a mistake in its plan.
    """
    if not folder.journal.is_file():
        raise FolderError(f"{folder.path} has no {folder.journal.name}, so there is nothing to judge")
    if being_written(folder.journal):
        raise UsageError(f"the run in {folder.path} still goes on: recheck it when it has ended")
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
        return None, [f"{folder.manifest.name} is missing: the version that judged the run is not known."]
    try:
        return Manifest.load(folder.manifest), []
    except (OSError, ValueError) as error:
        return None, [f"{folder.manifest.name} cannot be read: {error}."]


def _state(folder: RunFolder, journal: Journal) -> Iterator[str]:
    if journal.torn:
        yield "The last line of the journal is torn: its writer was killed. All lines before it count."
    if journal.damaged:
        yield f"The journal has {len(journal.damaged)} damaged lines, the first: {journal.damaged[0]}."
    if not folder.nodes.is_dir():
        yield "The folders of the nodes are missing: the logs of replicas are not judged."


def _key(finding: Finding) -> Key:
    return finding.verdict.value, finding.check, finding.requirement, finding.difference


def _counted(verdict: RunVerdict | None) -> Counter[Key]:
    return Counter(map(_key, verdict.findings)) if verdict is not None else Counter()


def _of(verdict: RunVerdict, keys: Counter[Key]) -> Iterator[Finding]:
    """Yield the findings with these keys; of equal ones, the last."""
    remaining = Counter(keys)
    for finding in reversed(verdict.findings):
        if remaining[_key(finding)] > 0:
            remaining[_key(finding)] -= 1
            yield finding
