"""The identity of a target in containers is that of its image."""

from __future__ import annotations

import io
import tarfile

import pytest

from fencepost.harness.backends import DOCKER
from fencepost.harness.backends.docker.engine import engine
from fencepost.harness.engine.identity import REVISION, identify
from fencepost.harness.processes.command import Command

IMAGE = "fencepost-test-identity:1"


@pytest.mark.integration
@pytest.mark.usefixtures("an_engine")
def test_an_image_is_known_by_its_id_and_the_commit_by_its_label() -> None:
    empty = io.BytesIO()
    tarfile.open(fileobj=empty, mode="w").close()
    name, tag = IMAGE.split(":")
    engine().api.import_image_from_data(empty.getvalue(), repository=name, tag=tag, changes=[f"LABEL {REVISION}=77aa"])
    try:
        identity = identify([("node-4", Command(["/broker", "node.properties"], image=IMAGE))], DOCKER)
        assert identity.programs == {IMAGE: f"image {engine().images.get(IMAGE).id}"}
        assert identity.commit == "77aa"
    finally:
        engine().images.remove(IMAGE)
