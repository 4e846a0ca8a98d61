"""Receipts from the command line: who may say what of which commit, and who believes it where."""

import hashlib
import hmac
import io
import json
import os
import shutil
import subprocess
import time

import pytest
from commanding import git, in_process
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import PATIENCE
from test_hostile_values import CONTROLS, PYTHONISMS, TEXTS

pytestmark = pytest.mark.sampled(3)

pytest.importorskip("cryptography")

PLAN = "## AUTH AUTH1: first\n\n- lane: api\n- acceptance: `test -s api/login.txt`\n"
ACCEPTANCE = "test -s api/login.txt"


@pytest.fixture
def keys(tmp_path, monkeypatch):
    """The user's own folder, with a key in it."""
    home = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    assert in_process("receipt-key", "make").code == 0
    return home / "dos"


@pytest.fixture
def shipped(workspace, keys):
    """A unit that was declared, and then done."""
    (workspace / "docs" / "auth-plan.md").write_text(PLAN)
    commit(workspace, "Plan")
    (workspace / "api" / "login.txt").write_text("login\n")
    commit(workspace, "AUTH1: login")
    return workspace


def commit(root, subject):
    git("add", "--all", cwd=root)
    git("commit", "--quiet", "--allow-empty", "--message", subject, cwd=root)
    return head(root)


def head(root):
    return git("rev-parse", "HEAD", cwd=root).strip()


def attest(*words, claim="login", command=ACCEPTANCE):
    return in_process("attest", "--claim", claim, "--accept-cmd", command, "--json", *words)


def verify(receipt, *words, tmp_path):
    path = tmp_path / "given.json"
    path.write_text(receipt if isinstance(receipt, str) else json.dumps(receipt))
    return in_process("verify-receipt", "--receipt", str(path), "--json", *words)


# attest


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("command", "verdict", "code"),
    [
        (ACCEPTANCE, "CONFIRMED", 0),
        ("test -s nowhere", "REFUTED", 1),
        ("exit 3", "REFUTED", 1),
        ("no-such-program", "UNWITNESSED", 3),
        ("true", "CONFIRMED", 0),
        ("echo x >> api/login.txt", "UNWITNESSED", 3),
        ("git commit --quiet --allow-empty -m x", "UNWITNESSED", 3),
        ("echo x > left-behind", "CONFIRMED", 0),
    ],
)
def test_every_answer_is_signed(shipped, tmp_path, command, verdict, code):
    at = head(shipped)
    git("config", "user.name", "T", cwd=shipped)
    git("config", "user.email", "t@example.com", cwd=shipped)
    answer = attest(command=command)
    assert (answer.code, answer.json["verdict"]) == (code, verdict)
    assert answer.json["commit"] == at
    assert (answer.json["believe"], answer.json["refuted"]) == (
        verdict == "CONFIRMED",
        verdict == "REFUTED",
    )
    reply = verify(answer.out, tmp_path=tmp_path)
    assert (reply.code, reply.json["valid"], reply.json["adverse"]) == (
        0,
        True,
        verdict == "REFUTED",
    )


def test_without_a_claim_nothing_is_run(shipped, tmp_path):
    answer = attest(claim="", command="touch ran")
    assert (answer.code, answer.json["verdict"]) == (3, "NO_CLAIM")
    assert not (shipped / "ran").exists()
    assert verify(answer.out, tmp_path=tmp_path).code == 0


def test_a_command_that_takes_too_long_says_nothing(shipped):
    with (shipped / "dos.toml").open("a") as file:
        file.write("\n[workers]\nwall_seconds = 1\n")
    commit(shipped, "Less time")
    answer = attest(command="sleep 60")
    assert (answer.code, answer.json["verdict"], answer.json["exit_code"]) == (
        3,
        "UNWITNESSED",
        None,
    )


def bound(answer):
    return answer.json["bound"], answer.json["command_source"]


def test_only_a_command_that_was_declared_before_the_commit_is_bound_to_the_unit(shipped):
    assert bound(attest("--unit", "AUTH/AUTH1")) == (True, "unit")
    assert bound(attest("--unit", "AUTH1")) == (True, "unit")
    assert bound(attest()) == (False, "caller")
    assert bound(attest("--unit", "AUTH/AUTH1", command="test -s api")) == (False, "caller")
    assert bound(attest("--unit", "AUTH/OTHER")) == (False, "caller")


