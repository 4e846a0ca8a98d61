"""On a kernel without Landlock: `auto` says so in every place and goes on, `required` refuses with
what to do and starts nothing. The system calls really fail, for `dos` and all that it starts."""

import errno
import subprocess

import old_kernel
import pytest
from commanding import command
from msgspec import json
from patience import PATIENCE
from sample_repository import Repository, set_level

from dos import workspace
from dos.sandbox.io.launcher import seccomp
from dos.sandbox.io.probe import probe

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not seccomp.is_known(), reason="the test's filter is for machines we know"),
]
UNPROTECTED = "files outside of the lane are not protected by Landlock"
TO_DO = "dos config set sandbox.level auto"


def run(repository: Repository, missing: str, *words: str) -> subprocess.CompletedProcess[str]:
    """`dos` where these system calls are missing; with "" as the kernel of this machine is."""
    words = tuple(command(*words))
    if missing:
        words = tuple(old_kernel.command(errno.ENOSYS, missing, *words))
    return subprocess.run(
        words, cwd=repository.root, capture_output=True, text=True, timeout=PATIENCE
    )


def findings(repository: Repository, missing: str) -> dict[str, dict[str, str]]:
    said = json.decode(run(repository, missing, "doctor", "--json").stdout)
    return {finding["what"]: finding for finding in said["findings"]}


def active(missing: str) -> str:
    parts = ["seccomp"] if probe().seccomp else []
    if probe().namespaces and "unshare" not in missing:
        parts.append("namespaces")
    return f"{', '.join(parts) or 'none'}; {UNPROTECTED}"


@pytest.mark.parametrize("missing", ["landlock", "landlock,unshare"])
def test_auto_says_what_is_missing_and_goes_on(repository, missing):
    set_level(repository, "auto")
    found = findings(repository, missing)
    (gap,) = [what for what in found if what.startswith("No Landlock")]
    assert "every file that you can change" in gap
    assert found[gap]["severity"] == ("warn" if "namespaces" not in active(missing) else "info")
    done = run(repository, missing, "up", "--until-idle", "--tick", "0.3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"sandbox: {active(missing)}" in done.stdout
    assert {"Write a", "Write b", "Write c"} <= set(repository.subjects())
    report = run(repository, missing, "report")
    assert f"sandbox: {active(missing)}" in report.stdout
    receipt = run(repository, missing, "receipt", "DEMO/A1", "--json").stdout
    assert UNPROTECTED in receipt and "landlock abi" not in receipt


@pytest.mark.parametrize("missing", ["landlock", "landlock,unshare"])
def test_required_refuses_with_what_to_do_and_starts_nothing(repository, missing):
    set_level(repository, "required")
    before = repository.git("for-each-ref")
    (finding,) = [
        finding
        for finding in findings(repository, missing).values()
        if finding["kind"] == "SANDBOX_UNAVAILABLE"
    ]
    assert finding["severity"] == "error" and TO_DO in finding["fix"]
    refused = run(repository, missing, "up", "--until-idle", "--tick", "0.3")
    assert refused.returncode == 2
    assert "this system cannot enforce it" in refused.stderr and TO_DO in refused.stderr
    by_hand = run(repository, missing, "worker", "--lane", "one")
    assert by_hand.returncode != 0, by_hand.stdout
    assert repository.starts() == []
    assert repository.subjects()[0] == "Let the sandbox be required"
    assert not list(workspace.find(repository.root).worktrees.glob("*/.git"))
    assert repository.git("for-each-ref", "refs/heads") in before


@pytest.mark.skipif(not probe().has_files, reason=f"no Landlock: {probe().landlock_missing}")
def test_required_works_where_the_kernel_has_it(repository):
    set_level(repository, "required")
    assert not [what for what in findings(repository, "") if "cannot enforce" in what]
    done = run(repository, "", "up", "--until-idle", "--tick", "0.3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sandbox: landlock abi" in done.stdout
    assert {"Write a", "Write b", "Write c"} <= set(repository.subjects())
