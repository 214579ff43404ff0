"""Find the run folders that were named for publication, and the folders that are none, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fencepost.harness.errors import UsageError
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.survey import CAMPAIGN_FILE, SUITE_FILE, FolderState, Survey, survey

_REASONS = {
    FolderState.KILLED: ("killed half way", "the run ended before it was judged: `fencepost recheck` may judge it"),
    FolderState.EMPTY: ("without a journal", "the run ended before its journal began"),
    FolderState.CLOSED: ("unreadable", "this user may not open it"),
}


@dataclass(frozen=True)
class Named:
    """A judged run folder that is to be published. `campaign` is the name of the campaign that it is part of."""

    folder: RunFolder
    campaign: str | None


@dataclass(frozen=True)
class Aside:
    """A folder that is not published, or that is and has damage (`published`)."""

    folder: Path
    reason: str
    detail: str
    file: str | None = None
    published: bool = False


@dataclass(frozen=True)
class Found:
    """The folders below the named ones. `running` are not over yet: they can be published later."""

    runs: tuple[Named, ...]
    aside: tuple[Aside, ...]
    running: tuple[Path, ...]


def find(paths: Iterable[Path]) -> Found:
    """Return what is to be published: run folders, and those in folders of runs, of campaigns and of suites.

    Raise UsageError for a path that is no folder.
    """
    runs: dict[Path, Named] = {}
    aside: dict[Path, Aside] = {}
    running: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            raise UsageError(f"there is no folder {path}: name run folders, or folders that hold run folders")
        for place in _below(path):
            match place:
                case Named():
                    runs.setdefault(place.folder.path.resolve(), place)
                case Aside():
                    aside.setdefault(place.folder.resolve(), place)
                case Path():
                    running.setdefault(place.resolve())
    return Found(tuple(runs.values()), tuple(aside.values()), tuple(running))


def _below(path: Path) -> Iterator[Named | Aside | Path]:
    if _is_run(path):
        state = _state(survey(path.parent), path)
        yield _named(RunFolder(path), state, _campaign_of(path.parent))
    elif (path / SUITE_FILE).exists():
        yield from _below(path.parent)
    elif (path / CAMPAIGN_FILE).exists():
        yield from _in(survey(path), path.name)
    else:
        found = survey(path)
        yield from _in(found, None)
        for campaign in found.campaigns:
            yield from _in(survey(campaign), campaign.name)


def _in(found: Survey, campaign: str | None) -> Iterator[Named | Aside | Path]:
    for state, folders in found.folders.items():
        for folder in folders:
            yield _named(folder, state, campaign)


def _named(folder: RunFolder, state: FolderState, campaign: str | None) -> Named | Aside | Path:
    if state is FolderState.JUDGED:
        return Named(folder, campaign)
    if state is FolderState.RUNNING:
        return folder.path
    if state is FolderState.EMPTY and not _is_run(folder.path):
        return Aside(folder.path, "foreign", "it has neither a plan nor a manifest, so it is no run folder")
    reason, detail = _REASONS[state]
    return Aside(folder.path, reason, detail)


def _is_run(path: Path) -> bool:
    folder = RunFolder(path)
    return any(file.is_file() for file in (folder.plan, folder.manifest, folder.verdict, folder.journal))


def _state(found: Survey, path: Path) -> FolderState:
    return next(
        (state for state, folders in found.folders.items() if any(each.path.name == path.name for each in folders)),
        FolderState.EMPTY,
    )


def _campaign_of(parent: Path) -> str | None:
    return parent.resolve().name if (parent / CAMPAIGN_FILE).exists() else None
