"""A worker on a real repository, with a real journal and a real agent process, driven in this
process.
"""

from types import SimpleNamespace

import pytest
from driven_worker import Killed, before_landing, fleet, new_worker, open_effects, work
from msgspec import json
from sample_repository import Repository, commit, write

from dos.backlog.io import survey
from dos.errors import StoreUnreachable
from dos.fleet import effects
from dos.fleet.io.drive import drive
from dos.fleet.io.worker_effects import WorkerEffects
from dos.journal import fold
from dos.journal.events.fleet import UnitClaimed, UnitTaken
from dos.loop.types import StopReason, WorkerStop
from dos.questions import state
from dos.questions.state import Decisions
from dos.times import Backoff
from dos.world import World


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("dos.fleet.worker.land.PAUSES", Backoff((0.001,)))


def kinds(repository) -> list[str]:
    return [event.kind for event in World(repository.root).journal.events()]


def test_units_land_one_after_the_other_and_the_run_ends_with_a_drain(repository):
    stop = work(repository)
    assert stop.reason is StopReason.COMPLETE
    assert repository.subjects() == ["Write b", "Write a", "Begin"]
    assert World(repository.root).journal.leases() == []
    assert kinds(repository)[-2:] == ["run_stopped", "lease_released"]


def test_the_users_own_files_follow_the_branch(repository):
    work(repository)
    assert (repository.root / "one" / "a.txt").read_text() == "x\n"
    assert repository.git("status", "--porcelain") == ""


def parking(act):
    """Performers that do something instead of waiting."""
    return lambda performers: {**performers, effects.Park: lambda effect: act(effect) or 0.0}


def questions(repository) -> dict[str, str]:
    """What is open, and what was answered."""
    found = fold.current(World(repository.root).journal, Decisions)[0]
    return {each.raised.about: "" for each in found.open.values()} | {
        each.raised.about: each.choice for each in found.answered.values()
    }