def test_a_commit_cannot_declare_what_it_is_judged_by(shipped):
    (shipped / "docs" / "auth-plan.md").write_text(PLAN.replace(ACCEPTANCE, "test -d api"))
    (shipped / "api" / "login.txt").write_text("another\n")
    commit(shipped, "AUTH1: easier")
    answer = attest("--unit", "AUTH/AUTH1", command="test -d api")
    assert answer.json["verdict"] == "CONFIRMED"
    assert bound(answer) == (False, "unit")


def test_a_plan_that_nobody_committed_binds_nothing(workspace, keys):
    (workspace / ".git" / "info" / "exclude").write_text("docs/auth-plan.md\n")
    (workspace / "docs" / "auth-plan.md").write_text(PLAN)
    (workspace / "api" / "login.txt").write_text("login\n")
    commit(workspace, "AUTH1: login")
    assert bound(attest("--unit", "AUTH/AUTH1")) == (False, "unit")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("was_there_before", [False, True])
def test_a_bound_command_that_passes_is_run_on_the_parent_too(workspace, keys, was_there_before):
    (workspace / "docs" / "auth-plan.md").write_text(PLAN)
    if was_there_before:
        (workspace / "api" / "login.txt").write_text("before\n")
    commit(workspace, "Plan")
    (workspace / "api" / "login.txt").write_text("login\n")
    commit(workspace, "AUTH1: login")
    for words in ((), ("--fresh",)):
        receipt = attest("--unit", "AUTH/AUTH1", *words).json
        assert receipt["tells_apart"] is not was_there_before
        assert receipt["base_exit_code"] == (0 if was_there_before else 1)
        assert receipt["base_tree"] == git("rev-parse", "HEAD~1^{tree}", cwd=workspace).strip()
    other = attest().json
    assert (other["bound"], other["base_tree"], other["tells_apart"]) == (False, "", False)


@pytest.mark.parametrize("is_honest", [False, True])
def test_a_test_that_passes_without_the_rest_of_the_commit_tells_nothing(
    workspace, keys, is_honest
):
    command = "sh api/tests/test_login.sh"
    (workspace / "docs" / "auth-plan.md").write_text(PLAN.replace(ACCEPTANCE, command))
    commit(workspace, "Plan")
    (workspace / "api" / "login.txt").write_text("login\n")
    (workspace / "api" / "tests").mkdir()
    test = "grep -q login api/login.txt\n" if is_honest else "true\n"
    (workspace / "api" / "tests" / "test_login.sh").write_text(test)
    commit(workspace, "AUTH1: login")
    receipt = attest("--unit", "AUTH/AUTH1", command=command).json
    assert (receipt["bound"], receipt["exit_code"]) == (True, 0)
    assert receipt["base_exit_code"] not in (0, None), "the test was not there"
    assert receipt["tells_apart"] is is_honest


@pytest.mark.parametrize(
    ("command", "is_bound"), [("make check", True), ("true", False), ("echo fine; exit 0", False)]
)
def test_the_tests_of_the_workspace_bind_if_they_can_fail(shipped, command, is_bound):
    with (shipped / "dos.toml").open("a") as file:
        file.write(f'\n[workers]\ntest = "{command}"\n')
    (shipped / "Makefile").write_text("check:\n\ttest -s api/login.txt\n")
    commit(shipped, "Tests")
    (shipped / "api" / "more.txt").write_text("more\n")
    commit(shipped, "AUTH1: more")
    assert bound(attest("--unit", "AUTH/AUTH1", command=command)) == (is_bound, "workspace")


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "new.txt").write_text("x"),
        lambda root: (root / "api" / "a.txt").write_text("changed"),
        lambda root: (root / "api" / "a.txt").unlink(),
        lambda root: (
            git("update-index", "--assume-unchanged", "api/a.txt", cwd=root),
            (root / "api" / "a.txt").write_text("changed"),
        ),
        lambda root: (
            git("update-index", "--skip-worktree", "api/a.txt", cwd=root),
            (root / "api" / "a.txt").write_text("changed"),
        ),
        lambda root: git("sparse-checkout", "set", "docs", cwd=root),
    ],
    ids=["untracked", "edited", "deleted", "assumed unchanged", "skipped", "sparse"],
)
def test_nothing_is_run_on_a_tree_that_is_not_the_commits(shipped, change):
    change(shipped)
    answer = attest(command="touch ran")
    assert answer.code == 2
    assert "is not as" in answer.err
    assert not (shipped / "ran").exists()


