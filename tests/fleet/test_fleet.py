"""The real command, real workers, real kills: what a person does with it."""

import os
import signal
import subprocess
import sys

import psutil
import pytest
from patience import PATIENCE, wait_until_ended
from sample_fleet import history, landed, wait_for
from sample_repository import WORKS, commit, write

from dos.machine.process import host

EVERYTHING = ["DEMO/A1", "DEMO/A2", "DEMO/B1"]


def test_a_fleet_lands_everything_and_stops_when_it_is_idle(fleet):
    story, _ = (process := fleet.up("--until-idle", "--target", "2")).communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert landed(fleet) == EVERYTHING
    assert "DEMO/B1 landed on main" in story
    assert fleet.stray_processes() == []


@pytest.mark.soak
def test_one_worker_is_one_worker(fleet):
    fleet.up("--until-idle", "--target", "1").communicate(timeout=PATIENCE)
    assert landed(fleet) == EVERYTHING
    live = 0
    for event in history(fleet):
        live += (
            {"lease_granted": 1, "lease_released": -1}.get(event["kind"], 0)
            if event["stream"].startswith("lane/")
            else 0
        )
        assert live <= 1


@pytest.mark.soak
def test_a_killed_worker_is_reaped_and_its_unit_done_once(fleet):
    fleet.repository.play(
        {
            "DEMO/A1": [[{"hang": True}], [write("one/a.txt"), commit("Write a")]],
            "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
            "DEMO/B1": [[write("two/c.txt"), commit("Write c")]],
        }
    )
    process = fleet.up("--until-idle", "--target", "2")
    worker = fleet.worker_at("one")
    wait_for(
        lambda: "DEMO/A1" in fleet.repository.starts(),
        "the agent hangs, as its script says for the first time",
    )
    os.kill(worker, signal.SIGKILL)
    story, _ = process.communicate(timeout=PATIENCE)
    assert landed(fleet) == EVERYTHING
    assert "its worker died" in story
    assert sorted(fleet.repository.subjects()) == ["Begin", "Write a", "Write b", "Write c"]
    issued = [
        event["body"]["unit"] for event in history(fleet) if event["kind"] == "receipt_issued"
    ]
    assert sorted(issued) == EVERYTHING, "one receipt for each"
    assert fleet.stray_processes() == []


@pytest.mark.soak  # of `make test` see tests/engine/test_kill_table.py
def test_workers_outlive_a_killed_supervisor_and_the_next_one_adopts_them(fleet):
    waits = fleet.repository.waits
    fleet.repository.play(
        {
            "DEMO/A1": [[waits, write("one/a.txt"), commit("Write a")]],
            "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
            "DEMO/B1": [[waits, write("two/c.txt"), commit("Write c")]],
        }
    )
    first = fleet.up("--target", "2")
    worker = fleet.worker_at("one")
    first.kill()
    first.communicate()
    assert psutil.pid_exists(worker), "a worker does not die with its supervisor"
    fleet.repository.let_go()
    fleet.up("--until-idle", "--target", "2").communicate(timeout=PATIENCE)
    assert landed(fleet) == EVERYTHING
    assert sorted(fleet.repository.subjects()) == ["Begin", "Write a", "Write b", "Write c"]
    starts = [
        event["body"]["lane"] for event in history(fleet) if event["kind"] == "worker_spawned"
    ]
    assert sorted(starts) == ["one", "two"], "nothing was started twice"


def test_a_second_supervisor_on_one_host_is_refused(fleet):
    fleet.repository.play({"*": [[{"hang": True}]]})
    fleet.up("--target", "1")
    fleet.worker_at("one", unit=False)
    second = fleet.up("--target", "1")
    said, _ = second.communicate(timeout=PATIENCE)
    assert second.returncode == 1
    assert "another supervisor runs here" in said


@pytest.mark.soak
def test_down_lets_the_workers_finish_and_leaves_nothing_running(fleet):
    waits = fleet.repository.waits
    fleet.repository.play(
        {
            "DEMO/A1": [[waits, write("one/a.txt"), commit("Write a")]],
            "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
            "DEMO/B1": [[waits, write("two/c.txt"), commit("Write c")]],
        }
    )
    process = fleet.up("--target", "2")
    fleet.worker_at("one")
    down = fleet.begin("down")
    wait_for(lambda: any(event["kind"] == "drain_requested" for event in history(fleet)))
    fleet.repository.let_go()
    assert (down.communicate(timeout=PATIENCE)[0], down.returncode) == (
        "Everything has stopped\n",
        0,
    )
    process.communicate(timeout=PATIENCE)
    assert "DEMO/A1" in landed(fleet), "what was being worked on was finished"
    assert "DEMO/A2" not in landed(fleet), "nothing new was begun"
    assert fleet.stray_processes() == []


