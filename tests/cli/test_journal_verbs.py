"""Reading, checking, moving and pruning the journal from the command line."""

import os
import pty
import sqlite3
import subprocess

import pytest
from commanding import command, in_its_own_process
from msgspec import json
from patience import PATIENCE

from dos.journal.backend import Entry
from dos.journal.backends.open import open_store
from dos.lease import Request
from dos.regions import region
from dos.times import SystemClock


@pytest.fixture
def story(dos):
    """Six events: two lanes taken, one refused, one renewed, one released, a number given out."""
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--loop-ts", "t1")
    dos("lease-lane", "acquire", "--lane", "docs", "--owner", "B")
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "C")
    dos("lease-lane", "heartbeat", "--lane", "api", "--owner", "A")
    dos("lease-lane", "release", "--lane", "docs", "--owner", "B")
    dos("id-alloc", "allocate", "s")
    return [
        "lease_granted",
        "lease_granted",
        "lease_refused",
        "lease_renewed",
        "lease_released",
        "id_allocated",
    ]


def test_the_tail_is_one_object_a_line(dos, story):
    assert [event["kind"] for event in dos("journal", "tail").lines] == story
    assert [event["pos"] for event in dos("journal", "tail", "2").lines] == [5, 6]
    assert [event["kind"] for event in dos("journal", "tail", "0").lines] == story
    assert dos("journal", "tail").lines[0].keys() >= {
        "pos",
        "stream",
        "ver",
        "kind",
        "at",
        "at_ms",
        "actor",
        "body",
    }


def test_the_tail_of_one_stream(dos, story):
    assert [event["ver"] for event in dos("journal", "tail", "--stream", "lane/api").lines] == [
        1,
        2,
        3,
    ]
    assert [
        event["ver"] for event in dos("journal", "tail", "2", "--stream", "lane/api").lines
    ] == [2, 3]
    assert [
        event["ver"] for event in dos("journal", "tail", "0", "--stream", "lane/api").lines
    ] == [1, 2, 3]
    assert dos("journal", "tail", "--stream", "lane/nosuch").out == ""


def test_the_tail_finds_its_number_of_events_across_gaps(dos, story, state):
    with (
        open_store("", state_directory=state, workspace_id="") as store,
        store.backend.write() as tx,
    ):
        tx.delete([3, 4, 5])
    assert [event["pos"] for event in dos("journal", "tail", "2").lines] == [2, 6]


def test_following_shows_what_comes_later_and_waits_for_a_journal(dos, workspace):
    follower = subprocess.Popen(
        command("journal", "tail", "--follow"), stdout=subprocess.PIPE, text=True
    )
    try:
        dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
        first = follower.stdout.readline()
        dos("lease-lane", "release", "--lane", "api", "--owner", "A")
        second = follower.stdout.readline()
    finally:
        follower.terminate()
        follower.wait(PATIENCE)
    assert [json.decode(line)["kind"] for line in (first, second)] == [
        "lease_granted",
        "lease_released",
    ]


def test_one_event_is_shown_whole(dos, story):
    event = dos("journal", "show", "1").json
    assert event["kind"] == "lease_granted" and event["body"]["asked"]["holder"] == "A"


@pytest.mark.parametrize(("pos", "code"), [("99", 1), ("0", 1), ("-3", 1), ("x", 2), ("9" * 30, 2)])
def test_an_event_that_is_not_there_is_said(dos, story, pos, code):
    answer = (
        dos("journal", "show", "--", pos) if pos.startswith("-") else dos("journal", "show", pos)
    )
    assert answer.code == code and answer.err.startswith("error: ")


def test_a_sound_journal_is_called_sound(dos, story):
    answer = dos("journal", "check")
    assert answer.code == 0 and answer.out == "sound: 6 events, 3 streams, 1 lease\n"
    report = dos("journal", "check", "--json").json
    assert report["sound"] is True and report["problems"] == [] and report["events"] == 6


def damage(state, sql):
    database = sqlite3.connect(state / "state.db")
    database.execute("DROP TRIGGER event_immutable")
    database.execute(sql)
    database.commit()
    database.close()


