"""Laws of `dos verify` over generated repositories, and over the verdicts alone."""

import json
import os
import pty
import shutil
import string
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

import pytest
from amounts import EXAMPLES, long
from generated import (
    FAINT_FORMS,
    FORMS,
    NOISE,
    PLAIN_FORMS,
    UNITS,
    Node,
    Story,
    git,
    moves,
    stories,
    written,
)  # fmt: skip
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from msgspec import structs
from repository import Repository

from dos.cli import main
from dos.git import message_index
from dos.verbs.listing.table import VERBS
from dos.verify import shipped, survival
from dos.verify.candidate import CandidateCommit, Tier
from dos.verify.footprint import Footprint
from dos.verify.io import verifier
from dos.verify.io.verifier import Ask
from dos.verify.message import Message
from dos.verify.naming import Naming, Rung, UnitName
from dos.verify.policy import Policy, Stamp
from dos.verify.shipped import Answer, Evidence, Verdict
from dos.verify.survival import File, Survival
from dos.world import World

MANY = settings(max_examples=EXAMPLES, deadline=None)
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def few(examples):
    return settings(max_examples=examples, deadline=None, suppress_health_check=SLOW)


def essence(verdict: Verdict) -> tuple[object, ...]:
    return verdict.answer, verdict.tier, verdict.sha, verdict.contradictions


# A name is a whole word.

ALPHABET = string.ascii_letters + string.digits
series = st.sampled_from(["AUTH", "P", "docs/42_wheel-builds", "Ünit", "x2"])
begins = st.sampled_from(
    ["{plan}1", "{plan}12", "1", "login", "Phase 1", "{plan}1.2", "{plan}-3", "é1", "K9"]
)
tails = (
    st.text(ALPHABET, min_size=1, max_size=3)
    | st.text(ALPHABET, min_size=1, max_size=2).map(".{}".format)
    | st.text(ALPHABET, min_size=1, max_size=3).map("-{}".format)
)
stamps = st.builds(
    Stamp, trailer_stamp=st.booleans(), progress_markers=st.sampled_from([(), ("audit",)])
)


def check_a_longer_id_never_names_a_shorter_one(plan, begin, tail, form, stamp):
    short = begin.format(plan=plan)
    longer = short + tail
    message = Message.parse(form.format(plan=plan, id=longer))
    assert UnitName(plan, short, stamp).find_in(message) is None, message
    if form in PLAIN_FORMS and UnitName(plan, longer).contains_plan(longer):
        assert UnitName(plan, longer, stamp).find_in(message) is not None, message


BOUNDARY = (series, begins, tails, st.sampled_from(FORMS), stamps)


@pytest.mark.soak
@few(200)
@given(*BOUNDARY)
def test_a_longer_id_never_names_a_shorter_one(plan, begin, tail, form, stamp):
    check_a_longer_id_never_names_a_shorter_one(plan, begin, tail, form, stamp)


@pytest.mark.soak
@MANY
@given(*BOUNDARY)
def test_a_longer_id_never_names_a_shorter_one_in_very_many(plan, begin, tail, form, stamp):
    check_a_longer_id_never_names_a_shorter_one(plan, begin, tail, form, stamp)


def check_a_commit_that_names_another_ships_nothing(story, tail, forms):
    """The unit is AUTH1, and every commit names AUTH1 with something behind it."""
    for number, form in enumerate(forms):
        tree = dict(story.tree()) | {f"src/own{number}.py": story.fresh(3)}
        story.add(form.format(plan="AUTH", id=f"AUTH1{tail}"), tree)
    with written(story) as repository:
        assert repository.verify(("AUTH", "AUTH1")).answer is Answer.NOT_SHIPPED
        assert repository.verify(("AUTH", f"AUTH1{tail}")).answer is Answer.SHIPPED


OTHERS = (
    stories(most=5, units=[]),
    tails,
    st.permutations(FORMS).map(lambda forms: [*forms[:5], PLAIN_FORMS[0]]),
)


@pytest.mark.soak
@few(20)
@given(*OTHERS)
def test_a_commit_that_names_another_ships_nothing(story, tail, forms):
    check_a_commit_that_names_another_ships_nothing(story, tail, forms)


