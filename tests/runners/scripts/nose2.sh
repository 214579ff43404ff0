# nose2 with its own plugin.
python_packages "nose2$(at == 0.16.0)"
of_python nose2
project test_log.py <<'PY'
import os
import unittest


def note(test, outcome):
    with open(os.environ["RAN"], "a") as ran:
        ran.write(f"{test} {outcome}\n")


class Log(unittest.TestCase):
    def test_passes(self):
        note("passes", "P")

    def test_fails(self):
        note("fails", "F")
        self.fail("17 records are gone")

    def test_errors(self):
        note("errors", "E")
        raise OSError("17 records are gone")

    @unittest.skip("no disk")
    def test_skips(self):
        pass
PY
runs "--junit-xml" sh -c 'venv/bin/nose2 --plugin nose2.plugins.junitxml --junit-xml --junit-xml-path "$REPORTS/r.xml"'
