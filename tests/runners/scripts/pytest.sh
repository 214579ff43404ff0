# pytest with rerunfailures, xdist and allure-pytest.
python_packages "pytest$(at == 9.2.0)" "pytest-rerunfailures$(at == 16.7)" "pytest-xdist$(at == 3.8.0)" "allure-pytest$(at == 2.16.2)"
for package in pytest pytest-rerunfailures pytest-xdist allure-pytest; do of_python $package; done
project test_log.py <<'PY'
import os

import pytest


def note(test, outcome):
    with open(os.environ["RAN"], "a") as ran:
        ran.write(f"{test} {outcome}\n")


def has_run(test):
    with open(os.environ["RAN"]) as ran:
        return test in ran.read()


def test_passes():
    note("passes", "P")


def test_fails():
    note("fails", "F")
    assert False, "17 records are gone"


def test_errors():
    note("errors", "E")
    raise OSError("17 records are gone")


def test_flaky():
    again = has_run("flaky")
    note("flaky", "P" if again else "F")
    assert again, "17 records are gone"


@pytest.mark.skip
def test_skips():
    pass
PY
runs "no retries" sh -c 'venv/bin/pytest --junitxml "$REPORTS/r.xml"'
runs "--reruns 2" sh -c 'venv/bin/pytest --reruns 2 --junitxml "$REPORTS/r.xml"'
runs "--reruns 2 -n 2" sh -c 'venv/bin/pytest --reruns 2 -n 2 --junitxml "$REPORTS/r.xml"'
runs "--reruns 2 --alluredir" sh -c 'venv/bin/pytest --reruns 2 --alluredir "$REPORTS"'
