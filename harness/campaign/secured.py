"""Random plans with secured listeners: the features that they cannot have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fencepost.harness.campaign.features import FaultMove, Feature
from fencepost.harness.plan.security import PlannedSecurity, spelled_out, super_user, unsuitable, unsuitable_fault


def left_out_reason(feature: Feature, security: PlannedSecurity) -> str | None:
    """Return why plans with this security cannot have the feature; None if they can."""
    secured = spelled_out(security)
    reasons = [unsuitable(capability, secured) for capability in feature.needs]
    if isinstance(feature, FaultMove):
        reasons.append(unsuitable_fault(feature.fault, secured))
    return next(filter(None, reasons), super_user(feature.settings, secured))


def possible_with(features: Iterable[Feature], security: PlannedSecurity) -> Iterator[Feature]:
    """Yield the features that plans with this security can have."""
    return (each for each in features if left_out_reason(each, security) is None)
