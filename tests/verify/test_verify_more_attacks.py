"""More lies of a committer with a shell, accidents that look like them, odd repositories."""

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from growth import grows_less_than
from patience import PATIENCE
from repository import Repository

from dos.verify import content
from dos.verify.message import Message, unfinished_words
from dos.verify.naming import UnitName
from dos.verify.shipped import Answer

pytestmark = pytest.mark.sampled(3)

LINES = "".join(f"def part_{number}(value):\n    return value + {number}\n" for number in range(50))
LOGIN = {"src/login.py": LINES}


@pytest.fixture
def repository(tmp_path):
    other = Repository(tmp_path / "work")
    other.commit("begin", {"src/base.py": "base = 1\n", "README.md": "hello\n"})
    return other


def dos(folder, *words):
    """The exit code and the first word that it printed; never a traceback or a bug."""
    done = subprocess.run(
        [sys.executable, "-m", "dos", "verify", *(words or ("AUTH", "AUTH1"))],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert "Traceback" not in done.stderr and "bug in dos" not in done.stderr, done.stderr
    return done.returncode, done.stdout.partition(" ")[0]


def answer(repository, **ask):
    return repository.verify("AUTH", "AUTH1", **ask).answer


def written(repository, kind, data):
    """An object as git would never make it."""
    done = subprocess.run(
        ["git", "hash-object", "-w", "-t", kind, "--literally", "--stdin"],
        cwd=repository.root, input=data, capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode().strip()


def commit_bytes(repository, message, *, header=b"", files=LOGIN):
    """A commit with a message and a header of any bytes, on the branch."""
    for path, text in files.items():
        repository.write(path, text)
    repository.git("add", "--all")
    who = b"A <a@example.org> 1700000000 +0000"
    tree, parent = repository.git("write-tree").encode(), repository.head.encode()
    begin = b"tree %s\nparent %s\nauthor %s\ncommitter %s\n%s\n" % (tree, parent, who, who, header)
    repository.git("update-ref", "refs/heads/main", written(repository, "commit", begin + message))


def forget(repository, sha):
    (repository.root / ".git/objects" / sha[:2] / sha[2:]).unlink()


def index_of(repository):
    (repository.root / ".git/dos").mkdir(exist_ok=True)
    return repository.root / ".git/dos/history.sqlite"


@pytest.mark.parametrize(
    "message",
    [
        "AUTH\u200b1: login", "\u200bAUTH1: login", "\u202eAUTH1: login", "\u0391UTH1: login",
        "AUTH\uff11: login",
        "AUTH1\u0301: login", "AUTHl: login", "fixup! AUTH1: login", "Merge AUTH1: login",
        "AUTH1.5: login",
        "x\nAUTH1: login", "x\n\nAUTH1: login", "x\n\nAUTH1: login\n\nlast", "x AUTH1: login",
        "AUTH1\u00a0: login",
    ],
)  # fmt: skip
def test_what_only_looks_like_the_name_is_not_the_name(repository, message):
    repository.commit(message, LOGIN)
    assert answer(repository) is Answer.NOT_SHIPPED


@pytest.mark.parametrize("hidden", [b"x\0AUTH1: login\n", b"x\0%s\0AUTH1: login\0"])
def test_what_stands_behind_a_zero_byte_is_not_read(repository, hidden):
    commit_bytes(repository, hidden.replace(b"%s", repository.head.encode()))
    repository.commit("AUTH2: out", {"src/out.py": LINES})
    assert answer(repository) is Answer.NOT_SHIPPED
    assert repository.verify("AUTH", "AUTH2").sha == repository.head


@pytest.mark.parametrize(
    ("message", "header"),
    [
        ("AUTH1: lögin\n".encode("latin-1"), b"encoding ISO-8859-1\n"),
        (b"AUTH1: \xff\xfe login\n", b""),
        (b"AUTH1: login\n", b"encoding no-such-encoding\n"),
        (b"AUTH1: login\n", b"encoding base64\n"),
    ],
)
def test_a_message_of_any_bytes_is_read(repository, message, header):
    commit_bytes(repository, message, header=header)
    assert dos(repository.root, "AUTH", "AUTH1", "--json")[0] == 0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/l.js", "/* login */ // login\n"), ("src/l.rb", "=begin\nlogin\n=end\n"),
        ("src/l.css", "/* login */\n"),
        ("src/l.lua", "--[==[ login ]==]\n"), ("src/l.html", "<!-- login -->\n"),
        ("src/l.vue", "<!-- login -->\n"),
        ("src/l.sql", "-- login\n"), ("src/l.json", "{}\n"),
        ("src/l.hs", "{- a {- login -} b -}\n"),
        ("src/l.rs", "/// login\n//! login\n/* a /* b */ c */\n"), ("src/l.go", "// login\n"),
        ("src/l.py", "...\n"),
        ("src/l.py", "r'''\nlogin\n'''\n"), ("src/l.ps1", "<# login #>\n"),
        ("src/l.yml", "# login\n"), ("src/l.c", ""),
    ],
)  # fmt: skip
def test_a_new_file_that_says_nothing_is_no_login(repository, path, text):
    repository.commit("AUTH1: login", {path: text})
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.contradictions) == (Answer.UNPROVEN, ("cosmetic_only",))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n", "\r\n"),
        ("    ", "\t"),
        ("    ", " "),
        (" + ", "  +  "),
        ("\n", "  # login\n"),
        ("\n", "\n\n"),
    ],
)
def test_the_same_text_in_another_dress_is_no_login(repository, old, new):
    repository.commit("begin", LOGIN)
    repository.commit("AUTH1: login", {"src/login.py": LINES.replace(old, new)})
    assert answer(repository) is Answer.UNPROVEN


