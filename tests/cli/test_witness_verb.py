"""Did a claimed effect happen? Real commands, files and commits are asked; the claimant's own word
counts for nothing.

GitHub is not there: a program named `gh` on the search path stands in for it.
"""

import os
import sys
from hashlib import sha256

import pytest
from commanding import git
from msgspec import json
from patience import has_ended, wait_for

AGENT, SYSTEM, OTHER = "AGENT_AUTHORED", "OS_RECORDED", "THIRD_PARTY"
KEYS = {
    "verdict", "believe", "refuted", "reason", "claim_key", "narrated", "witness", "accountability",
    "silent_witnesses", "evidence",
}  # fmt: skip
PLUGIN = """
from dos.witness.accountability import Accountability
from dos.witness.fact import EvidenceFacts, attest, refute

class Registry:
    name = "registry"
    accountability = Accountability.THIRD_PARTY
    def gather(self, subject, config):
        return attest("ci", Accountability.THIRD_PARTY, "another", f"{subject} is published")

class Boastful(Registry):
    accountability = Accountability.AGENT_AUTHORED

class Rungless(Registry):
    accountability = "THIRD_PARTY"

class Raising(Registry):
    def gather(self, subject, config):
        raise RuntimeError("out of order")

class Wrong(Registry):
    def gather(self, subject, config):
        return True

class Odd(Registry):
    def gather(self, subject, config):
        return EvidenceFacts(stance="YES", reachable=True)
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    def make(*points):
        site = tmp_path / "site"
        info = site / "publisher-1.0.dist-info"
        info.mkdir(parents=True)
        (site / "publisher.py").write_text(PLUGIN)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: publisher\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            "[dos.evidence_sources]\n" + "\n".join(points) + "\n"
        )
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.delitem(sys.modules, "publisher", raising=False)

    return make


def settle(workspace, text):
    """A policy that is committed."""
    with (workspace / "dos.toml").open("a") as file:
        file.write(f"\n{text}\n")
    git("commit", "--all", "--quiet", "--message", "Policy", cwd=workspace)


def head(workspace):
    return git("rev-parse", "HEAD", cwd=workspace).strip()


def said(answer):
    """The verdict, who decided, and each witness's stance and rung."""
    reply = answer.json
    assert reply.keys() == KEYS
    return (
        reply["verdict"],
        reply["witness"],
        [(each["stance"], each["accountability"]) for each in reply["evidence"]],
    )


@pytest.mark.parametrize(
    ("command", "code", "verdict", "stance"),
    [
        ("test -e api/a.txt", 0, "CONFIRMED", "ATTESTED"),
        ("test -e api/nothing", 1, "REFUTED", "REFUTED"),
        ("true", 3, "UNWITNESSED", "NO_SIGNAL"),
        ("sh -c 'false || true'", 3, "UNWITNESSED", "NO_SIGNAL"),
        ("nosuchprogram", 3, "UNWITNESSED", "NO_SIGNAL"),
        ("test 'unbalanced", 3, "UNWITNESSED", "NO_SIGNAL"),
        ("test $HOME = x", 1, "REFUTED", "REFUTED"),  # no shell
    ],
)
def test_a_command_is_run_in_the_workspace(dos, command, code, verdict, stance):
    answer = dos("witness", "k", "--source", f"exit={command}", "--narrated", "it works", "--json")
    assert (answer.code, said(answer)[0], said(answer)[2]) == (code, verdict, [(stance, SYSTEM)])
    assert answer.json["narrated"] == "it works"


def test_a_claim_is_never_run_as_a_command(dos, workspace):
    answer = dos("witness", "touch made", "--source", "exit")
    assert answer.code == 2 and "no command" in answer.err
    assert not (workspace / "made").exists()


