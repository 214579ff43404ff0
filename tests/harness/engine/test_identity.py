import sys
from pathlib import Path

import pytest

from fencepost.harness.backends import PROCESS
from fencepost.harness.engine.identity import Identity, identify
from fencepost.harness.processes.command import Command
from fencepost.harness.targets import reference


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FENCEPOST_TARGET_COMMIT", reference.VARIABLE):
        monkeypatch.delenv(name, raising=False)


def of(*commands: list[str], commit: str = "") -> Identity:
    return identify([("node-4", Command(each)) for each in commands], PROCESS, commit)


def package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(folder)
    made = folder / "broker_of_a_test"
    (made / "deep").mkdir(parents=True)
    (made / "__init__.py").touch()
    (made / "deep" / "log.py").write_text("KEEP = True\n")
    return made


def test_the_code_of_a_module_is_the_sources_of_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = package(tmp_path, monkeypatch)
    argv = [sys.executable, "-m", made.name, "node.properties"]
    [(name, before)] = of(argv).programs.items()
    assert (name, before.partition(" ")[0]) == (made.name, "code")
    (made / "__pycache__").mkdir()
    (made / "__pycache__" / "log.pyc").write_bytes(b"compiled")
    assert of(argv).programs[name] == before
    (made / "deep" / "log.py").write_text("KEEP = False\n")
    assert of(argv).programs[name] != before
    assert of(argv).digest.startswith("sha256:")


def test_jars_count_by_name_and_content_and_heap_sizes_do_not(tmp_path: Path) -> None:
    libs = tmp_path / "libs"
    libs.mkdir()
    (libs / "kafka.jar").write_bytes(b"1")
    argv = ["java", "-Xmx256m", "-cp", f"{libs}/*", "-Da=b", "kafka.Kafka", "node.properties"]
    before = of(argv)
    assert list(before.programs) == ["kafka.Kafka"]
    assert of([*argv[:1], "-Xmx1g", *argv[2:]]) == before
    (libs / "kafka.jar").write_bytes(b"2")
    assert of(argv).digest != before.digest


def test_another_program_is_its_executable_and_its_script(tmp_path: Path) -> None:
    script, properties = tmp_path / "broker.sh", tmp_path / "node.properties"
    script.write_text("exec true\n")
    properties.write_text("id=1\n")
    before = of(["sh", str(script), str(properties)])
    assert list(before.programs) == ["broker.sh"]
    properties.write_text("id=2\n")
    assert of(["sh", str(script), str(properties)]) == before
    script.write_text("exec false\n")
    assert of(["sh", str(script), str(properties)]) != before
    assert list(of(["true", str(properties)]).programs) == ["true"]


def test_a_starter_in_bin_stands_for_the_libraries_beside_it(tmp_path: Path) -> None:
    for name in ("bin", "libs"):
        (tmp_path / name).mkdir()
    starter, jar = tmp_path / "bin" / "start", tmp_path / "libs" / "broker.jar"
    starter.write_text("#!/bin/sh\nexec true\n")
    jar.write_bytes(b"1")
    before = of([str(starter)]).programs
    jar.write_bytes(b"2")
    assert list(before) == ["start"]
    assert of([str(starter)]).programs != before


def test_a_script_stands_for_the_modules_beside_it(tmp_path: Path) -> None:
    script, module = tmp_path / "broker.py", tmp_path / "log.py"
    script.write_text("import log\n")
    module.write_text("KEEP = True\n")
    before = of(["python3", str(script)])
    module.write_text("KEEP = False\n")
    assert of(["python3", str(script)]) != before


@pytest.mark.parametrize("option", ["-cp", "-classpath", "--class-path"])
def test_every_option_for_a_class_path_is_known(tmp_path: Path, option: str) -> None:
    (tmp_path / "a.jar").write_bytes(b"1")
    [(name, digest)] = of(["/opt/jdk/bin/java", option, f"{tmp_path}/*", "acme.Broker"]).programs.items()
    assert (name, digest.partition(" ")[0]) == ("acme.Broker", "jars")


def test_a_file_that_is_gone_is_unknown_and_costs_no_run() -> None:
    assert of(["/nowhere/broker"]).programs["broker"].startswith("unknown (")
    for module in ("no_such_module", "no_such.module"):
        assert of([sys.executable, "-m", module]).programs[module].startswith("unknown (")
    assert of(["java", "-cp", "/nowhere/*", "acme.Broker"]).programs["acme.Broker"].startswith("unknown (")
    assert Identity().digest == ""


def test_two_releases_of_one_program_have_a_digest_each(tmp_path: Path) -> None:
    for version in ("1.0", "2.0"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "acme.jar").write_text(version)
    commands = [
        ("node-4", Command(["java", "-cp", f"{tmp_path}/{version}/*", "acme.Broker"], version=version))
        for version in ("1.0", "2.0", "1.0")
    ]
    programs = identify(commands, PROCESS).programs
    assert list(programs) == ["acme.Broker 1.0", "acme.Broker 2.0"]
    assert len(set(programs.values())) == 2


def test_the_commit_comes_from_the_variable_before_the_target_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert of(["true"], commit="0b3f").commit == "0b3f"
    monkeypatch.setenv("FENCEPOST_TARGET_COMMIT", "77aa")
    assert of(["true"], commit="0b3f").commit == "77aa"


def test_a_planted_defect_is_named_beside_the_code_it_is_planted_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = reference.command(tmp_path / "n")
    healthy = identify([("node-4", sound)], PROCESS)
    monkeypatch.setenv(reference.VARIABLE, "no_self_fence")
    defective = identify([("zk-1", sound), ("node-4", sound), ("node-5", reference.command(tmp_path / "n"))], PROCESS)
    assert (healthy.planted_defect, defective.planted_defect) == ("", "no_self_fence")
    assert (healthy.planted_nodes, defective.planted_nodes) == ({}, {"node-5": "no_self_fence"})
    assert healthy.programs == defective.programs
    assert list(healthy.programs) == ["fencepost.cluster_impl"]