@pytest.mark.soak
@few(long(100, 2_000))
@given(*OTHERS)
def test_a_commit_that_names_another_ships_nothing_in_many_repositories(story, tail, forms):
    check_a_commit_that_names_another_ships_nothing(story, tail, forms)


# What does not concern a unit does not change what is said of it.


def check_strangers_change_nothing(story, noise):
    before = story.tip
    for act in noise:
        act(story)
    with written(story) as repository:
        for unit in UNITS:
            assert essence(repository.verify(unit)) == essence(repository.verify(unit, before)), (
                unit
            )


@pytest.mark.soak
@few(25)
@given(stories(), NOISE)
def test_commits_about_something_else_change_nothing(story, noise):
    check_strangers_change_nothing(story, noise)


@pytest.mark.soak
@few(long(80, 1_200))
@given(stories(most=20, clocks=("steady", "still")), NOISE)
def test_commits_about_something_else_change_nothing_in_many_repositories(story, noise):
    check_strangers_change_nothing(story, noise)


# What was taken back is not there, and what was put back is.

UNIT = UNITS[0]
WORK = ("work", "work", "change", "rewrite", "shorten", "delete", "rename", "merge")


def check_reverts(story, ship, form, between, clock):
    story.clock = clock
    before = len(story.nodes)
    story.play(structs.replace(ship, branch=0, message=form.format(plan=UNIT[0], id=UNIT[1])))
    assume(len(story.nodes) == before + 1)
    sha = story.tip
    for act in between:
        act(story)
    reverted = story.revert(sha)
    again = story.revert(reverted)
    with written(story) as repository:
        first = repository.verify(UNIT, sha)
        taken = repository.verify(UNIT, reverted)
        assert taken.answer is not Answer.SHIPPED
        if first.answer is Answer.SHIPPED:
            assert (taken.answer, taken.undone_by) == (Answer.UNDONE, repository.shas[reverted])
        assert essence(repository.verify(UNIT, again)) == essence(first)


REVERTS = (
    stories(most=6, units=UNITS[1:]),
    moves(kinds=WORK),
    st.sampled_from((*PLAIN_FORMS, *FAINT_FORMS)),
    st.just([]) | NOISE,
    st.sampled_from(["steady", "still"]),
)


@pytest.mark.soak
@few(25)
@given(*REVERTS)
def test_a_revert_takes_back_and_its_revert_puts_back(story, ship, form, between, clock):
    check_reverts(story, ship, form, between, clock)


@pytest.mark.soak
@few(long(100, 2_000))
@given(*REVERTS)
def test_a_revert_takes_back_and_its_revert_puts_back_in_many_repositories(
    story, ship, form, between, clock
):
    check_reverts(story, ship, form, between, clock)


# Who asks, and from where, is no matter.

SETTINGS = [
    "color.ui=always", "color.diff=always", "log.decorate=full", "log.showSignature=true",
    "log.follow=true",
    "log.showRoot=false", "log.mailmap=true", "log.date=relative", "log.diffMerges=off",
    "format.pretty=oneline",
    "format.encodeEmailHeaders=true", "i18n.logOutputEncoding=UTF-16", "i18n.commitEncoding=latin1",
    "core.quotePath=true", "core.abbrev=4", "core.ignoreCase=true", "core.precomposeUnicode=true",
    "core.commitGraph=true", "core.bigFileThreshold=1", "core.pager=false", "core.fsmonitor=false",
    "core.useReplaceRefs=true", "core.attributesFile=/nowhere", "core.disambiguate=tree",
    "core.bare=true",
    "core.warnAmbiguousRefs=false", "core.excludesFile=/nowhere", "core.autocrlf=true",
    "core.eol=crlf",
    "diff.renames=copies", "diff.renameLimit=1", "diff.noprefix=true", "diff.orderFile=/nowhere",
    "diff.external=false", "diff.ignoreSubmodules=all", "diff.algorithm=histogram",
    "diff.submodule=log",
    "grep.patternType=perl", "grep.extendedRegexp=true", "alias.log=!false",
    "alias.cat-file=!false",
    "pager.log=true", "gc.auto=1", "protocol.version=0", "fetch.fsckObjects=true",
    "feature.experimental=true",
    "safe.bareRepository=explicit", "advice.detachedHead=false", "submodule.recurse=true",
    "tag.gpgSign=true",
    "log.initialDecorationSet=all", "core.splitIndex=true", "core.untrackedCache=true",
    "index.threads=1",
]  # fmt: skip