def test_a_command_that_takes_too_long_is_ended_with_what_it_started(workspace):
    from dos.witness.io import sources
    from dos.world import World

    script = "sleep 900 & echo $! > pid; wait"
    with World(workspace) as world:
        fact = sources.witness_exit_code(world, f"sh -c '{script}'", timeout_seconds=2)
    assert (fact.stance, fact.reachable) == ("NO_SIGNAL", False) and "did not end" in fact.detail
    pid = int((workspace / "pid").read_text())
    wait_for(lambda: has_ended(pid), f"process {pid} has ended")


def test_git_says_which_commits_a_branch_contains(dos, workspace):
    first = head(workspace)
    git("checkout", "--quiet", "-b", "side", cwd=workspace)
    git("commit", "--allow-empty", "--quiet", "--message", "Side", cwd=workspace)
    side = head(workspace)
    git("checkout", "--quiet", "main", cwd=workspace)

    def ask(subject):
        answer = dos("witness", "k", "--source", f"git={subject}", "--json")
        return answer.code, said(answer)[2]

    assert ask(first) == (0, [("ATTESTED", SYSTEM)])
    assert ask(side) == (1, [("REFUTED", SYSTEM)])
    assert ask("side") == (1, [("REFUTED", SYSTEM)])
    assert ask(f"{side}:side") == (0, [("ATTESTED", SYSTEM)])
    assert ask("main:side") == (0, [("ATTESTED", SYSTEM)])
    for empty in (
        "HEAD",
        "HEAD~0",
        "main",
        "@",
        "main:main",
        "f" * 40,
        "nosuch",
        f"{first}:nosuch",
        "--all",
        "a b",
    ):
        assert ask(empty) == (3, [("NO_SIGNAL", SYSTEM)]), empty


def test_a_shallow_clone_refutes_nothing(dos, workspace, tmp_path):
    git("checkout", "--quiet", "-b", "side", cwd=workspace)
    git("commit", "--allow-empty", "--quiet", "--message", "Side", cwd=workspace)
    side = head(workspace)
    git("checkout", "--quiet", "main", cwd=workspace)
    git(
        "clone",
        "--quiet",
        "--depth=1",
        "--no-single-branch",
        f"file://{workspace}",
        str(tmp_path / "c"),
        cwd=tmp_path,
    )
    answer = dos(
        "--workspace", str(tmp_path / "c"), "witness", "k", "--source", f"git={side}", "--json"
    )
    assert (answer.code, said(answer)[2]) == (3, [("NO_SIGNAL", SYSTEM)])


def test_a_file_that_the_claimant_can_write_proves_nothing(dos, workspace, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "log").write_text("deployed 7\n")
    inside = dos("witness", "k", "--source", "file=api/a.txt", "--json")
    assert (inside.code, said(inside)[2]) == (3, [("ATTESTED", AGENT)])
    assert dos("witness", "k", "--source", f"file={kept}/log").code == 3
    with (workspace / "dos.toml").open("a") as file:
        file.write(f"\n[evidence]\nplaces = ['{kept}', '{workspace}/api']\n")
    assert dos("witness", "k", "--source", f"file={kept}/log").code == 3  # nobody committed that
    settle(workspace, "")
    assert dos("witness", "k", "--source", f"file={kept}/log").code == 0
    assert (
        dos("witness", "k", "--source", f"file={workspace}/api/a.txt").code == 3
    )  # a place in reach is none
    (kept / "link").symlink_to(workspace / "api" / "a.txt")
    assert dos("witness", "k", "--source", f"file={kept}/link").code == 3
    (workspace / "out").symlink_to(kept)
    assert dos("witness", "k", "--source", "file=out/log||contains=deployed 7").code == 0
    digest = sha256(b"deployed 7\n").hexdigest()
    assert dos("witness", "k", "--source", f"file={kept}/log||sha256={digest}").code == 0
    assert dos("witness", "k", "--source", f"file={kept}/log||sha256={digest[:-1]}0x").code == 1
    assert dos("witness", "k", "--source", f"file={kept}/log||contains=deployed 8").code == 1
    assert dos("witness", "k", "--source", f"file={kept}/none").code == 1
    for silent in (f"{kept}", f"{kept}/none/none", f"{kept}/log||size=3", "/dev/full"):
        assert dos("witness", "k", "--source", f"file={silent}").code == 3, silent


