"""Random plans with secured listeners: the features that they cannot have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fencepost.harness.campaign.features import Feature
from fencepost.harness.plan.security import SECURITIES, unsuitable
from fencepost.harness.targets.securing import security_named


def left_out_reason(feature: Feature, security: str | None) -> str | None:
    """Return why plans with this security cannot have the feature; None if they can."""
    secured = SECURITIES[security_named(security or "plaintext")]
    for capability in feature.needs:
        if (reason := unsuitable(capability, secured)) is not None:
            return reason
    if secured.mechanisms and "authorizer.class.name" in feature.settings:
        return "clients log in as a super user, to which no entry applies"
    return None


def possible_with(features: Iterable[Feature], security: str | None) -> Iterator[Feature]:
    """Yield the features that plans with this security can have."""
    return (each for each in features if left_out_reason(each, security) is None)
