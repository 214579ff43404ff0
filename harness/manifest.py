"""What was run, with what, and where: the manifest that every run folder begins with."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from harness.plan.hash import plan_hash
from harness.plan.model import Plan
from results.records.folder import Manifest, RunFolder

LIBRARIES = ("fencepost", "confluent-kafka", "kio", "toxiproxy-python")


def describe(plan: Plan, folder: RunFolder, target_version: str, backend: str) -> Manifest:
    """The plan's file must be written already: its hash is part of it."""
    target, _, _ = plan.target.partition(":")
    return Manifest(
        run=folder.name,
        story=plan.story,
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
        hashes={folder.plan.name: hashlib.sha256(folder.plan.read_bytes()).hexdigest()},
    )


def judge_version() -> str:
    """Which judge this is, for people: `fencepost 0.1.0 at d2ea2e4`."""
    return named_judge(_versions(), _commit(Path(__file__).parent))


def named_judge(versions: Mapping[str, str], commit: str) -> str:
    version = versions.get("fencepost", "unknown")
    return f"fencepost {version}" + (f" at {short(commit)}" if commit else "")


def short(commit: str) -> str:
    """Twelve digits, and whether the work tree was changed."""
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
    """Of the harness itself, `-dirty` if it was changed since; empty outside a repository."""
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
