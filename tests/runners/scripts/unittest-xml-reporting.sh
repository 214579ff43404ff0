# unittest with unittest-xml-reporting.
python_packages "unittest-xml-reporting$(at == 4.0.0)"
of_python unittest-xml-reporting
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
runs "no retries" sh -c 'venv/bin/python -m xmlrunner discover -o "$REPORTS"'