def eventful() -> Story:
    """One of every kind: a moved ship, a revert, a removal, a lost merge, a rewrite, a claim."""
    story = Story()
    units = ["MOVED", "REVERTED", "REMOVED", "LOST", "REWRITTEN", "EMPTY", "DOCS", "SIDE"]
    for number, name in enumerate(units):
        if name == "LOST":
            begun, tree = story.tip, dict(story.tree())
            lost = story.add("LOST1: do it", tree | {"src/lost.py": story.fresh(3)})
            story.branches[0] = begun
            story.add("Merge a branch", tree, merged=lost)
            continue
        path = "docs/it.md" if name == "DOCS" else f"src/{name.lower()}.py"
        lines = {} if name == "EMPTY" else {path: story.fresh(number + 2)}
        story.add(f"{name}1: do it é", dict(story.tree()) | lines)
        if name == "REVERTED":
            story.revert(story.tip)
    tree = dict(story.tree())
    tree["lib/moved.py"] = tree.pop("src/moved.py")
    del tree["src/removed.py"]
    tree["src/rewritten.py"] = story.fresh(4)
    story.add("clean up", tree)
    return story


EVENTS = [
    (name, f"{name}1")
    for name in ("MOVED", "REVERTED", "REMOVED", "LOST", "REWRITTEN", "EMPTY", "DOCS", "NONE")
]


@pytest.fixture(scope="module")
def events():
    with written(eventful()) as repository:
        git(repository.root, "reset", "--hard", "--quiet")
        yield repository


def asked(root: Path, **ask: object) -> list[Verdict]:
    return verifier.verify(World(root), EVENTS, Ask(**ask))


def test_the_eventful_history_has_all_kinds_of_answers(events):
    answers = {verdict.plan: verdict.answer.value for verdict in asked(events.root)}
    assert answers == {
        "MOVED": "SHIPPED", "REVERTED": "UNDONE", "REMOVED": "UNDONE", "LOST": "UNDONE",
        "REWRITTEN": "UNPROVEN",
        "EMPTY": "UNPROVEN", "DOCS": "UNPROVEN", "NONE": "NOT_SHIPPED",
    }  # fmt: skip


@pytest.mark.sampled(10)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("where", ["user", "repository"])
def test_settings_of_git_change_nothing(events, monkeypatch, tmp_path, setting, where):
    expected = asked(events.root, uses_index=False)
    name, _, value = setting.partition("=")
    file = tmp_path / ".gitconfig" if where == "user" else events.root / ".git/config"
    kept = file.read_bytes() if file.exists() else b""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    try:
        git(events.root, "config", "--file", str(file), name, value)
        assert asked(events.root) == expected
    finally:
        file.write_bytes(kept)


def said(root: Path, *words: str, tty: bool = False, **environment: str) -> dict[str, object]:
    command = [
        sys.executable,
        "-m",
        "dos",
        "verify",
        *(word for unit in EVENTS for word in unit),
        "--json",
        *words,
    ]
    inherited = {**os.environ, **environment}
    if not tty:
        return json.loads(
            subprocess.run(command, cwd=root, capture_output=True, env=inherited).stdout
        )
    outer, inner = pty.openpty()
    with os.fdopen(outer, "rb", buffering=0) as terminal:
        process = subprocess.Popen(
            command, cwd=root, stdout=inner, stderr=inner, stdin=inner, env=inherited
        )
        os.close(inner)
        read = b""
        while True:
            try:
                piece = terminal.read(65536)
            except OSError:  # how Linux says that the other side is closed
                break
            if not piece:
                break
            read += piece
        process.wait()
    return json.loads(read)


