"""What the verbs say about the sandbox: what is active, what is missing, and what is refused."""

import pytest
import troubles
from commanding import in_its_own_process
from troubles import kinds

from dos.cli.fleet import up
from dos.doctor import facts
from dos.doctor.subjects import sandbox
from dos.sandbox.describe import describe_system
from dos.sandbox.io.probe import probe
from dos.sandbox.settings import Sandbox
from dos.sandbox.support import Support

healthy = troubles.healthy
FULL = Support(landlock_abi=9, seccomp=True, namespaces=True)
OLD = Support(
    landlock_missing="the kernel does not have it", seccomp=True, namespaces_missing="not allowed"
)


@pytest.fixture
def settings(healthy, monkeypatch):
    """Add settings of [sandbox] and a kernel that supports so much."""

    def add(text: str, support: Support = FULL) -> None:
        with (healthy / "dos.toml").open("a") as file:
            file.write(f"\n[sandbox]\n{text}\n")
        for module in (up, facts, sandbox):
            monkeypatch.setattr(module, "probe", lambda: support)

    return add


def test_required_walls_that_cannot_be_had_stop_dos_up_with_what_to_do(settings, dos):
    settings('level = "required"', OLD)
    answer = dos("up", "--until-idle")
    assert answer.code == 2
    assert "the kernel does not have it" in answer.err
    assert "dos config set sandbox.level auto" in answer.err


def test_a_sandbox_program_that_is_not_installed_stops_dos_up_with_what_to_do(settings, dos):
    settings('program = ["no-such-program", "--"]')
    answer = dos("up", "--until-idle")
    assert answer.code == 2
    assert "[sandbox] program is 'no-such-program', which is not on the path" in answer.err
    assert "dos config unset sandbox.program" in answer.err


def test_doctor_says_what_is_active_and_finds_nothing_open(settings, dos, monkeypatch):
    settings('level = "auto"')
    monkeypatch.setattr(sandbox, "KNOWN", {"command"})
    answer = dos("doctor", "--json")
    assert answer.json["sandbox"] == "landlock abi 9, seccomp, namespaces"
    assert not [kind for kind in kinds(answer) if kind.startswith("SANDBOX")]
    assert "landlock abi 9, seccomp, namespaces" in dos("doctor").out


def test_doctor_warns_where_auto_protects_no_file(settings, dos):
    settings('level = "auto"', OLD)
    answer = dos("doctor", "--json")
    found = [each for each in answer.json["findings"] if each["kind"] == "SANDBOX_GAP"]
    assert "every file that you can change" in found[0]["what"]
    assert found[0]["severity"] == "warn"
    assert answer.json["sandbox"].startswith("seccomp; files outside")


def test_dos_up_prints_what_is_active_and_the_report_has_it(settings, healthy, dos):
    settings('level = "landlock"\nreads = "all"')
    active = describe_system(Sandbox(level="landlock", reads="all"), probe())
    answer = in_its_own_process("up", "--until-idle", "--plain", cwd=healthy)
    assert f"sandbox: {active}" in answer.out + answer.err
    assert dos("report", "--json").json["starts"][-1]["sandbox"] == active
    assert f"sandbox: {active}" in dos("report").out
