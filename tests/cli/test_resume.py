"""Where a run goes on: the golden cases on a real repository, by an imported ledger and by the
verbs."""

from pathlib import Path

import pytest
import run_histories
from run_histories import (
    ALL,
    PROPOSED,
    RUN,
    STEPS,
    SUSPENDED,
    UNKNOWN_SHA,
    claimed,
    imported,
    intent,
    raw,
    reverted,
    told,
    verified,
)

from dos.journal import streams
from dos.journal.backends.open import open_store
from dos.journal.events.fleet import LandingIntended

REGION = intent(*STEPS, s1="api/**")
BARE = intent()
LOST = intent(start=UNKNOWN_SHA)
NEWER = raw(
    '{"op": "STEP_CLAIMED", "step_id": "s1", "schema": {"family": "intent-ledger", "version": 2}}'
)
STRANGE = raw(
    '{"op": "STEP_VERIFIED", "step_id": "s1", "schema": {"family": "recipes", "version": 1}}'
)
DONE = [ALL, verified("s1", "c1"), verified("s2", "c2"), verified("s3", "c3")]
OLD = [ALL, *(verified(step, "root") for step in STEPS)]

# number, history, flags of resume, verdict, resume_sha, residual
GOLDEN = [
    (1, [ALL], (), "RESUMABLE", "start", STEPS),
    (2, DONE[:2], (), "RESUMABLE", "c1", ("s2", "s3")),
    (3, DONE[:3], (), "RESUMABLE", "c2", ("s3",)),
    (4, DONE, (), "COMPLETE", "c3", ()),
    (5, [ALL, verified("s1", "c1"), verified("s3", "c3")], (), "RESUMABLE", "c1", ("s2", "s3")),
    (6, [ALL, claimed("s1", "c1")], (), "RESUMABLE", "start", STEPS),
    (8, [ALL, verified("s1", "e1")], (), "RESUMABLE", "start", STEPS),
    (9, [ALL, verified("s1", UNKNOWN_SHA)], (), "RESUMABLE", "start", STEPS),
    (11, [REGION, verified("s1", "c3")], (), "RESUMABLE", "start", STEPS),
    (12, [REGION, verified("s1", "c1")], (), "RESUMABLE", "c1", ("s2", "s3")),
    (13, [BARE], (), "RESUMABLE", "start", ("g",)),
    (14, [BARE], ("--diverged",), "DIVERGED", "start", ("g",)),
    (16, DONE[:2], ("--diverged",), "DIVERGED", "c1", ("s2", "s3")),
    (17, DONE, ("--diverged",), "COMPLETE", "c3", ()),
    (18, [claimed("s1", "c1")], (), "UNRESUMABLE", "", ()),
    (23, [ALL, SUSPENDED], (), "RESUMABLE", "start", STEPS),
    (24, [ALL, SUSPENDED, ALL], (), "RESUMABLE", "start", STEPS),
    # Here released versions were content with less: a commit older than the run, one that was
    # reverted since, and a
    # job that was cut down to what was done of it.
    (25, OLD, (), "RESUMABLE", "start", STEPS),
    (26, [ALL, verified("s1", "c1"), reverted("c1")], (), "RESUMABLE", "start", STEPS),
    (27, [ALL, verified("s1", "c1"), intent("s1")], (), "RESUMABLE", "c1", ("s2", "s3")),
]
# What only a file can hold: a word that git did not give, a short hash, lines that are none, the
# file's own version.
IN_A_FILE = [
    (7, [ALL, verified("s1", "c1", via="direct")], (), "RESUMABLE", "start", STEPS),
    (10, [ALL, verified("s1", "c1:7")], (), "RESUMABLE", "c1:7", ("s2", "s3")),
    (15, [LOST], (), "RESUMABLE", "", ("g",)),
    (19, [intent(goal="g")], (), "RESUMABLE", "start", ("g",)),
    (20, [ALL, NEWER, verified("s1", "c1")], (), "UNRESUMABLE", "", ()),
    (21, [ALL, STRANGE], (), "RESUMABLE", "start", STEPS),
    (22, [ALL, raw("garbage"), verified("s1", "c1")], (), "RESUMABLE", "c1", ("s2", "s3")),
    (28, [ALL, PROPOSED], (), "RESUMABLE", "start", STEPS),
]
EXITS = {"RESUMABLE": 0, "COMPLETE": 0, "DIVERGED": 3, "UNRESUMABLE": 4}


@pytest.fixture(scope="session")
def with_steps(template, tmp_path_factory) -> run_histories.Repository:
    return run_histories.made(template, tmp_path_factory.mktemp("steps") / "workspace")


@pytest.fixture
def repository(with_steps, workspace, tmp_path: Path, monkeypatch) -> run_histories.Repository:
    copied = with_steps.copy(tmp_path / "repository")
    monkeypatch.chdir(copied.place)
    return copied