@pytest.mark.soak
def test_terminals_languages_and_variables_change_nothing(events, tmp_path):
    expected = said(events.root)
    other = Repository(tmp_path / "other")
    other.commit("NONE1: do it")
    theirs = str(other.root / ".git")
    assert said(events.root, tty=True, TERM="xterm-256color", DOS_COLOR="always") == expected
    for environment in (
        {"LC_ALL": "C"}, {"LC_ALL": "tr_TR.UTF-8", "LANG": "de_DE.UTF-8"},
        {"PYTHONIOENCODING": "ascii"},
        {"GIT_DIR": theirs, "GIT_WORK_TREE": str(other.root), "GIT_INDEX_FILE": "/nowhere",
        "GIT_COMMON_DIR": theirs},
        {"GIT_OBJECT_DIRECTORY": theirs + "/objects", "GIT_NAMESPACE": "x",
        "GIT_CEILING_DIRECTORIES": "/"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "log.follow", "GIT_CONFIG_VALUE_0": "true"},
        {"GIT_TRACE": "1", "GIT_LITERAL_PATHSPECS": "1", "GIT_PAGER": "false",
        "GIT_REPLACE_REF_BASE": "refs/heads/"},
        {"GIT_CONFIG_PARAMETERS": "'log.follow'='true'", "GIT_NO_REPLACE_OBJECTS": "",
        "GIT_DEFAULT_HASH": "sha256"},
        {"GIT_EXTERNAL_DIFF": "false", "GIT_GRAFT_FILE": "/nowhere", "GIT_ICASE_PATHSPECS": "1",
        "NO_COLOR": "1"},
    ):  # fmt: skip
        assert said(events.root, **environment) == expected, environment


@pytest.mark.soak
def test_where_one_stands_changes_nothing(events, tmp_path):
    expected = said(events.root)
    linked = tmp_path / "linked"
    git(events.root, "worktree", "add", "--quiet", "--detach", str(linked))
    try:
        assert said(events.root / "src") == expected
        assert said(linked) == expected
        assert said(linked / "src") == expected
        assert said(tmp_path, "--workspace", str(events.root)) == expected
    finally:
        git(events.root, "worktree", "remove", "--force", str(linked))


def test_a_file_that_came_while_another_went_is_not_the_same_one(tmp_path):
    """Two files of a line each share nothing but their line ends."""
    repository = Repository(tmp_path / "work")
    repository.commit("begin")
    repository.commit("AUTH1: do it", {"src/b.py": "three = 3\n"})
    repository.commit("clean up", {"src/b.py": None, "src/c.py": "other = 1\n"})
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.contradictions) == (Answer.UNDONE, ("removed",)), verdict.reason


# Whatever commits say of themselves, nobody has seen it work.

BOASTS = "\n\nTests: passed\nCI: GREEN\nReviewed-by: CI <ci@example.org>\nWitnessed: T6 attested"


def check_commits_alone_are_never_witnessed(story, require):
    story.nodes = [structs.replace(node, message=node.message + BOASTS) for node in story.nodes]
    with written(story) as repository:
        (repository.root / "dos.state.yaml").write_text(
            "recently_completed:\n"
            + "".join(
                f"- {{plan: {p}, phase: {u}, status: done, commit_sha: {repository.shas[-1]}}}\n"
                for p, u in UNITS
            )
        )
        for unit in UNITS:
            assert repository.verify(unit).tier <= Tier.LIVE
            assert not repository.verify(unit, require=require).shipped


@few(15)
@given(stories(), st.sampled_from(["witnessed", "attested"]))
def test_commits_alone_are_never_witnessed(story, require):
    check_commits_alone_are_never_witnessed(story, require)


@pytest.mark.soak
@few(long(40, 400))
@given(stories(), st.sampled_from(["witnessed", "attested"]))
def test_commits_alone_are_never_witnessed_in_many_repositories(story, require):
    check_commits_alone_are_never_witnessed(story, require)


# The index never changes an answer.


