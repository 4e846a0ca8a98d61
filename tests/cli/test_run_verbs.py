"""The ledger of a run: what was declared, what is claimed, and what git bears out."""

import fcntl
import os

import pytest
from commanding import git
from run_histories import RUN, STEPS, Repository

from dos.verbs.context import Context

MOMENT = ("--run-id", RUN)


@pytest.fixture
def repository(workspace) -> Repository:
    made = Repository(workspace, {})
    made.name("root")
    made.commit("start", "api/0")
    return made


def begin(dos, *words):
    return dos(
        "run",
        "begin",
        *MOMENT,
        "--goal",
        "g",
        *(word for step in STEPS for word in ("--step", step)),
        *words,
    )


def facts(dos, kind):
    exported = dos("journal", "export", "--stream", f"run/{RUN}").lines
    return [line["body"] for line in exported if line["kind"] == kind]


# Declaring


def test_a_new_run_is_made_up_and_printed(dos, repository):
    answer = dos("run", "begin", "--goal", "ship it")
    run_id = answer.out.strip()
    assert answer.code == 0 and run_id.startswith("RID-")
    found = dos("trace", run_id, "--json").json
    assert (found["intent"]["goal"], found["intent"]["start_sha"]) == (
        "ship it",
        repository.sha("start"),
    )
    assert found["spine"]["process_id"] == "PROC-run"


def test_a_child_names_its_parent(dos, repository, monkeypatch):
    parent = dos("run", "begin", "--goal", "above").out.strip()
    monkeypatch.setenv("CID_RUN_ID", parent)
    child = dos("run", "begin", "--goal", "below").out.strip()
    assert dos("trace", child, "--json").json["spine"]["ancestors"] == [parent]
    assert dos("trace", parent, "--json").json["spine"]["descendants"] == [child]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--step", "s1", "--step", "s1"),
        ("--step", ""),
        ("--step", "s1", "--region", "s2=api/**"),
        ("--step", "s1", "--region", "s1"),
        ("--step", "s1", "--region", "s1=../x"),
        ("--goal", "g", "--lane", "nowhere"),
        ("--goal", "g", "--start-sha", "nowhere"),
        ("--goal", "g", "--run-id", "RID-x"),
        ("--goal", "g", "--fence", "3"),
        ("--resumes", "RID-x"),
        ("--resumes", RUN, "--goal", "g"),
        ("--goal", "x" * 2_000),
    ],
    ids=str,
)
def test_what_cannot_be_declared_is_an_error_and_changes_nothing(dos, repository, state, words):
    answer = dos("run", "begin", *words)
    assert answer.code == 2 and answer.err.startswith("error: ") and "hint: " in answer.err
    assert not state.exists()


def test_a_run_that_nobody_began_cannot_be_gone_on_with(dos, repository, state):
    assert dos("run", "begin", "--resumes", RUN).code == 1
    assert not state.exists()


def test_a_region_may_hold_what_a_step_is_called_by(dos, repository):
    words = ("--step", "a", "--step", "a=b", "--region", "a=b=x/**", "--region", "a=y/**")
    assert dos("run", "begin", *MOMENT, *words).code == 0
    assert facts(dos, "intent_declared")[0]["regions"] == {"a=b": ["x/**"], "a": ["y/**"]}


def test_steps_can_be_added(dos, repository):
    begin(dos)
    answer = begin(dos, "--step", "s4")
    assert answer.code == 0
    assert dos("complete", *MOMENT, "--json").json["declared"] == [*STEPS, "s4"]


def test_doing_less_needs_somebodys_leave(dos, repository):
    begin(dos)
    refused = dos("run", "begin", *MOMENT, "--step", "s1")
    assert refused.code == 1 and "s2, s3" in refused.err and "--approve" in refused.err
    assert dos("complete", *MOMENT, "--json").json["declared"] == list(STEPS)
    assert dos("run", "begin", *MOMENT, "--step", "s1", "--approve", "the operator").code == 0
    assert dos("complete", *MOMENT, "--json").json["declared"] == ["s1"]
    assert [fact["approved_by"] for fact in facts(dos, "extent_changed")] == ["the operator"]


