"""The level of metadata.format: when it may be raised, and which brokers are refused."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.quorum.controller.controller_heartbeats import controller_heartbeat
from fencepost.cluster_impl.designs.quorum.controller.settings import update_features
from fencepost.cluster_impl.designs.quorum.features import METADATA_FORMAT, Levels
from fencepost.cluster_impl.designs.quorum.fence_state import FenceState
from fencepost.cluster_impl.designs.quorum.image import MetadataImage
from fencepost.cluster_impl.wire import messages as m
from fencepost.cluster_impl.wire.codec import Malformed
from fencepost.cluster_impl.wire.errors import Error
from tests.cluster_impl.designs.quorum.controller_model import Model

NEW, OLD = {METADATA_FORMAT: Levels(1, 2)}, {METADATA_FORMAT: Levels(1, 1)}


@pytest.fixture
def model() -> Model:
    """Three controllers of this software, and a broker of it."""
    model = Model()
    model.features = dict(NEW)
    model.join(4)
    for controller in (2, 3):
        hear(model, controller, highest=2)
    return model


def hear(model: Model, controller: int, highest: int) -> None:
    has = m.ControllerHeartbeatRequest.SupportedFeature(name=METADATA_FORMAT, min_version=1, max_version=highest)
    request = m.ControllerHeartbeatRequest(controller_id=controller, features=[has])
    assert model.run(controller_heartbeat(model.state, request, model.now)).error_code == Error.NONE


def raise_to(model: Model, level: int, feature: str = METADATA_FORMAT, *, dry: bool = False) -> tuple[int, str]:
    update = m.UpdateFeaturesRequest.FeatureUpdateKey(feature=feature, max_version_level=level)
    request = m.UpdateFeaturesRequest(feature_updates=[update], validate_only=dry)
    result = model.run(update_features(model.state, request)).results[0]
    return result.error_code, result.error_message or ""


@pytest.mark.requirement("K631-21", "D631-42")
def test_the_level_is_raised_by_a_record_and_never_lowered(model: Model) -> None:
    assert model.image.level_of(METADATA_FORMAT) == 1
    assert raise_to(model, 2, dry=True) == (Error.NONE, "")
    assert model.image.level_of(METADATA_FORMAT) == 1
    assert raise_to(model, 2) == (Error.NONE, "")
    assert model.log[-1] == m.FeatureLevelRecord(name=METADATA_FORMAT, level=2)
    assert model.image.level_of(METADATA_FORMAT) == 2
    length = len(model.log)
    assert raise_to(model, 2) == (Error.NONE, "")
    error, why = raise_to(model, 1)
    assert (error, len(model.log)) == (Error.INVALID_UPDATE_VERSION, length)
    assert "cannot be lowered" in why


@pytest.mark.parametrize(
    ("level", "feature", "error"),
    [(3, METADATA_FORMAT, Error.INVALID_UPDATE_VERSION), (1, "share.version", Error.FEATURE_UPDATE_FAILED)],
)
def test_levels_and_features_that_this_software_does_not_know_are_refused(
    model: Model, level: int, feature: str, error: Error
) -> None:
    assert raise_to(model, level, feature)[0] == error


@pytest.mark.requirement("D631-42")
def test_a_level_that_a_node_lacks_is_not_enabled(model: Model) -> None:
    hear(model, 3, highest=1)
    model.features = dict(OLD)
    model.join(5)
    error, why = raise_to(model, 2)
    assert error == Error.INVALID_UPDATE_VERSION
    assert "broker 5, controller 3" in why
    assert model.image.level_of(METADATA_FORMAT) == 1


@pytest.mark.requirement("K631-29")
@pytest.mark.parametrize("features", [OLD, {}, {METADATA_FORMAT: Levels(3, 4)}])
def test_a_broker_without_the_level_of_an_enabled_feature_is_refused(model: Model, features: dict[str, Levels]) -> None:
    assert raise_to(model, 2)[0] == Error.NONE
    model.features = dict(features)
    length = len(model.log)
    reply = model.heartbeat(5, FenceState.INITIAL)
    assert (reply.error_code, len(model.log)) == (Error.UNSUPPORTED_VERSION, length)
    model.features = dict(NEW)
    assert model.heartbeat(5, FenceState.INITIAL).error_code == Error.NONE


@pytest.mark.requirement("K631-29")
def test_at_the_first_level_software_that_reports_nothing_is_accepted(model: Model) -> None:
    model.features = {}
    assert model.heartbeat(5, FenceState.INITIAL).error_code == Error.NONE


@pytest.mark.requirement("K631-21")
def test_a_log_of_a_level_that_this_software_does_not_know_is_not_read() -> None:
    with pytest.raises(Malformed, match=r"metadata\.format has level 3, and this software supports levels 1 to 2"):
        MetadataImage().replay(m.FeatureLevelRecord(name=METADATA_FORMAT, level=3), 0)
    with pytest.raises(Malformed, match="does not know it"):
        MetadataImage().replay(m.FeatureLevelRecord(name="later", level=1), 0)
