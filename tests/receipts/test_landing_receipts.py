"""What lands leaves a receipt behind: signed, in the journal and in git's notes, once."""

import json
import subprocess
import sys

import pytest
from driven_worker import before_landing, open_effects, work
from patience import PATIENCE
from sample_repository import Repository

from dos.fleet import effects
from dos.git.repository import Writer
from dos.journal.events.runs import ReceiptIssued
from dos.receipts.io import draft, notes
from dos.receipts.io.find import CheckedReceipt, issued_in_journal, receipts_for_commit
from dos.receipts.receipt import command_digest, unsigned_receipt
from dos.units.unit import Landing
from dos.world import World

pytest.importorskip("cryptography")


def receipt_of(repository: Repository, unit: str) -> dict[str, object]:
    found = issued_in_journal(World(repository.root).journal, unit)
    assert len(found) == 1
    return json.loads(found[0])


def said(repository: Repository) -> list[str]:
    return [
        e.body.get("said", "")
        for e in World(repository.root).journal.events()
        if e.kind == ReceiptIssued.kind
    ]


def checked(repository: Repository, unit: str) -> CheckedReceipt:
    with World(repository.root) as world:
        found = receipts_for_commit(world, str(receipt_of(repository, unit)["commit"]), unit)
    assert len(found) == 1, "the note and the journal hold the same one"
    return found[0]


def test_it_says_what_was_checked_before_the_branch_moved(repository):
    begin = repository.git("rev-parse", "HEAD")
    work(repository)
    first = receipt_of(repository, "DEMO/A1")
    assert (first["claim"], first["unit"], first["base"], first["target"]) == (
        "DEMO/A1", "DEMO/A1", begin, "refs/heads/main",
    )  # fmt: skip
    assert first["commits"] == [first["commit"]]
    assert first["tree"] == repository.git("rev-parse", f"{first['commit']}^{{tree}}")
    assert (first["ancestor"], first["survives"], first["bound"], first["verdict"]) == (
        True,
        True,
        True,
        "CONFIRMED",
    )
    assert (first["region"], first["paths_in_region"]) == (["one/**"], True)
    assert (first["command"], first["exit_code"], first["command_source"]) == (
        ["sh", "-c", "test -s one/a.txt"], 0, "unit",
    )  # fmt: skip
    assert (checked(repository, "DEMO/A1").valid, checked(repository, "DEMO/A1").bound) == (
        True,
        True,
    )


@pytest.mark.soak
def test_without_a_command_git_alone_is_the_witness(repository):
    work(repository, lane="two")
    receipt = receipt_of(repository, "DEMO/B1")
    assert (receipt["verdict"], receipt["bound"], receipt["command"], receipt["exit_code"]) == (
        "UNWITNESSED",
        False,
        [],
        None,
    )
    assert (checked(repository, "DEMO/B1").valid, checked(repository, "DEMO/B1").bound) == (
        True,
        False,
    )


@pytest.mark.soak
@pytest.mark.parametrize("moves", [False, True])
def test_acceptance_and_tests_are_both_named_whether_the_target_moved_or_not(repository, moves):
    config = repository.root / "dos.toml"
    config.write_text(config.read_text() + 'test = "test -d one"\n')
    repository.commit_all("Tests")

    def move():
        (repository.root / "two" / "theirs.txt").write_text("theirs\n")
        repository.commit_all("Somebody else was here")

    work(repository, performers=before_landing(move) if moves else None)
    receipt = receipt_of(repository, "DEMO/A1")
    assert receipt["command"] == ["sh", "-c", "( test -s one/a.txt ) && ( test -d one )"]
    assert (receipt["command_source"], receipt["bound"]) == ("unit+workspace", True)
    assert receipt["base"] == repository.git("rev-parse", f"{receipt['commit']}^")
    assert checked(repository, "DEMO/A1").valid


@pytest.mark.soak
def test_a_command_that_cannot_fail_binds_nothing(repository):
    plan = repository.root / "docs" / "demo-plan.md"
    plan.write_text(plan.read_text().replace("test -s one/a.txt", "true"))
    repository.commit_all("Easier")
    work(repository)
    assert (
        receipt_of(repository, "DEMO/A1")["bound"],
        receipt_of(repository, "DEMO/A2")["bound"],
    ) == (False, True)


@pytest.mark.soak
def test_a_command_of_several_lines_is_named_by_its_digest(repository):
    config = repository.root / "dos.toml"
    config.write_text(config.read_text() + 'test = """\ntest -d one\ntest -d two\n"""\n')
    repository.commit_all("Tests")
    work(repository)
    receipt = receipt_of(repository, "DEMO/A1")
    assert (receipt["command"], receipt["bound"]) == ([], True)
    script = "( test -s one/a.txt ) && ( test -d one\ntest -d two\n )"
    assert receipt["command_digest"] == command_digest(("sh", "-c", script))
    assert checked(repository, "DEMO/A1").valid


