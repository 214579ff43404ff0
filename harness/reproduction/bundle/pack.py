"""One archive with a run and all files that starting its topology elsewhere needs.

Where the program of the nodes has no image, it is the run alone, which can be judged, and replayed where the program is
installed.
"""

from __future__ import annotations

import os
import platform
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fencepost.harness.backends.docker.commands import NoImage
from fencepost.harness.backends.docker.images import DOCKERFILES
from fencepost.harness.backends.docker.wheels import REQUIREMENTS
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.file import load_plan
from fencepost.harness.plan.model import Plan
from fencepost.harness.report import write_report
from fencepost.harness.reproduction.bundle.schedule import Schedule, schedule
from fencepost.harness.reproduction.bundle.topology import (
    API_PORTS,
    INSIDE,
    Topology,
    topology,
    write_links,
    write_nodes,
)
from fencepost.harness.reproduction.replaying import stored_verdict
from fencepost.harness.targets import registry as targets
from fencepost.harness.targets.certificates import KEYSTORE
from fencepost.harness.targets.reference import plant_again
from fencepost.harness.targets.security import client_settings
from fencepost.harness.targets.target import Target
from fencepost.results.records.folder import FolderError, RunFolder
from fencepost.results.records.journal import being_written, read_journal

OWNER = 10001
"""The user id of nodes in their images."""
LEFT_OUT = ("pods",)
"""The parts of a run folder that mean nothing elsewhere: sockets."""
SECURITY = "security"
"""The folder with the certificate of the authority that signed those of the nodes in the bundle."""


def bundle(folder: RunFolder, out: Path) -> Path:
    """Write the archive, whole or not at all, and return its path.

    Raise UsageError or FolderError if there is nothing to pack.
    """
    if not folder.journal.is_file():
        raise FolderError(f"{folder.path} has no {folder.journal.name}: there is no run to pack")
    if being_written(folder.journal):
        raise UsageError(f"{folder.path} is still running: pack it when it is over")
    if out.resolve().is_relative_to(folder.path.resolve()):
        raise UsageError(f"{out} is inside the folder that is to be packed: name another place with --out")
    plan = load_plan(folder.plan)
    manifest = folder.try_manifest()
    if manifest is not None:
        plant_again(manifest.planted_defect)
    target = targets.load(plan.target)
    if target.file.running is not None:
        raise UsageError(f"{folder.path} ran on a cluster that runs elsewhere: there is no topology of it to pack")
    target.prepare()
    words = _words(folder, plan, manifest.target_version if manifest is not None else target.version)
    name = out.name.removesuffix(".gz").removesuffix(".tar").removesuffix(".tgz")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".bundle-") as scratch:
        root = Path(scratch) / name
        root.mkdir()
        cluster = _cluster(plan, target, root / SECURITY)
        shutil.copyfile(folder.plan, root / "plan.yaml")
        if not folder.report.is_file():
            write_report(folder)
        _copy_run(folder, root / "run")
        if cluster is None:
            _render(("README.md",), {**words, "containers": False}, root)
        else:
            _write_cluster(folder, plan, target, cluster, words, root)
        draft = Path(scratch) / "bundle"
        with tarfile.open(draft, "w:gz", compresslevel=6) as archive:
            archive.add(root, arcname=name, filter=_without_owner)
        draft.replace(out)
    return out


def _cluster(plan: Plan, target: Target, security: Path) -> Topology | None:
    """Return the topology; None if the program of a node has no image."""
    try:
        return topology(plan, target, security)
    except NoImage:
        shutil.rmtree(security, ignore_errors=True)
        return None


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry if entry.isfile() or entry.isdir() or entry.issym() else None


def _copy_run(folder: RunFolder, into: Path) -> None:
    """Copy all of it but private keys, and sockets and the like, which cannot be copied."""

    def ignored(at: str, names: list[str]) -> set[str]:
        special = {name for name in names if not (Path(at, name).is_file() or Path(at, name).is_dir())}
        return special | ({KEYSTORE} & set(names)) | (set(LEFT_OUT) & set(names) if Path(at) == folder.path else set())

    shutil.copytree(folder.path, into, symlinks=False, ignore=ignored)


