"""Messages of one kind are masked alike, and those of different kinds are not."""

import pytest

from fencepost.results.store.masking import mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("497 records (t-0 offsets 68 to 564) are gone", "<n> records (t-<n> offsets <n> to <n>) are gone"),
        ("2026-11-23 17:02:07,737 WARNING closed", "<time> WARNING closed"),
        ("node-2 (127.160.101.2:9090) did not answer", "node-<n> (<address>) did not answer"),
        ("topic edcd0779-5c5a-4b62-b0be-80ecf98c9c72", "topic <uuid>"),
        ("cluster 4L6g3nShT-eMCtK--X86sw is", "cluster <id> is"),
        ("in /runs/2026-11-23-c47bbd5e/logs/node-6.log:", "in <path>:"),
        ("ISR [4, 5, 6] and [5]", "ISR [<n>] and [<n>]"),
        ("digest 0b3f99aa12cd", "digest <hex>"),
        ("broker deadbeef failed", "broker deadbeef failed"),
        ("NOT_LEADER_OR_FOLLOWER  after\n1.5 s", "NOT_LEADER_OR_FOLLOWER after <n> s"),
        ("acknowledged/unacknowledged", "acknowledged/unacknowledged"),
    ],
)
def test_what_differs_from_run_to_run_is_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


def test_masking_a_masked_text_changes_nothing() -> None:
    text = mask("2026-11-23 17:02:07,737 node-2 (127.0.0.1:9) saw [4, 5] at 0x1f in /a/b/c.log")
    assert mask(text) == text