@pytest.mark.soak
def test_the_key_is_made_at_the_first_landing_and_that_is_said_once(
    repository, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    work(repository)
    lines = said(repository)
    assert [line.startswith("made the key SHA256:") for line in lines] == [True, False]
    assert (tmp_path / "config" / "dos" / "receipt-key").stat().st_mode & 0o777 == 0o600


def test_without_the_package_a_unit_lands_with_a_receipt_that_is_not_signed(
    repository, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    work(repository)
    assert repository.subjects() == ["Write b", "Write a", "Begin"]
    receipt = receipt_of(repository, "DEMO/A1")
    assert (receipt["algorithm"], receipt["signature"], receipt["verdict"]) == (
        "none",
        "",
        "CONFIRMED",
    )
    assert all("not signed" in line and "cryptography" in line for line in said(repository))
    assert not checked(repository, "DEMO/A1").valid


@pytest.mark.soak
@pytest.mark.parametrize("trouble", ["read by others", "in the tree", "no folder", "not a key"])
def test_a_key_that_cannot_be_used_holds_up_no_landing(repository, tmp_path, monkeypatch, trouble):
    key = (repository.root / ".git" if trouble == "in the tree" else tmp_path) / "key"
    if trouble != "no folder":
        key.write_text("not a key")
        key.chmod(0o644 if trouble == "read by others" else 0o600)
    else:
        (tmp_path / "file").write_text("")
        key = tmp_path / "file" / "key"
    monkeypatch.setenv("DOS_RECEIPT_KEY", str(key))
    work(repository)
    assert repository.subjects() == ["Write b", "Write a", "Begin"]
    assert all("not signed" in line for line in said(repository))
    assert receipt_of(repository, "DEMO/A1")["algorithm"] == "none"


@pytest.mark.soak
def test_notes_that_cannot_be_written_hold_up_no_landing(repository):
    repository.git("update-ref", "refs/notes/dos-receipts/in-the-way", "HEAD")
    work(repository)
    assert repository.subjects() == ["Write b", "Write a", "Begin"]
    assert all("not in git's notes" in line for line in said(repository))
    assert receipt_of(repository, "DEMO/A1")["signature"]


@pytest.mark.soak
def test_a_landing_of_an_older_version_gets_a_receipt_by_git_alone(repository):
    """It was intended without a draft, and its worker died when the branch had moved."""
    work(repository)
    first = receipt_of(repository, "DEMO/A1")
    landing = Landing(
        unit="DEMO/A1", branch="main", base=str(first["base"]), commit=str(first["commit"])
    )
    acting = open_effects(repository)
    again = acting.trees.issue_receipt(effects.IssueReceipt(landing=landing)).receipt
    acting.close()
    assert (again["verdict"], again["bound"], again["ancestor"]) == ("UNWITNESSED", False, True)


def test_a_name_that_no_receipt_may_hold_is_said_and_lands(repository):
    git = Writer(repository.root)
    head = repository.git("rev-parse", "HEAD")
    landed = Landing(unit="DEMO/A\n1", branch="main", base=head, commit=head)
    found = draft.issue_receipt(
        git, World(repository.root).workspace, landed, ref="refs/heads/main"
    )
    assert found.receipt is None
    assert "no receipt" in found.message


@pytest.mark.soak
def test_it_does_not_survive_where_its_file_was_changed_again(repository):
    work(repository)
    first = receipt_of(repository, "DEMO/A1")
    (repository.root / "one" / "a.txt").write_text("changed\n")
    repository.commit_all("Again")
    base, commit = str(first["base"]), str(first["commit"])
    landed = Landing(unit="DEMO/A1", branch="main", base=base, commit=commit, receipt=first)
    receipt = draft.issue_receipt(
        Writer(repository.root), World(repository.root).workspace, landed, ref="refs/heads/main"
    ).receipt
    assert (receipt["ancestor"], receipt["survives"]) == (True, False)


@pytest.mark.soak
def test_it_is_of_no_other_unit_and_of_no_branch_that_lost_it(repository):
    work(repository)
    commit = str(receipt_of(repository, "DEMO/A1")["commit"])
    with World(repository.root) as world:
        other = receipts_for_commit(world, commit, "DEMO/A2")
        assert [each.valid for each in other] == [False]
        assert (
            receipts_for_commit(
                world, repository.git("rev-list", "--max-parents=0", "HEAD"), "DEMO/A1"
            )
            == []
        )
    repository.git("reset", "--quiet", "--hard", f"{commit}~1")
    assert not checked(repository, "DEMO/A1").valid


def test_asking_where_there_is_none_loads_nothing_of_what_checks_signatures(repository):
    code = (
        "import sys; from pathlib import Path; from dos.world import World;"
        "from dos.receipts.io import find;"
        "world = World(Path('.')); assert find.receipts_for_commit(world, "
        "world.git.commit_of('HEAD'), 'DEMO/A1') == [];"
        "assert 'cryptography' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=repository.root, check=True, timeout=PATIENCE)


def test_a_third_party_checks_it_with_a_clone_and_the_public_key(repository, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "runner"))
    work(repository)
    commit = str(receipt_of(repository, "DEMO/A1")["commit"])
    public = tmp_path / "runner.pub"
    public.write_text((tmp_path / "runner" / "dos" / "receipt-key.pub").read_text())
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "somebody"))
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(repository.root), str(clone)], check=True)

    def dos(*words: str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-m",
            "dos",
            "verify-receipt",
            "--commit",
            commit,
            "--json",
            *words,
        ]
        return subprocess.run(command, cwd=clone, capture_output=True, text=True, timeout=PATIENCE)

    assert dos("--key-file", str(public)).returncode == 2, "notes are not cloned by themselves"
    fetched = "refs/notes/dos-receipts:refs/notes/dos-receipts"
    subprocess.run(["git", "fetch", "--quiet", "origin", fetched], cwd=clone, check=True)
    assert dos().returncode == 2, "nobody told it which key to trust"
    answer = json.loads(dos("--key-file", str(public)).stdout)
    assert (answer["valid"], answer["bound"]) == (True, True)
    assert answer["checked"] == [
        "signature",
        "commit",
        "repository",
        "tree",
        "base",
        "ancestry",
        "region",
    ]