def _write_images(cluster: Topology, into: Path) -> None:
    for kind, image in cluster.images.items():
        for place, path in image.context.items():
            target = into / kind / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            target.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
        lines = _pod_lines() if kind == "pod" else _node_lines()
        (into / kind / "Dockerfile").write_text(image.dockerfile.read_text() + "\n".join(lines) + "\n")


def _pod_lines() -> Iterator[str]:
    yield "# The links of this topology."
    yield f"COPY links/ {INSIDE}/links/"


def _node_lines() -> Iterator[str]:
    """Yield the lines for the nodes. A volume is filled from the image when it is first used, its owner included."""
    yield "# The configuration and the empty directories of the nodes of this topology."
    yield f"COPY --chown={OWNER}:{OWNER} nodes/ {INSIDE}/nodes/"


def _write_cluster(
    folder: RunFolder, plan: Plan, target: Target, cluster: Topology, words: Mapping[str, Any], root: Path
) -> None:
    """Write the images, the compose file, and the script of the faults."""
    _write_images(cluster, root / "images")
    write_links(cluster, root / "images" / "pod" / "links")
    for kind in cluster.images:
        if kind != "pod":
            write_nodes(target, cluster, root / "images" / kind / "nodes")
    planned = schedule(read_journal(folder.journal), cluster.links())
    words = {**words, "containers": True, **_words_of_cluster(folder, plan, cluster, planned)}
    _render(("compose.yaml", "faults.sh", "README.md"), words, root)
    (root / "faults.sh").chmod(0o755)


def _render(names: Sequence[str], words: Mapping[str, Any], root: Path) -> None:
    environment = Environment(
        loader=FileSystemLoader(DOCKERFILES / "compose"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for name in names:
        (root / name).write_text(environment.get_template(f"{name}.j2").render(words), encoding="utf-8")


def _words(folder: RunFolder, plan: Plan, version: str) -> dict[str, Any]:
    verdict = stored_verdict(folder)
    return {
        "run": folder.name,
        "scenario": plan.scenario,
        "title": plan.title,
        "target": plan.target,
        "version": version,
        "verdict": verdict.verdict.value if verdict else "not judged",
        "headline": verdict.headline if verdict else "The run ended before it was judged.",
        "own_file": folder.target.is_file(),
    }


def _words_of_cluster(folder: RunFolder, plan: Plan, cluster: Topology, planned: Schedule) -> dict[str, Any]:
    volumes = {
        service.node.name: service.node.duplicate_of or "" if service.node.directory == "same" else service.node.name
        for service in cluster.services
    }
    return {
        "tag": f"fencepost-bundle-{folder.name.lower()}",
        "inside": str(INSIDE),
        "subnet": cluster.subnet,
        "services": cluster.services,
        "zookeepers": [service.node.name for service in cluster.services if service.node.is_zookeeper],
        "volumes": volumes,
        "entries": cluster.entries,
        "sites_api": API_PORTS,
        "bases": {kind: image.base for kind, image in cluster.images.items()},
        "bootstrap": cluster.bootstrap,
        "client_settings": {
            key: f"{SECURITY}/ca.pem" if key == "ssl.ca.location" else value
            for key, value in client_settings(cluster.installation).items()
        },
        "topics": plan.topics,
        "actions": planned.actions,
        "seconds": planned.seconds,
        "missing": (*planned.missing, *_without_a_copy(plan)),
        "machine": f"{platform.system()} on {platform.machine()}",
        "own": "reference" in cluster.images,
        "fetches": any(f"wheels/{REQUIREMENTS}" in image.context for image in cluster.images.values()),
        "java": any(kind not in ("pod", "reference") for kind in cluster.images),
    }


def _without_a_copy(plan: Plan) -> Iterator[str]:
    for node in plan.topology.nodes:
        if node.directory == "cloned":
            yield (
                f"{node.name}: in the run it started on a copy of the directory that {node.duplicate_of} had then; "
                "here its directory is empty."
            )
