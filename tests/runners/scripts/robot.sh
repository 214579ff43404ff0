# Robot Framework, with failed tests run again and merged.
python_packages "robotframework$(at == 7.5)"
of_python robotframework
project Log.py <<'PY'
import os


def note(test, outcome):
    with open(os.environ["RAN"], "a") as ran:
        ran.write(f"{test} {outcome}\n")


def pass_now():
    note("passes", "P")


def fail_now():
    note("fails", "F")
    raise AssertionError("17 records are gone")


def raise_now():
    note("errors", "E")
    raise OSError("17 records are gone")


def fail_at_first():
    with open(os.environ["RAN"]) as ran:
        again = "flaky" in ran.read()
    note("flaky", "P" if again else "F")
    if not again:
        raise AssertionError("17 records are gone")
PY
project suite/log.robot <<'ROBOT'
*** Settings ***
Library    ../Log.py

*** Test Cases ***
Passes
    Pass Now

Fails
    Fail Now

Errors
    Raise Now

Flaky
    Fail At First

Skips
    Skip    no disk
ROBOT
project merge <<'SH'
venv/bin/robot --outputdir first suite
venv/bin/robot --outputdir second --rerunfailed first/output.xml suite
venv/bin/rebot --merge --outputdir merged --xunit "$REPORTS/r.xml" first/output.xml second/output.xml
SH
runs "--xunit" sh -c 'venv/bin/robot --outputdir plain --xunit "$REPORTS/r.xml" suite'
runs "--rerunfailed, rebot --merge --xunit" sh merge
