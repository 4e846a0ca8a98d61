"""What is old is shown, and removed when that is asked for; what is at work and what is not ours
stays."""

import os

import pytest

from dos.journal.settings import beyond_limit

DAY = "2026-11-19"
RUNS = [f"RID-00000000000000{number}" for number in range(1, 5)]


@pytest.fixture
def packets(workspace):
    """Three packets, the newest last, and files of other names."""
    with (workspace / "dos.toml").open("a") as config:
        config.write("[retention]\nverdicts_keep_last = 2\nruns_keep_last = 2\n")
    folder = workspace / ".dos" / "verdicts"
    folder.mkdir(parents=True)
    for number in (9, 10, 11):
        tag = f"{DAY}-{number}"
        for name in (
            f"next-up-{tag}.md",
            f"next-up-{tag}.prompts.json",
            f".dispositions-{tag}.json",
        ):
            (folder / name).touch()
            os.utime(folder / name, (number, number))
    for name in ("notes.md", f"next-up-{DAY}.md", f"my-next-up-{DAY}-1.md"):
        (folder / name).touch()
        os.utime(folder / name, (1, 1))
    return folder


def names(folder):
    return {path.name for path in folder.rglob("*") if path.is_file()}


OLD = {f"next-up-{DAY}-9.md", f"next-up-{DAY}-9.prompts.json", f".dispositions-{DAY}-9.json"}


def test_nothing_is_removed_until_that_is_asked_for(dos, packets):
    before = names(packets)
    shown = dos("reap", "--json")
    assert shown.code == 0 and not shown.json["_applied"]
    assert set(shown.json["verdicts"]["dropped"]) == OLD
    assert (shown.json["verdicts"]["kept"], shown.json["verdicts"]["cap"]) == (2, 2)
    assert names(packets) == before
    assert "would remove 1 packet" in dos("reap").out
    removed = dos("reap", "--apply", "--json")
    assert removed.code == 0 and removed.json["_applied"]
    assert before - names(packets) == OLD
    again = dos("reap", "--apply", "--json").json
    assert (
        again["verdicts"]["dropped"] == again["runs"]["dropped"] == again["audits"]["dropped"] == []
    )


def test_the_newest_packet_of_a_workspace_can_still_be_dispatched(dos, workspace):
    (workspace / "docs" / "a-plan.md").write_text("# A\n\n## 1. A A1 — one\n\n- paths: api/x\n")
    for _ in range(2):
        written = dos("packet", "--write", "--json")
    with (workspace / "dos.toml").open("a") as config:
        config.write("[retention]\nverdicts_keep_last = 1\n")
    dos("reap", "--apply")
    assert dos("gate", written.json["paths"]["dispositions"]).code == written.code


def test_the_logs_of_a_run_that_holds_a_lane_stay(dos, packets, state):
    folder = state / "logs" / "api"
    folder.mkdir(parents=True)
    for age, run in enumerate(RUNS):
        for name in (f"{run}.worker.log", f"{run}-1.1.log"):
            (folder / name).touch()
            os.utime(folder / name, (1000 + age, 1000 + age))
    (state / "logs" / "supervisor.log").touch()
    oldest, second, third, newest = RUNS
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--run-id", oldest)
    dropped = dos("reap", "--json").json["runs"]
    assert dropped["kept"] == 2
    assert {name.split("/")[1][:19] for name in dropped["dropped"]} == {second, third}
    assert dos("reap", "--apply").code == 0
    assert {name[:19] for name in names(folder)} == {oldest, newest}
    assert (state / "logs" / "supervisor.log").exists()


def test_the_journal_is_pruned_where_it_is_meant_too(dos, packets):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    assert "journal" not in dos("reap", "--json").json
    assert "would_compact" in dos("reap", "--journal", "--json").json["journal"]
    assert "compacted" in dos("reap", "--journal", "--apply", "--json").json["journal"]


def test_without_a_limit_nothing_is_old(dos, workspace, packets):
    text = (workspace / "dos.toml").read_text()
    (workspace / "dos.toml").write_text(text.replace("keep_last = 2", 'keep_last = "none"'))
    answer = dos("reap", "--apply", "--json").json
    assert answer["verdicts"]["unbounded"] and answer["verdicts"]["dropped"] == []
    assert names(packets) > OLD


@pytest.mark.parametrize(
    ("keep", "old"),
    [(None, []), (3, []), (2, ["a"]), (1, ["b", "a"]), (0, ["c", "b", "a"]), (-1, ["c", "b", "a"])],
)
def test_the_newest_are_kept_and_of_two_at_once_the_greater_name(keep, old):
    assert beyond_limit({"a": 1.0, "b": 1.0, "c": 2.0}, keep) == old