def test_damage_is_named_and_the_exit_code_says_so(dos, story, state):
    damage(state, "UPDATE event SET body = replace(body, 'A', 'Z') WHERE pos = 1")
    answer = dos("journal", "check")
    assert answer.code == 1 and "event 1" in answer.out
    assert dos("journal", "check", "--json").json["problems"][0]["pos"] == 1
    shown = dos("journal", "show", "1")
    assert shown.code == 1 and shown.json["damaged"] is True
    assert dos("journal", "tail").code == 2


def test_a_file_that_is_no_database_is_damage(dos, story, state):
    for name in ("state.db-wal", "state.db-shm"):
        (state / name).unlink(missing_ok=True)
    (state / "state.db").write_bytes(b"not a database at all, by far" * 100)
    answer = dos("journal", "check")
    assert answer.code == 1 and "problem: " in answer.out


def test_the_live_leases_are_replayed_in_the_released_shape(dos, story):
    [lease] = dos("journal", "replay").json
    assert (lease["lane"], lease["holder"], lease["loop_ts"]) == ("api", "A", "t1")
    assert dos("journal", "replay").out.startswith("[\n")


def test_the_sequence_is_a_number(dos, workspace):
    assert dos("journal", "seq").out == "0\n"
    dos("id-alloc", "allocate", "s")
    assert dos("journal", "seq").out == "1\n" == dos("journal", "seq", "--json").out


def test_an_export_is_imported_once(dos, story, tmp_path, workspace):
    exported = tmp_path / "journal.jsonl"
    answer = dos("journal", "export", "--to", str(exported), "--json")
    assert answer.json == {"lines": 6, "path": str(exported)}
    assert exported.read_text() == dos("journal", "export").out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["journal.jsonl", "workspace"]
    other = tmp_path / "other"
    other.mkdir()
    first = dos("journal", "import", str(exported), "--workspace", str(other), "--json")
    assert first.code == 0 and first.json["lines"] == 6 and first.json["events"] == 6
    again = dos("journal", "import", str(exported), "--workspace", str(other), "--json")
    assert again.json["events"] == 0
    assert dos("id-alloc", "peek", "s", "--workspace", str(other)).json["id"] == 1
    assert dos("lease-lane", "live", "--workspace", str(other)).json == [], (
        "no lease moves with its event"
    )


def test_an_export_can_start_after_a_position_and_keep_to_a_stream(dos, story):
    assert [event["pos"] for event in dos("journal", "export", "--after", "4").lines] == [5, 6]
    assert [event["ver"] for event in dos("journal", "export", "--stream", "lane/api").lines] == [
        1,
        2,
        3,
    ]


def test_the_released_shape_has_the_released_operations(dos, story):
    lines = dos("journal", "export", "--shape", "lane-journal").lines
    assert [line["op"] for line in lines] == [
        "ACQUIRE",
        "ACQUIRE",
        "REFUSE",
        "HEARTBEAT",
        "RELEASE",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("--shape", "nosuch"),
        ("--to", "/nosuch/dir/file"),
        ("--to", "a\0b"),
        ("--after", "x"),
        ("--to", "."),
    ],
    ids=str,
)
def test_an_export_that_cannot_be_made_leaves_nothing(dos, story, workspace, words):
    before = sorted(workspace.iterdir())
    assert dos("journal", "export", *words).code == 2
    assert sorted(workspace.iterdir()) == before


def test_a_released_log_is_read_with_its_torn_and_broken_lines(dos, workspace):
    log = workspace / "lane-journal.jsonl"
    log.write_text(
        '{"op":"ACQUIRE","lane":"api","loop_ts":"t1","seq":1}\ngarbage\n{"op":"RELEASE","lane":"x"}\n{"to'
    )
    done = dos("journal", "import", str(log), "--json").json
    assert (done["lines"], done["unreadable"], done["live"]) == (4, 1, 1)
    [lease] = dos("journal", "replay").json
    assert lease["imported"] is True and lease["lane"] == "api"
    assert dos("lease-lane", "acquire", "--lane", "api", "--owner", "A").code == 0