def test_another_commit_than_the_one_that_is_checked_out_is_not_run(shipped):
    answer = attest("--commit", "HEAD~1")
    assert answer.code == 2
    assert "it is at" in answer.err


@pytest.mark.parametrize(
    "words",
    [
        (), ("--accept-cmd", "true", "--before", "a", "--after", "b"), ("--before", "a"),
        ("--after", "a"), ("--accept-cmd", "true", "--third-party"),
        ("--accept-cmd", "true", "--timestamp", "yesterday"),
        ("--accept-cmd", "true", "--expires-days", "0"),
        ("--accept-cmd", "true", "--expires-days", "-1"),
        ("--accept-cmd", "true", "--narrated", "a\nb"), ("--accept-cmd", "a\nb"),
        ("--accept-cmd", "true", "--unit", "a\tb"), ("--accept-cmd", "true", "--commit", "nowhere"),
        ("--accept-cmd", "true", "--commit", "--all"),
        ("--accept-cmd", "true", "--commit", "HEAD\x07"),
        ("--accept-cmd", "true", "--out", "/nowhere/x.json"),
        ("--accept-cmd", "true", "--key-file", "/nowhere/key"),
    ],
)  # fmt: skip
def test_bad_words_are_refused(shipped, words):
    answer = in_process("attest", "--claim", "x", *words)
    assert answer.code == 2
    assert answer.err.startswith("error: ")


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "flag",
    ["claim", "unit", "commit", "narrated", "accept-cmd", "before", "key-file", "timestamp", "out"],
)
def test_no_value_of_any_option_gets_more_than_a_clear_answer(shipped, tmp_path, flag):
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"), cwd=shipped)
    for number, value in enumerate(TEXTS):
        beside = {"claim": "c", "workspace": str(tmp_path / "tree")}
        beside |= {"after": "dos.toml"} if flag == "before" else {"accept-cmd": "test -d api"}
        answer = in_process(
            "attest", *(f"--{name}={given}" for name, given in (beside | {flag: value}).items())
        )
        assert answer.code in (0, 1, 2, 3), (number, answer)
        assert not PYTHONISMS.search(answer.out + answer.err), (number, answer)
        assert not CONTROLS.search(answer.out + answer.err), (number, answer)
        assert answer.code != 2 or (answer.err.startswith("error: ") and "hint: " in answer.err), (
            number,
            answer,
        )


def test_outside_of_a_repository_and_in_a_shallow_clone_there_is_nothing_to_tie_it_to(
    shipped, tmp_path
):
    (tmp_path / "plain").mkdir()
    words = ("attest", "--claim", "x", "--accept-cmd", "true", "--workspace")
    assert in_process(*words, str(tmp_path / "plain")).code == 2
    git(
        "clone",
        "--quiet",
        "--depth",
        "1",
        f"file://{shipped}",
        str(tmp_path / "shallow"),
        cwd=tmp_path,
    )
    answer = in_process(*words, str(tmp_path / "shallow"))
    assert answer.code == 2
    assert "shallow" in answer.err


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("before", "after", "claim", "verdict", "code"),
    [
        ("{}", '{"k": 1}', "k", "CONFIRMED", 0),
        ('{"k": 1}', '{"k": 2}', "k", "CONFIRMED", 0),
        ('{"k": 1}', '{"k": 1}', "k", "REFUTED", 1),
        ('{"k": 1}', "{}", "k", "REFUTED", 1),
        ('{"k": 1}', "{}", "-k", "CONFIRMED", 0),
        ("[]", '{"k": 1}', "k", "UNWITNESSED", 3),
        ("{", '{"k": 1}', "k", "UNWITNESSED", 3),
        (None, '{"k": 1}', "k", "UNWITNESSED", 3),
        ("{}", None, "k", "UNWITNESSED", 3),
    ],
)
def test_two_snapshots_of_a_state(shipped, tmp_path, before, after, claim, verdict, code):
    for name, text in (("before", before), ("after", after)):
        if text is not None:
            (tmp_path / name).write_text(text)
    words = ("--before", str(tmp_path / "before"), "--after", str(tmp_path / "after"), "--json")
    answer = in_process("attest", f"--claim={claim}", *words)
    assert (answer.code, answer.json["verdict"], answer.json["bound"]) == (code, verdict, False)
    assert answer.json["witness_surface"] == f"{tmp_path / 'before'}→{tmp_path / 'after'}"
    tier = answer.json["accountability_tier"]
    assert tier == ("" if code == 3 else "OS_RECORDED")
    third = in_process("attest", f"--claim={claim}", "--third-party", *words)
    assert third.json["accountability_tier"] == ("" if code == 3 else "THIRD_PARTY")
    assert verify(answer.out, tmp_path=tmp_path).code == 0


