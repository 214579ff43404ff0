"""Results of other suites as rows of the store. `junit` and `allure` read them; an error of a test is a failure.

The identity of an execution is that of its report, not of the commit or the job that it is imported for: a report that
an earlier job left behind, or that was copied, is no new run.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from fencepost.results.store.cases import Build, Case, Imported
from fencepost.results.store.masking import MASKING, mask, masked_signature
from fencepost.results.store.rows import FindingRow, KeptAsideRow, RunColumns, RunRow
from fencepost.results.store.store import Store
from fencepost.results.store.tables import KEPT_ASIDE, RUNS, Row, stored, stored_run

MESSAGE = 4_000
"""Characters of a message that the store keeps."""


@dataclass(frozen=True)
class Origin:
    """The target, build and job that a folder of results belongs to; its files do not have them.

    `build`, `commit` and `branch` win over those that a report says it is of; `ci_commit` and `ci_branch` are those of
    the job that imports, for reports that say nothing, unless the commits are to be found in them (`in_reports`).
    """

    target: str = "unknown"
    release: str | None = None
    build: str | None = None
    commit: str | None = None
    branch: str | None = None
    ci_system: str | None = None
    ci_job: str | None = None
    ci_url: str | None = None
    ci_commit: str | None = None
    ci_branch: str | None = None
    in_reports: bool = False

    def of(self, report: Build) -> Build:
        """Return the build of a result of a report."""
        commit = self.commit or report.commit or (None if self.in_reports else self.ci_commit)
        own = self.build or (None if self.commit else report.build)
        branch = self.branch or report.branch or (None if self.in_reports else self.ci_branch)
        return Build(commit, branch, own or commit)


def add_new(imported: Imported, source: str, origin: Origin, store: Store) -> int:
    """Add what the store does not have yet, whatever the day on which it was taken to have run; return the number.

    Raise StoreError.
    """
    new = without_known(imported, source, origin.target, store)
    added = 0
    for is_dated in (True, False):
        # Another importer may add the same report now, with the time of its own copy of the file.
        part = replace(new, cases=[case for case in new.cases if case.is_dated == is_dated])
        if part.cases or is_dated:
            rows = rows_of(part, source, origin)
            added += store.add(rows, on_any_day=not is_dated).get(RUNS.name, 0)
    return added


def without_known(imported: Imported, source: str, target: str, store: Store) -> Imported:
    """Return what the store does not have yet, whatever the day on which it was taken to have run."""
    of = {run_id(case, source, target): case for case in imported.cases}
    dated = [case.started.date() for case in of.values() if case.is_dated]
    known = _known(store, [name for name, case in of.items() if case.is_dated], dated)
    known |= _known(store, [name for name, case in of.items() if not case.is_dated], [])
    return replace(imported, cases=[case for name, case in of.items() if name not in known])


def _known(store: Store, names: list[str], days: list[date]) -> set[str]:
    """Return which of the runs are in the store; those that have a day only on it and its neighbours."""
    if not names:
        return set()
    day = timedelta(days=1)  # the zone of a time stamp may have been taken to be another one
    near = sorted({each + shift for each in days for shift in (-day, 0 * day, day)})
    ids = store.read(RUNS, ["run_id"], ds.field("date").isin(near) if near else None)["run_id"]
    return set(ids.filter(pc.is_in(ids, pa.array(names))).to_pylist())


def rows_of(imported: Imported, source: str, origin: Origin) -> dict[str, list[Row]]:
    """Return the rows of the store. The same results have the same identity each time."""
    now = datetime.now(UTC)
    rows: dict[str, list[Row]] = defaultdict(list)
    for case in imported.cases:
        masked = mask(case.message[:MESSAGE])
        failure = masked_signature(case.kind, case.test, masked) if case.kind else None
        build = origin.of(case.build)
        run = RunRow(
            source=source,
            suite=case.suite,
            title=case.title,
            run=case.file,
            attempt=case.attempt,
            runner=case.runner,
            attempts=case.attempts if case.attempts > 1 else None,
            parameters=dict(case.parameters) or None,
            commit=build.commit,
            branch=build.branch,
            ci_system=origin.ci_system,
            ci_job=origin.ci_job,
            ci_commit=origin.ci_commit or origin.commit,
            ci_url=origin.ci_url,
            headline=case.headline[:MESSAGE] or None,
            signature=failure,
            duration_s=case.seconds or 0.0,
            published_at=now,
            report=case.report,
            duration_unknown=True if case.seconds is None else None,
        )
        finding = failure and FindingRow(
            check=case.kind,
            finding=case.verdict,
            title=case.title,
            message=case.message[:MESSAGE],
            masked=masked,
            signature=failure,
            masking=MASKING,
        )
        columns = _columns(case, source, origin, build)
        for name, of_case in stored_run(columns, run, [finding] if finding else []).items():
            rows[name] += of_case
    rows[KEPT_ASIDE.name] = [stored(row) for row in _aside(imported, now)]
    return rows


def run_id(case: Case, source: str, target: str) -> str:
    """Return the identity of an execution: of its report and its test, on one target."""
    return f"{source}-{hashlib.sha256(f'{source} {case.key} {target}'.encode()).hexdigest()[:24]}"


def _columns(case: Case, source: str, origin: Origin, build: Build) -> RunColumns:
    return RunColumns(
        date=case.started.date(),
        run_id=run_id(case, source, origin.target),
        test=case.test,
        target=origin.target,
        release=origin.release,
        build=build.build,
        backend="none",
        verdict=case.verdict,
        started_at=case.started,
    )


def _aside(imported: Imported, now: datetime) -> Iterator[KeptAsideRow]:
    for path, detail in imported.unreadable.items():
        whole = f"{path.resolve()} unreadable {detail}"
        yield KeptAsideRow(
            date=now.date(),
            id=hashlib.sha256(whole.encode()).hexdigest()[:16],
            folder=str(path.resolve().parent),
            reason="unreadable",
            file=path.name,
            detail=detail,
            published=False,
            seen_at=now,
        )