NOTER = """
import sys
from pathlib import Path
from dos.receipts.receipt import unsigned_receipt
from dos.receipts.io import notes
from dos.git.repository import Writer
git = Writer(Path(sys.argv[1]))
for commit in sys.argv[3:]:
    nonce = f"{sys.argv[2]}-{commit}"
    receipt = unsigned_receipt(commit=commit, tree="b" * 40, nonce=nonce, runner=sys.argv[2])
    notes.add_note(git, receipt)
"""


@pytest.mark.soak
def test_several_who_note_at_once_lose_nothing(repository):
    for number in range(6):
        repository.commit_all(f"Commit {number}")
    commits = repository.git("rev-list", "HEAD").split()
    writers = [
        subprocess.Popen([sys.executable, "-c", NOTER, str(repository.root), str(who), *commits])
        for who in range(4)
    ]
    assert [writer.wait(timeout=PATIENCE) for writer in writers] == [0, 0, 0, 0]
    git = Writer(repository.root)
    for commit in commits:
        runners = [json.loads(line)["runner"] for line in notes.notes_on_commit(git, commit)]
        assert sorted(runners) == ["0", "1", "2", "3"]
        assert repository.git("notes", "--ref=dos-receipts", "show", commit).count('"nonce"') == 4
    assert repository.git("fsck", "--strict", "--no-dangling") == ""


def test_one_that_is_noted_twice_is_there_once_and_notes_of_others_stay(repository):
    git, commit = Writer(repository.root), repository.git("rev-parse", "HEAD")
    repository.git("notes", "--ref=dos-receipts", "add", "-m", "somebody's words", commit)
    one = unsigned_receipt(commit=commit, tree="b" * 40, nonce="n1")
    for receipt in (
        one,
        one,
        unsigned_receipt(commit=commit, tree="b" * 40, nonce="n1", ancestor=True),
    ):
        notes.add_note(git, receipt)
    found = notes.notes_on_commit(git, commit)
    assert found[0] == b"somebody's words"
    assert [json.loads(line)["ancestor"] for line in found[1:]] == [True]
    with World(repository.root) as world:
        assert [each.valid for each in receipts_for_commit(world, commit)] == [
            False,
            False,
        ]


@pytest.mark.soak
def test_the_story_tells_only_what_a_person_should_know(repository, tmp_path, monkeypatch):
    from dos.report import event_lines

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    work(repository)
    texts = [
        line.text
        for e in World(repository.root).journal.events()
        if (line := event_lines.event_line(e))
    ]
    assert sum("that signs receipts" in line for line in texts) == 1


MAKER = """
import sys
from pathlib import Path
from dos.receipts.io import keys
from dos.receipts.io.signatures import load_signer
from dos import workspace
path = Path(sys.argv[1])
made = keys.ensure_key(path)
print(made, load_signer(path, workspace.find(Path(sys.argv[2]))).key.key_id)
"""


@pytest.mark.soak
def test_several_who_need_a_key_at_once_have_one(repository, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config" / "dos"
    words = [sys.executable, "-c", MAKER, str(folder / "key"), str(repository.root)]
    makers = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(5)]
    answers = [maker.communicate(timeout=PATIENCE)[0].split() for maker in makers]
    assert sorted(made for made, _ in answers) == ["False"] * 4 + ["True"]
    assert len({key_id for _, key_id in answers}) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["key", "key.pub"]