def test_it_changes_no_file_of_the_workspace(shipped, tmp_path):
    def everything():
        found = hashlib.sha256()
        for path in sorted(shipped.rglob("*")):
            found.update(f"{path} {path.read_bytes() if path.is_file() else ''}".encode())
        return found.hexdigest()

    before = everything()
    receipt = attest("--unit", "AUTH/AUTH1").out
    verify(receipt, tmp_path=tmp_path)
    assert everything() == before


# keys


def test_a_key_is_its_owners_alone_and_is_never_overwritten(keys):
    assert (keys.stat().st_mode & 0o777, (keys / "receipt-key").stat().st_mode & 0o777) == (
        0o700,
        0o600,
    )
    before = (keys / "receipt-key").read_bytes()
    assert in_process("receipt-key", "make").code == 2
    assert (keys / "receipt-key").read_bytes() == before
    assert sorted(path.name for path in keys.iterdir()) == ["receipt-key", "receipt-key.pub"]


def test_a_key_is_not_made_beside_the_public_half_of_another(keys, tmp_path):
    (tmp_path / "key.pub").write_text((keys / "receipt-key.pub").read_text())
    assert in_process("receipt-key", "make", "--out", str(tmp_path / "key")).code == 2
    assert not (tmp_path / "key").exists()


def test_show_tells_which_key_signs_and_nothing_secret(keys):
    shown = in_process("receipt-key", "show", "--json").json
    secret = (keys / "receipt-key").read_text().splitlines()[2]
    assert shown["public_key"] in (keys / "receipt-key.pub").read_text()
    assert [key["key_id"] for key in shown["trusted"]] == [shown["key_id"]]
    assert secret not in in_process("receipt-key", "show").out


def test_show_without_a_key_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert in_process("receipt-key", "show").code == 1