def check_the_index_changes_nothing(story, order, many):
    with written(story) as repository, patch.object(message_index, "_MANY", many):
        (repository.root / ".git/dos").mkdir()
        for number in [*order, story.tip]:
            at = number % len(story.nodes)
            for unit in UNITS[:2]:
                assert repository.verify(unit, at, uses_index=True) == repository.verify(unit, at)


BRANCHES = (
    "work",
    "work",
    "work",
    "fork",
    "fork",
    "merge",
    "merge",
    "merge",
    "ours",
    "rename",
    "delete",
    "revert",
)
SPLITS = (st.lists(st.integers(0, 30), min_size=1, max_size=5), st.sampled_from([0, 1, 3, 2_000]))


@pytest.mark.soak
@few(15)
@given(stories(units=UNITS[:1], kinds=BRANCHES), *SPLITS)
def test_an_index_that_followed_any_tips_gives_the_same_verdicts(story, order, many):
    check_the_index_changes_nothing(story, order, many)


@pytest.mark.soak
@few(long(40, 400))
@given(
    stories(most=25, clocks=("steady", "still", "backwards"), units=UNITS[:2], kinds=BRANCHES),
    *SPLITS,
)
def test_an_index_that_followed_any_tips_gives_the_same_verdicts_in_many_repositories(
    story, order, many
):
    check_the_index_changes_nothing(story, order, many)


# All at once, or one by one.

PLAN = tuple(
    line
    for plan, unit in UNITS
    for line in (
        f"## {plan} {unit}: do it",
        "",
        *(["- paths: src/**", ""] if unit != "AUTH2" else []),
    )
)


def check_all_units_are_answered_as_each_is(drawn):
    begun = Node(message="begin", tree={"docs/all-plan.md": PLAN, "src/a.py": ("start = 1",)})
    story = Story(nodes=[begun], branches=[0])
    for move in drawn:
        story.play(move)
    story.add("declare", dict(story.tree()) | {"docs/all-plan.md": PLAN})
    with written(story) as repository:
        world = World(repository.root)
        ask = Ask(ref=repository.shas[story.tip])
        together = verifier.verify(world, None, ask)
        assert [(verdict.plan, verdict.phase) for verdict in together] == UNITS
        assert together == [
            verifier.verify(World(repository.root), [unit], ask)[0] for unit in UNITS
        ]


@pytest.mark.soak
@few(15)
@given(st.lists(moves(), min_size=3, max_size=14))
def test_all_units_are_answered_as_each_is(drawn):
    check_all_units_are_answered_as_each_is(drawn)


@pytest.mark.soak
@few(long(30, 300))
@given(st.lists(moves(), min_size=3, max_size=14))
def test_all_units_are_answered_as_each_is_in_many_repositories(drawn):
    check_all_units_are_answered_as_each_is(drawn)


# What cannot be read is not answered.


def exit_code(capsys, root: Path, *words: str) -> int:
    code = main.run(["verify", "--workspace", str(root), *words])
    heard = capsys.readouterr()
    assert "Traceback" not in heard.err and "bug in dos" not in heard.err, heard.err
    return code


@pytest.fixture
def small(tmp_path):
    """A ship, one that was removed again, and a deletion that counts; every object is loose."""
    repository = Repository(tmp_path / "work")
    repository.commit(
        "begin",
        {
            "src/old.py": "old = 1\n",
            "docs/all-plan.md": "## AUTH AUTH1: do it\n\n- paths: src/**\n",
        },
    )
    repository.commit("AUTH1: do it", {"src/deep/a.py": "one = 1\ntwo = 2\n"})
    repository.commit("AUTH2: do it", {"src/b.py": "three = 3\n"})
    repository.commit("AUTH3: drop it", {"src/old.py": None})
    repository.commit("clean up", {"src/b.py": None})
    return repository