@pytest.mark.soak
@pytest.mark.parametrize("ignored", [False, True])
def test_work_waits_until_what_the_user_has_not_committed_is_out_of_its_way(
    repository, impatient, ignored
):
    if ignored:
        (repository.root / ".git" / "info" / "exclude").write_text("a.txt\n")
    mine = repository.root / "one" / "a.txt"
    mine.write_text("mine\n")
    steps = [write("one/a.txt"), {"run": "git add -f one/a.txt"}, commit("Write a")]
    repository.play({"DEMO/A1": [steps], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
    seen = []

    def make_way(effect):
        seen.append((mine.read_text(), repository.subjects(), questions(repository)))
        mine.unlink()

    assert work(repository, performers=parking(make_way)).reason is StopReason.COMPLETE
    assert seen == [("mine\n", ["Write b", "Begin"], {"landing_blocked": ""})], (
        "the rest of the lane went on"
    )
    assert repository.subjects() == ["Write a", "Write b", "Begin"]
    assert repository.starts().count("DEMO/A1") == 1, "nobody did it again"
    assert questions(repository) == {"landing_blocked": "retry"}
    assert fleet(repository).units["DEMO/A1"].tries == []


@pytest.mark.soak
def test_work_that_the_users_own_commit_contradicts_goes_back_to_an_agent(repository, impatient):
    mine = repository.root / "one" / "a.txt"
    mine.write_text("mine\n")
    stop = work(repository, performers=parking(lambda effect: None))
    assert (stop.reason, stop.needs) == (WorkerStop.DECISION_NEEDED, "operator")
    saved = fleet(repository).salvaged
    assert repository.git("show", f"{saved[0]}:one/a.txt") == "x"
    mine.write_text("theirs\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "Their a")
    work(repository, number=2, performers=parking(lambda effect: None))
    tries = fleet(repository).units["DEMO/A1"].tries
    assert any("cannot be rebased onto 'main'" in why for why in tries)
    assert repository.subjects() == ["Write a", "Their a", "Write b", "Begin"]


@pytest.mark.soak
def test_dropped_work_that_was_in_the_way_of_nobody_is_not_landed_later(repository, impatient):
    mine = repository.root / "one" / "a.txt"
    mine.write_text("mine\n")
    work(repository, performers=parking(lambda effect: None))
    acting = open_effects(repository)
    asked = next(iter(fold.current(acting.store, Decisions)[0].open.values()))
    acting.store.append_all(state.answer_entries(asked, "drop", by="tester"))
    acting.close()
    mine.unlink()
    work(repository, number=2, performers=parking(lambda effect: None))
    assert repository.subjects() == ["Write b", "Begin"]
    assert repository.starts().count("DEMO/A1") == 1


@pytest.mark.soak
def test_nothing_lands_beneath_a_merge_that_the_user_has_not_finished(repository, impatient):
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit_all("Another line")
    repository.git("checkout", "--quiet", "main")
    repository.commit_all("This line")
    repository.git("merge", "--no-commit", "--no-ff", "other")
    seen = []

    def finish(effect):
        seen.append(repository.subjects())
        repository.git("commit", "--quiet", "-m", "Merge")

    assert work(repository, performers=parking(finish)).reason is StopReason.COMPLETE
    assert seen == [["This line", "Begin"]]
    assert set(repository.subjects()) == {
        "Write a",
        "Write b",
        "Merge",
        "This line",
        "Another line",
        "Begin",
    }
    assert sorted(repository.starts()) == ["DEMO/A1", "DEMO/A2"]


@pytest.mark.soak
def test_the_users_next_commit_takes_nothing_back(repository):
    (repository.root / "two" / "keep").write_text("edited\n")
    work(repository)
    repository.git("commit", "--quiet", "-am", "My edit")
    assert repository.git("show", "main:one/a.txt") == "x"
    assert repository.git("show", "--name-only", "--format=", "main") == "two/keep"


def test_acceptance_sees_the_commit_and_not_what_lies_around(repository):
    repository.play(
        {
            "DEMO/A1": [[write("one/other.txt"), commit("Not it"), write("one/a.txt")]],
            "*": [[{"say": ""}]],
        }
    )
    work(repository)
    assert repository.subjects() == ["Begin"]


@pytest.mark.soak
def test_a_branch_of_the_users_that_the_agent_checks_out_is_not_moved(repository):
    repository.git("branch", "feature")
    before = repository.git("rev-parse", "feature")
    repository.play(
        {"*": [[{"run": "git checkout -q feature"}, write("two/x.txt"), {"say": "done"}]]}
    )
    work(repository)
    assert repository.git("rev-parse", "feature") == before


@pytest.mark.soak
def test_a_rename_on_the_target_does_not_carry_the_work_out_of_the_lane(repository):
    (repository.root / "one" / "moving.txt").write_text("line\n" * 20)
    repository.commit_all("A file")

    def move():
        repository.git("mv", "one/moving.txt", "two/moving.txt")
        repository.commit_all("Moved")

    edit = {"run": "sed -i '3s/.*/changed/' one/moving.txt && echo x > one/a.txt"}
    repository.play({"DEMO/A1": [[edit, commit("Edit")]], "*": [[{"say": "nothing"}]]})
    work(repository, performers=before_landing(move))
    assert "changed" not in repository.git("show", "main:two/moving.txt")


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([{"say": "it is done"}], "no commit was made"),
        ([commit("It is done"), {"say": "it is done"}], "the commits change no file"),
        ([write("two/c.txt"), commit("It is done")], "changed two/c.txt outside of the lane"),
        ([write("one/other.txt"), commit("It is done")], "the acceptance command failed"),
        ([write("one/other.txt")], "the acceptance command failed"),
    ],
    ids=["only said", "empty commit", "outside of the lane", "not what was asked", "not committed"],
)
def test_a_claim_that_git_does_not_bear_out_does_not_land(repository, steps, why):
    repository.play({"DEMO/A1": [steps], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
    stop = work(repository)
    assert stop.reason is StopReason.CONSECUTIVE_DIRTY_ZERO
    assert stop.needs == "operator"
    assert repository.subjects() == ["Write b", "Begin"]
    tries = fleet(repository).units["DEMO/A1"].tries
    assert tries and all(tried.startswith(why) for tried in tries)


@pytest.mark.soak
def test_a_stray_file_whose_name_is_not_text_is_told_all_the_same(repository):
    command = "printf x > \"$(printf 'two/odd-\\377.txt')\""
    repository.play(
        {"DEMO/A1": [[{"run": command}, commit("Odd")]], "DEMO/A2": [[{"say": "nothing"}]]}
    )
    assert work(repository).reason is StopReason.CONSECUTIVE_DIRTY_ZERO
    assert any("two/odd-\ufffd.txt" in why for why in fleet(repository).units["DEMO/A1"].tries)


@pytest.mark.soak
def test_what_an_agent_left_behind_is_saved_before_the_worktree_is_cleared(repository):
    repository.play(
        {
            "DEMO/A1": [[write("one/half.txt", "half\n"), {"crash": True}]],
            "DEMO/A2": [[{"crash": True}]],
        }
    )
    work(repository)
    saved = fleet(repository).salvaged
    assert saved
    assert repository.git("show", f"{saved[0]}:one/half.txt") == "half"


def test_work_of_an_agent_that_crashed_after_its_commit_is_taken(repository):
    repository.play(
        {
            "DEMO/A1": [[write("one/a.txt"), commit("Write a"), {"crash": True}]],
            "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
        }
    )
    assert work(repository).reason is StopReason.COMPLETE
    assert repository.subjects() == ["Write b", "Write a", "Begin"]


def test_a_target_that_moved_is_rebased_onto(repository):
    def move():
        (repository.root / "two" / "theirs.txt").write_text("theirs\n")
        repository.commit_all("Somebody else was here")

    assert work(repository, performers=before_landing(move)).reason is StopReason.COMPLETE
    assert repository.subjects() == ["Write b", "Write a", "Somebody else was here", "Begin"]


@pytest.mark.soak
def test_a_conflict_with_a_moved_target_sends_the_unit_back_with_its_reason(repository):
    def move():
        (repository.root / "one" / "a.txt").write_text("theirs\n")
        repository.commit_all("The same file")

    work(repository, performers=before_landing(move))
    assert any("cannot be rebased" in why for why in fleet(repository).units["DEMO/A1"].tries)


def test_a_lane_that_is_held_is_not_worked_on(repository):
    first = open_effects(repository)
    first.performers()[effects.TakeLease](effects.TakeLease(lane="one", run_id=""))
    try:
        stop = work(repository, number=2)
        assert stop.reason is WorkerStop.LANE_HELD
    finally:
        first.close()
    assert "run_begun" not in kinds(repository)


def test_a_worker_that_lost_its_lease_writes_and_lands_nothing_more(repository):
    """Its lease is revoked while its agent runs, as when a supervisor took it for dead."""

    def revoke_during_agent(performers):
        real = performers[effects.RunAgent]

        def run(effect):
            with World(repository.root) as other:
                other_store = open_effects(repository)
                lease = other.journal.leases()[0]
                other_store.store.revoke(lease.fence, version=lease.version, reason="test")
                other_store.close()
            return real(effect)

        return {**performers, effects.RunAgent: run}

    stop = work(repository, performers=revoke_during_agent)
    assert stop.reason is WorkerStop.LEASE_LOST
    assert repository.subjects() == ["Begin"]
    assert "agent_ended" not in kinds(repository)


def test_git_itself_refuses_a_stale_worker(repository):
    """The journal is told nothing: only the fence in git stands between the stale worker and the
    branch.
    """

    def raise_fence_before_landing(performers):
        real = performers[effects.MoveBranch]

        def move(effect):
            acting = open_effects(repository)
            from dos.git.fence import raise_fence

            raise_fence(acting.git, "one", effect.lease.fence + 1000)
            acting.close()
            return real(effect)

        return {**performers, effects.MoveBranch: move}

    work(repository, performers=raise_fence_before_landing)
    assert repository.subjects() == ["Begin"]


def count_effects(repository) -> int:
    counted = []

    def counting(performers):
        return {
            kind: (lambda effect, do=do: (counted.append(1), do(effect))[1])
            for kind, do in performers.items()
        }

    work(repository, performers=counting)
    return len(counted)


EFFECTS_OF_ONE_UNIT, EFFECTS_OF_TWO_UNITS = 26, 46


def leave_one_unit(repository) -> None:
    plan = repository.root / "docs" / "demo-plan.md"
    plan.write_text(plan.read_text().partition("## DEMO A2")[0])
    repository.commit_all("Less to do")


def test_the_boundaries_of_a_run_are_all_known(repository):
    leave_one_unit(repository)
    assert count_effects(repository) == EFFECTS_OF_ONE_UNIT


@pytest.mark.sampled(7)
@pytest.mark.parametrize("boundary", range(1, EFFECTS_OF_ONE_UNIT + 1))
def test_a_worker_killed_after_any_effect_redoes_nothing_that_was_committed(repository, boundary):
    """The kill comes after the effect and before its answer arrives, which is also just before the
    next effect.
    """
    leave_one_unit(repository)
    kill_and_go_on(repository, boundary, {"Write a": "DEMO/A1"})


@pytest.mark.soak
@pytest.mark.parametrize("boundary", range(EFFECTS_OF_ONE_UNIT, EFFECTS_OF_TWO_UNITS + 1, 3))
def test_a_worker_killed_at_its_second_unit_redoes_nothing_that_was_committed(repository, boundary):
    kill_and_go_on(repository, boundary, {"Write a": "DEMO/A1", "Write b": "DEMO/A2"})


@pytest.mark.soak
def test_the_boundaries_of_a_run_of_two_units_are_all_known(repository):
    assert count_effects(repository) == EFFECTS_OF_TWO_UNITS


def kill_and_go_on(repository, boundary: int, units: dict[str, str]) -> None:
    before, done = repository.subjects(), []

    def dying(performers):
        def perform(effect, do):
            answer = do(effect)
            done.append(effect)
            if len(done) == boundary:
                raise Killed
            return answer

        return {
            kind: (lambda effect, do=do: perform(effect, do)) for kind, do in performers.items()
        }

    with pytest.raises(Killed):
        work(repository, performers=dying)
    acting = open_effects(repository)
    for lease in acting.store.leases():  # what a supervisor does with the lease of a dead process
        acting.store.revoke(lease.fence, version=lease.version, reason="its process is gone")
    acting.close()
    stop = work(repository, number=2)
    assert stop.reason is StopReason.COMPLETE
    assert repository.subjects() == [*reversed(units), *before], "each unit landed exactly once"
    happened = list(World(repository.root).journal.events())
    for kind in ("unit_landed", "receipt_issued"):
        assert sorted(event.body["unit"] for event in happened if event.kind == kind) == sorted(
            units.values()
        )
    for event in happened:
        if event.kind == "receipt_issued":
            noted = repository.git("notes", "--ref=dos-receipts", "show", event.body["commit"])
            assert json.decode(noted) == event.body["receipt"], (
                "one line, and the same as in the journal"
            )
            assert event.body["receipt"]["signature"]


@pytest.mark.soak
def test_a_unit_at_which_runs_keep_dying_is_set_aside_for_a_person(repository):
    def dying(performers):
        def die(effect):
            raise Killed

        return {**performers, effects.MeasureWork: die}

    for number in range(1, 4):
        with pytest.raises(Killed):
            work(repository, number=number, performers=dying)
        acting = open_effects(repository)
        for lease in acting.store.leases():
            acting.store.revoke(lease.fence, version=lease.version, reason="its process is gone")
        acting.close()
    stop = work(repository, number=9)
    assert stop.reason is StopReason.PICK_HELD_INVARIANT
    assert repository.subjects() == ["Write b", "Begin"], (
        "the other unit of the lane is not held up"
    )


@pytest.mark.soak
def test_an_overloaded_provider_is_asked_again_for_the_same_unit_and_nothing_is_held_against_it(
    repository,
):
    repository.play(
        {
            "DEMO/A1": [[{"overloaded": True}], [write("one/a.txt"), commit("Write a")]],
            "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
        }
    )
    stop = work(repository)
    limits = [kind for kind in kinds(repository) if kind.startswith("limit_")]
    assert (stop.reason, limits) == (
        StopReason.COMPLETE,
        ["limit_hit", "limit_probed", "limit_lifted"],
    )
    assert repository.subjects() == ["Write b", "Write a", "Begin"]
    ended = [
        event.body
        for event in World(repository.root).journal.events()
        if event.kind == "agent_ended"
    ]
    assert [(each["unit"], each["outcome"]) for each in ended[:2]] == [
        ("DEMO/A1", "overloaded"),
        ("DEMO/A1", "ok"),
    ]
    assert fleet(repository).units["DEMO/A1"].tries == []


@pytest.mark.soak
def test_a_unit_that_another_lane_is_at_is_not_taken_when_the_plan_moves_it(repository):
    plan = repository.root / "docs" / "demo-plan.md"

    def move_the_unit(performers):
        real = performers[effects.RunAgent]

        def run(effect):
            if effect.unit.name == "DEMO/A1":
                plan.write_text(plan.read_text().replace("- lane: one", "- lane: two", 1))
                assert work(repository, number=2, lane="two").reason is StopReason.COMPLETE
            return real(effect)

        return {**performers, effects.RunAgent: run}

    work(repository, performers=move_the_unit)
    claims = [
        event.body["unit"]
        for event in World(repository.root).journal.events()
        if event.kind == "unit_claimed"
    ]
    assert claims.count("DEMO/A1") == 1


@pytest.mark.soak
@pytest.mark.parametrize("late", [False, True], ids=["before it looks", "while it looks"])
def test_of_two_lanes_that_claim_one_unit_at_once_one_goes_on(repository, monkeypatch, late):
    other = open_effects(repository)
    taken = other.take_lease(effects.TakeLease(lane="two", run_id="R2"))

    def claim_first():
        who = {"run_id": "R2", "lane": "two", "unit": "DEMO/A1"}
        other.store.record("run/R2", UnitClaimed(**who, iteration=1), fence=taken.fence)
        other.store.record("unit/DEMO/A1", UnitTaken(**who))

    def racing(performers):
        real, waiting = performers[effects.ClaimUnit], [claim_first]

        def claim(effect):
            if waiting and late:  # after the stream was looked at, and before the claim is written
                check = survey.check_claim
                monkeypatch.setattr(
                    survey, "check_claim", lambda *seen: (check(*seen), waiting and waiting.pop()())
                )
            elif waiting:
                waiting.pop()()
            return real(effect)

        return {**performers, effects.ClaimUnit: claim}

    try:
        work(repository, performers=racing)
    finally:
        other.close()
    claims = [
        event.body
        for event in World(repository.root).journal.events()
        if event.kind == "unit_claimed"
    ]
    assert [(each["unit"], each["run_id"]) for each in claims if each["unit"] == "DEMO/A1"] == [
        ("DEMO/A1", "R2")
    ]
    assert repository.starts() == ["DEMO/A2"]


def test_an_outage_does_not_make_a_back_off_longer(repository, monkeypatch):
    acting, clock = open_effects(repository), [0.0]
    monkeypatch.setattr(
        "dos.fleet.io.worker_effects.time", SimpleNamespace(monotonic=lambda: clock[0])
    )

    def wait(after, seconds):
        clock[0] += seconds
        if clock[0] == 50.0:
            raise StoreUnreachable("the journal is away")

    monkeypatch.setattr(acting.store, "wait", wait)
    pause = effects.BackOff(seconds=60.0)
    with pytest.raises(StoreUnreachable):
        acting.back_off(pause)
    acting.back_off(pause)  # as it is repeated once the journal is back
    assert clock == [60.0]
    acting.back_off(effects.BackOff(seconds=5.0))
    assert clock == [65.0]
    acting.close()


@pytest.mark.soak
def test_the_setup_command_runs_once_in_a_new_worktree(repository):
    config = repository.root / "dos.toml"
    counted = f"echo ${{PWD%/*}} >> {repository.home}/setups"
    config.write_text(config.read_text() + f'setup = "{counted}"\n')
    work(repository)
    ran = (repository.home / "setups").read_text().splitlines()
    assert [path.rpartition("/")[2] for path in ran].count("worktrees") == 1


def test_a_workspace_below_the_top_of_its_repository_lands_too(tmp_path):
    outer = Repository(tmp_path)
    outer.git("rm", "--quiet", "-r", "--cached", ".")
    inner = outer.root / "inner"
    inner.mkdir()
    for name in ("one", "two", "docs", "dos.toml"):
        (outer.root / name).rename(inner / name)
    outer.commit_all("Move down")
    world = World(inner)
    acting = WorkerEffects(world.workspace, world.config, actor="test")
    outer.play(
        {
            "*": [
                [
                    {"run": "mkdir -p inner/one; echo x | tee inner/one/a.txt > inner/one/b.txt"},
                    commit("Both"),
                ]
            ]
        }
    )
    (inner / "docs" / "demo-plan.md").write_text("## DEMO A1: first\n- lane: one\n")
    stop = drive(new_worker().work(), acting.performers())
    acting.close()
    assert stop.reason is StopReason.COMPLETE
    assert outer.subjects()[0] == "Both"