def test_an_interrupt_drains(fleet):
    fleet.repository.play({"*": [[fleet.repository.waits, write("one/a.txt"), commit("Write a")]]})
    process = fleet.up("--target", "1")
    fleet.worker_at("one")
    process.send_signal(signal.SIGINT)
    wait_for(lambda: any(event["kind"] == "drain_requested" for event in history(fleet)))
    fleet.repository.let_go()
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "draining" in said and "drained on request" in said
    assert landed(fleet) == ["DEMO/A1"]


@pytest.mark.soak
def test_a_closed_terminal_does_not_end_what_was_started_with_nohup(fleet):
    fleet.repository.play(WORKS | {"DEMO/A1": [[fleet.repository.waits, *WORKS["DEMO/A1"][0]]]})
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = fleet.up("--until-idle", "--target", "2")
    finally:
        signal.signal(signal.SIGHUP, before)
    worker = fleet.worker_at("one")
    wait_for(lambda: "DEMO/A1" in fleet.repository.starts(), "the agent is at work")
    for each in (process.pid, worker):
        os.kill(each, signal.SIGHUP)
    fleet.repository.let_go()
    story, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and "draining" not in story
    assert landed(fleet) == EVERYTHING


@pytest.mark.soak
def test_a_lane_whose_workers_keep_dying_is_given_up_on(fleet):
    fleet.repository.set_walls('level = "off"')  # inside of them a worker cannot be seen
    config = fleet.repository.config
    # The worker is the parent of the launcher, which is the parent of the shell.
    kill = "kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat)"
    config.write_text(config.read_text() + f'setup = "{kill}"\n')
    story, _ = fleet.up("--until-idle", "--target", "1").communicate(timeout=PATIENCE)
    assert "disabled until you answer `dos decisions`" in story
    spawned = [event for event in history(fleet) if event["kind"] == "worker_spawned"]
    assert len([event for event in spawned if event["body"]["lane"] == "one"]) == 3


@pytest.mark.soak
def test_a_setup_that_fails_is_told_and_asked_about_and_locks_nothing(fleet):
    config = fleet.repository.root / "dos.toml"
    before = config.read_text()
    config.write_text(before + 'setup = "echo no network; exit 3"\n')
    fleet.up("--until-idle", "--target", "1").communicate(timeout=PATIENCE)
    stops = {
        event["body"]["lane"]: event["body"]
        for event in history(fleet)
        if event["kind"] == "run_stopped"
    }
    assert {stop["stop_reason"] for stop in stops.values()} == {"not-ready"}
    assert "no network" in stops["one"]["reason"]
    bodies = [event["body"] for event in history(fleet) if event["kind"] == "decision_raised"]
    assert len(bodies) == len(stops) and all("no network" in each["question"] for each in bodies)
    config.write_text(before)
    fleet.repository.play({"*": [[{"run": "date > $DOS_LANE/a.txt"}, commit("Make it")]]})
    for each in bodies:
        assert fleet.dos("decisions", "answer", each["id"], "retry").returncode == 0
    fleet.up("--until-idle", "--target", "1").communicate(timeout=PATIENCE)
    assert "DEMO/A1" in landed(fleet)


@pytest.mark.soak
def test_workers_that_end_well_are_not_counted_as_dying(fleet):
    config = fleet.repository.root / "dos.toml"
    config.write_text(config.read_text() + "max_iterations = 1\n")
    plan = fleet.repository.root / "docs" / "demo-plan.md"
    plan.write_text("".join(f"## DEMO U{n}: unit\n- lane: one\n" for n in range(5)))
    fleet.repository.play(
        {"*": [[{"run": "date +%N > one/$(basename $DOS_UNIT)"}, commit("A unit")]]}
    )
    fleet.up("--until-idle").communicate(timeout=PATIENCE)
    assert len(landed(fleet)) == 5


@pytest.mark.soak
def test_a_drain_reaches_a_worker_that_has_just_been_started(fleet):
    process = fleet.up("--target", "1")
    wait_for(lambda: any(event["kind"] == "spawn_intended" for event in history(fleet)))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert landed(fleet) in ([], ["DEMO/A1"]), "at most what it was at is finished"


