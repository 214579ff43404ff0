"""Records of newer software: tagged fields that this one does not know change nothing."""

from __future__ import annotations

from random import Random

import pytest

from fencepost.cluster_impl.wire.messages import DEFINITIONS
from fencepost.cluster_impl.wire.records import RECORD_TYPES, decode_record, encode_record
from fencepost.cluster_impl.wire.schema import Definition
from tests.cluster_impl.wire.random_messages import message_class, random_message

RECORDS = [
    definition for definition in DEFINITIONS if RECORD_TYPES.get(definition.api_key) is message_class(definition)
]
TRIES = 50


def test_every_record_type_is_tried() -> None:
    assert {definition.api_key for definition in RECORDS} == set(RECORD_TYPES)


@pytest.mark.requirement("K631-20")
@pytest.mark.parametrize("definition", RECORDS, ids=lambda definition: definition.name)
def test_unknown_tagged_fields_of_any_record_change_none_of_its_fields(definition: Definition) -> None:
    random = Random(definition.name)
    highest = max((field.tag for field in definition.root.fields), default=-1)
    for _ in range(TRIES):
        record = random_message(definition, definition.versions.high, random)
        known = decode_record(encode_record(record))
        assert known == record
        record.unknown_tags = {
            highest + random.randrange(1, 10_000): random.randbytes(random.choice((0, 1, 200)))
            for _ in range(random.randint(1, 4))
        }
        newer = decode_record(encode_record(record))
        assert newer.unknown_tags == record.unknown_tags
        assert [getattr(newer, name) for name in newer._fields] == [getattr(known, name) for name in known._fields]