def test_a_name_in_another_case_or_another_encoding_is_no_login(repository):
    repository.commit("begin", {"src/Login.py": LINES})
    repository.git("mv", "src/Login.py", "src/other")
    repository.git("mv", "src/other", "src/login.py")
    repository.commit("AUTH1: login", {})
    assert answer(repository) is Answer.UNPROVEN
    (repository.root / "src/login.py").write_bytes(LINES.encode("utf-16"))
    repository.commit("AUTH1: login", {})
    assert answer(repository) is Answer.UNPROVEN


def test_work_that_was_put_into_comments_is_gone(repository):
    repository.commit("AUTH1: login", LOGIN)
    repository.commit(
        "tidy", {"src/login.py": "".join(f"# {line}\n" for line in LINES.split("\n"))}
    )
    assert answer(repository) is Answer.UNPROVEN


def test_a_reverted_merge_takes_the_work_with_it_until_that_is_reverted(repository):
    repository.git("switch", "--quiet", "-c", "feat")
    repository.commit("AUTH1: login", LOGIN)
    repository.git("switch", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "-m", "Merge branch feat", "feat")
    assert answer(repository) is Answer.SHIPPED
    repository.git("revert", "-m", "1", "--no-edit", "HEAD")
    assert answer(repository) is Answer.UNDONE
    repository.git("revert", "--no-edit", "HEAD")
    assert answer(repository) is Answer.SHIPPED


def test_what_only_a_merge_brought_in_is_undone_with_it(repository):
    repository.git("switch", "--quiet", "-c", "feat")
    repository.commit("feature", {"src/feature.py": "feature = 1\n"})
    repository.git("switch", "--quiet", "main")
    repository.commit("other", {"src/other.py": "other = 1\n"})
    repository.git("merge", "--quiet", "--no-commit", "feat")
    repository.commit("AUTH1: login", LOGIN)
    assert answer(repository) is Answer.SHIPPED
    repository.git("revert", "-m", "1", "--no-edit", "HEAD")
    assert answer(repository) is Answer.UNDONE


def test_branches_that_were_merged_into_each_other_hold_the_work(repository):
    repository.git("switch", "--quiet", "-c", "feat")
    theirs = repository.commit("AUTH1: login", LOGIN)
    repository.git("switch", "--quiet", "main")
    mine = repository.commit("other", {"src/other.py": "other = 1\n"})
    repository.git("merge", "--quiet", "-m", "one way", theirs)
    repository.git("switch", "--quiet", "feat")
    repository.git("merge", "--quiet", "-m", "other way", mine)
    repository.git("merge", "--quiet", "-m", "both", "main")
    assert answer(repository) is Answer.SHIPPED


def test_dates_that_lie_change_nothing(repository):
    repository.git(
        "commit", "--quiet", "--allow-empty", "-m", "x", GIT_COMMITTER_DATE="@4102444800 +0000"
    )
    repository.write("src/login.py", LINES)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "AUTH1: login", GIT_COMMITTER_DATE="@100000000 +0000")
    assert answer(repository) is Answer.SHIPPED
    repository.git("revert", "--no-edit", "HEAD", GIT_COMMITTER_DATE="@4102444800 +0000")
    assert answer(repository) is Answer.UNDONE


def test_who_says_that_it_was_reverted_has_to_do_it(repository):
    sha = repository.commit("AUTH1: login", LOGIN)
    repository.commit(f"x\n\nThis reverts commit {sha}.", empty=True)
    assert answer(repository) is Answer.SHIPPED