@pytest.mark.soak
def test_two_lanes_that_land_at_once_both_land(fleet):
    config = fleet.repository.root / "dos.toml"
    config.write_text(config.read_text() + 'test = "sleep 0.4"\n')
    plan = fleet.repository.root / "docs" / "demo-plan.md"
    plan.write_text(
        "".join(f"## DEMO U{n}: unit\n- lane: {'one' if n % 2 else 'two'}\n" for n in range(6))
    )
    fleet.repository.play(
        {"*": [[{"run": "date +%N > $DOS_LANE/$(basename $DOS_UNIT)"}, commit("A unit")]]}
    )
    fleet.up("--until-idle", "--target", "2").communicate(timeout=PATIENCE)
    assert len(landed(fleet)) == 6


@pytest.mark.soak
def test_a_lane_that_a_person_holds_fills_no_place_and_stays_theirs(fleet):
    assert fleet.dos("lease-lane", "acquire", "--lane", "one", "--owner", "me").returncode == 0
    process = fleet.up("--target", "1")
    wait_for(lambda: "DEMO/B1" in landed(fleet))
    assert fleet.dos("down").returncode == 0
    process.communicate(timeout=PATIENCE)
    assert landed(fleet) == ["DEMO/B1"]


def test_in_the_background_it_answers_when_it_is_up(fleet):
    fleet.repository.play({"*": [[{"hang": True}]]})
    first = fleet.dos("up", "-d")
    assert first.returncode == 0 and "runs in the background" in first.stdout
    assert fleet.dos("up", "-d").returncode == 1
    assert fleet.dos("down", "--timeout", "0").returncode == 1


def test_settings_that_contradict_one_another_are_refused(fleet):
    config = fleet.repository.root / "dos.toml"
    config.write_text(config.read_text() + 'landing = "branch"\nisolation = "shared"\n')
    done = fleet.dos("up", "--until-idle")
    assert done.returncode == 2 and "landing" in done.stderr


@pytest.mark.soak
def test_for_those_who_merge_by_pull_request_each_unit_waits_on_a_branch_and_is_not_done_again(
    fleet,
):
    config = fleet.repository.root / "dos.toml"
    config.write_text(config.read_text() + 'landing = "branch"\n')
    assert fleet.dos("up", "--until-idle").returncode == 0
    assert fleet.repository.subjects() == ["Begin"]
    assert fleet.repository.git(
        "branch", "--list", "dos/*", "--format=%(refname:short)"
    ).split() == ["dos/one/DEMO/A1", "dos/one/DEMO/A2", "dos/two/DEMO/B1"]
    assert fleet.dos("up", "--until-idle").returncode == 0
    assert sorted(fleet.repository.starts()) == ["DEMO/A1", "DEMO/A2", "DEMO/B1"]


def test_an_agent_does_not_outlive_its_killed_worker(fleet):
    fleet.repository.play({"*": [[{"hang": True}]]})
    fleet.up("--target", "1")
    worker = psutil.Process(fleet.worker_at("one"))

    def agents() -> list[psutil.Process]:
        return [
            child
            for child in worker.children(recursive=True)
            if "scripted" in " ".join(words(child))
        ]

    found = wait_for(agents)
    worker.kill()
    wait_until_ended(found)


def words(process: psutil.Process) -> list[str]:
    """What it was started with; nothing of one that has ended, as a worker's git does between two
    looks.
    """
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def test_without_an_agent_it_says_what_to_set(fleet):
    config = fleet.repository.root / "dos.toml"
    config.write_text(config.read_text().replace('agent = "scripted"', 'agent = "nobody"'))
    done = fleet.dos("up", "--until-idle")
    assert done.returncode == 2
    assert "nobody" in done.stderr and "dos config set workers.agent" in done.stderr


@pytest.mark.soak
def test_a_worker_that_waits_for_its_provider_hears_a_drain_at_once(fleet):
    config = fleet.repository.root / "dos.toml"
    config.write_text(
        config.read_text().replace("backoff_seconds = [0.1]", "backoff_seconds = [600]")
    )
    fleet.repository.play({"*": [[{"overloaded": True}]]})
    process = fleet.up("--target", "1")
    wait_for(lambda: any(event["kind"] == "iteration_committed" for event in history(fleet)))
    done = fleet.dos("down", "--timeout", "300")  # it would wait for ten
    assert (done.returncode, done.stdout) == (0, "Everything has stopped\n")
    process.communicate(timeout=PATIENCE)
    assert [
        event["body"]["stop_reason"] for event in history(fleet) if event["kind"] == "run_stopped"
    ] == ["drain-requested"]


