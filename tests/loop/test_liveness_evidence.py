"""What is known of a run: commits by the paths they touch, beats by the store's clock, a process by
the system.
"""

import subprocess
import sys

import pytest
from msgspec import structs
from worked_repository import HOUR, MINUTE, RUN, SECOND, Repository

from dos import run_ids
from dos.config.schema import Config
from dos.git.repository import Reader
from dos.lease import Request
from dos.loop.io.history import LeaseQuery
from dos.loop.io.liveness import EVERYWHERE, lease_evidence, run_traces, traces_evidence
from dos.loop.verdicts import liveness
from dos.loop.verdicts.liveness import Answer
from dos.machine import process
from dos.unknown import Unknown


@pytest.fixture
def repository(tmp_path) -> Repository:
    return Repository(tmp_path)


def seen(repository, *leases, **more):
    found = lease_evidence(repository.journal, repository.place, leases, **more)
    assert list(found) == [lease.fence for lease in leases]
    return list(found.values()) if len(leases) != 1 else found[leases[0].fence]


def of_run(repository, wanted=None, now_ms=None):
    traces, now = run_traces(repository.journal, wanted or LeaseQuery(run_id=RUN), now_ms=now_ms)
    return traces_evidence(repository.place, [traces], now)[0]


def adopt(repository, lease, **changed):
    asked = {name: getattr(lease, name) for name in Request.__struct_fields__}
    repository.journal.adopt(lease.fence, Request(**asked | changed), version=lease.version)


# Commits


def test_a_commit_belongs_to_whoever_holds_its_paths(repository):
    api, docs = repository.lease("api"), repository.lease("docs")
    repository.pass_time(5 * MINUTE)
    repository.commit("api/a.py")
    repository.pass_time(MINUTE)
    repository.commit("api/b.py", "elsewhere/c.py")
    repository.pass_time(2 * MINUTE)
    mine, other = seen(repository, api, docs)
    assert (mine.commits_since_start, mine.progress_age_ms) == (2, 2 * MINUTE)
    assert (other.commits_since_start, other.progress_age_ms) == (0, None)


def test_git_is_asked_once_for_all_leases_and_not_at_all_for_none(repository, monkeypatch):
    asked = []
    attempt = Reader.attempt
    monkeypatch.setattr(
        Reader,
        "attempt",
        lambda self, *words, **more: asked.append(words) or attempt(self, *words, **more),
    )
    assert lease_evidence(repository.journal, repository.place, []) == {}
    assert asked == []
    seen(repository, *(repository.lease(f"lane-{number}") for number in range(8)))
    assert len(asked) == 1


def test_what_was_there_before_the_lease_is_not_its_work(repository):
    repository.commit("api/a.py")
    repository.commit("api/b.py")
    lease = repository.lease("api")
    repository.commit("api/c.py")  # all of it within one second
    assert seen(repository, lease).commits_since_start == 1


def test_an_older_lease_keeps_what_came_before_a_newer_one(repository):
    api = repository.lease("api")
    repository.pass_time(MINUTE)
    repository.commit("api/a.py")
    repository.pass_time(MINUTE)
    docs = repository.lease("docs")
    repository.commit("docs/a.md")
    assert [each.commits_since_start for each in seen(repository, api, docs)] == [1, 1]


def test_what_others_did_on_another_branch_before_the_lease_is_not_its_work(repository):
    api = repository.lease("api")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("docs/a.md")
    repository.git("checkout", "--quiet", "main")
    repository.pass_time(MINUTE)
    docs = repository.lease("docs")
    assert [each.commits_since_start for each in seen(repository, api, docs)] == [0, 0]


def test_a_commit_that_changes_no_file_is_no_progress(repository):
    lease = repository.lease("api")
    repository.commit()
    assert seen(repository, lease).commits_since_start == 0


def test_work_counts_before_it_lands(repository, tmp_path):
    lease = repository.lease("api")
    repository.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "detached"))
    repository.commit("api/a.py", cwd=tmp_path / "detached")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("api/b.py")
    repository.git("checkout", "--quiet", "main")
    assert seen(repository, lease).commits_since_start == 2


def test_work_that_was_rejected_still_shows_that_somebody_works(repository, tmp_path):
    lease = repository.lease("api")
    tree = tmp_path / "detached"
    repository.git("worktree", "add", "--quiet", "--detach", str(tree))
    made = repository.commit("api/a.py", cwd=tree)
    repository.git("update-ref", f"refs/dos/salvage/{RUN}/1", made)
    repository.git("checkout", "--quiet", "--detach", repository.start, cwd=tree)
    assert seen(repository, lease).commits_since_start == 1


