"""Changing one key: nothing else changes, and a change that does not load is refused."""

import difflib
import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.config.edit import set_value, unset_value
from dos.config.load import load, parse
from dos.config.show import list_settings
from dos.config.toml_text import value_text
from dos.errors import BadInput, ConfigInvalid

TEXT = """\
# our fleet

[lanes]   # who works where
concurrent = ["api",   "web"]  # two of them
exclusive = ["global"]

[lanes.trees]
api = ["src/api/**"]
"web" = [ # odd but legal
    "web/**",
]
global = ["**/*"]

  [supervise]
  target   =   2   # at night 4
reap_stalled = true


[workers]
agent = 'claude_code'
# setup = "make deps"

[[concurrency_class]]
name = "cluster"
max_concurrent = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "dos.toml"
    path.write_text(TEXT)
    return path


def changed_lines(path: Path) -> tuple[list[str], list[str]]:
    """The lines that went away and the lines that came, in their places; blank ones count."""
    diff = list(difflib.ndiff(TEXT.split("\n"), path.read_text().split("\n")))
    return [line[2:] for line in diff if line[0] == "-"], [
        line[2:] for line in diff if line[0] == "+"
    ]


@pytest.mark.parametrize(
    ("key", "value", "gone", "came"),
    [
        (
            "supervise.target",
            "5",
            ["  target   =   2   # at night 4"],
            ["  target   =   5   # at night 4"],
        ),
        ("supervise.reap_stalled", "false", ["reap_stalled = true"], ["reap_stalled = false"]),
        ("workers.agent", "codex", ["agent = 'claude_code'"], ['agent = "codex"']),
        ("workers.agent", "'codex'", ["agent = 'claude_code'"], ["agent = 'codex'"]),
        ("workers.isolation", "shared", [], ['isolation = "shared"']),
        ("workers.target_branch", "1.2", [], ['target_branch = "1.2"']),
        ("workers.target_branch", "true", [], ['target_branch = "true"']),
        ("workers.test", "make test && echo ok", [], ['test = "make test && echo ok"']),
        ("workers.command", '["make", "work"]', [], ['command = ["make", "work"]']),
        ("lanes.trees.api", '["api/**"]', ['api = ["src/api/**"]'], ['api = ["api/**"]']),
        ('lanes.trees."v1.2"', '["v1.2/**"]', [], ['"v1.2" = ["v1.2/**"]']),
        ("lanes.aliases.ui", "web", [], ["", "[lanes.aliases]", 'ui = "web"']),
        ("retention.runs_keep_last", "none", [], ["[retention]", 'runs_keep_last = "none"', ""]),
        ("retention.runs_keep_last", "7", [], ["[retention]", "runs_keep_last = 7", ""]),
        (
            "reasons.VENDOR.category",
            "MISROUTE",
            [],
            ["[reasons.VENDOR]", 'category = "MISROUTE"', ""],
        ),
        ("verify.require", "witnessed", [], ["[verify]", 'require = "witnessed"', ""]),
        ("ci.repo", "owner/name", [], ["[ci]", 'repo = "owner/name"', ""]),
    ],
)
def test_setting_a_key_changes_its_line_and_no_other(
    file: Path, key: str, value: str, gone: list[str], came: list[str]
) -> None:
    set_value(file, key, value)
    assert changed_lines(file) == (gone, came)
    load(file.parent)


def test_a_new_key_stands_before_what_is_said_about_the_next_table(tmp_path: Path) -> None:
    path = tmp_path / "dos.toml"
    path.write_text(
        "# one\n[supervise]\ntarget = 1\n# reap_stalled = true\n\n"
        "# two\n[workers]\n# none\n\n# three\n[verify]\n"
    )
    set_value(path, "supervise.max_concurrency", "2")
    set_value(path, "workers.test", "make")
    set_value(path, "workers.setup", "x")
    set_value(path, "verify.ci", "require")
    assert path.read_text().splitlines() == [
        *("# one", "[supervise]", "target = 1", "# reap_stalled = true", "max_concurrency = 2", ""),
        *("# two", "[workers]", "# none", 'test = "make"', 'setup = "x"', ""),
        *("# three", "[verify]", 'ci = "require"'),
    ]


def _set_some(path: Path, number: int) -> None:
    for place in range(5):
        set_value(path, f"reasons.R{number}_{place}.category", "MISROUTE")


def test_changes_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "dos.toml"
    changing = [
        multiprocessing.get_context("fork").Process(target=_set_some, args=(path, n))
        for n in range(4)
    ]
    for process in changing:
        process.start()
    for process in changing:
        process.join()
    assert [process.exitcode for process in changing] == [0] * 4
    assert len(load(tmp_path).config.reasons) == 20


def test_what_is_refused_is_not_located_in_a_file_that_does_not_hold_it(file: Path) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        set_value(file, "cooldown.window_hours", "nan")
    assert (
        caught.value.message
        == "cooldown.window_hours must be a number from 0 to 87600, not the number nan;"
        f" {file} was not changed"
    )


def test_what_is_set_is_what_loads(file: Path) -> None:
    assert set_value(file, "supervise.target", "5").config.supervise.target == 5
    assert load(file.parent).config.supervise.target == 5


def test_unsetting_a_key_takes_its_line_out_and_no_other(file: Path) -> None:
    loaded = unset_value(file, "supervise.reap_stalled")
    assert changed_lines(file) == (["reap_stalled = true"], [])
    assert loaded.config.supervise.target == 2


def test_unsetting_a_table_takes_all_of_it_out(file: Path) -> None:
    unset_value(file, "concurrency_class")
    assert load(file.parent).config.concurrency_class == ()
    assert "# our fleet" in file.read_text()


def test_one_entry_is_taken_out_of_a_list_and_the_rest_stays(file: Path) -> None:
    assert unset_value(file, "lanes.concurrent", "web").config.lanes.concurrent == ("api",)
    assert changed_lines(file) == (
        ['concurrent = ["api",   "web"]  # two of them'],
        ['concurrent = ["api"]  # two of them'],
    )
    assert unset_value(file, "lanes.concurrent", "api").config.lanes.concurrent == ()


@pytest.mark.parametrize(
    ("key", "entry", "said"),
    [
        ("lanes.concurrent", "docs", "holds no entry 'docs'"),
        ("supervise.target", "2", "holds no entry '2'"),
        ("workers.agent", "c", "holds no entry"),
        ("lanes.trees", "api", "holds no entry"),
        ("verify.require", "x", "is not set"),
    ],
)
def test_an_entry_that_is_not_there_cannot_be_taken_out(
    file: Path, key: str, entry: str, said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        unset_value(file, key, entry)
    assert file.read_text() == TEXT


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("supervise.target", "-1", "supervise.target must be"),
        ("supervise.target", "many", "must be a whole number"),
        ("supervise.target", "", "must be a whole number"),
        ("supervise.target", "1\n[evil]", "must be a whole number"),
        ("lanes.autopick", "[api]", "not a TOML value"),
        ("lanes.autopick", "api", "must be a list"),
        ("supervise.taget", "1", "has no key `taget`"),
        ("lane.concurrent", "[]", "has no table or key `lane`"),
        ("supervise", "3", "supervise must be a table"),
        ("supervise.target.deep", "3", "supervise.target is not a table"),
        ("concurrency_class.name", "x", "concurrency_class is not a table"),
        ("workers.isolation", "container", "workers.isolation must be"),
        ("workers.agent", "command", "no command"),
        ("lanes.trees.api", '["/etc"]', "absolute"),
        ("lanes.concurrent", '["api", "API"]', "differ only by case"),
        ("", "1", "not a key"),
        ("a b", "1", "not a key"),
        ("a = 1\nb", "1", "not a key"),
        ("a..b", "1", "not a key"),
    ],
)
def test_a_change_that_would_not_load_is_refused_and_changes_nothing(
    file: Path, key: str, value: str, said: str
) -> None:
    with pytest.raises(BadInput) as caught:
        set_value(file, key, value)
    assert said in caught.value.message
    assert caught.value.hint
    assert file.read_text() == TEXT
    assert os.listdir(file.parent) == ["dos.toml"]


@pytest.mark.parametrize(
    "key", ["supervise.max_concurrency", "verify", "nothing.at.all", "supervise.target.deep"]
)
def test_unsetting_what_is_not_set_is_an_error(file: Path, key: str) -> None:
    with pytest.raises(BadInput, match="is not set in this file"):
        unset_value(file, key)
    assert file.read_text() == TEXT


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        (
            "intervention = { A = {rank = 1} } # x\n",
            "intervention.B.rank",
            "2",
            "intervention = { A = {rank = 1}, B = {rank = 2}} # x\n",
        ),
        ("marker.max_streak = 1\n", "marker.max_streak", "2", "marker.max_streak = 2\n"),
        (
            "[precursor.aliases]\na = ['b']\n[supervise]\ntarget = 3\n[precursor]\n",
            "supervise.target",
            "4",
            None,
        ),
        ("[marker]\nmax_streak = 1", "marker.max_streak", "2", "[marker]\nmax_streak = 2\n"),
        (
            "[marker]\nmax_streak = 1\n\n\n",
            "marker.max_streak",
            "2",
            "[marker]\nmax_streak = 2\n\n\n",
        ),
    ],
)
def test_odd_layouts_are_kept(
    tmp_path: Path, before: str, key: str, value: str, after: str | None
) -> None:
    path = tmp_path / "dos.toml"
    path.write_text(before)
    set_value(path, key, value)
    assert path.read_text() == (before.replace("3", "4") if after is None else after)


def test_a_layout_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dos.toml"
    text = "lanes.trees.a = ['a/**']\nlanes.concurrent = ['a']\n"
    path.write_text(text)
    with pytest.raises(ConfigInvalid, match="without touching other keys"):
        set_value(path, "lanes.aliases.b", "a")
    assert path.read_text() == text


def test_a_table_may_go_with_its_last_key(tmp_path: Path) -> None:
    path = tmp_path / "dos.toml"
    path.write_text("# mine\nlanes.concurrent = ['a']\nlanes.trees.a = ['a/**']\n")
    assert unset_value(path, "lanes.trees.a").config.lanes.trees == {}
    assert path.read_text() == "# mine\nlanes.concurrent = ['a']\n"


def test_a_misspelt_key_can_be_taken_out(file: Path) -> None:
    file.write_text(TEXT + "[surprise]\nx = 1\n")
    unset_value(file, "surprise")
    assert load(file.parent).config.supervise.target == 2


def test_a_broken_file_is_reported_as_such_and_left_alone(file: Path) -> None:
    file.write_text("[supervise\n")
    with pytest.raises(ConfigInvalid, match=r"dos.toml:1: not TOML"):
        set_value(file, "supervise.target", "1")
    assert file.read_text() == "[supervise\n"


def test_a_key_can_be_set_where_there_is_no_file_yet(tmp_path: Path) -> None:
    path = tmp_path / "dos.toml"
    set_value(path, "supervise.target", "3")
    assert path.read_text() == "[supervise]\ntarget = 3\n"


def test_the_mode_and_a_link_are_kept(tmp_path: Path) -> None:
    real = tmp_path / "shared.toml"
    real.write_text(TEXT)
    real.chmod(0o640)
    path = tmp_path / "dos.toml"
    path.symlink_to("shared.toml")
    set_value(path, "supervise.target", "5")
    assert path.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "=   5   #" in real.read_text()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_windows_newlines_and_a_byte_order_mark_are_kept(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "dos.toml"
    path.write_bytes(mark + TEXT.replace("\n", "\r\n").encode())
    set_value(path, "supervise.target", "5")
    set_value(path, "workers.isolation", "shared")
    content = path.read_bytes()
    assert content.startswith(mark + b"# our fleet")
    assert content.count(b"\n") == content.count(b"\r\n") == TEXT.count("\n") + 1


def test_a_full_disk_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(ConfigInvalid, match="No space left") as caught:
        set_value(file, "supervise.target", "5")
    assert f"df -h {file.parent}" in caught.value.hint
    assert file.read_text() == TEXT
    assert os.listdir(file.parent) == ["dos.toml"]


def test_a_file_that_somebody_changed_meanwhile_is_not_overwritten(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fchmod

    def another_writer(handle: int, mode: int) -> None:
        real(handle, mode)
        file.write_text("# theirs\n")

    monkeypatch.setattr(os, "fchmod", another_writer)
    with pytest.raises(ConfigInvalid, match="meanwhile"):
        set_value(file, "supervise.target", "5")
    assert file.read_text() == "# theirs\n"
    assert os.listdir(file.parent) == ["dos.toml"]


CHANGES = st.sampled_from(
    [
        ("supervise.target", 4),
        ("supervise.max_concurrency", 2),
        ("workers.command", ["a", "b c"]),
        ("workers.setup", 'say "hi"'),
        ('lanes.trees."sp ace"', ["sp ace/**"]),
        ("lanes.trees.api", ["x/**"]),
        ("cooldown.window_hours", 0.5),
        ("reasons.A.category", "MISROUTE"),
        ("precursor.requires.x", ["a", "b"]),
    ]
)


@pytest.mark.soak
@settings(deadline=None, max_examples=30)
@given(st.lists(CHANGES, max_size=6))
def test_any_changes_one_after_another_give_what_they_say(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, object]]
) -> None:
    path = tmp_path_factory.mktemp("edited", numbered=True) / "dos.toml"
    path.write_text(TEXT)
    for key, value in changes:
        set_value(path, key, value_text(value))
    after = parse(path.read_text(), path)
    shown = {row.key: row.text for row in list_settings(after)}
    for key, value in dict(changes).items():
        assert shown[key] == value_text(value)
    assert path.read_text().startswith(TEXT[: TEXT.index("concurrent")])
    assert "# odd but legal" in path.read_text()