def test_without_a_key_nothing_is_signed_and_nothing_is_run(workspace, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    answer = attest(command="touch ran")
    assert answer.code == 2
    assert "dos receipt-key make" in answer.err
    assert not (workspace / "ran").exists()


def test_a_shared_secret_of_the_released_kind_is_refused_and_not_shown(
    shipped, tmp_path, monkeypatch
):
    monkeypatch.setenv("DOS_ATTEST_KEY", "hunter2hunter2")
    answer = attest()
    assert answer.code == 2
    assert "hunter2" not in answer.err
    assert "dos receipt-key make" in answer.err
    (tmp_path / "secret").write_bytes(b"hunter2hunter2")
    (tmp_path / "secret").chmod(0o600)
    monkeypatch.setenv("DOS_ATTEST_KEY", str(tmp_path / "secret"))
    answer = attest()
    assert answer.code == 2
    assert "hunter2" not in answer.err


def test_the_released_variable_may_name_a_key_file(shipped, keys, tmp_path, monkeypatch):
    in_process("receipt-key", "make", "--out", str(tmp_path / "mine"))
    monkeypatch.setenv("DOS_ATTEST_KEY", str(tmp_path / "mine"))
    answer = attest()
    monkeypatch.delenv("DOS_ATTEST_KEY")
    assert verify(answer.out, tmp_path=tmp_path).code == 1
    assert verify(answer.out, "--key-file", str(tmp_path / "mine.pub"), tmp_path=tmp_path).code == 0


def test_a_key_that_others_can_read_or_that_lies_in_the_tree_signs_nothing(shipped, keys, tmp_path):
    (keys / "receipt-key").chmod(0o640)
    answer = attest()
    assert (answer.code, "chmod 600" in answer.err) == (2, True)
    (keys / "receipt-key").chmod(0o600)
    inside = shipped / ".git" / "key"
    shutil.copy2(keys / "receipt-key", inside)
    (tmp_path / "link").symlink_to(inside)
    for path in (inside, tmp_path / "link"):
        answer = attest("--key-file", str(path))
        assert (answer.code, "agents that are judged can read it" in answer.err) == (2, True)


def test_without_the_package_the_line_to_type_is_said(shipped, monkeypatch):
    monkeypatch.setitem(
        __import__("sys").modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None
    )
    answer = attest()
    assert answer.code == 2
    assert "pip install" in answer.err


@pytest.mark.parametrize("trouble", ["read by others", "a secret", "not installed"])
def test_the_doctor_says_why_receipts_are_not_signed(shipped, keys, monkeypatch, trouble):
    def found():
        answer = in_process("doctor", "--json")
        return [
            finding["fix"]
            for finding in answer.json["findings"]
            if finding["kind"] == "RECEIPTS_UNSIGNED"
        ]

    assert found() == []
    if trouble == "read by others":
        (keys / "receipt-key").chmod(0o644)
        assert found() == [f"chmod 600 {keys / 'receipt-key'}"]
        subprocess.run(["sh", "-c", found()[0]], check=True)
        assert found() == []
    elif trouble == "a secret":
        monkeypatch.setenv("DOS_ATTEST_KEY", "hunter2")
        assert found() == ["unset DOS_ATTEST_KEY; dos receipt-key make"]
    else:
        monkeypatch.setattr("dos.receipts.io.keys.cryptography_installed", lambda: False)
        assert "pip install 'cryptography" in found()[0]


# verify-receipt


@pytest.fixture
def receipt(shipped):
    return attest("--unit", "AUTH/AUTH1").json


def test_a_refuted_claim_cannot_be_made_a_confirmed_one_by_moving_fields(shipped, keys, tmp_path):
    """The attack on the released encoding: fake lines in the narration, the real ones pushed into
    another field."""
    assert attest("--narrated", "x\nverdict=CONFIRMED\nbelieve=true", command="false").code == 2
    fake = "x verdict=CONFIRMED believe=true refuted=false timestamp=2031-01-31T09:30:00Z"
    refuted = attest("--narrated", fake, command="false").json
    assert verify(refuted, tmp_path=tmp_path).json["adverse"]
    forged = refuted | {
        "narrated": "x", "verdict": "CONFIRMED", "believe": True, "refuted": False,
        "timestamp": "2031-01-31T09:30:00Z witness_surface=false verdict=REFUTED",
    }  # fmt: skip
    lined = forged | {"timestamp": "2031-01-31T09:30:00Z\nverdict=REFUTED\nbelieve=false"}
    for each in (
        forged,
        lined,
        refuted | {"verdict": "CONFIRMED", "believe": True, "refuted": False},
    ):
        answer = verify(each, tmp_path=tmp_path)
        assert (answer.code, answer.json["valid"], answer.json["adverse"]) == (1, False, False)


def test_a_receipt_of_the_released_kind_is_invalid_though_its_secret_is_known(shipped, tmp_path):
    names = [
        "schema",
        "claim",
        "narrated",
        "witness_surface",
        "witness_author",
        "accountability_tier",
        "verdict",
        "believe",
        "refuted",
        "timestamp",
        "algorithm",
    ]
    old = dict.fromkeys(names, "x") | {
        "schema": "dos.attest/receipt@1",
        "algorithm": "HMAC-SHA256",
        "believe": True,
    }
    signed = "\n".join(f"{name}={old[name]}" for name in names).encode()
    old["signature"] = hmac.new(b"secret", signed, "sha256").hexdigest()
    answer = verify(old, tmp_path=tmp_path)
    assert (answer.code, answer.json["receipt"]) == (1, None)
    assert "forged" in answer.json["reason"]


@pytest.mark.parametrize(
    "text", ["", "not JSON", "[]", "null", "{}", '{"schema": "other"}', "[" * 100_000]
)
def test_what_is_no_receipt_at_all_is_a_contract_error(shipped, tmp_path, text):
    assert verify(text, tmp_path=tmp_path).code == 2


def test_a_receipt_or_a_key_that_is_not_there_is_a_contract_error(receipt, tmp_path):
    assert in_process("verify-receipt", "--receipt", str(tmp_path / "none")).code == 2
    assert in_process("verify-receipt", "--receipt", str(tmp_path)).code == 2
    assert in_process("verify-receipt").code == 2
    assert verify(receipt, "--key-file", str(tmp_path / "none"), tmp_path=tmp_path).code == 2


def test_it_is_read_from_the_input(receipt, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(receipt).encode())))
    assert in_process("verify-receipt").code == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "change",
    [
        {"unit": "AUTH/AUTH2"}, {"commit": "0" * 40}, {"tree": "0" * 40},
        {"target": "refs/heads/other"}, {"repo": ""}, {"algorithm": "none"},
        {"algorithm": "HMAC-SHA256"}, {"algorithm": "SSHSIG"}, {"signature": ""},
        {"key_id": "SHA256:x"}, {"expires": "2999-01-01T00:00:00Z"}, {"claim": "logi\u0301n"},
        {"nonce": ""},
    ],
)  # fmt: skip
def test_whatever_is_changed_it_is_invalid(receipt, tmp_path, change):
    assert verify(receipt, tmp_path=tmp_path).code == 0
    answer = verify(receipt | change, tmp_path=tmp_path)
    assert (answer.code, answer.json["valid"], answer.json["bound"]) == (1, False, False)


