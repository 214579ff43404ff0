"""Results of other suites as rows of the store: JUnit files and Allure result folders.

| JUnit | Allure | verdict |
| --- | --- | --- |
| no child | passed | pass |
| failure | failed | violation |
| error | broken | infrastructure |
| | unknown | inconclusive |
| skipped | skipped | none: it is counted, and not stored |
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from fencepost.results.store.masking import MASKING, mask, masked_signature
from fencepost.results.store.rows import FindingRow, KeptAsideRow, RunColumns, RunRow
from fencepost.results.store.tables import KEPT_ASIDE, Row, stored, stored_run

MESSAGE = 4_000
"""Characters of a message that the store keeps."""


@dataclass(frozen=True)
class Origin:
    """The target, build and job that a folder of results belongs to; its files do not have them."""

    target: str = "unknown"
    release: str | None = None
    build: str | None = None
    commit: str | None = None
    branch: str | None = None
    ci_system: str | None = None
    ci_job: str | None = None
    ci_url: str | None = None


@dataclass(frozen=True)
class Case:
    """One execution of a test. `key` is its identity in its folder; `kind` and `message` are of a failure."""

    key: str
    test: str
    suite: str | None
    title: str
    file: str
    verdict: str
    started: datetime
    seconds: float
    attempt: int = 1
    kind: str = ""
    message: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Imported:
    """The executions of a folder, the tests that were skipped, and the files that cannot be read with the reason."""

    cases: list[Case] = field(default_factory=list)
    skipped: int = 0
    unreadable: dict[Path, str] = field(default_factory=dict)


def read_junit(folder: Path) -> Imported:
    """Return the results in all XML files below a folder (or of one file) whose root is `testsuite` or `testsuites`."""
    imported = Imported()
    for path in [folder] if folder.is_file() else sorted(folder.rglob("*.xml")):
        try:
            content = path.read_bytes()
            root = ElementTree.fromstring(content)
            if root.tag not in ("testsuite", "testsuites"):
                raise ValueError(f"its root is {root.tag}, not testsuite or testsuites")
            digest = hashlib.sha256(content).hexdigest()
            changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            suites = [root] if root.tag == "testsuite" else list(root.iter("testsuite"))
            attempts: Counter[str] = Counter()
            for suite in suites:
                _junit_suite(suite, path.name, digest, changed, attempts, imported)
        except (OSError, ValueError, ElementTree.ParseError) as error:
            imported.unreadable[path] = str(error)
    return imported


def _junit_suite(
    suite: ElementTree.Element,
    file: str,
    digest: str,
    changed: datetime,
    attempts: Counter[str],
    imported: Imported,
) -> None:
    started = _iso(suite.get("timestamp")) or changed
    for element in suite.findall("testcase"):
        name = element.get("name") or "(no name)"
        test = "::".join(filter(None, (element.get("classname"), name)))
        if element.find("skipped") is not None:
            imported.skipped += 1
            continue
        seconds = float((element.get("time") or "0").replace(",", ""))
        # Surefire: earlier attempts of a test that passed at last, and further ones of a test that did not.
        earlier = element.findall("flakyFailure") + element.findall("flakyError")
        own = element.find("failure") if element.find("failure") is not None else element.find("error")
        later = element.findall("rerunFailure") + element.findall("rerunError")
        for failure in [*earlier, own, *later]:
            attempts[test] += 1
            kind = "" if failure is None else "error" if failure.tag.lower().endswith("error") else "failure"
            imported.cases.append(
                Case(
                    key=f"{digest} {test} {attempts[test]}",
                    test=test,
                    suite=suite.get("name"),
                    title=name,
                    file=file,
                    verdict={"": "pass", "failure": "violation", "error": "infrastructure"}[kind],
                    started=started,
                    seconds=seconds,
                    attempt=attempts[test],
                    kind=kind,
                    message=_junit_message(failure),
                )
            )


def _junit_message(failure: ElementTree.Element | None) -> str:
    if failure is None:
        return ""
    text = (failure.text or "").strip()
    return failure.get("message") or (text.splitlines()[-1] if text else failure.get("type") or failure.tag)


_ALLURE = {
    "passed": ("pass", ""),
    "failed": ("violation", "failure"),
    "broken": ("infrastructure", "error"),
    "unknown": ("inconclusive", "unknown"),
}


def read_allure(folder: Path) -> Imported:
    """Return the results of all `*-result.json` files below a folder."""
    imported = Imported()
    cases: dict[str, list[Case]] = defaultdict(list)
    for path in sorted(folder.rglob("*-result.json")):
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
            if value["status"] == "skipped":
                imported.skipped += 1
                continue
            case = _allure_case(value, path.name)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            imported.unreadable[path] = f"no field {error}" if isinstance(error, KeyError) else str(error)
        else:
            cases[case.test].append(case)
    for executions in cases.values():
        executions.sort(key=lambda each: (each.started, each.key))
        imported.cases += [replace(case, attempt=number) for number, case in enumerate(executions, start=1)]
    return imported


def _allure_case(value: Mapping[str, Any], file: str) -> Case:
    verdict, kind = _ALLURE.get(str(value["status"]), _ALLURE["unknown"])
    details = value.get("statusDetails") or {}
    shown = [each for each in value.get("parameters") or () if not each.get("excluded")]
    parameters = {str(each["name"]): str(each["value"]) for each in value.get("parameters") or ()}
    distinguishing = ", ".join(f"{each['name']}={each['value']}" for each in shown)
    name = str(value.get("fullName") or value["name"])
    labels = {each["name"]: str(each["value"]) for each in reversed(value.get("labels") or ())}
    return Case(
        key=str(value["uuid"]),
        test=f"{name}[{distinguishing}]" if distinguishing else name,
        suite=labels.get("suite") or labels.get("parentSuite") or labels.get("feature"),
        title=str(value["name"]),
        file=file,
        verdict=verdict,
        started=datetime.fromtimestamp(value["start"] / 1000, UTC),
        seconds=(value["stop"] - value["start"]) / 1000,
        kind=kind,
        message=str(details.get("message") or (kind and value["status"])),
        parameters=parameters,
    )


def rows_of(imported: Imported, source: str, origin: Origin) -> dict[str, list[Row]]:
    """Return the rows of the store. The same results of the same job have the same identity each time."""
    now = datetime.now(UTC)
    rows: dict[str, list[Row]] = defaultdict(list)
    for case in imported.cases:
        masked = mask(case.message[:MESSAGE])
        failure = masked_signature(case.kind, case.test, masked) if case.kind else None
        run = RunRow(
            source=source,
            suite=case.suite,
            title=case.title,
            run=case.file,
            attempt=case.attempt,
            parameters=dict(case.parameters) or None,
            commit=origin.commit,
            branch=origin.branch,
            ci_system=origin.ci_system,
            ci_job=origin.ci_job,
            ci_commit=origin.commit,
            ci_url=origin.ci_url,
            headline=case.message[:MESSAGE] or None,
            signature=failure,
            duration_s=case.seconds,
            published_at=now,
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
        for name, of_case in stored_run(_columns(case, source, origin), run, [finding] if finding else []).items():
            rows[name] += of_case
    rows[KEPT_ASIDE.name] = [stored(row) for row in _aside(imported, now)]
    return rows


def _columns(case: Case, source: str, origin: Origin) -> RunColumns:
    whole = f"{source} {case.key} {origin.target} {origin.commit} {origin.ci_url}"
    return RunColumns(
        date=case.started.date(),
        run_id=f"{source}-{hashlib.sha256(whole.encode()).hexdigest()[:24]}",
        test=case.test,
        target=origin.target,
        release=origin.release,
        build=origin.build or origin.commit,
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


def _iso(text: str | None) -> datetime | None:
    """Return the instant of an ISO time, which JUnit writes without a zone; None if it is none."""
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
