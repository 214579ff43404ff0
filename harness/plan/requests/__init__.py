"""All requests that a probe can send, by the name that plans use. Each is a module of this package, found by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, TypeAlias, Union

from pydantic import Field

from fencepost.harness.plan.requests.request import ProbeStep
from fencepost.harness.plan.words import words_of

REQUESTS: Mapping[str, type[ProbeStep]] = words_of(__name__, __path__, ProbeStep)  # type: ignore[type-abstract]

if TYPE_CHECKING:
    Probe: TypeAlias = ProbeStep
else:
    Probe = Annotated[Union[tuple(REQUESTS.values())], Field(discriminator="request")]  # noqa: UP007  # made at run time