def check(repository, answer, verdict, resume_sha, residual):
    assert answer.code == EXITS[verdict]
    reply = answer.json
    assert (reply["verdict"], tuple(reply["residual"])) == (verdict, residual)
    assert reply["resume_sha"] == (repository.sha(resume_sha) if resume_sha else "")
    assert reply["verified"] == list(STEPS[: resume_at(resume_sha)])
    assert ("proposed_command" in reply) == (verdict == "RESUMABLE")
    assert reply["proposed_now"] == (verdict == "RESUMABLE" and not reply["already_proposed"])


def resume_at(resume_sha):
    """How many steps are done when it goes on from there."""
    return {"c1": 1, "c2": 2, "c3": 3}.get(resume_sha[:2], 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("number", "history", "flags", "verdict", "resume_sha", "residual"), GOLDEN + IN_A_FILE
)
def test_golden_cases_by_an_imported_ledger(
    dos, repository, number, history, flags, verdict, resume_sha, residual
):
    assert imported(repository, history).code == 0
    check(
        repository, dos("resume", "--run-id", RUN, "--json", *flags), verdict, resume_sha, residual
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("number", "history", "flags", "verdict", "resume_sha", "residual"), GOLDEN
)
def test_golden_cases_by_the_verbs(
    dos, repository, number, history, flags, verdict, resume_sha, residual
):
    told(repository, history)
    check(
        repository, dos("resume", "--run-id", RUN, "--json", *flags), verdict, resume_sha, residual
    )


# Around them


def resumed(dos, *flags):
    return dos("resume", "--run-id", RUN, "--json", *flags).json


def events(dos):
    """How many there are, but for the record that a verdict was given."""
    everything = dos("journal", "tail", "0").lines
    return len([event for event in everything if event["stream"] != streams.VERDICTS])


@pytest.mark.parametrize(
    ("history", "suspended"),
    [([ALL, SUSPENDED], True), ([ALL, SUSPENDED, ALL], False)],
    ids=["suspended", "again"],
)
def test_a_suspension_lasts_until_the_run_is_declared_again(dos, repository, history, suspended):
    imported(repository, history)
    assert ("the run is suspended" in resumed(dos)["reason"]) == suspended


def test_a_second_resume_proposes_nothing_and_writes_nothing(dos, repository):
    told(repository, [ALL])
    assert resumed(dos)["proposed_now"]
    before = events(dos)
    again = resumed(dos)
    assert (again["already_proposed"], again["proposed_now"], again["verdict"]) == (
        True,
        False,
        "RESUMABLE",
    )
    assert events(dos) == before


@pytest.mark.parametrize("then", [SUSPENDED, ALL], ids=["suspended", "declared again"])
def test_it_is_proposed_anew_after_it_was_suspended_or_declared_again(dos, repository, then):
    told(repository, [ALL, PROPOSED, then])
    assert resumed(dos)["proposed_now"]


@pytest.mark.parametrize("flags", [("--no-record",), ("--diverged",)])
def test_only_looking_writes_nothing(dos, repository, flags):
    told(repository, [ALL])
    before = events(dos)
    assert not resumed(dos, *flags)["proposed_now"]
    assert events(dos) == before


def test_a_run_that_nobody_wrote_down_cannot_go_on_and_makes_no_journal(dos, repository):
    answer = dos("resume", "--run-id", RUN, "--json")
    assert (answer.code, answer.json["verdict"], answer.json["residual"]) == (4, "UNRESUMABLE", [])
    assert not (repository.place / ".git" / "dos").exists()


@pytest.mark.parametrize("words", [(), ("--run-id", ""), ("--run-id", "../x")])
def test_without_a_run_there_is_nothing_to_resume(dos, repository, words):
    assert dos("resume", *words).code == 2


def test_the_proposed_command_runs_and_goes_on_with_what_is_left(dos, repository):
    told(repository, [REGION, verified("s1", "c1"), PROPOSED])
    command = resumed(dos)["proposed_command"].split()
    assert command[0] == "dos"
    begun = dos(*command[1:], "--json")
    assert begun.code == 0, begun.err
    assert begun.json["declared_steps"] == ["s2", "s3"]
    assert begun.json["start_sha"] == repository.sha("c1")
    assert begun.json["resumes"] == RUN
    successor = begun.json["run_id"]
    assert dos("run", "verify", successor, "s2", "--sha", "HEAD~2").code == 0
    assert dos("complete", "--run-id", successor, "--json").json["residual"] == ["s3"]


def test_a_run_that_was_gone_on_with_leads_to_its_successor(dos, repository):
    told(repository, [ALL, PROPOSED])
    successor = dos("run", "begin", "--resumes", RUN, "--json").json["run_id"]
    found = resumed(dos)
    assert (found["already_proposed"], found["proposed_now"]) == (True, False)
    assert found["proposed_command"] == f"dos resume --run-id {successor}"
    assert dos(*found["proposed_command"].split()[1:]).code == 0
    for words in (
        ("run", "begin", "--resumes", RUN),
        ("run", "claim", RUN, "s1"),
        ("run", "suspend", RUN),
    ):
        refused = dos(*words)
        assert refused.code == 1 and successor in refused.err


def test_lines_that_cannot_be_read_are_counted(dos, repository):
    imported(repository, [ALL, raw("garbage"), STRANGE, verified("s1", "c1")])
    found = dos("trace", RUN, "--json").json["intent"]
    assert (found["corrupt_ledger_lines"], found["unreadable_newer"]) == (2, False)
    assert found["steps"][0]["state"] == "VERIFIED"