@pytest.mark.parametrize("name", ["nosuch.jsonl", ".", "a\0b", "a\nb"])
def test_what_is_no_file_is_not_imported(dos, workspace, state, name):
    answer = dos("journal", "import", name)
    assert answer.code == 2 and answer.err.startswith("error: ")
    assert not state.exists()


def old_journal(state, days):
    """A lease that was renewed many times, days ago, and an ended one."""
    clock = OldClock(days)
    with open_store("", state_directory=state, workspace_id="", clock=clock) as store:
        asked = Request(lane="api", holder="A", host="h", ttl_ms=10**9, region=region(["api/**"]))
        lease = store.acquire(asked, lambda asked, live: None)
        for _ in range(10):
            store.renew([lease.fence])


class OldClock:
    def __init__(self, days):
        self._real, self._back = SystemClock(), days * 86_400_000

    def wall_ms(self):
        return self._real.wall_ms() - self._back

    def lease_ms(self):
        return self._real.lease_ms()

    def boot(self):
        return self._real.boot()


def test_pruning_follows_the_configured_age_and_archives_first(dos, workspace, state):
    old_journal(state, days=40)
    assert dos("journal", "prune", "--dry-run").out.startswith("would remove 9 of 11")
    assert dos("journal", "seq").out == "11\n"
    pruned = dos("journal", "prune", "--json").json
    assert (pruned["removed"], pruned["kept"]) == (9, 2)
    [archive] = (state / "archive").iterdir()
    assert pruned["archived_to"] == str(archive) and len(archive.read_text().splitlines()) == 9
    assert dos("journal", "check").code == 0
    assert [lease["holder"] for lease in dos("lease-lane", "live").json] == ["A"]


def test_an_age_that_is_given_goes_before_the_configured_one(dos, workspace, state, tmp_path):
    old_journal(state, days=5)
    assert dos("journal", "prune", "--json").json["removed"] == 0
    assert dos("journal", "prune", "--older-than-days", "10", "--json").json["removed"] == 0
    path = tmp_path / "kept"
    pruned = dos(
        "journal", "prune", "--older-than-days", "3", "--archive", str(path), "--json"
    ).json
    assert pruned["removed"] == 9 and pruned["archived_to"].startswith(str(path))


def test_without_a_limit_nothing_is_old(dos, workspace, state):
    config = workspace / "dos.toml"
    config.write_text(config.read_text() + '\n[retention]\njournal_max_age_days = "none"\n')
    old_journal(state, days=400)
    assert dos("journal", "prune", "--json").json["removed"] == 0


def test_compacting_answers_as_released_versions_did(dos, workspace, state):
    old_journal(state, days=40)
    counts = dos("journal", "compact").json
    assert counts["entries_before"] == 11 and counts["bytes_reclaimed"] >= 0
    assert counts["entries_after"] == 3, (
        "the grant, its newest renewal, and the note of what was removed"
    )


@pytest.mark.parametrize("days", ["-1", "nan", "1e9"])
def test_an_age_that_is_none_is_an_error(dos, workspace, days):
    assert dos("journal", "prune", f"--older-than-days={days}").code == 2


