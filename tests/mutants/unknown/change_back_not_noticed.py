"""A broker that compares changed settings with the first ones that it read: a change back is none (against ADM-04)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID
from weakref import WeakKeyDictionary

from fencepost.cluster_impl.designs.zk_controller.broker.topic_configs import TopicConfigs
from tests.mutants.defect import ZK, Defect, Kind

DEFECT = Defect(
    __name__,
    designs=(ZK,),
    rules=("ADM-04", "META-01"),
    scenarios=(),
    unit="tests/mutants/unknown/test_second_time.py::test_a_setting_that_is_changed_back_takes_effect",
    kind=Kind.SECOND_TIME,
)


def apply() -> None:
    first: WeakKeyDictionary[TopicConfigs, dict[UUID, Mapping[str, str]]] = WeakKeyDictionary()

    async def read_again(self: TopicConfigs, names: Collection[str] | None = None) -> None:
        known = first.setdefault(self, {})
        for topic_id, name in list(self._names.items()):
            if names is None or name in names:
                config = await self._config(name)
                if config != known.setdefault(topic_id, self._known[topic_id]):
                    self._known[topic_id] = config
                    self._loaded(topic_id, config)
                    self._changed(topic_id)

    TopicConfigs.read_again = read_again  # type: ignore[method-assign]
