"""Publish run folders to a store: the rows of each, and a row for each folder that has none."""

from __future__ import annotations

import gc
import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

from fencepost.harness.processes.interrupts import end_on_interrupt
from fencepost.harness.publishing.facts import Facts, Unpublishable, read_facts, run_id
from fencepost.harness.publishing.folders import Aside, Found, Named
from fencepost.results.records.folder import RunFolder
from fencepost.results.store.rows import KeptAsideRow
from fencepost.results.store.store import Store
from fencepost.results.store.tables import RUNS, Row, stored

BATCH = 200
"""Runs that are written at a time: what is committed stays if the publication is ended."""
MANY = 8
"""Folders from which several processes read them."""


@dataclass
class Publication:
    """The results of one publication. `added` counts new runs, `known` those that were in the store already."""

    added: int = 0
    known: int = 0
    rows: int = 0
    aside: list[Aside] = field(default_factory=list)
    running: tuple[Path, ...] = ()


def publish_runs(found: Found, store: Store, progress: Callable[[int], None] = lambda done: None) -> Publication:
    """Publish what was found. `progress` gets the number of folders that were read so far. Raise StoreError."""
    result = Publication(aside=list(found.aside), running=found.running)
    present = set(store.read(RUNS, ["run_id"])["run_id"].to_pylist())
    done = 0
    for first in range(0, len(found.runs), BATCH):
        rows: dict[str, list[Row]] = defaultdict(list)
        unknown: list[Named] = []
        for named in found.runs[first : first + BATCH]:
            if _run_id(named.folder) in present:
                result.known += 1
                done += 1
            else:
                unknown.append(named)
        for named, facts in zip(unknown, _read_all(unknown), strict=True):
            done += 1
            progress(done)
            if isinstance(facts, Aside):
                result.aside.append(facts)
                continue
            for table, found_rows in facts.rows.items():
                rows[table] += found_rows
            if facts.damage:
                result.aside.append(
                    Aside(named.folder.path, "torn", facts.damage, named.folder.journal.name, published=True)
                )
        added = store.add(rows)
        result.added += added.get("runs", 0)
        result.known += len(rows["runs"]) - added.get("runs", 0)
        result.rows += sum(added.values())
    store.add({"kept_aside": [_row(each) for each in result.aside]})
    return result


def _read_all(runs: Sequence[Named]) -> Iterator[Facts | Aside]:
    """Yield the facts of run folders in their order. Many are read by a process for each core."""
    if len(runs) < MANY:
        yield from map(_read, runs)
        return
    # A fork has all modules already, which would else take longer than some ten folders. It must not free what this
    # process no longer uses: a Kafka client without its threads ends the process that frees it.
    gc.collect()
    cores = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(cores, get_context("fork"), initializer=end_on_interrupt) as pool:
        yield from pool.map(_read, runs, chunksize=2)


def _read(named: Named) -> Facts | Aside:
    try:
        return read_facts(named.folder, named.campaign)
    except Unpublishable as error:
        return Aside(named.folder.path, error.reason, error.detail, error.file)


def _run_id(folder: RunFolder) -> str | None:
    """Return the identity of a run; None if its manifest cannot be read, which `read_facts` explains."""
    manifest = folder.try_manifest()
    return run_id(manifest) if manifest is not None else None


def _row(aside: Aside) -> Row:
    folder = aside.folder.resolve()
    try:
        changed = aside.folder.stat().st_mtime
    except OSError:
        changed = 0.0
    whole = f"{folder} {aside.reason} {aside.file} {changed!r}"
    return stored(
        KeptAsideRow(
            date=datetime.fromtimestamp(changed, UTC).date(),
            id=hashlib.sha256(whole.encode()).hexdigest()[:16],
            folder=str(folder),
            reason=aside.reason,
            file=aside.file,
            detail=aside.detail,
            published=aside.published,
            seen_at=datetime.now(UTC),
        )
    )