def test_two_snapshots_show_what_came_changed_and_went(dos, workspace, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "a").write_text('{"same": 1, "old": 1, "gone": 1}')
    (kept / "b").write_text('{"same": 1, "old": 2, "new": 1}')
    (kept / "list").write_text("[]")
    pair = f"{kept}/a||{kept}/b"
    assert dos("witness", "new", "--source", f"state-diff={pair}").code == 3
    settle(workspace, f"[evidence]\nplaces = ['{kept}']")
    expected = {
        "new": 0,
        "old": 0,
        "same": 1,
        "gone": 1,
        "never": 1,
        "-gone": 0,
        "-same": 1,
        "-never": 1,
    }
    for key, code in expected.items():
        assert dos("witness", "--source", f"state-diff={pair}", "--", key).code == code, key
    assert dos("witness", "x", "--source", f"state_diff={pair}||new").code == 0
    for silent in (
        f"{kept}/a||{kept}/list",
        f"{kept}/a||{kept}/none",
        f"{kept}/a",
        "||",
        f"{kept}/a||api/a.txt",
    ):
        assert dos("witness", "new", "--source", f"state-diff={silent}").code == 3, silent
    (workspace / "c").write_text('{"mine": 1}')
    assert (
        dos("witness", "mine", "--source", f"state-diff={kept}/a||c").code == 3
    )  # one of the two is mine


BIBTEX = """@article{knuth84, title = {Literate {Programming}}, doi = "10.1093/comjnl/27.2.97"}
@book{other, title = {Other}}
"""


def test_citations_are_looked_up_where_the_policy_says(dos, workspace, tmp_path):
    def ask(subject):
        answer = dos("witness", "k", "--source", f"citation={subject}", "--json")
        return answer.code, said(answer)[2]

    assert ask("knuth84") == (3, [("NO_SIGNAL", AGENT)])
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "refs.bib").write_text(BIBTEX)
    settle(workspace, f"[evidence]\nplaces = ['{kept}']\ncitations = '{kept}/refs.bib'")
    assert ask("knuth84||Literate Programming") == (0, [("ATTESTED", SYSTEM)])
    assert ask("10.1093/COMJNL/27.2.97") == (0, [("ATTESTED", SYSTEM)])
    assert ask("knuth84||The Art of War") == (1, [("REFUTED", SYSTEM)])
    assert ask("knuth85") == (1, [("REFUTED", SYSTEM)])


@pytest.mark.parametrize(
    ("printed", "subject", "code"),
    [
        (
            '{"citations": ["c1"], "name": "One", "text": "all that it says", "whole": true}',
            "c1||One||all that it",
            0,
        ),
        (
            '{"citations": ["c1"], "name": "One", "text": "all that it says", "whole": true}',
            "c1||One||something else",
            1,
        ),
        ('[{"id": "c1", "title": "One"}]', "c1||one", 0),
        ("[]", "c1", 1),
        ("", "c1", 1),
        ("not json", "c1", 3),
        ("[1]", "c1", 3),
    ],
)
def test_a_command_gives_the_works_under_a_citation(dos, workspace, printed, subject, code):
    words = json.encode(["printf", "%s", printed]).decode()
    settle(workspace, f"[evidence]\ncitation_command = {words}")
    assert dos("witness", "k", "--source", f"citation={subject}").code == code
    with (workspace / "dos.toml").open("a") as file:
        file.write("places = ['/var/lib/x']\n")
    assert (
        dos("witness", "k", "--source", f"citation={subject}").code == 3
    )  # another policy than the committed one


def test_a_citation_command_has_the_time_that_the_settings_give_it(dos, workspace):
    script = "exec sleep 30"
    settle(
        workspace, f'[evidence]\ncitation_command = ["sh", "-c", "{script}"]\ntimeout_seconds = 1'
    )
    answer = dos("witness", "k", "--source", "citation=c1")
    assert answer.code == 3 and "1 s" in answer.out


