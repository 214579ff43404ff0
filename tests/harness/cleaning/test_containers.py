"""Containers and networks of dead runs are removed; what only looks like them is not."""

from __future__ import annotations

import io
import subprocess
import tarfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

import docker
from fencepost.harness.backends.docker.engine import check_engine
from fencepost.harness.cleaning import containers
from fencepost.harness.cleaning.cleanup import clean, clean_all
from fencepost.harness.cleaning.leftover import Leftover
from fencepost.harness.errors import HarnessError
from fencepost.harness.processes import table
from fencepost.harness.processes.resources import HARNESS_LABEL, ResourceRecords, Stamp, read_resources

pytestmark = pytest.mark.integration


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


@pytest.fixture
def engine() -> Iterator[Any]:
    """A client, with an image of nothing: its containers are created and never started."""
    try:
        check_engine()
    except HarnessError as reason:
        pytest.skip(str(reason))
    import docker

    client = docker.from_env()
    empty = io.BytesIO()
    tarfile.open(fileobj=empty, mode="w").close()
    image = f"fencepost-test:{uuid.uuid4().hex[:8]}"
    client.api.import_image_from_data(empty.getvalue(), repository=image.partition(":")[0], tag=image.partition(":")[2])
    yield client
    for container in client.containers.list(all=True, filters={"ancestor": image}):
        container.remove(force=True)
    client.images.remove(image)


def _create(engine: Any, labels: dict[str, str]) -> Any:
    image = next(tag for image in engine.images.list("fencepost-test") for tag in image.tags)
    return engine.containers.create(image, ["/nothing"], labels=labels)


def _ids(engine: Any) -> set[str]:
    return {container.id for container in engine.containers.list(all=True)}


def test_containers_and_networks_of_a_dead_run_go_and_look_alikes_stay(run: Path, engine: Any) -> None:
    records = ResourceRecords(run)
    noted, lost = records.intend("container", "pod-4", node="node-4"), records.intend("container", "pod-5")
    mine, unnoted = _create(engine, noted.labels), _create(engine, lost.labels)
    records.made("container", "pod-4", container=mine.id)
    same_run = _create(engine, Stamp(uuid.uuid4().hex, run).labels)
    same_token = _create(engine, noted.labels)
    wired = records.intend("network", "net")
    network = engine.networks.create(f"fencepost-test-{run.parent.name}", labels=wired.labels)
    records.made("network", "net", network=network.id)
    try:
        cleaned = clean(run)
    finally:
        for left in engine.networks.list(ids=[network.id]):
            left.remove()
    assert sorted(each.kind for each in cleaned.found) == ["container", "container", "network"]
    there = _ids(engine)
    assert {mine.id, unnoted.id} & there == set()
    assert {same_run.id, same_token.id} <= there, "other tokens, and other ids than the one that was noted"
    assert read_resources(run) == []


def test_all_finds_containers_of_runs_whose_folder_is_gone_if_their_harness_is_dead(run: Path, engine: Any) -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    mine = table.own_harness_id().split("/")
    dead = "/".join([*mine[:2], str(ended.pid), "1"])
    gone = Stamp(uuid.uuid4().hex, run.parent / "no-such-run")
    orphan = _create(engine, gone.labels | {HARNESS_LABEL: dead})
    of_a_living_harness = _create(engine, gone.labels)
    of_another_boot = _create(engine, gone.labels | {HARNESS_LABEL: f"another-boot/{'/'.join(mine[1:])}"})
    found = {each.run: each.of("container") for each in clean_all(dry_run=True)[0]}
    assert [each.handle[2].id for each in found[gone.run]] == [orphan.id]
    assert {orphan.id, of_a_living_harness.id, of_another_boot.id} <= _ids(engine)


def test_without_an_engine_the_message_names_what_may_be_left(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{run}/absent.sock")
    ResourceRecords(run).intend("container", "pod-4")
    [problem] = clean(run).problems
    assert "pod-4" in problem
    assert "start it and clean again" in problem
    assert [each.id for each in read_resources(run)] == ["pod-4"]


class Going:
    """A container that the engine is removing already: gone when it was looked at a few times."""

    id = name = short_id = "going"
    looks = 0

    def remove(self, **_: bool) -> None:
        response = requests.Response()
        response.status_code = 409
        raise docker.errors.APIError("removal of container going is already in progress", response)

    def reload(self) -> None:
        self.looks += 1
        if self.looks == 3:
            raise docker.errors.NotFound("no such container: going")


def test_a_container_that_is_being_removed_already_is_waited_for() -> None:
    going = Going()
    containers.remove([Leftover("container", "pod-4", "going", (None, None, going))])
    assert going.looks == 3