SMALL = [("AUTH1", 0), ("AUTH2", 4), ("AUTH3", 0), ("AUTH4", 1)]
DAMAGE = {
    "cut off": lambda raw: raw[: len(raw) // 2],
    "empty": lambda raw: b"",
    "noise": lambda raw: bytes(len(raw)),
    "missing": None,
}


def test_a_damaged_object_is_an_error_or_no_matter(small, capsys):
    assert_damage_is_noticed(small, capsys, "cut off", every=4)


@pytest.mark.soak
@pytest.mark.parametrize("damage", DAMAGE)
def test_any_damaged_object_is_an_error_or_no_matter(small, capsys, damage):
    assert_damage_is_noticed(small, capsys, damage, every=1)


def assert_damage_is_noticed(small, capsys, damage, every):
    objects = sorted(small.root.glob(".git/objects/??/*"))[::every]
    assert len(objects) > 5
    wrong = []
    for file in objects:
        kept = file.read_bytes()
        file.unlink()
        if DAMAGE[damage] is not None:
            file.write_bytes(DAMAGE[damage](kept))
        for unit, intact in SMALL:
            code = exit_code(capsys, small.root, "AUTH", unit, "--no-index")
            if code not in (2, 5, intact):
                name = file.parent.name + file.name
                wrong.append((unit, intact, code, name))
        file.unlink(missing_ok=True)
        file.write_bytes(kept)
    kinds = [(*each[:3], small.git("cat-file", "-t", each[3])) for each in wrong]
    assert not kinds


@pytest.mark.parametrize(
    "ref",
    [
        "nope",
        "-x",
        "--all",
        "HEAD~99",
        "HEAD^{tree}",
        "HEAD:src",
        "0" * 40,
        "f" * 40,
        "a b",
        "x\ny",
        "",
        "@{u}",
        "main..",
    ],
)
def test_a_ref_that_is_no_commit_is_an_error(small, capsys, ref):
    assert exit_code(capsys, small.root, "AUTH", "AUTH1", f"--ref={ref}") == 2
    if ref:
        assert exit_code(capsys, small.root, "AUTH", "AUTH1", f"--merged-into={ref}") == 2


def test_without_git_nobody_can_tell(small, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    for unit, _ in SMALL:
        assert exit_code(capsys, small.root, "AUTH", unit) in (2, 5)


HALF = (
    "import os, signal, subprocess, sys; git = subprocess.Popen(sys.argv[1:], stdout=-1);"
    "os.write(1, git.stdout.read(70)); git.kill(); git.wait(); os.kill(os.getpid(), signal.SIGKILL)"
)
FAULTS = {
    "is killed": "kill -9 $$",
    "says no": "exit 1",
    "dies half way": f'exec {sys.executable} -S -c "{HALF}" "$real" "$@"',
    "says garbage": "printf 'garbage garbage\\nmore'; exit 0",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("word", ["cat-file", "log", "rev-list", "rev-parse", "symbolic-ref"])
def test_a_git_that_fails_gives_no_other_answer(small, capsys, monkeypatch, tmp_path, fault, word):
    shim = tmp_path / "bin/git"
    shim.parent.mkdir()
    shim.write_text(
        f"#!/bin/sh\nreal={shutil.which('git')}\n"
        f'for word in "$@"; do if [ "$word" = {word} ]; then {FAULTS[fault]}; fi; done\n'
        'exec "$real" "$@"\n'
    )
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}:{os.environ['PATH']}")
    for words in ([], ["--no-index"], ["--merged-into=main"]):
        for unit, intact in SMALL:
            assert exit_code(capsys, small.root, "AUTH", unit, *words) in (2, 5, intact), (
                unit,
                words,
            )


# A question leaves no trace.

WORDS = {
    "verify": ["AUTH", "AUTH1"], "claims": ["--text", "AUTH AUTH1 is done"],
    "answer-shape": ["--text", "Yes."],
    "hook stop": ["--plan", "AUTH", "--phase", "AUTH1"],
    "coverage": ["--declared", "2", "--states", "done,done"],
    "arg-provenance": ["--tool", "t", "--args", "{}"], "witness": ["key"],
    "judge": ["--judge", "abstain", "claim"],
    "judge-eval": ["--cases", "docs/all-plan.md"],
    "attest": ["--claim", "it", "--accept-cmd", "true"],
    "test-witness run": ["--cmd", "true"], "receipt": ["AUTH", "AUTH1"],
    "verify-receipt": ["--commit", "HEAD"],
}  # fmt: skip
FAMILY = sorted(name for name, verb in VERBS.items() if verb.group == "truth")


def everything(root: Path) -> dict[str, str]:
    state = root / ".git/dos"
    return {
        str(path.relative_to(root)): sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in root.rglob("*")
        if path != state and state not in path.parents
    }


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FAMILY)
def test_a_question_leaves_no_trace(small, tmp_path, name):
    (small.root / "untracked.py").write_text("x = 1\n")
    before = everything(small.root)
    command = [sys.executable, "-m", "dos", *name.split(), *WORDS.get(name, [])]
    own = {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
    }
    for _ in range(2 if name == "verify" else 1):
        done = subprocess.run(
            command,
            cwd=small.root,
            capture_output=True,
            text=True,
            input="{}",
            env=os.environ | own,
        )
        assert "Traceback" not in done.stderr and done.returncode != 70, done.stderr
    assert everything(small.root) == before
    assert not (small.root / ".git/dos").exists()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "words", [("AUTH", "AUTH1"), ("AUTH", "AUTH2"), ("--all",), ("AUTH", "AUTH1", "--no-index")]
)
def test_in_a_workspace_only_the_state_directory_is_written(small, words):
    small.commit("declare", {"dos.toml": "[verify]\n"})
    (small.root / "untracked.py").write_text("x = 1\n")
    before = everything(small.root)
    for _ in range(2):
        subprocess.run(
            [sys.executable, "-m", "dos", "verify", *words], cwd=small.root, capture_output=True
        )
    assert everything(small.root) == before
    assert (small.root / ".git/dos").exists() is ("--no-index" not in words)


