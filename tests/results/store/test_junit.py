"""JUnit XML of many runners: tests, attempts, times and builds, from the smallest file that shows each."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from fencepost.results.store.builds import CommitFrom, Reading
from fencepost.results.store.dialects import dialects
from fencepost.results.store.junit import read_junit
from tests.results.store.junit_files import AT, DAY, FAILURE, UNTOUCHED, case, folder, read, runner, verdicts

__all__ = ["folder"]


def test_an_error_is_a_failure(folder: Path) -> None:
    found = read(folder, f'<testsuite name="s" {AT}>{case("a", inside="<error/>")}</testsuite>')
    assert (found.cases[0].verdict, found.cases[0].kind) == ("violation", "error")


def test_testcases_count_at_any_depth(folder: Path) -> None:
    inner = f'<testsuite name="In">{case("a", classname="Out.In")}</testsuite>'
    robot = (
        f'<testsuite name="Out" {AT}>{inner}<testsuite name="B">{case("b", classname="Out.B")}</testsuite></testsuite>'
    )
    found = read(folder, robot)
    assert verdicts(found) == {"Out.In::a": "P", "Out.B::b": "P"} and runner(found) == "Robot Framework"
    mixed = f'<testsuite name="Out">{case("a", classname="x")}{inner}</testsuite>'
    assert len(read(folder, mixed).cases) == 2


def test_node_has_testcases_below_the_root_and_names_suites_only_around_them(folder: Path) -> None:
    same = case("same", classname="test")
    suites = f'<testsuite name="a">{same}<testsuite name="b">{same}</testsuite></testsuite>'
    todo = case("todo", classname="test", inside='<skipped type="todo"/><failure message="expected"/>')
    found = read(folder, f"<testsuites>{case('top', classname='test', inside=FAILURE)}{todo}{suites}</testsuites>")
    assert verdicts(found) == {"top": "F", "a::same": "P", "a/b::same": "P"}
    assert found.skipped == 1 and runner(found) == "node --test"


def test_node_26_names_the_file_and_its_suites_as_the_class(folder: Path) -> None:
    files = [f'file="/x/repo/test/{name}.test.mjs"' for name in "ab"]
    cases = [case("same", classname="log", more=file) for file in files]
    suites = "".join(f'<testsuite name="log" {AT}>{each}</testsuite>' for each in cases)
    found = read(folder, f"<testsuites>{suites}</testsuites>")
    assert set(verdicts(found)) == {"test/a.test.mjs::log::same", "test/b.test.mjs::log::same"}
    assert runner(found) == "node --test"


def test_equal_names_of_other_suites_are_other_tests(folder: Path) -> None:
    suites = "".join(
        f'<testsuite name="a.spec.ts" hostname="{project}" {AT}>{case("opens", classname="a.spec.ts", inside=inside)}'
        "</testsuite>"
        for project, inside in (("chromium", ""), ("webkit", FAILURE))
    )
    found = read(folder, f"<testsuites>{suites}</testsuites>")
    assert verdicts(found) == {"chromium::a.spec.ts::opens": "P", "webkit::a.spec.ts::opens": "F"}
    assert runner(found) == "Playwright"
    go = "".join(
        f'<testsuite name="example.org/{name}" {AT}><properties><property name="go.version" value="1"/></properties>'
        f"{case('TestMain', classname='', inside=FAILURE)}</testsuite>"
        for name in "ab"
    )
    assert verdicts(read(folder, f"<testsuites>{go}</testsuites>")) == {
        "example.org/a::TestMain": "F",
        "example.org/b::TestMain": "F",
    }


def test_an_unknown_runner_names_its_suites_but_not_the_day_in_them(folder: Path) -> None:
    body = f'<testsuite name="run of 2026-11-20">{case("a", classname="org.T")}</testsuite>'
    found = read(folder, f'<testsuites><testsuite name="broker" {AT}>{body}</testsuite></testsuites>')
    assert verdicts(found) == {"broker::org.T::a": "P"}


def test_a_repeat_is_another_test_where_the_runner_writes_no_attempts_so(folder: Path) -> None:
    body = case("each") + case("each", inside=FAILURE) + case("each #2")
    found = read(folder, f'<testsuite name="s" {AT}>{body}</testsuite>')
    assert verdicts(found) == {"s::t::each": "P", "s::t::each #3": "F", "s::t::each #2": "P"}


def test_suites_of_one_name_are_kept_apart_in_any_order(folder: Path) -> None:
    def suite(other: str, inside: str) -> str:
        cases = case("passes", classname="passes", inside=inside) + case(other, classname=other)
        return f'<testsuite name="undefined" {AT}>{cases}</testsuite>'

    first, second = suite("x", ""), suite("y", FAILURE)
    for body in (first + second, second + first):
        found = read(folder, f'<testsuites name="jest tests">{body}</testsuites>')
        assert verdicts(found) == {"passes": "P", "passes #2": "F", "x": "P", "y": "P"}
    assert runner(found) == "jest-junit"


def test_jest_without_classes_names_the_suite(folder: Path) -> None:
    suites = "".join(
        f'<testsuite name="{name}" {AT}>{case("passes", classname="", inside=inside)}</testsuite>'
        for name, inside in (("log", ""), ("index", FAILURE))
    )
    found = read(folder, f'<testsuites name="jest tests">{suites}</testsuites>')
    assert verdicts(found) == {"log::passes": "P", "index::passes": "F"}


def test_testcases_are_counted_whatever_the_attributes_say(folder: Path) -> None:
    body = case("a") + case("b", inside=FAILURE)
    for tests in ("0", "15515", "many"):
        text = f'<testsuites tests="{tests}" failures="0"><testsuite name="s" tests="{tests}" {AT}>{body}</testsuite>'
        assert set(verdicts(read(folder, f"{text}</testsuites>")).values()) == {"P", "F"}


@pytest.mark.parametrize(
    ("around", "names"),
    [
        ('<testsuite name="pytest" tests="2" {at}>{cases}</testsuite>', ("test_a[1]", "test_a[2]")),
        (
            '<testsuite name="t" noNamespaceSchemaLocation="surefire-test-report.xsd">{cases}</testsuite>',
            ("a(int)[1]", "a(int)[2]"),
        ),
        (
            '<testsuites name="vitest tests"><testsuite name="a.test.js" {at}>{cases}</testsuite></testsuites>',
            ("log &gt; each 1", "log &gt; each 2"),
        ),
    ],
)
def test_parametrized_tests_stay_apart(folder: Path, around: str, names: tuple[str, str]) -> None:
    cases = case(names[0]) + case(names[1], inside=FAILURE)
    assert sorted(verdicts(read(folder, around.format(at=AT, cases=cases))).values()) == ["F", "P"]


def test_mocha_names_the_file(folder: Path) -> None:
    body = case("passes", more='file="/home/one/repo/test/a.js"') + case(
        "passes", more='file="/home/one/repo/test/b.js"'
    )
    found = read(folder, f'<testsuite name="Mocha Tests" timestamp="Fri, 20 Nov 2026 08:00:00 GMT">{body}</testsuite>')
    assert set(verdicts(found)) == {"test/a.js::t::passes", "test/b.js::t::passes"}
    assert {each.started for each in found.cases} == {DAY} and found.zoneless == 0


def test_modules_are_other_tests(folder: Path) -> None:
    text = '<testsuite xsi="x" noNamespaceSchemaLocation="schema/surefire-test-report.xsd">{}</testsuite>'
    for module in ("core", "api"):
        path = folder / module / "target" / "surefire-reports" / "TEST-T.xml"
        path.parent.mkdir(parents=True)
        path.write_text(text.format(case("a")) + f"<!-- {module} -->")
    found = read_junit(folder)
    assert set(verdicts(found)) == {"core::t::a", "api::t::a"} and {each.runner for each in found.files} == {"Surefire"}


SUREFIRE = '<testsuite name="t" noNamespaceSchemaLocation="surefire-test-report.xsd">{}</testsuite>'


def test_surefire_merges_attempts_of_mixed_kinds_in_the_order_of_the_file(folder: Path) -> None:
    failing = '<error message="1"/><rerunError message="2"/><rerunFailure message="3"/><rerunError message="4"/>'
    flaky = '<flakyError message="1"/><flakyFailure message="2"/>'
    found = read(folder, SUREFIRE.format(case("fails", inside=failing) + case("flaky", inside=flaky)))
    assert verdicts(found) == {"t::fails": "FFFF", "t::flaky": "FFP"}
    assert [each.kind for each in found.cases[:4]] == ["error", "error", "failure", "error"]
    assert [each.message for each in found.cases] == ["1", "2", "3", "4", "1", "2", ""]
    assert [each.seconds for each in found.cases] == [0.5, None, None, None, None, None, 0.5]


@pytest.mark.parametrize("name", ["", "initializationError"])
def test_a_failure_of_a_class_has_one_name_in_all_versions_of_surefire(folder: Path, name: str) -> None:
    assert verdicts(read(folder, SUREFIRE.format(case(name, inside=FAILURE) + case("a")))) == {"t": "F", "t::a": "P"}


def test_testng_writes_a_retried_attempt_as_skipped(folder: Path) -> None:
    skipped = case("a", inside='<skipped type="X">X: 3 are gone</skipped>')
    found = read(folder, SUREFIRE.format(skipped * 2 + case("a") + case("b", inside="<skipped/>")))
    assert verdicts(found) == {"t::a": "FFP"} and found.skipped == 1
    assert [each.headline for each in found.cases] == ["3 are gone", "3 are gone", ""]


def test_testng_itself_writes_the_attempts_of_a_test_in_any_order(folder: Path) -> None:
    skipped = case("a", inside="<skipped/>")
    for body in (skipped + case("a") + skipped, case("a") + skipped * 2):
        found = read(folder, f'<testsuite name="t" timestamp="2026-11-20T08:00:00 UTC">{body}</testsuite>')
        assert verdicts(found) == {"t::a": "FFP"} and runner(found) == "TestNG"


def test_rows_of_a_data_provider_of_testng_are_no_attempts(folder: Path) -> None:
    body = case("param") + case("param", inside=FAILURE) + case("param")
    found = read(folder, f'<testsuite name="t" timestamp="2026-11-20T08:00:00 UTC">{body}</testsuite>')
    assert verdicts(found) == {"t::param": "P", "t::param #2": "F", "t::param #3": "P"}


def test_testng_repeats_what_surefire_wrote(folder: Path) -> None:
    for name in ("TEST-t.xml", "junitreports/TEST-t.xml", "Surefire suite/Surefire test.xml"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(SUREFIRE.format(case("a")) + f"<!-- {name} -->")
    found = read_junit(folder)
    assert len(found.cases) == 1 and len(found.copies) == 2 and found.is_whole


@pytest.mark.parametrize(
    "text",
    [
        '<testcase classname="A" name="Off" status="notrun" result="suppressed" timestamp="1970-01-01T00:00:00"/>',
        '<testcase classname="off" name="off" status="disabled"/>',
        "<testcase classname='t' name='off'><ignored/></testcase>",
        "<testcase classname='t' name='off'><skipped/></testcase>",
    ],
)
def test_what_did_not_run_did_not_pass(folder: Path, text: str) -> None:
    found = read(folder, f'<testsuite name="s" {AT}>{text}</testsuite>')
    assert (found.cases, found.skipped) == ([], 1)


def test_attempts_of_nextest_have_their_own_times(folder: Path) -> None:
    flaky = '<flakyFailure timestamp="2026-11-20T08:00:00Z" time="5" message="first"/>'
    body = case("flaky", inside=flaky, more='timestamp="2026-11-20T08:00:05Z" time="0.5"')
    root = 'name="nextest-run" timestamp="2026-11-19T08:00:00Z"'
    text = f'<testsuites {root}><testsuite name="t">{body}</testsuite></testsuites>'
    found = read(folder, text)
    assert [(each.started.second, each.seconds) for each in found.cases] == [(0, 5.0), (5, 0.5)]
    assert verdicts(found) == {"t::flaky": "FP"} and runner(found) == "nextest"


def test_attempts_of_gotestsum_are_testcases_and_playwright_puts_reruns_before_the_failure(folder: Path) -> None:
    of_go = '<properties><property name="go.version" value="1"/></properties>'
    body = case("TestA", inside=FAILURE) + case("TestA")
    assert verdicts(read(folder, f'<testsuites><testsuite name="t" {AT}>{of_go}{body}</testsuite></testsuites>')) == {
        "t::TestA": "FP"
    }
    reruns = '<rerunFailure message="1" time="2"/><rerunError message="2" time="3"/><failure message="3"/>'
    body = case("a", classname="x.spec.ts", inside=reruns)
    text = f'<testsuites><testsuite name="x.spec.ts" hostname="" {AT}>{body}</testsuite></testsuites>'
    assert [(each.message, each.seconds) for each in read(folder, text).cases] == [("1", 2.0), ("2", 3.0), ("3", 0.5)]


def test_the_trace_of_an_attempt_says_what_failed(folder: Path) -> None:
    flaky = '<flakyFailure message="Failed"><stackTrace>it lost 3\nat T.a(T.java:5)</stackTrace></flakyFailure>'
    assert read(folder, SUREFIRE.format(case("a", inside=flaky))).cases[0].headline == "it lost 3"


def test_failures_of_one_testcase_are_attempts_in_vitest_and_reasons_elsewhere(folder: Path) -> None:
    body = f'<testsuite name="a.test.js" {AT}>{case("a", inside=FAILURE * 3)}</testsuite>'
    assert verdicts(read(folder, f'<testsuites name="vitest tests">{body}</testsuites>')) == {"a.test.js::t::a": "FFF"}
    assert verdicts(read(folder, f"<testsuites>{body}</testsuites>")) == {"a.test.js::t::a": "F"}


def test_gradle_retries_what_failed_and_repeats_what_passed(folder: Path) -> None:
    body = case("a", inside=FAILURE) + case("a") + case("a")
    ends = "<system-out/><system-err/>"
    text = f'<testsuite name="t" hostname="h" timestamp="2026-11-20T08:00:00"><properties/>{body}{ends}</testsuite>'
    found = read(folder, text)
    assert verdicts(found) == {"t::a": "FP", "t::a #2": "P"} and runner(found) == "Gradle"
    assert found.cases[0].started == DAY and found.zoneless == 0


def test_a_flaky_test_of_ducktape_and_the_attempts_of_ginkgo_are_seen(folder: Path) -> None:
    body = case("a", more='status="flaky" time="9"')
    found = read(folder, f'<testsuites name="ducktape"><testsuite name="m" {AT}>{body}</testsuite></testsuites>')
    assert verdicts(found) == {"m::t::a": "FP"} and runner(found) == "ducktape"
    text = "runs 1, 3 summary:\nOSError('no')\nrun 2 summary:\nAssertionError('odd')\n"
    body = case("a", inside=f'<failure message="runs 1, 3 summary:">{text}</failure>', more='status="fail"')
    found = read(folder, f'<testsuites name="ducktape"><testsuite name="m" {AT}>{body}</testsuite></testsuites>')
    assert verdicts(found) == {"m::t::a": "FFF"}
    assert [each.headline for each in found.cases] == ["OSError('no')", "AssertionError('odd')", "OSError('no')"]
    output = "<system-err>Ginkgo: Attempt #1 Failed.  Retrying...</system-err>"
    suite = '<properties><property name="SuiteSucceeded" value="true"/></properties>'
    body = case("[It] a", inside=output, more='status="passed"')
    found = read(folder, f'<testsuites><testsuite name="t" {AT}>{suite}{body}</testsuite></testsuites>')
    assert verdicts(found) == {"t::[It] a": "FP"} and runner(found) == "Ginkgo"


def test_expected_failures_of_catch2_are_no_failures(folder: Path) -> None:
    seed = '<properties><property name="random-seed" value="1"/></properties>'
    body = case("may fail", inside="<skipped/>" + FAILURE)
    for suite in (f'<testsuite name="t" {AT}>{seed}', f'<testsuite name="t" hostname="tbd" {AT}>'):
        found = read(folder, f"<testsuites>{suite}{body}</testsuite></testsuites>")
        assert (found.cases, found.skipped, runner(found)) == ([], 1, "Catch2")


def test_parametrized_tests_of_phpunit_and_googletest_stay_apart(folder: Path) -> None:
    php = "".join(case(f"a with data set #{n}", more='class="t" assertions="1" file="/x/T.php"') for n in (0, 1))
    found = read(
        folder, f'<testsuites><testsuite name="/x"><testsuite name="t">{php}</testsuite></testsuite></testsuites>'
    )
    assert set(verdicts(found)) == {"t::a with data set #0", "t::a with data set #1"} and runner(found) == "PHPUnit"
    google = "".join(case(f"a/{n}", more='status="run" result="completed"') for n in (0, 1))
    found = read(folder, f'<testsuites name="AllTests" {AT}><testsuite name="t">{google}</testsuite></testsuites>')
    assert set(verdicts(found)) == {"t::a/0", "t::a/1"} and runner(found) == "GoogleTest"


def test_prove_says_only_in_its_output_what_did_not_run(folder: Path) -> None:
    names = ("1 - opens", "2 - reads", "3", "4 - later")
    cases = "".join(f'<testcase name="{name}">{FAILURE if name[0] == "2" else ""}</testcase>' for name in names)
    tap = "ok 1 - opens\nnot ok 2 - reads\nok 3 # skip no disk\nnot ok 4 - later # TODO one day\n1..4"
    found = read(
        folder,
        f'<testsuites><testsuite name="log_t" {AT}>{cases}<system-out>{tap}</system-out></testsuite></testsuites>',
    )
    assert verdicts(found) == {"log_t::opens": "P", "log_t::reads": "F"} and found.skipped == 2
    assert runner(found) == "prove"


def test_ctest_names_a_test_once(folder: Path) -> None:
    body = case(
        "a", classname="a", more='status="fail"', inside='<failure message="Failed"/><system-out>lost 3</system-out>'
    )
    found = read(folder, f'<testsuite name="Linux-c++" timestamp="2026-11-20T08:00:00">{body}</testsuite>')
    assert verdicts(found) == {"a": "F"} and found.cases[0].message == "lost 3" and runner(found) == "CTest"


@pytest.mark.parametrize(
    ("root", "own"),
    [
        (AT, ""),
        ("", AT),
        ('timestamp="Fri, 20 Nov 2026 08:00:00 GMT"', ""),
        ('timestamp="2026-11-20T08:00:00 UTC"', ""),
        ('timestamp="2026-11-20T03:00:00-05:00"', ""),
        (AT, 'timestamp="1970-01-01T00:00:00"'),
        (AT, 'timestamp="0001-01-01T00:00:00Z"'),
    ],
)
def test_a_test_starts_when_the_innermost_element_says(folder: Path, root: str, own: str) -> None:
    found = read(folder, f'<testsuites {root}><testsuite name="s">{case("a", more=own)}</testsuite></testsuites>')
    assert found.cases[0].started == DAY and found.cases[0].is_dated and found.undated == 0


def test_without_a_time_that_of_the_file_counts_and_is_said(folder: Path) -> None:
    found = read(folder, f'<testsuite name="s" timestamp="1970-01-01T00:00:00">{case("a")}</testsuite>')
    assert found.cases[0].started == UNTOUCHED and not found.cases[0].is_dated and found.undated == 1


def test_a_time_without_zone_is_of_the_one_that_is_named(folder: Path) -> None:
    text = f'<testsuite name="s" timestamp="2026-11-20T03:00:00">{case("a")}</testsuite>'
    found = read(folder, text, reading=Reading(ZoneInfo("America/New_York")))
    assert found.cases[0].started == DAY and found.zoneless == 1


def test_a_copied_report_counts_once(folder: Path) -> None:
    text = f'<testsuite name="s" {AT}>{case("a")}</testsuite>'
    (folder / "archive").mkdir()
    (folder / "archive" / "r.xml").write_text(text)
    found = read(folder, text)
    assert len(found.cases) == 1 and len(found.copies) == 1


def test_entities_and_endless_nesting_are_refused(folder: Path) -> None:
    (folder / "entity.xml").write_text('<!DOCTYPE a [<!ENTITY e "x">]><testsuite name="&e;"/>')
    (folder / "deep.xml").write_text("<testsuite>" * 120 + "</testsuite>" * 120)
    found = read_junit(folder)
    reasons = {path.name: reason for path, reason in found.unreadable.items()}
    assert "entities" in reasons["entity.xml"] and "100 deep" in reasons["deep.xml"] and not found.is_whole


@pytest.mark.parametrize(
    ("where", "text", "expected"),
    [
        ("path:^([0-9a-f]+)/", "", "1a2b"),
        ("property:sha", '<properties><property name="sha" value="3c4d"/></properties>', "3c4d"),
        ("file:COMMIT", "", "5e6f"),
        ("file:OTHER", '<properties><property name="commit" value="no"/></properties>', None),
        (None, '<properties><property name="git.commit.id" value="7a8b"/></properties>', "7a8b"),
        (None, '<properties><property name="env.GITHUB_SHA">9c0d</property></properties>', "9c0d"),
        (None, "", None),
    ],
)
def test_a_report_says_its_commit(folder: Path, where: str | None, text: str, expected: str | None) -> None:
    (folder / "COMMIT").write_text("5e6f main\n")
    reading = Reading(commit_from=CommitFrom.parse(where) if where else None)
    found = read(folder, f'<testsuite name="s" {AT}>{text}{case("a")}</testsuite>', "1a2b/r.xml", reading)
    assert found.cases[0].build.commit == expected


def test_a_testcase_may_have_a_build_of_its_own(folder: Path) -> None:
    own = "".join(
        f'<property name="{name}" value="{value}"/>'
        for name, value in (("fencepost.digest", "sha256:1"), ("branch", "b"))
    )
    body = case("a", inside=f"<properties>{own}</properties>") + case("b")
    found = read(folder, f'<testsuite name="s" {AT}>{body}</testsuite>')
    assert [(each.build.build, each.build.branch) for each in found.cases] == [("sha256:1", "b"), (None, None)]


@pytest.mark.parametrize("text", ["commit", "path:", "path:(", "url:x"])
def test_a_wrong_place_of_commits_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"path:REGEX|regular expression"):
        CommitFrom.parse(text)


def test_the_runner_is_kept_and_has_the_command_for_reruns(folder: Path) -> None:
    found = read(folder, f'<testsuite name="pytest" tests="1" {AT}>{case("a", inside=FAILURE)}</testsuite>')
    assert found.cases[0].runner == "pytest"
    assert read(folder, f'<testsuite name="s" {AT}>{case("a")}</testsuite>').cases[0].runner is None
    commands = {each.runner: each.rerun("org.Log", "it grows", 3) for each in dialects()}
    assert commands["pytest"] == "for i in $(seq 3); do pytest -k 'it grows'; done"
    assert commands["gotestsum"] == "go test org.Log -run ^'it grows'$ -count 3"
    assert commands["ducktape"] is None