def test_a_reader_that_goes_away_is_no_error(workspace, dos, state):
    with open_store("", state_directory=state, workspace_id="") as store:
        store.append_all([*_many(3000)])
    words = " ".join(command("journal", "tail", "0"))
    done = subprocess.run(
        ["bash", "-c", f"{words} | head -n 1; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0 and done.stderr == "" and len(done.stdout.splitlines()) == 1


def _many(count):
    return [Entry(stream="notes", kind="note", body={"text": "x" * 100}) for _ in range(count)]


def test_checking_shows_no_progress_where_nobody_looks(workspace, dos, story):
    answer = in_its_own_process("journal", "check", cwd=workspace)
    assert answer.code == 0 and answer.err == ""


def test_checking_shows_its_progress_on_a_terminal(workspace, dos, story):
    ours, theirs = pty.openpty()
    checking = subprocess.Popen(
        command("journal", "check"), stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    os.close(theirs)
    assert checking.communicate(timeout=PATIENCE)[0].startswith("sound: ")
    assert b"6 of 6 events" in os.read(ours, 4096)
    os.close(ours)


def test_an_export_to_a_device_goes_through_it(dos, story):
    assert dos("journal", "export", "--to", "/dev/null").code == 0
    assert os.path.exists("/dev/null") and not os.path.isfile("/dev/null")


@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["text", "json"])
def test_standard_output_by_its_other_name_gets_the_lines_and_nothing_else(
    dos, story, tmp_path, flags
):
    out = tmp_path / "out"
    with out.open("w") as file:
        file.write("before\n")
        file.flush()
        words = command("journal", "export", "--to", "/dev/stdout", *flags)
        done = subprocess.run(
            words, stdout=file, stderr=subprocess.PIPE, text=True, timeout=PATIENCE
        )
    assert (done.returncode, done.stderr) == (0, "")
    first, *lines = out.read_text().splitlines()
    assert first == "before" and [json.decode(line)["kind"] for line in lines] == story
    piped = in_its_own_process(
        "journal", "export", "--to", "/dev/stdout", *flags, cwd=tmp_path / "workspace"
    )
    assert [json.decode(line)["kind"] for line in piped.out.splitlines()] == story


@pytest.mark.parametrize("place", ["/", ".", "api", "/nosuch/file", "/dev/full", "api/a.txt/x"])
def test_where_nothing_can_be_written_is_said_in_words(dos, story, workspace, place):
    answer = dos("journal", "export", "--to", place)
    assert answer.code == 2 and answer.err.startswith(f"error: {place!r} cannot be written: ")
    assert "Errno" not in answer.err and "hint: " in answer.err


def test_an_export_takes_the_place_of_an_older_one_and_of_nothing_else(dos, story, workspace):
    older, empty = workspace / "older", workspace / "empty"
    older.write_text('{"pos": 1}\n')
    empty.touch()
    for place in (older, empty):
        assert dos("journal", "export", "--to", str(place)).code == 0
        assert len(place.read_text().splitlines()) == 6
    for name, text in {
        "README.md": "# Read me\n",
        "package.json": "{\n}\n",
        "program": "\x7fELF",
    }.items():
        (workspace / name).write_text(text)
        answer = dos("journal", "export", "--to", name)
        assert answer.code == 2 and "is not an export" in answer.err
        assert (workspace / name).read_text() == text


def test_one_line_is_not_lines(dos, workspace, tmp_path):
    dos("id-alloc", "allocate", "s")
    assert dos("journal", "check").out == "sound: 1 event, 1 stream, 0 leases\n"
    assert (
        dos("journal", "export", "--to", str(tmp_path / "one")).out
        == f"1 line written to {tmp_path / 'one'}\n"
    )
    assert dos("journal", "import", str(tmp_path / "one")).out.startswith(
        "1 line read, 0 events written"
    )


@pytest.mark.parametrize(
    "words", [("journal", "tail"), ("journal", "export"), ("journal", "seq")], ids=" ".join
)
def test_an_answer_that_finds_no_room_is_an_error(dos, story, words):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command(*words), stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE
        )
    assert (
        done.returncode == 2
        and "No space left" in done.stderr
        and len(done.stderr.splitlines()) == 2
    )


def test_following_ends_when_nobody_reads(dos, story):
    words = " ".join(command("journal", "tail", "1", "--follow"))
    follower = subprocess.Popen(
        ["bash", "-c", f"{words} | head -n 1; exit ${{PIPESTATUS[0]}}"],
        stdout=subprocess.PIPE,
        text=True,
    )
    follower.stdout.readline()
    try:
        while follower.poll() is None:
            dos("id-alloc", "allocate", "s")
        assert follower.returncode == 0
    finally:
        follower.kill()
        follower.wait()
