#!/bin/sh
# Guess: of two compactions of one Delta table that overlap, the second to commit is refused, since the first removed the
# files that it read. With max_commit_retries=0 that is certain.
#
# Seen with deltalake 1.6.6: both commit, without an error, and each row is in the table twice. The compaction takes
# CommitProperties and ignores max_commit_retries (and app_transactions). 1.6.3 refuses the second. An overwrite of
# the same days with max_commit_retries=0 is refused in 1.6.6, too.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"

cat > "$folder/overlap.py" <<'PYTHON'
import os
import sys

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

path, strict = sys.argv[1], CommitProperties(max_commit_retries=0)
for number in range(4):
    write_deltalake(path, pa.table({"key": [number]}), mode="append")
rows = pa.table({"key": list(range(4))})


def compaction(table):
    table.optimize.compact(commit_properties=strict)


def overwrite(table):
    write_deltalake(table, rows, mode="overwrite", predicate="key >= 0", commit_properties=strict)


def second(change):
    """What becomes of the second of two changes of one version."""
    first, late = DeltaTable(path), DeltaTable(path)
    change(first)
    try:
        change(late)
    except Exception as error:
        outcome = f"refused ({type(error).__name__})"
    else:
        outcome = "committed"
    return f"{outcome}, {DeltaTable(path).count()} rows"


print("overwrite:", second(overwrite))
for number in range(4, 8):
    write_deltalake(path, pa.table({"key": [number]}), mode="append")
print("compaction:", second(compaction), flush=True)
os._exit(0)
PYTHON

seen() {
    "$folder/venv/bin/pip" install -q "deltalake==$1" "pyarrow==26.0.1"
    "$folder/venv/bin/python" "$folder/overlap.py" "$folder/table-$1"
}

expected="1.6.3
overwrite: refused (CommitFailedError), 4 rows
compaction: refused (CommitFailedError), 8 rows
1.6.6
overwrite: refused (CommitFailedError), 4 rows
compaction: committed, 16 rows"
found=$(for version in 1.6.3 1.6.6; do echo "$version" && seen "$version"; done)
echo "$found"
[ "$found" = "$expected" ] || { echo "this has changed; it was:"; echo "$expected"; exit 1; } >&2