# What the verdicts do by themselves.

LINES = st.lists(st.sampled_from(["a = 1", "b = 2", "c = 3", "d", "pass", "}"]), max_size=6)
SIDES = st.none() | LINES


def check_survival(triples):
    files = [
        File(path=f"{number}.py", old=old, new=new, now=now)
        for number, (old, new, now) in enumerate(triples)
    ]
    changed = [file for file in files if file.is_change]
    assume(changed)
    verdict = survival.judge(changed)
    assert 0 <= verdict.kept <= verdict.total and verdict.total > 0
    assert (verdict.state in (Survival.LIVE, Survival.PARTIAL)) is (verdict.kept > 0)
    assert (
        survival.judge([structs.replace(file, now=file.new) for file in changed]).state
        is Survival.LIVE
    )
    assert (
        survival.judge([structs.replace(file, now=file.old) for file in changed]).state
        is Survival.UNDONE
    )
    there = [file for file in changed if file.new is not None]
    if there:
        assert (
            survival.judge([structs.replace(file, now=None) for file in there]).state
            is Survival.UNDONE
        )


TRIPLES = st.lists(st.tuples(SIDES, SIDES, SIDES), min_size=1, max_size=4)


@pytest.mark.soak
@few(300)
@given(TRIPLES)
def test_what_stands_is_counted_by_lines(triples):
    check_survival(triples)


namings = st.builds(
    Naming,
    rung=st.sampled_from([Rung.DIRECT, Rung.LIST]),
    faint=st.booleans(),
    negated=st.booleans(),
)
prints = st.builds(
    Footprint,
    flaw=st.sampled_from(
        [
            "",
            "",
            "",
            "empty",
            "bookkeeping_only",
            "docs_only",
            "cosmetic_only",
            "stubs_only",
            "dead_code_only",
        ]
    ),
    out_of_scope=st.booleans(),
)
fates = st.builds(
    survival.SurvivalVerdict,
    state=st.sampled_from(Survival),
    kept=st.integers(0, 5),
    total=st.integers(5, 9),
)
seen = st.builds(
    CandidateCommit,
    sha=st.integers(1, 10**6).map("{:040x}".format), summary=st.just("s"), naming=namings,
    footprint=prints,
    unreadable=st.sampled_from(["", "", "cut off"]), is_scoped=st.booleans(),
    survival=st.none() | fates,
    undone_by=st.sampled_from(["", "f" * 40]), is_reverted=st.booleans(),
    is_merged=st.sampled_from([True, True, False]), witnessed=st.sampled_from(["", "seen"]),
    attested=st.sampled_from(["", "signed"]),
    ci=st.sampled_from(["", "GREEN", "RED", "PENDING", "NO_SIGNAL"]),
)  # fmt: skip
policies = st.builds(
    Policy,
    require=st.sampled_from(["named", "live", "witnessed", "attested"]),
    ci=st.sampled_from(["advise", "require"]),
)
RANK = {
    Answer.NOT_SHIPPED: 0,
    Answer.CANNOT_TELL: 0,
    Answer.UNDONE: 0,
    Answer.UNPROVEN: 1,
    Answer.SHIPPED: 2,
}