@pytest.mark.sampled(3)
@pytest.mark.parametrize("damage", ["noise", "half", "nothing", "folder", "pipe", "link"])
def test_a_damaged_index_changes_no_answer(repository, damage):
    repository.commit("AUTH1: login", LOGIN)
    path = index_of(repository)
    assert dos(repository.root)[0] == 0 and path.exists()
    whole = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage == "pipe":
        os.mkfifo(path)
    elif damage == "link":
        path.symlink_to(repository.root / "src/login.py")
    else:
        path.write_bytes(
            {"noise": bytes(range(256)) * 40, "half": whole[: len(whole) // 2], "nothing": b""}[
                damage
            ]
        )
    assert dos(repository.root)[0] == 0
    assert dos(repository.root, "AUTH", "AUTH2")[0] == 1
    assert (repository.root / "src/login.py").read_text() == LINES


def test_the_index_of_another_repository_is_not_believed(repository, tmp_path):
    repository.commit("AUTH1: login", LOGIN)
    theirs = index_of(repository)
    assert answer(repository) is Answer.SHIPPED
    other = Repository(tmp_path / "other")
    other.commit("begin")
    shutil.copy(theirs, index_of(other))
    assert answer(other) is Answer.NOT_SHIPPED


def test_a_tip_that_moves_to_and_fro_is_followed(repository):
    index_of(repository)
    before = repository.head
    after = repository.commit("AUTH1: login", LOGIN)
    for tip, expected in (
        (after, Answer.SHIPPED),
        (before, Answer.NOT_SHIPPED),
        (after, Answer.SHIPPED),
    ):
        repository.git("reset", "--quiet", "--hard", tip)
        assert answer(repository) is expected
    repository.git("reset", "--quiet", "--hard", before)
    repository.commit("AUTH1: login", empty=True)
    assert answer(repository) is Answer.UNPROVEN


@pytest.mark.soak
def test_many_who_ask_first_get_the_same_answer(repository):
    repository.commit("AUTH1: login", LOGIN)
    index_of(repository)
    with ThreadPoolExecutor(6) as at_once:
        assert set(at_once.map(lambda _: dos(repository.root), range(12))) == {(0, "SHIPPED")}


@pytest.mark.soak
def test_who_is_killed_while_reading_leaves_nothing_wrong(repository):
    repository.commit("AUTH1: login", LOGIN)
    who = "committer A <a@example.org> 1700000000 +0000"
    first = f"commit refs/heads/main\n{who}\ndata 4\nmore\nfrom {repository.head}^0\n\n"
    more = f"commit refs/heads/main\n{who}\ndata 4\nmore\n\n" * 20_000
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=repository.root,
        input=(first + more).encode(),
        check=True,
    )
    index = index_of(repository)
    asking = subprocess.Popen(
        [sys.executable, "-m", "dos", "verify", "AUTH", "AUTH1"],
        cwd=repository.root,
        stdout=subprocess.DEVNULL,
    )
    while not index.exists() and asking.poll() is None:
        time.sleep(0.005)
    asking.send_signal(signal.SIGKILL)
    asking.wait()
    assert dos(repository.root) == (0, "SHIPPED")


def test_a_cut_that_somebody_wrote_by_hand_is_told(repository):
    repository.commit("AUTH1: login", LOGIN)
    repository.git("revert", "--no-edit", "HEAD")
    (repository.root / ".git/shallow").write_text(repository.head + "\n")
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.limits) == (Answer.CANNOT_TELL, ("shallow",))


def test_a_false_commit_graph_is_not_read(repository):
    sha = repository.commit("AUTH1: login", LOGIN)
    repository.commit("later")
    repository.git("commit-graph", "write", "--reachable")
    graph = repository.root / ".git/objects/info/commit-graph"
    graph.chmod(0o644)
    graph.write_bytes(graph.read_bytes().replace(bytes.fromhex(sha), b"\xff" * 20))
    assert answer(repository) is Answer.SHIPPED


def test_attributes_and_drivers_of_the_repository_are_not_run(repository):
    repository.commit("AUTH1: login", {"src/base.py": "base = 1  # login\n"})
    (repository.root / ".git/info/attributes").write_text("* diff=own filter=own\n")
    for key in (
        "diff.own.textconv",
        "diff.own.command",
        "filter.own.clean",
        "filter.own.smudge",
        "diff.external",
    ):
        repository.git("config", key, "touch ran; cat")
    assert answer(repository) is Answer.UNPROVEN
    assert not (repository.root / "ran").exists()


def test_nothing_is_fetched_to_answer(repository):
    repository.commit("AUTH1: login", LOGIN)
    forget(repository, repository.git("rev-parse", "HEAD:src/login.py"))
    for key, value in (
        ("core.repositoryformatversion", "1"), ("extensions.partialClone", "origin"),
        ("remote.origin.url", "ssh://x/y"),
        ("remote.origin.promisor", "true"),
        ("core.sshCommand", f"touch {repository.root}/ran; false"),
    ):  # fmt: skip
        repository.git("config", key, value)
    assert dos(repository.root)[0] != 0
    assert not (repository.root / "ran").exists()