def test_what_dos_commits_to_save_it_is_nobodys_progress(repository):
    lease = repository.lease("api")
    (repository.root / "api").mkdir()
    (repository.root / "api" / "left.py").write_text("left\n")
    repository.git("add", "--all")
    tree = repository.git("write-tree")
    saved = repository.git(
        "commit-tree", tree, "-p", "HEAD", "-m", "Salvaged by dos: left uncommitted"
    )
    repository.git("update-ref", f"refs/dos/salvage/{RUN}/1", saved)
    repository.git("stash")
    assert seen(repository, lease).commits_since_start == 0


def test_a_rewritten_commit_is_as_old_as_its_rewriting(repository):
    lease = repository.lease("api")
    repository.commit("api/a.py")
    repository.pass_time(HOUR)
    repository.git("commit", "--quiet", "--amend", "--no-edit")
    repository.pass_time(MINUTE)
    assert seen(repository, lease).progress_age_ms == MINUTE


@pytest.mark.parametrize(
    ("ahead", "age"), [(0, 0), (4 * MINUTE, 0), (6 * MINUTE, None), (365 * 24 * HOUR, None)]
)
def test_a_date_in_the_future_keeps_nobody_alive(repository, ahead, age):
    lease = repository.lease("api")
    repository.commit("api/a.py", at_ms=repository.clock.now_ms + ahead)
    found = seen(repository, lease)
    assert (found.commits_since_start, found.progress_age_ms) == (1, age)
    repository.pass_time(2 * HOUR)
    fresh = structs.replace(seen(repository, lease), last_heartbeat_age_ms=0, lapsed=False)
    assert liveness.judge(fresh).answer is Answer.SPINNING


def test_lanes_start_where_dos_toml_is(repository):
    nested = repository.root / "service"
    nested.mkdir()
    (nested / "dos.toml").write_text("")
    lease = repository.lease("api")
    repository.commit("api/a.py")
    repository.commit("service/api/a.py")
    workspace = structs.replace(repository.place, root=nested)
    assert (
        lease_evidence(repository.journal, workspace, [lease])[lease.fence].commits_since_start == 1
    )


@pytest.mark.parametrize("name", ["api\\x.py", "\napi", "api\n", 'ap"i/x', "\x01api/x"])
def test_a_file_with_an_odd_name_is_in_no_lane_by_chance(repository, name):
    lease = repository.lease("api")
    repository.commit(name)
    assert seen(repository, lease).commits_since_start == 0


@pytest.mark.parametrize("name", ["api/a b", "api/\nb", 'api/"q"', "api/ü"])
def test_a_file_with_an_odd_name_is_in_its_lane(repository, name):
    lease = repository.lease("api")
    repository.commit(name)
    assert seen(repository, lease).commits_since_start == 1


def test_a_merge_counts_for_what_it_settled(repository):
    repository.commit("api/a.py")
    repository.git("checkout", "--quiet", "-b", "side")
    (repository.root / "api" / "a.py").write_text("side\n")
    repository.commit("api/a.py")
    repository.git("checkout", "--quiet", "main")
    (repository.root / "api" / "a.py").write_text("main\n")
    repository.commit("api/a.py")
    repository.pass_time(MINUTE)
    lease = repository.lease("api")
    with pytest.raises(subprocess.CalledProcessError):
        repository.git("merge", "--quiet", "side")
    (repository.root / "api" / "a.py").write_text("both\n")
    repository.commit("api/a.py")
    assert seen(repository, lease).commits_since_start == 1


def test_who_has_no_known_region_may_have_made_any_commit(repository):
    lease = structs.replace(repository.lease("api"), region=EVERYWHERE)
    repository.commit("anywhere/a.py")
    assert seen(repository, lease).commits_since_start == 1


@pytest.mark.parametrize("damage", ["no repository", "no directory", "a broken ref"])
def test_what_git_cannot_read_is_unknown(repository, tmp_path, damage):
    lease = repository.lease("api")
    workspace = repository.place
    if damage == "no repository":
        workspace = structs.replace(workspace, common=None)
    elif damage == "no directory":
        workspace = structs.replace(workspace, tree=tmp_path / "nowhere")
    else:
        (repository.root / ".git" / "refs" / "heads" / "main").write_text("0123456789" * 4 + "\n")
    found = lease_evidence(repository.journal, workspace, [lease])[lease.fence]
    assert isinstance(found.commits_since_start, Unknown) and found.commits_since_start.why
    assert liveness.judge(found).answer is Answer.UNKNOWN