@pytest.mark.soak
def test_a_stopped_worker_whose_lane_was_taken_over_never_wakes_in_the_worktree_of_its_successor(
    fleet,
):
    config = fleet.repository.root / "dos.toml"
    config.write_text(config.read_text().replace("ttl_seconds = 30", "ttl_seconds = 2"))
    fleet.repository.play(
        {"DEMO/A1": [[{"hang": True}], [write("one/a.txt"), commit("Write a")]], "*": [[]]}
    )
    process = fleet.up("--target", "1")
    worker = psutil.Process(fleet.worker_at("one"))
    wait_for(
        lambda: fleet.repository.starts()
    )  # the agent hangs, as its script says for the first time
    worker.suspend()
    wait_for(lambda: "DEMO/A1" in landed(fleet))
    assert not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)


DETACHES = {"run": "setsid sleep 300 & exec sleep 300"}


@pytest.mark.soak
def test_a_worker_that_is_told_to_end_takes_with_it_all_that_it_started(fleet):
    fleet.repository.play({"*": [[DETACHES]]})
    command = [sys.executable, "-m", "dos", "worker", "--lane", "one"]
    worker = subprocess.Popen(command, cwd=fleet.repository.root, stdout=subprocess.DEVNULL)
    fleet.started.append(worker)
    wait_for(lambda: fleet.stray_processes().count("sleep 300") == 2)
    worker.terminate()
    assert worker.wait(timeout=PATIENCE) == 130
    assert "sleep 300" not in fleet.stray_processes()


@pytest.mark.soak
def test_what_the_agent_of_a_killed_worker_started_is_ended_though_nobody_follows_on_its_lane(
    fleet,
):
    fleet.repository.play({"*": [[DETACHES]]})
    process = fleet.up("--target", "1")
    worker = fleet.worker_at("one")
    wait_for(lambda: fleet.stray_processes().count("sleep 300") == 2)
    process.send_signal(signal.SIGINT)
    wait_for(lambda: any(event["kind"] == "drain_requested" for event in history(fleet)))
    os.kill(worker, signal.SIGKILL)
    story, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, story
    assert fleet.stray_processes() == []


@pytest.mark.soak
def test_the_logs_of_a_lane_are_those_of_its_last_runs(fleet):
    config = fleet.repository.root / "dos.toml"
    config.write_text(
        config.read_text() + "max_iterations = 1\n\n[retention]\nruns_keep_last = 3\n"
    )
    plan = fleet.repository.root / "docs" / "demo-plan.md"
    plan.write_text("".join(f"## DEMO U{n}: unit\n- lane: one\n" for n in range(5)))
    fleet.repository.play(
        {"*": [[{"run": "date +%N > one/$(basename $DOS_UNIT)"}, commit("A unit")]]}
    )
    logs = fleet.repository.root / ".git" / "dos" / "logs" / "one"
    logs.mkdir(parents=True)
    (logs / "a note of mine.log").touch()
    fleet.up("--until-idle").communicate(timeout=PATIENCE)
    runs = [event["body"]["run_id"] for event in history(fleet) if event["kind"] == "run_begun"]
    assert len(runs) == 5
    left = {file.name for file in logs.iterdir()}
    assert left == {"a note of mine.log"} | {
        f"{run}{end}" for run in runs[-3:] for end in (".worker.log", "-1.1.log")
    }


def test_status_says_who_keeps_the_fleet_going(fleet):
    assert fleet.status()["supervisors"] == []
    fleet.repository.play({"*": [[{"hang": True}]]})
    process = fleet.up("--target", "1")
    fleet.worker_at("one")
    running = {"host": host(), "pid": process.pid, "state": "running"}
    assert fleet.status()["supervisors"] == [running]
    assert f"(process {process.pid}) runs" in fleet.dos("status").stdout
    process.kill()
    process.communicate()
    assert fleet.status()["supervisors"] == [running | {"state": "gone"}]


@pytest.mark.soak
def test_units_that_nobody_will_ever_take_are_named(fleet):
    plan = fleet.repository.root / "docs" / "demo-plan.md"
    plan.write_text(
        plan.read_text() + "\n## DEMO X1: lost\n- lane: nowhere\n\n## DEMO A1: twin\n- lane: one\n"
    )
    lost = "docs/demo-plan.md:17: unit DEMO/X1 names the lane 'nowhere', which is not declared"
    twin = "docs/demo-plan.md:20: unit DEMO/A1 has its heading in line 3 already"
    assert sorted(fleet.status()["warnings"]) == [lost, twin]
    story, _ = fleet.up("--until-idle").communicate(timeout=PATIENCE)
    assert f"warning: {lost}" in story and f"warning: {twin}" in story
    assert landed(fleet) == EVERYTHING