def test_it_is_good_for_its_own_repository_commit_unit_and_branch(shipped, receipt, tmp_path):
    assert verify(receipt, "--commit", "HEAD", "--unit", "AUTH/AUTH1", tmp_path=tmp_path).code == 0
    assert verify(receipt, "--unit", "AUTH/AUTH2", tmp_path=tmp_path).code == 1
    assert verify(receipt, "--commit", "HEAD~1", tmp_path=tmp_path).code == 1
    other = tmp_path / "other"
    other.mkdir()
    git("init", "--quiet", ".", cwd=other)
    commit(other, "Another repository")
    answer = verify(receipt, "--workspace", str(other), tmp_path=tmp_path)
    assert (answer.code, "not in this repository" in answer.json["reason"]) == (1, True)
    git("branch", "--quiet", "aside", cwd=shipped)
    git("reset", "--quiet", "--hard", "HEAD~1", cwd=shipped)
    answer = verify(receipt, tmp_path=tmp_path)
    assert (answer.code, "does not hold" in answer.json["reason"]) == (1, True)


def test_objects_that_were_replaced_are_not_looked_at(shipped, receipt, tmp_path):
    orphan = git(
        "commit-tree", "-m", "Another beginning", f"{head(shipped)}^{{tree}}", cwd=shipped
    ).strip()
    git("replace", "--graft", head(shipped), orphan, cwd=shipped)
    assert git("rev-list", "--count", "HEAD", cwd=shipped).strip() == "2"
    assert verify(receipt, tmp_path=tmp_path).code == 0


def test_a_clone_can_check_it_and_a_shallow_one_says_that_it_cannot(
    shipped, receipt, keys, tmp_path
):
    public = tmp_path / "runner.pub"
    shutil.copy(keys / "receipt-key.pub", public)
    git("clone", "--quiet", str(shipped), str(tmp_path / "clone"), cwd=tmp_path)
    git("checkout", "--quiet", "-b", "mine", cwd=tmp_path / "clone")
    git("branch", "--quiet", "-D", "main", cwd=tmp_path / "clone")
    words = ("--key-file", str(public), "--workspace")
    answer = verify(receipt, *words, str(tmp_path / "clone"), tmp_path=tmp_path)
    assert (answer.code, answer.json["checked"]) == (
        0,
        ["signature", "repository", "tree", "base", "ancestry"],
    )
    git(
        "clone",
        "--quiet",
        "--depth",
        "1",
        f"file://{shipped}",
        str(tmp_path / "shallow"),
        cwd=tmp_path,
    )
    answer = verify(receipt, *words, str(tmp_path / "shallow"), tmp_path=tmp_path)
    assert (answer.code, "shallow" in answer.err) == (2, True)


def test_outside_of_a_repository_it_says_that_only_the_signature_was_checked(receipt, tmp_path):
    for words in (("--offline",), ("--workspace", str(tmp_path))):
        answer = verify(receipt, *words, tmp_path=tmp_path)
        assert (answer.code, answer.json["checked"]) == (0, ["signature"])
        assert "only the signature" in answer.json["reason"]