GH = """#!{python}
import sys
from pathlib import Path
place = Path(__file__).parent
with (place / "asked").open("a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
page = place / ("page" + sys.argv[-1].rpartition("page=")[2])
if not page.exists():
    sys.exit("gh: Not Found (HTTP 404)")
sys.stdout.write(page.read_text())
"""


@pytest.fixture
def gh(tmp_path, monkeypatch):
    """A stand-in for GitHub's program: it prints the pages that it is given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "gh").write_text(GH.format(python=sys.executable))
    (folder / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def pages(*pages, total=None):
        whole = sum(map(len, pages)) if total is None else total
        for number, checks in enumerate(pages, 1):
            (folder / f"page{number}").write_bytes(
                json.encode({"total_count": whole, "check_runs": checks})
            )
        return folder / "asked"

    return pages


def check(name, conclusion="success", **more):
    return {"name": name, "status": "completed", "conclusion": conclusion, "app": {"id": 1}, **more}


def test_github_is_asked_page_after_page(dos, workspace, gh):
    git("remote", "add", "origin", "git@github.com:owner/name.git", cwd=workspace)
    asked = gh([check(f"c{n}") for n in range(100)], [check("last", "failure")])
    answer = dos("witness", "k", "--source", "ci=HEAD", "--json")
    assert (answer.code, said(answer)) == (1, ("REFUTED", "ci", [("REFUTED", OTHER)]))
    lines = asked.read_text().splitlines()
    assert len(lines) == 2 and all("--hostname github.com" in line for line in lines)
    assert f"repos/owner/name/commits/{head(workspace)}/check-runs?per_page=100&page=2" in lines[1]


@pytest.mark.parametrize(
    ("pages", "more", "code"),
    [
        ([[check("a")]], {}, 0),
        ([[check("a", "skipped")]], {}, 3),
        ([[check("a", "startup_failure")]], {}, 1),
        ([[check("a", "never_heard_of")]], {}, 3),
        ([[]], {}, 3),
        ([[check("a")], []], {"total": 2}, 3),  # one is missing, and it may be the red one
        ([[check("a")]], {"total": 2}, 3),  # the second page cannot be had
        ([[check("a", head_sha="0" * 40)]], {}, 3),  # of another commit
        ([], {}, 3),
    ],
)
def test_what_github_says(dos, workspace, gh, pages, more, code):
    settle(workspace, '[ci]\nrepo = "owner/name"')
    gh(*pages, **more)
    assert dos("witness", "k", "--source", "ci_status=HEAD").code == code


def test_without_github_nothing_is_known(dos, workspace, gh, monkeypatch, tmp_path):
    assert "no repository" in dos("witness", "k", "--source", "ci=HEAD").out
    settle(workspace, '[ci]\nrepo = "owner/name"')
    assert dos("witness", "k", "--source", "ci=nosuch").code == 3
    (tmp_path / "bin" / "gh").write_text("#!/bin/sh\nsleep 900\n")
    settle(workspace, "timeout_seconds = 1")
    assert "did not end" in dos("witness", "k", "--source", "ci=HEAD").out
    (tmp_path / "bin" / "gh").unlink()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}")
    (tmp_path / "bin" / "git").symlink_to(git_program())
    assert "cannot be started" in dos("witness", "k", "--source", "ci=HEAD").out


def git_program():
    import shutil

    return shutil.which("git", path="/usr/bin:/usr/local/bin:/bin:/opt/homebrew/bin")


def test_required_checks_decide_and_must_be_there(dos, workspace, gh):
    settle(workspace, '[ci]\nrepo = "owner/name"\nrequired = ["test", "lint"]')
    gh([check("test"), check("other", "failure")])
    assert "PENDING" in dos("witness", "k", "--source", "ci=HEAD").out
    gh([check("test"), check("lint"), check("other", "failure")])
    assert dos("witness", "k", "--source", "ci=HEAD").code == 0


def test_a_policy_that_nobody_committed_proves_nothing(dos, workspace, gh):
    gh([check("a")])
    with (workspace / "dos.toml").open("a") as file:
        file.write('\n[ci]\nrepo = "my/own"\n')
    answer = dos("witness", "k", "--source", "ci=HEAD", "--json")
    assert (answer.code, said(answer)[2]) == (3, [("ATTESTED", AGENT)])


def test_checks_from_a_command_of_the_user(dos, workspace):
    words = json.encode(
        ["echo", '[{"name": "t", "status": "completed", "conclusion": "success"}]', "{sha}"]
    )
    settle(workspace, f"[ci]\ncommand = {words.decode()}")
    assert (
        "not a list of checks" in dos("witness", "k", "--source", "ci=HEAD").out
    )  # the hash stands behind it
    git("reset", "--quiet", "--hard", "HEAD~1", cwd=workspace)
    words = json.encode(
        [
            "echo",
            '[{"name": "t", "status": "completed", "conclusion": "success", "head_sha": "{sha}"}]',
        ]
    )
    settle(workspace, f"[ci]\ncommand = {words.decode()}")
    answer = dos("witness", "k", "--source", "ci=HEAD", "--json")
    assert (answer.code, said(answer)[2]) == (0, [("ATTESTED", SYSTEM)])


def test_checks_from_a_file_are_those_of_the_commits_that_it_names(dos, workspace, tmp_path):
    kept = tmp_path / "checks.json"
    settle(workspace, f"[ci]\nfile = '{kept}'")
    assert dos("witness", "k", "--source", "ci=HEAD").code == 3
    kept.write_bytes(json.encode([check("t")]))
    assert dos("witness", "k", "--source", "ci=HEAD").code == 3  # it may be of any commit
    kept.write_bytes(
        json.encode({"check_runs": [check("t", head_sha=head(workspace)), check("u", "failure")]})
    )
    assert dos("witness", "k", "--source", "ci=HEAD").code == 0
    git("reset", "--quiet", "--hard", "HEAD~1", cwd=workspace)
    settle(workspace, "[ci]\nfile = 'checks.json'")
    (workspace / "checks.json").write_bytes(json.encode([check("t", head_sha=head(workspace))]))
    answer = dos("witness", "k", "--source", "ci=HEAD", "--json")
    assert (answer.code, said(answer)[2]) == (
        3,
        [("ATTESTED", AGENT)],
    )  # anybody writes the work tree


def test_a_branch_cannot_commit_the_policy_that_it_is_judged_by(dos, workspace, tmp_path):
    git("rm", "--quiet", "dos.toml", cwd=workspace)
    git("commit", "--quiet", "--message", "No policy", cwd=workspace)
    git("worktree", "add", "--quiet", "-b", "agent", str(tmp_path / "tree"), cwd=workspace)
    (tmp_path / "dos.log").write_text("done\n")
    (tmp_path / "tree" / "dos.toml").write_text(f"[evidence]\nplaces = ['{tmp_path}']\n")
    git("add", "--all", cwd=tmp_path / "tree")
    git("commit", "--quiet", "--message", "Trust me", cwd=tmp_path / "tree")
    asked = ("witness", "k", "--source", f"file={tmp_path}/dos.log")
    assert dos("--workspace", str(tmp_path / "tree"), *asked).code == 3


@pytest.mark.parametrize(
    ("made", "stance", "rung", "code"),
    [
        ("Registry", "ATTESTED", OTHER, 0),
        ("Boastful", "ATTESTED", AGENT, 3),  # it cannot give more than it declares
        ("Rungless", "ATTESTED", AGENT, 3),
        ("Raising", "NO_SIGNAL", OTHER, 3),
        ("Wrong", "NO_SIGNAL", OTHER, 3),
        ("Odd", "NO_SIGNAL", OTHER, 3),
    ],
)
def test_other_packages_add_witnesses(dos, install, made, stance, rung, code):
    install(f"mine = publisher:{made}")
    answer = dos("witness", "pkg-1.0", "--source", "mine", "--json")
    assert (answer.code, said(answer)[2]) == (code, [(stance, rung)])
    [fact] = answer.json["evidence"]
    assert (fact["source_name"], fact["subject"]) == (
        "mine",
        "pkg-1.0",
    )  # it speaks under its own name


def test_one_that_cannot_be_loaded_is_said_once_and_left_out(dos, install):
    install("absent = nowhere:at_all", "mine = publisher:Registry")
    answer = dos("witness", "k", "--source", "mine")
    assert answer.code == 0
    assert answer.err.count("warning:") == 1 and "'absent'" in answer.err
    assert dos("witness", "k", "--source", "null").err == ""  # nobody asked for plugins


def test_what_is_built_in_cannot_be_shadowed(dos, install):
    install(
        "null = publisher:Registry", "ci_status = publisher:Registry", "git = publisher:Registry"
    )
    assert dos("witness", "k", "--source", "null").code == 3
    assert dos("witness", "k", "--source", "ci_status").code == 3


def test_what_is_asked_wrongly_lists_what_there_is(dos, install):
    install("mine = publisher:Registry")
    for words in (
        ("k",),
        ("k", "--source", "nosuch"),
        ("k", "--source", "exit=false", "--source", "nosuch"),
    ):
        answer = dos("witness", *words)
        assert answer.code == 2 and "state-diff" in answer.err and "mine" in answer.err


def test_a_blank_claim_claims_nothing_and_asks_nobody(dos, workspace):
    answer = dos("witness", " ", "--source", "exit=touch made", "--json")
    assert (answer.code, said(answer)) == (3, ("NO_CLAIM", "", []))
    assert not (workspace / "made").exists()


def test_witnesses_that_contradict_each_other_confirm_nothing(dos, workspace):
    words = (
        "--source",
        "exit=test -e api/a.txt",
        "--source",
        f"git={head(workspace)}",
        "--source",
        "exit=test -e no",
    )
    answer = dos("witness", "k", *words, "--json")
    reply = answer.json
    assert (answer.code, reply["believe"], reply["refuted"]) == (1, False, True)
    assert dos("witness", "k", *words).out.count("\n") == 4


def test_to_ask_changes_nothing(dos, workspace, state):
    before = sorted(str(path) for path in workspace.rglob("*"))
    dos(
        "witness",
        "k",
        "--source",
        f"git={head(workspace)}",
        "--source",
        "tests=HEAD",
        "--source",
        "ci=HEAD",
    )
    assert sorted(str(path) for path in workspace.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "code", "verdict"),
    [
        (("--no-claim",), 5, "NO_CLAIM"),
        (("--no-claim", "--source", "exit=touch made"), 5, "NO_CLAIM"),
        (("--claim", "--witness", "confirm"), 4, "ABSTAIN"),
        (("--witness", "refute"), 4, "ABSTAIN"),
        (("--witness", "none"), 4, "ABSTAIN"),
        (("--witness", "confirm", "--forgeable"), 4, "ABSTAIN"),
        ((), 4, "ABSTAIN"),
        (("--source", "exit=test -e api/a.txt", "--narrated", "bad"), 0, "ACCEPT"),
        (("--source", "exit", "--subject", "test -e api/a.txt"), 0, "ACCEPT"),
        (("--source", "exit=test -e api/none", "--narrated", "good"), 3, "REJECT_POISON"),
        (("--source", "exit=test -e api/none", "--witness", "confirm"), 3, "REJECT_POISON"),
        (("--source", "exit=test -e api/a.txt", "--witness", "refute"), 0, "ACCEPT"),
    ],
)
def test_only_what_is_measured_makes_an_example_good_or_bad(dos, workspace, words, code, verdict):
    answer = dos("reward", *words, "--json")
    assert (answer.code, answer.json["verdict"]) == (code, verdict)
    assert not (workspace / "made").exists()


@pytest.mark.parametrize(
    "words", [("--claim", "--no-claim"), ("--source", "git"), ("--witness", "maybe")]
)
def test_an_example_is_asked_about_properly(dos, words):
    assert dos("reward", *words).code == 2
