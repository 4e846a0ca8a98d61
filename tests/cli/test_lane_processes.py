"""The real command in real processes: races, subdirectories, worktrees, and reading that leaves no
trace."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest
from commanding import command, git, in_its_own_process
from patience import PATIENCE

from dos.journal import streams
from dos.verbs import lookup
from dos.verbs.listing.table import VERBS


def all_at_once(cwd, lines):
    """Every command is started before any is waited for."""
    started = [
        subprocess.Popen(command(*words), cwd=cwd, stdout=subprocess.PIPE, text=True)
        for words in lines
    ]
    ended = [process.communicate(timeout=PATIENCE)[0] for process in started]
    return [process.returncode for process in started], ended


@pytest.mark.soak
def test_eight_processes_that_want_one_lane_get_it_once(workspace, dos):
    words = [
        ("lease-lane", "acquire", "--lane", "api", "--kind", "keyword", "--owner", f"w{n}")
        for n in range(8)
    ]
    codes, _ = all_at_once(workspace, words)
    assert sorted(codes) == [0, 1, 1, 1, 1, 1, 1, 1]
    assert len(dos("lease-lane", "live").json) == 1
    assert dos("journal", "check").code == 0


def test_processes_with_one_owners_name_are_still_several(workspace, dos):
    codes, _ = all_at_once(
        workspace, [("lease-lane", "acquire", "--lane", "api", "--owner", "same")] * 6
    )
    assert sorted(codes) == [0, 1, 1, 1, 1, 1]


def test_ten_processes_and_three_lanes_make_three_grants(workspace, dos):
    codes, _ = all_at_once(
        workspace, [("lease-lane", "acquire", "--owner", f"w{n}") for n in range(10)]
    )
    assert sorted(codes) == [0] * 3 + [1] * 7
    live = dos("lease-lane", "live").json
    assert {lease["lane"] for lease in live} == {"api", "docs", "worker"}
    events = dos("journal", "tail", "0").lines
    positions = [event["pos"] for event in events]
    assert positions == sorted(set(positions))
    assert len([event for event in events if event["kind"] == "lease_granted"]) == 3
    assert dos("journal", "check").code == 0


@pytest.mark.soak
def test_a_subdirectory_and_a_linked_worktree_share_one_journal(workspace, tmp_path, dos):
    tree = tmp_path / "linked"
    git("worktree", "add", "--quiet", str(tree), "-b", "side", cwd=workspace)
    acquired = in_its_own_process(
        "lease-lane", "acquire", "--lane", "api", "--owner", "A", cwd=workspace / "api"
    )
    assert acquired.code == 0
    for folder in (workspace, workspace / "docs", tree, tree / "docs"):
        refused = in_its_own_process(
            "lease-lane", "acquire", "--lane", "api", "--owner", "B", cwd=folder
        )
        assert refused.code == 1, folder
        assert [
            lease["holder"] for lease in in_its_own_process("lease-lane", "live", cwd=folder).json
        ] == ["A"]
    assert (
        in_its_own_process("lease-lane", "release", "--lane", "api", "--owner", "A", cwd=tree).code
        == 0
    )
    assert dos("lease-lane", "live").json == []
    assert git("status", "--porcelain", cwd=workspace) == ""


def test_a_branch_cannot_change_the_policy_it_is_judged_under(workspace, tmp_path):
    tree = tmp_path / "linked"
    git("worktree", "add", "--quiet", str(tree), "-b", "side", cwd=workspace)
    (tree / "dos.toml").write_text('[lanes]\nconcurrent = ["mine"]\n[lanes.trees]\nmine = ["**"]\n')
    assert in_its_own_process("arbitrate", "--lane", "mine", cwd=tree).code == 2
    assert in_its_own_process("arbitrate", "--lane", "api", cwd=tree).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--workspace", "{}", "lease-lane", "live", "--pretty"),
        ("lease-lane", "--workspace", "{}", "live", "--pretty"),
        ("lease-lane", "live", "--workspace", "{}", "--pretty"),
        ("--pretty", "lease-lane", "live", "--workspace={}"),
        ("lease-lane", "--pretty", "live", "--workspace={}"),
    ],
    ids=" ".join,
)
def test_global_flags_stand_anywhere(workspace, tmp_path, dos, monkeypatch, words):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    monkeypatch.chdir(tmp_path)
    answer = dos(*(word.format(workspace) for word in words))
    assert answer.code == 0 and answer.json[0]["holder"] == "A" and answer.out.startswith("[\n")


def test_the_environment_names_a_workspace_too(workspace, tmp_path, dos, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISPATCH_WORKSPACE", str(workspace))
    assert dos("arbitrate", "--lane", "api").code == 0
    monkeypatch.setenv("DISPATCH_WORKSPACE", str(tmp_path / "nosuch"))
    assert dos("arbitrate", "--lane", "api").code == 2


READING = [
    ("arbitrate",),
    ("arbitrate", "--lane", "api", "--exact"),
    ("lease-lane", "live"),
    ("lease-lane", "wait", "--lane", "api"),
    ("lease-lane", "reap"),
    ("lease-lane", "reap", "--dry-run"),
    ("lease-lane", "heartbeat", "--lane", "api", "--owner", "A"),
    ("lease-lane", "release", "--lane", "api", "--owner", "A"),
    ("lease-lane", "adopt", "--lane", "api", "--owner", "A"),
    ("lease", "status"),
    ("lease", "release", "X"),
    ("id-alloc", "peek", "s"),
    ("run-id", "mint", "p"),
    ("scope-gate", "--lane", "api", "--staged"),
    ("journal", "tail"),
    ("journal", "tail", "0", "--stream", "lane/api"),
    ("journal", "show", "1"),
    ("journal", "check"),
    ("journal", "replay"),
    ("journal", "seq"),
    ("journal", "export"),
    ("journal", "prune", "--dry-run"),
    ("journal", "prune"),
    ("journal", "compact"),
]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_who_only_reads_leaves_no_trace(workspace, state, dos, words):
    before = sorted(workspace.rglob("*"))
    assert dos(*words).code in (0, 1)
    assert sorted(workspace.rglob("*")) == before
    assert not state.exists()


def test_a_reader_changes_nothing_in_a_journal_that_is_there(workspace, dos):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    before = dos("journal", "export").lines
    for words in READING:
        if words[1:2] not in (("release",), ("adopt",), ("heartbeat",)):
            dos(*words, *(("--timeout", "0") if "wait" in words else ()))
    after = dos("journal", "export").lines
    assert [event for event in after if event["stream"] != streams.VERDICTS] == before


def test_a_state_directory_that_cannot_be_made_is_a_clear_error(workspace, state, dos):
    state.write_text("a file in its place")
    answer = dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    assert answer.code == 2 and answer.err.startswith("error: ") and "bug in dos" not in answer.err


def test_the_reference_transcript(workspace):
    def said(*words):
        answer = in_its_own_process(*words, cwd=workspace)
        return answer.code, answer.json

    code, answer = said("arbitrate", "--lane", "docs", "--kind", "cluster")
    expected = {
        "auto_picked": False, "free_clusters": [], "lane": "docs", "lane_kind": "cluster",
        "outcome": "acquire", "pick_count": None, "tree": ["docs/**"],
    }  # fmt: skip
    assert code == 0 and expected.items() <= answer.items()
    _, minted = said("run-id", "mint", "dispatch")
    assert minted.keys() == {"parent_id", "process_id", "root_id", "run_id", "ts_ms"}
    words = ("--lane", "docs", "--kind", "cluster", "--owner", "A", "--run-id", minted["run_id"])
    code, answer = said("lease-lane", "acquire", *words)
    assert code == 0 and expected.items() <= answer.items()
    assert (answer["journaled"], answer["owner"], answer["run_id"]) == (True, "A", minted["run_id"])
    code, answer = said("lease-lane", "acquire", "--lane", "global", "--owner", "G")
    assert (code, answer["journaled"], answer["lane"], answer["outcome"]) == (
        1,
        False,
        "",
        "refuse",
    )
    assert said("lease-lane", "heartbeat", "--lane", "docs", "--owner", "A") == (
        0, {"beat": True, "lane": "docs", "owner": "A"}
    )  # fmt: skip
    assert said("lease-lane", "release", "--lane", "docs", "--owner", "X") == (
        1, {"lane": "docs", "owner": "X", "released": False}
    )  # fmt: skip


OURS = [verb for verb in VERBS.values() if verb.group in ("lanes", "journal")]


@pytest.mark.parametrize("verb", OURS, ids=lambda verb: verb.name)
def test_every_verb_helps_and_says_its_exit_codes(dos, verb):
    answer = dos(*verb.name.split(), "--help")
    assert answer.code == 0 and "exit codes:" in answer.out
    for token, code in import_module(verb.module).EXITS.items():
        assert f"{code:<3} {lookup.exit_words(token)}" in answer.out


@pytest.mark.soak
def test_writers_wait_for_one_another_and_none_is_lost(workspace, dos):
    with ThreadPoolExecutor(6) as pool:
        words = [
            ("lease-lane", "spawn", "--lane", lane, "--owner", f"w{n}")
            for n in range(4)
            for lane in ("api", "docs")
        ]
        answers = list(pool.map(lambda each: in_its_own_process(*each, cwd=workspace), words))
    assert {answer.code for answer in answers} == {0}
    assert len(dos("journal", "tail", "0").lines) == 8
