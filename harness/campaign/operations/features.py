"""Changes of features that change nothing: to the level that there is, only validated, refused (KIP-584, KIP-778)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fencepost.harness.campaign.operations.mistakes import Mistake, MistakenRequests
from fencepost.harness.campaign.operations.operation import GeneratedOperation, Operation, asked
from fencepost.harness.campaign.operations.requests import any_broker, api
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.steps import Step
from fencepost.harness.targets.releases import Releases

if TYPE_CHECKING:
    from fencepost.harness.campaign.script import Script

WITHOUT_FEATURES: Mapping[str, str] = {
    Dialect.ZOOKEEPER: "no release with ZooKeeper has a feature to finalize",
    Dialect.LEADER_DRIVEN: "it has no features",
}
RELEASES: Mapping[str, Releases] = {"apache-kafka": ">=3.3"}
UPDATE = "update_features"
FEATURES = {Dialect.KRAFT: "metadata.version", Dialect.KIP_631: "metadata.format"}
"""The feature that each cluster has finalized."""
UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
LOWER = 1
"""The level below the one that metadata.format has on a new cluster. No type of change lowers it (D631-42); a downgrade
of metadata.version is legal where it loses no record of the higher level (KIP-778)."""
HIGHEST = 32767
INVALID_REQUEST, INVALID_LEVEL, FAILED = 42, 95, 96


class SameFeatureLevel(Operation):
    """A feature is upgraded to the level that it has, once or twice, in part only validated."""

    name = "same-feature-level"
    weight = 1
    at_end = of_whole_clusters = True
    left_out = WITHOUT_FEATURES
    releases = RELEASES

    def generate(self, rng: random.Random, script: Script) -> GeneratedOperation:
        feature, level = FEATURES[script.cluster.target.dialect], script.name("level")
        path = f"finalized_features[name={feature}].max_version_level"
        client = {"client_software_name": "fencepost", "client_software_version": "1"}
        how = any_broker(rng, script, "ADM-03")
        steps: list[Step] = [api(script, "features", how, "api_versions", client, version=3, binds={level: path})]
        for _ in range(rng.choice((1, 2, 3))):
            body = updated(feature, f"${level}", UPGRADE, validate_only=rng.random() < 0.4)
            how = asked(rng, script, of_any=True)
            # A controller that has just begun hears of the levels that other nodes support a moment later.
            within_ms = 0 if how.expect is None else script.cluster.liveness_timeout_ms
            steps.append(api(script, "same-level", how, UPDATE, body, within_ms=within_ms))
        return GeneratedOperation(f"{feature} upgraded to the level that it has", tuple(steps))


class MistakenFeatures(MistakenRequests):
    """A feature is to get a level that it cannot have, or one that its type of change does not lead to."""

    name = "mistaken-features"
    weight = 1
    left_out = WITHOUT_FEATURES
    releases = RELEASES

    def mistakes(self, rng: random.Random, script: Script) -> Iterator[Mistake]:
        feature, validates = FEATURES[script.cluster.target.dialect], rng.random() < 0.5
        for title, name, level, type in (
            ("a level that there is not", feature, HIGHEST, UPGRADE),
            ("an upgrade to a lower level", feature, 0, UPGRADE),
            ("a feature that there is not", "no.such.feature", 1, UPGRADE),
            ("a negative level", feature, -1, UPGRADE),
        ):
            body = updated(name, level, type, validate_only=validates)
            yield Mistake(f"{title} of {name}", UPDATE, body, (INVALID_REQUEST, INVALID_LEVEL, FAILED), of_any=True)
        if script.cluster.target.dialect is Dialect.KIP_631:
            for type in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
                body = updated(feature, LOWER, type, validate_only=validates)
                title = f"the next lower level of {feature} by a change of type {type}"
                yield Mistake(title, UPDATE, body, (INVALID_REQUEST, INVALID_LEVEL, FAILED), of_any=True)


def updated(feature: str, level: int | str, type: int, *, validate_only: bool = False) -> dict[str, Any]:
    """Return the body that finalizes a feature at a level, which may be a bound value."""
    update = {"feature": feature, "max_version_level": level, "upgrade_type": type}
    return {"timeout": 5000, "feature_updates": [update], "validate_only": validate_only}
