"""Describe a run in its manifest: the plan, the versions, the machine, the job, what ran."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fencepost.harness.engine.ci_job import ci_job
from fencepost.harness.engine.identity import Identity
from fencepost.harness.plan.hash import plan_hash
from fencepost.harness.plan.model import Plan
from fencepost.results.records.folder import Manifest, RunFolder

LIBRARIES = ("fencepost", "confluent-kafka", "kio", "toxiproxy-python")


def describe(plan: Plan, folder: RunFolder, target_version: str, backend: str) -> Manifest:
    """Return the manifest of a run. The plan's file must exist already: its hash is a part of the manifest."""
    target, _, _ = plan.target.partition(":")
    return Manifest(
        run=folder.name,
        scenario=plan.scenario,
        target=target,
        target_version=target_version,
        backend=backend,
        seed=plan.seed,
        plan_hash=plan_hash(plan),
        started=time.time(),
        commit=_commit(Path(__file__).parent),
        versions={"python": platform.python_version(), **_versions()},
        machine={
            "system": platform.platform(),
            "cores": str(len(os.sched_getaffinity(0))),
            "memory_mb": str(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20),
        },
        hashes=_hash(folder.plan),
        ci=ci_job(),
    )


def add_identity(folder: RunFolder, identity: Identity) -> None:
    """Add to the manifest what ran in the nodes, which is known once they were started."""
    described = replace(
        Manifest.load(folder.manifest),
        programs=identity.programs,
        target_digest=identity.digest,
        target_commit=identity.commit,
        planted_defect=identity.planted_defect,
        planted_nodes=identity.planted_nodes,
    )
    described.save(folder.manifest)


def add_plan(folder: RunFolder, plan: Plan) -> None:
    """Name the plan that the folder has now in its manifest: a live run writes its steps as they come."""
    known = Manifest.load(folder.manifest)
    replace(known, plan_hash=plan_hash(plan), hashes={**known.hashes, **_hash(folder.plan)}).save(folder.manifest)


def _hash(file: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()}


def judge_version() -> str:
    """Return the judge's version for display: `fencepost 0.1.0 at d2ea2e4`."""
    return named_judge(_versions(), _commit(Path(__file__).parent))


def named_judge(versions: Mapping[str, str], commit: str) -> str:
    """Return `fencepost`, its version and its commit, for display."""
    version = versions.get("fencepost", "unknown")
    return f"fencepost {version}" + (f" at {short(commit)}" if commit else "")


def short(commit: str) -> str:
    """Return twelve digits of the commit, with `-dirty` if the work tree was changed."""
    digits, dash, dirty = commit.partition("-")
    return digits[:12] + dash + dirty


def _versions() -> dict[str, str]:
    found = {}
    for library in LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _commit(checkout: Path) -> str:
    """Return the commit of the harness, `-dirty` if it was changed since; empty outside a repository."""
    try:
        described = subprocess.run(
            ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=40"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return described.stdout.strip()
