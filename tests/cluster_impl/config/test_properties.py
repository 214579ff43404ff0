"""Java's property file syntax."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.config.properties import parse_properties


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=b", {"a": "b"}),
        ("  a : b", {"a": "b"}),
        ("a b c", {"a": "b c"}),
        ("a", {"a": ""}),
        ("a=b=c", {"a": "b=c"}),
        ("a==b", {"a": "=b"}),
        ("# x=1\n! y=2\n\na=1", {"a": "1"}),
        ("a=1,\\\n   2", {"a": "1,2"}),
        ("a=x\\\\\nb=2", {"a": "x\\", "b": "2"}),
        ("a\\=b=c", {"a=b": "c"}),
        ("a\\ b=c", {"a b": "c"}),
        ("a=\\tb\\u0041\\q", {"a": "\tbAq"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=#b", {"a": "#b"}),
        ("a=1\\", {"a": "1"}),
        ("a\\\\=b", {"a\\": "b"}),
    ],
)
def test_a_file_reads_as_java_reads_it(text: str, pairs: dict[str, str]) -> None:
    assert parse_properties(text) == pairs