@pytest.mark.parametrize(
    "setting", ["core.worktree=/", "core.bare=true", "core.ignoreCase=true", "log.follow=true"]
)
def test_settings_of_the_repository_hide_no_deletion(repository, setting):
    repository.commit("AUTH1: login", LOGIN)
    repository.commit("clean up", {"src/login.py": None})
    repository.git("config", *setting.split("="))
    assert dos(repository.root) == (4, "UNDONE")


def test_a_head_of_any_shape_is_followed(repository):
    repository.commit("AUTH1: login", LOGIN)
    repository.git("tag", "--annotate", "v1", "-m", "first")
    repository.git("checkout", "--quiet", "--detach")
    assert dos(repository.root)[0] == 0
    (repository.root / ".git/HEAD").write_text("ref: refs/tags/v1\n")
    assert dos(repository.root)[0] == 0
    (repository.root / ".git/HEAD").write_text("nonsense\n")
    assert dos(repository.root)[0] == 2


def test_a_worktree_and_a_sparse_checkout_see_the_same_history(repository, tmp_path):
    repository.commit("AUTH1: login", {"lib/login.py": LINES})
    repository.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "linked")
    assert dos(tmp_path / "linked")[0] == 0
    repository.git("sparse-checkout", "set", "src")
    assert not (repository.root / "lib").exists()
    assert answer(repository) is Answer.SHIPPED


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "ref", ["a" * 40, "HEAD:src", "HEAD^{tree}", "HEAD~99", "HEAD;ls", "\u202eHEAD", "HEAD --all"]
)
def test_a_name_that_is_no_commit_is_an_error(repository, ref):
    repository.commit("AUTH1: login", LOGIN)
    repository.git("update-ref", f"refs/heads/{'a' * 40}", "HEAD")
    assert dos(repository.root, "AUTH", "AUTH1", f"--ref={ref}") == (2, "")


def test_history_that_is_damaged_is_an_error_and_no_answer(repository):
    repository.commit("AUTH1: login", LOGIN)
    middle = repository.commit("middle")
    repository.commit("last")
    forget(repository, middle)
    for words in ((), ("--no-index",)):
        assert dos(repository.root, "AUTH", "AUTH1", *words) == (2, "")


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 100_000, '[verify]\nrequire = "nothing"\n', "[verify", "\ufffe = 1"]
)
def test_a_committed_policy_that_cannot_be_read_is_an_error(repository, text):
    repository.commit("AUTH1: login", LOGIN)
    repository.commit("policy", {"dos.toml": text})
    assert dos(repository.root) == (2, "")


def test_a_path_with_a_way_up_in_it_widens_nothing(repository):
    repository.commit(
        "declare", {"docs/auth-plan.md": "## AUTH AUTH1: log in\n\n- paths: src/../lib/**\n"}
    )
    repository.commit("AUTH1: login", LOGIN)
    assert answer(repository) is Answer.UNPROVEN


def test_a_question_leaves_no_trace_in_a_repository_that_nobody_set_up(
    repository, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repository.commit("AUTH1: login", LOGIN)

    def everything():
        return sorted(
            (path, path.stat().st_size, path.stat().st_mtime_ns)
            for path in repository.root.rglob("*")
        )

    before = everything()
    assert dos(repository.root)[0] == 0
    assert everything() == before


READERS = {
    "named": lambda text: UnitName("AUTH", "AUTH1").find_in(Message.parse(text)),
    "negated": lambda text: unfinished_words(text, len(text) // 2, len(text) // 2 + 1),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("reader", "piece"),
    [
        ("named", "a1,"), ("named", "AUTH "), ("named", "x\n\n* AUTH2: x\n"),
        ("named", "v1.2.3: AUTH1 "),
        ("negated", "not ("), ("negated", "no a "), ("negated", "half-"), ("a.py", "\n'a'\n"),
        ("a.py", '"""'),
        ("a.js", "=/[a"), ("a.js", "/*"), ("a.rs", 'r#"'), ("a.hs", "{-"), ("a.lua", "--[["),
        ("a.html", "<!--"),
        ("a.sh", "\\'"), ("a.yml", ' "'), ("named", "(AUTH "),
        ("a.sh", "<<A "), ("a.rb", "<<A\n"), ("a.php", "<<<A\n"), ("a.yml", "a: |\n"),
    ],
)  # fmt: skip
def test_reading_takes_time_in_step_with_the_length(reader, piece):
    read = READERS.get(reader, lambda text: content.significant_lines(reader, text))

    short, long = (piece * (length // len(piece)) for length in (30_000, 240_000))
    assert grows_less_than(
        40, read, short, long
    )  # eight times as long: 64 times where it is quadratic
