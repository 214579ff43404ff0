"""The files of definitions say what the targets document, and the values at their limits are what targets decide so."""

from __future__ import annotations

import pytest

from fencepost.cluster_impl.designs.shared.topic_settings import problem_with, problem_with_broker_setting
from fencepost.harness.campaign.operations.limits import alterable
from fencepost.harness.targets.definitions import FOLDER, Definition, definitions, path_of
from fencepost.harness.targets.registry import load_file
from tests.definitions import documented, of_reference, of_release, text_of

KAFKA = sorted(path.stem.removeprefix("kafka-") for path in FOLDER.glob("kafka-*.json"))
PAGE = """
<ul class="config-list">
<li>
<h4><a id="made.ms"></a><a id="x_made.ms" href="#x_made.ms">made.ms</a></h4>
<p>A text &lt;b&gt;.</p>
<table><tbody>
<tr><th>Type:</th><td>long</td></tr>
<tr><th>Default:</th><td>604800000 (7 days)</td></tr>
<tr><th>Valid Values:</th><td>[-1,...]</td></tr>
<tr><th>Update Mode:</th><td>cluster-wide</td></tr>
</tbody></table>
</li>
<li><h4>other</h4><table><tr><th>Type:</th><td>list</td></tr><tr><th>Default:</th><td>null</td></tr></table></li>
</ul>
"""


def test_a_page_of_documentation_is_read_with_the_rows_of_each_setting() -> None:
    (name, row), (other, _) = documented(PAGE)
    assert (name, other) == ("made.ms", "other")
    assert row == {
        "Type": "long",
        "Default": "604800000 (7 days)",
        "Valid Values": "[-1,...]",
        "Update Mode": "cluster-wide",
    }


def test_the_file_of_the_reference_cluster_is_as_its_tables() -> None:
    path = path_of("quorum", "")
    assert path is not None
    assert path.read_text(encoding="utf-8") == text_of(of_reference())


@pytest.mark.parametrize("target", ["quorum", "zk-controller", "leader-driven"])
def test_the_reference_cluster_decides_the_values_at_its_limits_as_they_say(target: str) -> None:
    known = definitions(load_file(target))
    assert known is not None
    for settings, problem in ((known.topic, problem_with), (known.broker, problem_with_broker_setting)):
        assert all(each.accepted and each.refused for each in settings.values())
        for each in settings.values():
            assert not any(problem(each.name, value) for value in each.accepted)
            assert all(problem(each.name, value) for value in each.refused)


@pytest.mark.parametrize(
    ("type", "valid", "accepted", "refused"),
    [
        ("int", "[14,...]", ("14", "15", "2147483647"), ("13", "2147483648", "x")),
        ("long", "[-1,...,0]", ("-1", "0"), ("-2", "1", "x")),
        ("double", "[0,...,1]", ("0.0", "1.0"), ("-1.0", "2.0", "x")),
        ("int", "[1,...,9] or -1", ("1", "2", "9"), ("0", "10", "x")),
        ("list", "[compact, delete]", ("compact", "delete"), ("x",)),
        ("boolean", "", ("true", "false"), ("x",)),
        ("long", "", (), ("9223372036854775808", "x")),
        ("double", "[0,...]", (), ()),
        ("string", "non-empty string", (), ()),
        ("list", "[partitionId]:[brokerId],...", (), ()),
    ],
)
def test_values_at_the_limits(type: str, valid: str, accepted: tuple[str, ...], refused: tuple[str, ...]) -> None:
    setting = Definition("made", type, None, valid)
    assert setting.accepted == accepted
    assert setting.refused == refused


def test_a_number_is_raised_twice_and_no_further_than_it_goes() -> None:
    setting = Definition("made", "int", "5", "[0,...,6]")
    assert setting.raised("4") == ("5", "6")
    assert setting.raised("5") == ("6",)
    assert setting.raised(None) == setting.raised("many") == setting.raised("-1") == setting.raised("0") == ()


@pytest.mark.parametrize("version", KAFKA)
def test_the_settings_of_each_release_have_values_to_draw(version: str) -> None:
    known = definitions(load_file(f"apache-kafka:{version}"))
    assert known is not None
    topics, brokers = alterable(known.topic), alterable(known.broker)
    assert {"retention.ms", "segment.bytes", "cleanup.policy", "min.insync.replicas"} <= {each.name for each in topics}
    assert {"num.io.threads", "log.retention.ms"} <= {each.name for each in brokers}
    assert len(topics) > 15
    assert len(brokers) > 20
    assert not any(each.name.startswith("ssl.") for each in brokers)


def test_the_newest_release_is_among_them_and_an_unknown_one_is_not() -> None:
    assert load_file("apache-kafka").version in KAFKA
    file = load_file("apache-kafka")
    assert definitions(file.at("4.4.0-acme-1")) is None
    assert definitions(file.at("3.9.2..4.4.0")) is None


@pytest.mark.integration
def test_the_file_of_the_newest_release_is_what_it_documents() -> None:
    version = load_file("apache-kafka").version
    path = path_of("apache-kafka", version)
    assert path is not None
    assert path.read_text(encoding="utf-8") == text_of(of_release(version))