def of(*candidates: CandidateCommit) -> Evidence:
    return Evidence(plan="P", phase="U", ref="HEAD", commits=candidates)


def check_the_answer_rests_on_its_tier(candidates, policy):
    verdict = shipped.judge(of(*candidates), policy)
    assert verdict.shipped is (verdict.answer is Answer.SHIPPED) is (verdict.exit_code == 0)
    assert (verdict.source != "none") is verdict.shipped
    if verdict.shipped:
        assert verdict.tier >= shipped.required_tier(policy)
        assert shipped.Contradiction.NOT_MERGED not in verdict.contradictions
        assert policy.require == "named" or not {"empty", "reverted", "removed"} & set(
            verdict.contradictions
        )
    assert len(verdict.candidates) == len(candidates)
    assert verdict.sha in {candidate.sha for candidate in candidates}


def check_more_evidence_lowers_nothing(candidates, more, policy):
    """More candidates that do not contradict, and more evidence, never lower an answer."""
    before, alone = shipped.judge(of(*candidates), policy), shipped.judge(of(more), policy)
    is_red = policy.ci_required and any(each.ci == "RED" for each in (*candidates, more))
    if (before.shipped or alone.shipped) and not is_red:
        for at in (0, len(candidates)):
            assert shipped.judge(of(*candidates[:at], more, *candidates[at:]), policy).shipped
    after = shipped.judge(
        of(structs.replace(more, witnessed="seen", attested="signed", ci="GREEN")), policy
    )
    assert RANK[after.answer] >= RANK[alone.answer] and after.tier >= alone.tier


def check_the_newest_of_equals_answers(one, shas, policy):
    same = [structs.replace(one, sha=f"{sha:040x}") for sha in shas]
    assert shipped.judge(of(*same), policy).sha == same[0].sha


SOME = st.lists(seen, min_size=1, max_size=4)
SHAS = st.lists(st.integers(1, 99), min_size=1, max_size=4, unique=True)


@few(300)
@given(SOME, policies)
def test_the_answer_rests_on_its_tier(candidates, policy):
    check_the_answer_rests_on_its_tier(candidates, policy)


STANDS = CandidateCommit(
    sha="a" * 40,
    summary="s",
    naming=Naming(rung=Rung.DIRECT),
    survival=survival.SurvivalVerdict(state=Survival.LIVE, kept=1, total=1),
    ci="GREEN",
)


@pytest.mark.soak
@few(300)
@given(SOME, seen, policies)
@example([STANDS], structs.replace(STANDS, sha="b" * 40, ci="PENDING"), Policy(ci="require"))
def test_more_evidence_lowers_nothing(candidates, more, policy):
    check_more_evidence_lowers_nothing(candidates, more, policy)


@few(100)
@given(seen, SHAS, policies)
def test_the_newest_of_equals_answers(one, shas, policy):
    check_the_newest_of_equals_answers(one, shas, policy)


LAWS = {
    "survival": (check_survival, TRIPLES),
    "tiers": (check_the_answer_rests_on_its_tier, SOME, policies),
    "more": (check_more_evidence_lowers_nothing, SOME, seen, policies),
    "newest": (check_the_newest_of_equals_answers, seen, SHAS, policies),
}


@pytest.mark.soak
@pytest.mark.parametrize("law", LAWS)
def test_the_laws_of_the_verdicts_hold_for_very_many(law):
    check, *drawn = LAWS[law]
    MANY(given(*drawn)(check))()
