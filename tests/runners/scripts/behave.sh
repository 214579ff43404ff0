# behave.
python_packages "behave$(at == 1.3.3)"
of_python behave
project features/log.feature <<'FEATURE'
Feature: log
  Scenario: passes
    When it passes
  Scenario: fails
    When it fails
  Scenario: errors
    When it errors
  Scenario: flaky
    When it is flaky
  Scenario: skips
    When it skips
FEATURE
project features/steps/steps.py <<'PY'
import os

from behave import when


def note(test, outcome):
    with open(os.environ["RAN"], "a") as ran:
        ran.write(f"{test} {outcome}\n")


@when("it passes")
def passes(context):
    note("passes", "P")


@when("it fails")
def fails(context):
    note("fails", "F")
    assert False, "17 records are gone"


@when("it errors")
def errors(context):
    note("errors", "E")
    raise OSError("17 records are gone")


@when("it is flaky")
def flaky(context):
    with open(os.environ["RAN"]) as ran:
        again = "flaky" in ran.read()
    note("flaky", "P" if again else "F")
    assert again, "17 records are gone"


@when("it skips")
def skips(context):
    context.scenario.skip("no disk")
PY
project features/environment.py <<'PY'
from behave.contrib.scenario_autoretry import patch_scenario_with_autoretry


def before_feature(context, feature):
    for scenario in feature.scenarios:
        patch_scenario_with_autoretry(scenario, max_attempts=3)
PY
runs "--junit, scenario_autoretry" sh -c 'venv/bin/behave --junit --junit-directory "$REPORTS"'