def test_a_ledger_that_has_grown_is_read_on_and_not_again(dos, repository):
    imported(repository, [ALL])
    before = events(dos)
    imported(repository, [ALL])
    assert events(dos) == before
    imported(repository, [ALL, verified("s1", "c1")])
    assert resumed(dos)["verified"] == ["s1"]


# Who else was there


def test_another_commit_in_the_lane_after_the_point_is_a_divergence(dos, repository):
    dos("run", "begin", "--run-id", RUN, "--lane", "api", "--step", "s1", "--step", "s2")
    repository.commit("c4", "api/4")
    assert dos("run", "verify", RUN, "s1", "--sha", "HEAD").code == 0
    repository.commit("elsewhere", "worker/5")
    assert resumed(dos, "--no-record")["verdict"] == "RESUMABLE"
    stranger = repository.commit("theirs", "api/5")
    answer = dos("resume", "--run-id", RUN, "--json")
    assert (answer.code, answer.json["verdict"], answer.json["proposed_now"]) == (
        3,
        "DIVERGED",
        False,
    )
    assert stranger[:9] in answer.json["reason"]
    refused = dos("run", "begin", "--resumes", RUN)
    assert refused.code == 1 and "--approve" in refused.err
    assert dos("run", "begin", "--resumes", RUN, "--approve", "the operator").code == 0


def test_what_the_run_itself_claims_is_no_divergence_and_not_done(dos, repository):
    dos("run", "begin", "--run-id", RUN, "--lane", "api", "--step", "s1", "--step", "s2")
    repository.commit("mine", "api/4")
    assert dos("run", "claim", RUN, "s1").code == 0
    found = resumed(dos)
    assert (found["verdict"], found["residual"]) == ("RESUMABLE", ["s1", "s2"])


def test_what_a_predecessor_did_is_no_divergence(dos, repository):
    dos("run", "begin", "--run-id", RUN, "--lane", "api", "--step", "s1", "--step", "s2")
    repository.commit("first", "api/4")
    dos("run", "verify", RUN, "s1", "--sha", "HEAD")
    repository.commit("half", "api/5")
    dos("run", "claim", RUN, "s2")
    successor = dos("run", "begin", "--resumes", RUN, "--json").json["run_id"]
    assert dos("resume", "--run-id", successor, "--json").json["verdict"] == "RESUMABLE"


def test_what_the_run_landed_is_no_divergence(dos, repository):
    dos("run", "begin", "--run-id", RUN, "--lane", "api", "--step", "s1")
    before, landed = repository.sha("c3"), repository.commit("landed", "api/4")
    assert resumed(dos, "--no-record")["verdict"] == "DIVERGED"
    fact = LandingIntended(
        run_id=RUN, lane="api", unit="P/U", iteration=1, branch="main", old=before, new=landed
    )
    with open_store(
        "", state_directory=repository.place / ".git" / "dos", workspace_id=""
    ) as store:
        store.record(streams.run(RUN), fact)
    assert resumed(dos)["verdict"] == "RESUMABLE"


def test_a_lane_that_is_no_more_is_not_judged(dos, repository):
    dos("run", "begin", "--run-id", RUN, "--lane", "api", "--step", "s1")
    config = repository.place / "dos.toml"
    config.write_text(config.read_text().replace("api", "rest"))
    answer = dos("resume", "--run-id", RUN, "--json")
    assert (answer.code, answer.json["verdict"]) == (5, "UNKNOWN")


def test_a_run_that_still_holds_its_lane_is_not_gone_on_with(dos, repository):
    told(repository, [ALL])
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--run-id", RUN).code == 0
    refused = dos("run", "begin", "--resumes", RUN)
    assert refused.code == 1 and "still holds" in refused.err
    dos("lease-lane", "release", "--lane", "api", "--owner", "A")
    assert dos("run", "begin", "--resumes", RUN).code == 0


def test_a_successor_may_claim_under_its_lease_only_while_it_holds_it(dos, repository):
    told(repository, [ALL])
    lease = dos("lease-lane", "acquire", "--lane", "api", "--owner", "B").json
    dos("lease-lane", "release", "--lane", "api", "--owner", "B")
    assert dos("run", "begin", "--resumes", RUN, "--fence", str(lease["fence"])).code == 1
    lease = dos("lease-lane", "acquire", "--lane", "api", "--owner", "B").json
    assert dos("run", "begin", "--resumes", RUN, "--fence", str(lease["fence"])).code == 0


def test_where_git_cannot_be_read_nothing_is_known(dos, repository):
    imported(repository, DONE)
    (repository.place / ".git" / "HEAD").write_text("ref: refs/heads/nowhere\n")
    answer = dos("resume", "--run-id", RUN, "--json")
    assert (answer.code, answer.json["verdict"], answer.json["proposed_now"]) == (
        5,
        "UNKNOWN",
        False,
    )
    assert dos("complete", "--run-id", RUN).code == 4
    assert dos("run", "begin", "--resumes", RUN).code == 1