def test_it_expires(shipped, tmp_path):
    kept = attest("--expires-days", "1").json
    assert "expiry" in verify(kept, tmp_path=tmp_path).json["checked"]
    over = attest("--expires-days", "0.0000001").json
    answer = verify(over, tmp_path=tmp_path)
    assert (answer.code, "expired" in answer.json["reason"]) == (1, True)


def test_a_key_in_the_judged_tree_is_trusted_by_nobody(shipped, keys, tmp_path):
    in_process("receipt-key", "make", "--out", str(tmp_path / "evil"))
    forged = attest("--key-file", str(tmp_path / "evil")).json
    for name in ("trusted-keys", ".config/dos/trusted-keys", "dos/trusted-keys", "receipt-key.pub"):
        (shipped / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tmp_path / "evil.pub", shipped / name)
    with (shipped / "dos.toml").open("a") as file:
        file.write(
            f'\n[receipts]\nkey_file = "{tmp_path}/evil"\ntrusted = ["{tmp_path}/evil.pub"]\n'
        )
    assert verify(forged, tmp_path=tmp_path).code == 1


def test_where_no_key_is_trusted_nothing_can_be_said(shipped, receipt, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nothing"))
    answer = verify(receipt, tmp_path=tmp_path)
    assert (answer.code, "trusted-keys" in answer.err) == (2, True)


def test_trusted_keys_are_lines_of_allowed_signers(shipped, keys, tmp_path):
    in_process("receipt-key", "make", "--out", str(tmp_path / "other"))
    answer = attest("--key-file", str(tmp_path / "other")).json
    line = (tmp_path / "other.pub").read_text()
    for text, code in [
        (f"# mine\n\n{line}", 0),
        (f"runner@host {line}", 0),
        (f'runner namespaces="git,dos-receipt" {line}', 0),
        (f'runner namespaces="git" {line}{(keys / "receipt-key.pub").read_text()}', 1),
        (f"runner cert-authority {line}", 2),
        (f'runner valid-before="20200101" {line}', 2),
        ("runner ssh-rsa AAAA", 2),
        ("nonsense", 2),
        (line[:40], 2),
        (line.replace("AAAA", "AAAB", 1), 2),
    ]:
        (keys / "trusted-keys").write_text(text)
        assert verify(answer, tmp_path=tmp_path).code == code, text


def test_notes_at_a_commit_are_checked_and_what_is_adverse_comes_first(shipped, keys, tmp_path):
    assert in_process("verify-receipt", "--commit", "HEAD").code == 2
    good, bad = attest("--unit", "AUTH/AUTH1").out, attest(command="false").out
    for text in (good, '{"schema": "dos.receipt@2"}\n', bad):
        (tmp_path / "note").write_text(text)
        git(
            "notes",
            "--ref=dos-receipts",
            "append",
            "-F",
            str(tmp_path / "note"),
            "HEAD",
            cwd=shipped,
        )
    answer = in_process("verify-receipt", "--commit", "HEAD", "--json")
    assert (answer.code, answer.json["valid"], answer.json["adverse"]) == (0, True, True)
    answer = in_process("verify-receipt", "--commit", "HEAD", "--unit", "AUTH/AUTH1", "--json")
    assert (answer.code, answer.json["adverse"], answer.json["bound"]) == (0, False, True)


SLOW_OK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@SLOW_OK
@given(data=st.binary(max_size=300))
def test_any_bytes_at_all_get_an_answer(shipped, tmp_path, data):
    (tmp_path / "any").write_bytes(data)
    answer = in_process("verify-receipt", "--receipt", str(tmp_path / "any"))
    assert answer.code in (1, 2), answer.err


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.lists(st.text(max_size=4))
)


@SLOW_OK
@given(data=st.data())
def test_any_change_of_any_field_gets_an_answer_and_it_is_no(shipped, tmp_path, data):
    if not (tmp_path / "whole.json").exists():
        (tmp_path / "whole.json").write_text(attest("--unit", "AUTH/AUTH1").out)
    whole = json.loads((tmp_path / "whole.json").read_text())
    changed = whole | data.draw(
        st.dictionaries(st.sampled_from(sorted(whole)), VALUES, min_size=1, max_size=3)
    )
    if json.dumps(changed, sort_keys=True) == json.dumps(whole, sort_keys=True):
        return
    assert verify(changed, tmp_path=tmp_path).code in (1, 2)


# ssh