# Signs of life


def test_a_beat_is_as_old_as_the_stores_clock_says(repository):
    lease = repository.lease("api")
    repository.pass_time(10 * MINUTE)
    assert seen(repository, lease).last_heartbeat_age_ms == 10 * MINUTE
    kept = repository.journal.renew([lease.fence]).kept[0]
    repository.pass_time(MINUTE)
    assert seen(repository, kept).last_heartbeat_age_ms == MINUTE
    assert (
        seen(repository, kept, now_ms=repository.clock.now_ms + 9 * MINUTE).last_heartbeat_age_ms
        == 10 * MINUTE
    )
    assert (
        seen(repository, kept, now_ms=repository.clock.now_ms - 9 * MINUTE).last_heartbeat_age_ms
        is None
    )


def test_a_lease_that_is_over_is_no_sign_of_life(repository):
    lease = repository.lease("api", ttl_ms=2 * MINUTE)
    repository.pass_time(2 * MINUTE - 1)
    assert not seen(repository, lease).lapsed
    repository.pass_time(1)
    found = seen(repository, lease)
    assert found.lapsed
    assert liveness.judge(found).answer is Answer.STALLED


def test_after_a_restart_of_the_machine_a_lease_is_over(repository):
    lease = repository.lease("api")
    repository.pass_time(MINUTE)
    repository.clock.restart()
    found = seen(repository, lease)
    assert found.lapsed
    assert found.last_heartbeat_age_ms == MINUTE


def test_a_process_is_known_by_its_pid_and_its_start_and_only_on_its_own_host(repository):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    me = process.identify(child.pid)
    assert me is not None
    here = {
        "host": process.host(),
        "system": process.system(),
        "pid": me.pid,
        "pid_started": me.started,
    }
    lease = repository.lease("api", **here)
    recycled = structs.replace(lease, pid_started=me.started - 60)
    foreign = structs.replace(lease, host="elsewhere", system="elsewhere-0123456789ab")
    bare = structs.replace(lease, pid_started=None)
    try:
        assert seen(repository, lease).process_alive is True
        assert seen(repository, recycled).process_alive is False
        assert seen(repository, foreign).process_alive is None
        assert seen(repository, bare).process_alive is None
    finally:
        child.kill()
        child.wait()
    assert seen(repository, lease).process_alive is False
    assert seen(repository, foreign).process_alive is None


# Runs, found by their id


def test_a_run_nobody_wrote_down_is_as_old_as_its_id(repository):
    run_id = run_ids.mint(repository.clock.now_ms, 7, "x").run_id
    repository.pass_time(MINUTE)
    run = of_run(repository, LeaseQuery(run_id=run_id))
    assert (run.run_started_ms, run.commits_since_start, run.last_heartbeat_age_ms) == (
        repository.clock.now_ms - MINUTE,
        0,
        None,
    )
    assert liveness.judge(run).answer is Answer.ADVANCING
    repository.pass_time(HOUR)
    assert liveness.judge(of_run(repository, LeaseQuery(run_id=run_id))).answer is Answer.STALLED


def test_a_run_is_found_with_its_lane(repository):
    repository.lease("docs", run_id="RID-1MZZ00000000000")
    repository.lease("api", run_id=RUN)
    repository.commit("api/a.py")
    repository.pass_time(MINUTE)
    run = of_run(repository)
    assert (run.commits_since_start, run.journal_events_since, run.progress_age_ms) == (
        1,
        0,
        MINUTE,
    )
    assert (run.last_heartbeat_age_ms, run.run_started_ms) == (
        MINUTE,
        repository.clock.now_ms - MINUTE,
    )


def test_taking_the_first_lane_and_beating_is_no_progress_and_moving_on_is(repository):
    first = repository.lease("api", run_id=RUN)
    repository.pass_time(MINUTE)
    repository.journal.renew([first.fence])
    assert of_run(repository).journal_events_since == 0
    repository.pass_time(MINUTE)
    repository.journal.release(first.fence)
    repository.pass_time(MINUTE)
    again = repository.lease("api", run_id=RUN)
    repository.pass_time(MINUTE)
    run = of_run(repository)
    assert (run.journal_events_since, run.progress_age_ms) == (2, MINUTE)
    assert run.run_started_ms == first.granted_ms
    assert of_run(repository, now_ms=again.granted_ms - 2 * SECOND).journal_events_since == 1


