"""All conditions, by the name that plans use. Each is a module of this package, which is found by itself."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, TypeAlias, Union

from pydantic import Field

from fencepost.harness.plan.conditions.condition import AwaitStep


def _conditions() -> Iterator[type[AwaitStep]]:
    for module in sorted(found.name for found in pkgutil.iter_modules(__path__)):
        loaded = import_module(f"{__name__}.{module}")
        for each in vars(loaded).values():
            if isinstance(each, type) and issubclass(each, AwaitStep) and each.__module__ == loaded.__name__:
                yield from [each] if "condition" in each.model_fields else []


CONDITIONS: Mapping[str, type[AwaitStep]] = {each.model_fields["condition"].default: each for each in _conditions()}

if TYPE_CHECKING:
    Await: TypeAlias = AwaitStep
else:
    Await = Annotated[Union[tuple(CONDITIONS.values())], Field(discriminator="condition")]  # noqa: UP007  # made at run time
