"""How a story of this suite is told."""

from __future__ import annotations

from functools import partial

from suites.story import around_zookeeper

DOCUMENT = "Kafka internals"

internals = partial(around_zookeeper, document=DOCUMENT)
