#!/bin/sh
# Guess: with --reruns 2 a test that always fails is one testcase with its failure in JUnit XML, or three with a failure
# each; no attempt that failed looks like one that passed.
# Seen with pytest-rerunfailures 16.7: it is three testcases of one name. The two that were rerun have no child, exactly
# like a test that passed, and the suite says tests="1". A reader of the file sees two passes and one failure of a test
# that never passed; up to 16.6 it was one testcase.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q pytest==9.2.0 pytest-rerunfailures==16.7
cat >"$folder/test_log.py" <<'PY'
def test_always_fails():
    assert 1 == 2
PY
cd "$folder"
venv/bin/pytest -q --reruns 2 --junitxml r.xml >/dev/null || true
venv/bin/python - <<'PY' | tee seen
from importlib.metadata import version
from xml.etree import ElementTree

print("pytest-rerunfailures", version("pytest-rerunfailures"))
[suite] = ElementTree.parse("r.xml").getroot()
seen = [[child.tag for child in case] for case in suite.iter("testcase")]
print(f"tests={suite.get('tests')}, children of its testcases: {seen}")
PY
grep -Fqx "tests=1, children of its testcases: [[], [], ['failure']]" seen || {
    echo "this has changed: see the line above, and those in the head of this script" >&2
    exit 1
}