@pytest.fixture
def ssh_key(tmp_path, monkeypatch):
    if not shutil.which("ssh-keygen"):
        pytest.skip("there is no ssh-keygen here")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    path = tmp_path / "id_ed25519"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "somebody", "-f", str(path)],
        check=True,
    )
    return path


def fingerprint(path):
    return subprocess.run(
        ["ssh-keygen", "-l", "-f", path], check=True, capture_output=True, text=True
    ).stdout.split()[1]


@pytest.mark.parametrize(("words", "algorithm"), [((), "ED25519"), (("--ssh-sign",), "SSHSIG")])
def test_a_key_of_ssh_signs_both_ways(shipped, ssh_key, tmp_path, words, algorithm):
    answer = attest("--key-file", str(ssh_key), *words).json
    assert (answer["algorithm"], answer["key_id"]) == (algorithm, fingerprint(ssh_key))
    assert verify(answer, "--key-file", f"{ssh_key}.pub", tmp_path=tmp_path).code == 0
    assert verify(answer, "--key-file", str(ssh_key), tmp_path=tmp_path).code == 0
    assert verify(answer, tmp_path=tmp_path).code == 1, "nobody trusts it yet"
    for change in (
        {"claim": "other"},
        {"signature": answer["signature"][:-4] + "AAAA"},
        {"algorithm": "ED25519"} if words else {"algorithm": "SSHSIG"},
    ):
        assert verify(answer | change, "--key-file", f"{ssh_key}.pub", tmp_path=tmp_path).code == 1


def test_every_bit_of_a_signature_of_ssh_counts(shipped, ssh_key, tmp_path):
    from base64 import b64decode, b64encode

    answer = attest("--key-file", str(ssh_key), "--ssh-sign").json
    raw = b64decode(answer["signature"])
    flipped = [raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :] for at in range(0, len(raw), 7)]
    for each in [*flipped, raw + b"\0", raw[:-1], raw + raw]:
        changed = answer | {"signature": b64encode(each).decode()}
        assert verify(changed, "--key-file", f"{ssh_key}.pub", tmp_path=tmp_path).code == 1, each
    for text in (
        answer["signature"] + "\n",
        " " + answer["signature"],
        answer["signature"].rstrip("=") + "A",
    ):
        assert (
            verify(
                answer | {"signature": text}, "--key-file", f"{ssh_key}.pub", tmp_path=tmp_path
            ).code
            == 1
        )


def test_our_own_key_is_one_that_ssh_reads(keys, ssh_key):
    shown = in_process("receipt-key", "show", "--json").json
    assert fingerprint(keys / "receipt-key") == shown["key_id"]


def test_a_locked_key_and_one_of_another_kind_are_named_as_such(shipped, ssh_key, tmp_path):
    for words, why in (
        (["-t", "ed25519", "-N", "secret"], "passphrase"),
        (["-t", "ecdsa", "-N", ""], "no Ed25519"),
    ):
        path = tmp_path / words[1] / "key"
        path.parent.mkdir()
        subprocess.run(["ssh-keygen", "-q", *words, "-f", str(path)], check=True)
        answer = attest("--key-file", str(path))
        assert (answer.code, why in answer.err) == (2, True), answer.err


def test_a_key_that_only_an_agent_has_signs(shipped, ssh_key, tmp_path, monkeypatch):
    if not shutil.which("ssh-agent"):
        pytest.skip("there is no ssh-agent here")
    socket = tmp_path / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    try:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        deadline = time.monotonic() + PATIENCE
        while not socket.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        subprocess.run(["ssh-add", "-q", str(ssh_key)], check=True)
        ssh_key.unlink()
        reply = attest("--key-file", f"{ssh_key}.pub").json
        assert reply["algorithm"] == "SSHSIG"
        assert verify(reply, "--key-file", f"{ssh_key}.pub", tmp_path=tmp_path).code == 0
    finally:
        agent.kill()
        agent.wait()
    answer = attest("--key-file", f"{ssh_key}.pub")
    assert (answer.code, "cannot sign" in answer.err) == (2, True)


def test_only_the_owner_of_a_folder_that_is_closed_is_told_why(tmp_path, monkeypatch):
    if os.geteuid() == 0:
        pytest.skip("nothing is closed to root")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(closed))
    answer = in_process("receipt-key", "make")
    assert (answer.code, "no key can be written" in answer.err) == (2, True)
