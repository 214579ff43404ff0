import pytest

from fencepost.harness.engine.ci_job import ci_job

GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_JOB": "nightly",
    "GITHUB_HEAD_REF": "",
    "GITHUB_REF_NAME": "trunk",
    "GITHUB_SHA": "0b3f",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "acme/broker",
    "GITHUB_RUN_ID": "77",
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_JOB_NAME": "nightly",
    "CI_COMMIT_REF_NAME": "trunk",
    "CI_COMMIT_SHA": "0b3f",
    "CI_JOB_URL": "https://gitlab.example/jobs/77",
}
JENKINS = {
    "JENKINS_URL": "https://ci.example/",
    "JOB_NAME": "nightly",
    "BRANCH_NAME": "trunk",
    "GIT_COMMIT": "0b3f",
    "BUILD_URL": "https://ci.example/job/77/",
}
BUILDKITE = {
    "BUILDKITE": "true",
    "BUILDKITE_LABEL": "nightly",
    "BUILDKITE_BRANCH": "trunk",
    "BUILDKITE_COMMIT": "0b3f",
    "BUILDKITE_BUILD_URL": "https://buildkite.example/77",
    "BUILDKITE_JOB_ID": "a",
}


@pytest.mark.parametrize(
    ("environment", "system", "url"),
    [
        (GITHUB, "GitHub Actions", "https://github.com/acme/broker/actions/runs/77"),
        (GITLAB, "GitLab", "https://gitlab.example/jobs/77"),
        (JENKINS, "Jenkins", "https://ci.example/job/77/"),
        (BUILDKITE, "Buildkite", "https://buildkite.example/77#a"),
    ],
)
def test_the_job_is_known_in_each_system(environment: dict[str, str], system: str, url: str) -> None:
    assert ci_job(environment) == {"system": system, "job": "nightly", "branch": "trunk", "commit": "0b3f", "url": url}


def test_the_branch_of_a_pull_request_is_its_source() -> None:
    assert ci_job(GITHUB | {"GITHUB_HEAD_REF": "fix", "GITHUB_REF_NAME": "12/merge"})["branch"] == "fix"


def test_what_a_system_does_not_tell_is_left_out() -> None:
    assert ci_job({"BUILDKITE": "true"}) == {"system": "Buildkite"}
    assert ci_job({"BRANCH_NAME": "trunk"}) == {}