def test_making_a_step_easier_needs_somebodys_leave(dos, repository):
    begin(dos, "--region", "s1=api/**")
    wider = ("--region", "s1=**/*")
    assert begin(dos, *wider).code == 1
    assert begin(dos, *wider, "--approve", "the operator").code == 0
    repository.commit("c", "docs/1")
    assert dos("run", "verify", RUN, "s1", "--sha", "HEAD").code == 0


def test_where_a_run_began_stays(dos, repository):
    begin(dos)
    refused = begin(dos, "--start-sha", repository.sha("root"))
    assert refused.code == 2 and "began at" in refused.err
    repository.commit("later", "api/1")
    assert begin(dos, "--json").json["start_sha"] == repository.sha("start")


# Claiming and verifying


def test_a_claim_makes_nothing_done(dos, repository):
    begin(dos)
    repository.commit("c1", "api/1")
    for step in STEPS:
        assert dos("run", "claim", RUN, step).code == 0
    found = dos("complete", *MOMENT, "--json")
    assert (found.code, found.json["verified"], found.json["residual"]) == (3, [], list(STEPS))


def test_a_verified_step_is_written_with_the_whole_hash(dos, repository):
    begin(dos)
    sha = repository.commit("c1", "api/1")
    dos("run", "claim", RUN, "s1", "--sha", sha[:8])
    assert dos("run", "verify", RUN, "s1", "--json").json["verified"]
    assert [(fact["step"], fact["sha"], fact["via"]) for fact in facts(dos, "step_verified")] == [
        ("s1", sha, "file-path")
    ]


def branch(repository):
    git("checkout", "--quiet", "-b", "side", cwd=repository.place)
    repository.commit("side", "api/side")
    git("checkout", "--quiet", "main", cwd=repository.place)
    return repository.sha("side")


def rewritten(repository):
    """Taken back, and then the same file is worked on again: what it holds is new."""
    repository.commit("c1", "api/1", "one\n")
    repository.revert("c1")
    repository.commit("c2", "api/1", "another\n")
    return repository.sha("c1")


def removed(repository):
    sha = repository.commit("c1", "api/1")
    (repository.place / "api" / "1").unlink()
    git("add", "--all", cwd=repository.place)
    repository.commit("clean up")
    return sha


def half(repository):
    """Only the part that belongs to the step was taken back."""
    (repository.place / "docs" / "1").write_text("x\n")
    sha = repository.commit("c1", "api/1")
    (repository.place / "api" / "1").unlink()
    git("add", "--all", cwd=repository.place)
    repository.commit("take back")
    return sha


@pytest.mark.parametrize(
    ("make", "answer"),
    [
        (lambda repository: repository.sha("start"), "TOO_OLD"),
        (lambda repository: repository.sha("root"), "TOO_OLD"),
        (branch, "NOT_THERE"),
        (lambda repository: repository.commit("empty"), "EMPTY"),
        (lambda repository: repository.commit("docs", "docs/1"), "OUTSIDE"),
        (
            lambda repository: (repository.commit("c1", "api/1"), repository.revert("c1"))[0],
            "UNDONE",
        ),
        (rewritten, "UNDONE"),
        (removed, "UNDONE"),
        (half, "UNDONE"),
    ],
    ids=["start", "root", "branch", "empty", "docs", "reverted", "rewritten", "removed", "half"],
)
def test_what_git_does_not_bear_out_is_not_verified(dos, repository, make, answer):
    begin(dos, "--region", "s1=api/**")
    found = dos("run", "verify", RUN, "s1", "--sha", make(repository), "--json")
    assert (found.code, found.json["verdict"], found.json["verified"]) == (1, answer, False)
    assert facts(dos, "step_verified") == []


def moved(repository):
    sha = repository.commit("c1", "api/1", "a text that is long enough to be known again\n" * 5)
    git("mv", "api/1", "api/new name", cwd=repository.place)
    repository.commit("move")
    return sha


