"""All conditions, by the name that plans use. Each is a module of this package, which is found by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, TypeAlias, Union

from pydantic import Field

from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.words import words_of

CONDITIONS: Mapping[str, type[AwaitStep]] = words_of(__name__, __path__, AwaitStep)  # type: ignore[type-abstract]

if TYPE_CHECKING:
    Await: TypeAlias = AwaitStep
else:
    Await = Annotated[Union[tuple(CONDITIONS.values())], Field(discriminator="condition")]  # noqa: UP007  # made at run time
