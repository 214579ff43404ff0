"""Text for the summary of a CI job, which is Markdown."""

import re
from typing import Final

_SPECIAL: Final = re.compile(r"([\\*_\[\]<>|#~])")


def in_markdown(text: str, *, is_cell: bool = False) -> str:
    """Return text on one line, with the special characters of Markdown escaped, except in spans of code.

    A cell of a table ends at each bar, so there those in spans of code are escaped, too.
    """
    spans = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(
        (span.replace("|", r"\|") if is_cell else span) if span.startswith("`") else _SPECIAL.sub(r"\\\1", span)
        for span in spans
    )