def reverted_twice(repository):
    repository.commit("c1", "api/1")
    repository.revert("c1")
    repository.revert("revert c1")
    return repository.sha("c1")


def deletion(repository):
    (repository.place / "api" / "0").unlink()
    git("add", "--all", cwd=repository.place)
    return repository.commit("remove it")


def merge(repository):
    branch(repository)
    git("merge", "--quiet", "--no-ff", "--message", "merge", "side", cwd=repository.place)
    return repository.name("merge")


@pytest.mark.parametrize(
    "make",
    [
        lambda repository: repository.commit("c1", "api/1"),
        lambda repository: (
            repository.commit("c1", "api/1", "a\n"),
            repository.commit("c2", "api/1", "b\n"),
        )[0],
        moved,
        reverted_twice,
        deletion,
        merge,
    ],
    ids=["plain", "worked on since", "moved", "reverted twice", "a deletion", "a merge"],
)
def test_what_git_bears_out_is_verified(dos, repository, make):
    begin(dos, "--region", "s1=api/**")
    found = dos("run", "verify", RUN, "s1", "--sha", make(repository), "--json")
    assert (found.code, found.json["verdict"]) == (0, "DONE"), found


def test_a_region_starts_where_the_configuration_is(dos, repository, monkeypatch):
    (repository.place / "part").mkdir()
    git("mv", "dos.toml", "part/dos.toml", cwd=repository.place)
    repository.commit("move the policy")
    monkeypatch.chdir(repository.place / "part")
    begin(dos, "--region", "s1=api/**")
    repository.commit("above", "api/1")
    assert dos("run", "verify", RUN, "s1", "--sha", "HEAD").code == 1
    (repository.place / "part" / "api").mkdir()
    repository.commit("inside", "part/api/1")
    assert dos("run", "verify", RUN, "s1", "--sha", "HEAD").code == 0


def test_a_step_that_is_taken_back_later_is_not_done_any_more(dos, repository):
    begin(dos)
    repository.commit("c1", "api/1")
    assert dos("run", "verify", RUN, "s1", "--sha", "HEAD").code == 0
    repository.revert("c1")
    assert dos("complete", *MOMENT, "--json").json["verified"] == []
    repository.revert("revert c1")
    assert dos("complete", *MOMENT, "--json").json["verified"] == ["s1"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("claim", RUN, "s9"), 2),
        (("claim", RUN, "s1", "--sha", "nowhere"), 2),
        (("claim", "RID-x", "s1"), 2),
        (("verify", RUN, "s1"), 2),
        (("verify", RUN, "s9", "--sha", "HEAD"), 2),
        (("verify", RUN), 2),
        (("claim", "RID-000000001000002", "s1"), 1),
        (("verify", "RID-000000001000002", "s1"), 1),
        (("suspend", "RID-000000001000002"), 1),
        (("end", "RID-000000001000002", "--result", "failed"), 1),
        (("end", RUN, "--result", "fine"), 2),
        (("suspend", RUN, "--checkpoint-turn", "0"), 2),
        (("suspend", RUN, "--transcript", "nowhere"), 2),
    ],
    ids=str,
)
def test_what_cannot_be_said_of_a_run_is_not_written(dos, repository, words, code):
    begin(dos)
    before = dos("journal", "seq").out
    answer = dos("run", *words)
    assert answer.code == code and answer.err.startswith("error: ")
    assert dos("journal", "seq").out == before


def test_who_lost_its_lease_writes_nothing_of_its_run(dos, repository, monkeypatch):
    begin(dos)
    repository.commit("c1", "api/1")
    lease = dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--run-id", RUN).json
    monkeypatch.setenv("DOS_RUN_ID", RUN)
    monkeypatch.setenv("DOS_FENCE", str(lease["fence"]))
    assert dos("run", "claim", RUN, "s1").code == 0
    dos("lease-lane", "release", "--lane", "api", "--owner", "A")
    for words in (
        ("claim", RUN, "s1"),
        ("verify", RUN, "s1"),
        ("suspend", RUN),
        ("end", RUN, "--result", "failed"),
    ):
        assert dos("run", *words).code == 1
    monkeypatch.setenv("DOS_FENCE", "x")
    assert dos("run", "claim", RUN, "s1").code == 2