def test_to_be_reaped_is_no_progress(repository):
    lease = repository.lease("api", run_id=RUN)
    repository.journal.revoke(lease.fence, version=lease.version, reason="its process is gone")
    run = of_run(repository)
    assert (run.journal_events_since, run.lapsed) == (0, True)
    assert liveness.judge(run).answer is Answer.STALLED


def test_who_was_adopted_away_is_over_and_the_adopter_is_not(repository):
    lease = repository.lease("api", run_id=RUN)
    adopt(repository, lease, run_id="RID-1MZZ00000000000")
    assert of_run(repository).lapsed
    adopter = of_run(repository, LeaseQuery(run_id="RID-1MZZ00000000000"))
    assert (adopter.lapsed, adopter.last_heartbeat_age_ms, adopter.journal_events_since) == (
        False,
        0,
        0,
    )


def test_to_go_on_under_a_new_fence_is_a_sign_of_life_and_no_progress(repository):
    lease = repository.lease("api", run_id=RUN)
    repository.pass_time(MINUTE)
    adopt(repository, lease, holder="the next attempt")
    run = of_run(repository)
    assert (run.journal_events_since, run.last_heartbeat_age_ms, run.run_started_ms) == (
        0,
        0,
        lease.granted_ms,
    )


def test_a_run_with_several_lanes_moves_when_one_of_them_does(repository):
    repository.lease("api", run_id=RUN)
    repository.lease("docs", run_id=RUN, ttl_ms=MINUTE)
    repository.pass_time(10 * MINUTE)
    repository.commit("docs/a.md")
    repository.commit("api/a.py")
    run = of_run(repository)
    assert (run.commits_since_start, run.lapsed) == (2, False)
    assert of_run(repository, LeaseQuery(run_id=RUN, lane="docs")).lapsed
    assert of_run(repository, LeaseQuery(run_id=RUN, lane="docs")).commits_since_start == 1


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (LeaseQuery(run_id=RUN, lane="api", loop_ts="T1"), True),
        (LeaseQuery(run_id=RUN, lane="API", loop_ts="T1"), True),
        (LeaseQuery(run_id=RUN, lane="api"), False),
        (LeaseQuery(run_id=RUN, loop_ts="T1"), False),
        (LeaseQuery(run_id=RUN, lane="api", loop_ts="T2"), False),
        (LeaseQuery(run_id=RUN), False),
    ],
)
def test_a_lease_that_names_no_run_is_found_by_its_lane_and_stamp(repository, wanted, found):
    repository.lease("api", loop_ts="T1")
    assert (of_run(repository, wanted).last_heartbeat_age_ms is not None) == found


def test_another_runs_lease_is_not_found_by_its_lane_and_stamp(repository):
    repository.lease("api", loop_ts="T1", run_id="RID-1MZZ00000000000")
    assert (
        of_run(repository, LeaseQuery(run_id=RUN, lane="api", loop_ts="T1")).last_heartbeat_age_ms
        is None
    )


# The whole of it


@pytest.mark.soak
def test_a_worker_that_works_for_two_hours_and_then_only_beats(repository):
    """Its lease lasts two minutes and is renewed, it commits every six minutes, and at last it is
    gone.
    """
    lease = repository.lease("api", ttl_ms=2 * MINUTE, run_id=RUN)
    policy = Config().liveness
    story = []
    for minute in range(1, 156):
        repository.pass_time(MINUTE)
        if minute <= 120:
            repository.journal.renew([lease.fence])
            if minute % 6 == 0:
                repository.commit("api/a.py")
        elif minute <= 152:
            repository.journal.renew([lease.fence])
        live = repository.journal.leases()[0]
        answers = (
            {liveness.judge(seen(repository, live), policy).answer}
            if minute % 5 == 0 or minute > 145
            else set()
        )
        if minute > 145:
            answers.add(liveness.judge(of_run(repository), policy).answer)
        assert len(answers) <= 1, "both ways of asking agree"
        story += [(minute, answer) for answer in answers]
    changes = [
        row for before, row in zip([(0, None), *story], story, strict=False) if before[1] != row[1]
    ]
    assert changes == [(5, Answer.ADVANCING), (151, Answer.SPINNING), (154, Answer.STALLED)]
