"""Images that no container uses go when that is asked for; the others stay."""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from fencepost.harness.backends.docker.build import LABEL
from fencepost.harness.backends.docker.engine import check_engine, engine
from fencepost.harness.cleaning.containers import prune
from fencepost.harness.errors import HarnessError

pytestmark = pytest.mark.integration


@pytest.fixture
def kind() -> Iterator[str]:
    """A separate kind of images, so that no others are touched; the remaining ones are removed."""
    try:
        check_engine()
    except HarnessError as reason:
        pytest.skip(str(reason))
    kind = f"test-{uuid.uuid4().hex[:8]}"
    yield kind
    for container in engine().containers.list(all=True, filters={"label": f"{LABEL}={kind}"}):
        container.remove(force=True)
    for image in engine().images.list(filters={"label": f"{LABEL}={kind}"}):
        engine().images.remove(image.id, force=True)


def _build(kind: str, tag: str, content: str) -> Any:
    dockerfile = io.BytesIO(f'FROM scratch\nLABEL content={content}\nCMD ["/nothing"]\n'.encode())
    return engine().images.build(fileobj=dockerfile, tag=f"{kind}:{tag}", labels={LABEL: kind}, rm=True)[0]


def test_only_those_that_no_container_uses_are_removed(kind: str) -> None:
    _build(kind, "old", "1")
    retagged = _build(kind, "new", "2")
    _build(kind, "new", "3")  # takes the tag away
    engine().containers.create(_build(kind, "used", "4"))

    planned = prune(kind, dry_run=True)
    assert set(planned.images) == {f"{kind}:old", f"{kind}:new", retagged.short_id}
    assert len(engine().images.list(filters={"label": f"{LABEL}={kind}"})) == 4, "nothing was removed yet"

    assert set(prune(kind).images) == set(planned.images)
    left = engine().images.list(filters={"label": f"{LABEL}={kind}"})
    assert [image.tags for image in left] == [[f"{kind}:used"]]
    assert prune(kind).images == ()