# Ending


def test_a_run_is_complete_only_by_gits_word(dos, repository):
    begin(dos)
    refused = dos("run", "end", RUN, "--result", "complete")
    assert refused.code == 1 and "INCOMPLETE" in refused.err
    repository.commit("c1", "api/1")
    for step in STEPS:
        dos("run", "verify", RUN, step, "--sha", "HEAD")
    assert dos("run", "end", RUN, "--result", "complete").code == 0
    assert dos("resume", *MOMENT, "--json").json["verdict"] == "COMPLETE"


@pytest.mark.parametrize(
    ("result", "verdict"), [("failed", "RESUMABLE"), ("abandoned", "UNRESUMABLE")]
)
def test_what_failed_can_go_on_and_what_was_abandoned_cannot(dos, repository, result, verdict):
    begin(dos)
    assert dos("run", "end", RUN, "--result", result).code == 0
    assert dos("resume", *MOMENT, "--json").json["verdict"] == verdict
    begin(dos)
    assert dos("resume", *MOMENT, "--json").json["verdict"] == "RESUMABLE"


def test_completion_counts_what_is_done_beyond_a_gap(dos, repository):
    begin(dos)
    repository.commit("c1", "api/1")
    for step in ("s1", "s3"):
        dos("run", "verify", RUN, step, "--sha", "HEAD")
    found = dos("complete", *MOMENT, "--json").json
    assert (found["verified"], found["residual"], found["fraction_done"]) == (
        ["s1", "s3"],
        ["s2"],
        0.6667,
    )
    text = dos("complete", *MOMENT).out
    assert "verified  2 of 3 (67%)" in text and "left      s2" in text
    assert dos("resume", *MOMENT, "--json").json["residual"] == ["s2", "s3"]


@pytest.mark.parametrize(
    ("words", "code", "state"),
    [(("--goal", "g"), 3, "INCOMPLETE"), (None, 4, "INDETERMINATE")],
    ids=["only a goal", "nothing"],
)
def test_a_run_without_steps_is_never_complete(dos, repository, words, code, state):
    if words:
        dos("run", "begin", *MOMENT, *words)
    answer = dos("complete", *MOMENT, "--json")
    assert (answer.code, answer.json["state"], answer.json["is_done"]) == (code, state, False)
    assert (
        answer.json["residual"] == (["g"] if words else []) and "fraction_done" not in answer.json
    )


def test_divergence_changes_the_reason_of_completion_and_not_the_answer(dos, repository):
    begin(dos)
    answer = dos("complete", *MOMENT, "--diverged", "--json")
    assert (answer.code, answer.json["state"]) == (3, "INCOMPLETE")
    assert "others" in answer.json["reason"]


# A journal that another keeps locked


@pytest.fixture
def locked(dos, repository, state, monkeypatch):
    begin(dos)
    monkeypatch.setattr(Context, "busy_seconds", 0.05)  # nobody waits half a minute in a test
    gate = os.open(state / "state.db-gate", os.O_RDWR)
    fcntl.flock(gate, fcntl.LOCK_EX)
    yield
    os.close(gate)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "begin", "--goal", "g"),
        ("run", "claim", RUN, "s1"),
        ("run", "suspend", RUN),
        ("run", "end", RUN, "--result", "failed"),
        ("run", "begin", "--resumes", RUN),
        ("halt", "--handle", "x"),
    ],
    ids=" ".join,
)
def test_what_could_not_be_written_has_its_own_code(dos, locked, words):
    answer = dos(*words)
    assert answer.code == 4 and "lock-busy" in answer.err


def test_a_proposal_that_could_not_be_written_is_not_taken_for_an_end(dos, locked):
    answer = dos("resume", "--run-id", RUN, "--json")
    assert (answer.code, answer.json["verdict"], answer.json["proposed_now"]) == (
        5,
        "UNKNOWN",
        False,
    )
    assert dos("resume", "--run-id", RUN, "--no-record").code == 0
