"""Reading the file: whatever is in its place, the answer is a configuration or one clear error."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import PATIENCE

from dos.config.load import LARGEST_BYTES, LoadedConfig, load, parse
from dos.config.schema import Config
from dos.config.toml_text import key_text, value_text
from dos.errors import ConfigInvalid

FILE = Path("dos.toml")

COMPLETE = """
workspace = "."

[lanes]
concurrent = ["api", "worker", "web", "docs"]
exclusive  = ["infra", "global"]
autopick   = ["api", "worker", "web", "docs"]

[lanes.trees]
api    = ["src/api/**", "tests/api/**"]
worker = ["src/worker/**", "tests/worker/**"]
web    = ["web/**"]
docs   = ["docs/**", "README.md"]
infra  = ["deploy/**", ".github/**"]
global = ["**/*"]

[lanes.aliases]
svc = "api"
ui  = "web"

[paths]
plans_glob = "planning/**/*.md"

[overlap]
ratio_max = 0.2
policy = "prefix"

[[concurrency_class]]
name = "cluster"
max_concurrent = 3

[supervise]
target = 3
count_spinning_as_alive = true
reap_stalled = true
spin_halt_after_minutes = 45
worker_launch_template = "myagent run --lane {lane}"

[retention]
journal_max_entries = 2000
journal_max_age_days = 14
runs_keep_last = 100
verdicts_keep_last = "none"

[data_class]
trajectory_patterns = [".dos/runs", "logs/agents"]
baseline_patterns = ["bench/baselines"]

[stamp]
style = "grep"
trailer_stamp = true

[cooldown]
window_hours = 4
error_window_minutes = 20

[lifecycle]
classes = ["draft", "active", "done"]
transitions = [
  { from = "draft",  to = "active", trigger = "approved",           auto = false },
  { from = "active", to = "done",   trigger = "all_phases_shipped", auto = true },
]

[reasons.WAITING_ON_VENDOR]
category = "OPERATOR_GATE"
summary  = "Blocked on an external party."
fix      = "Chase the vendor, then re-plan."

[tool_stream]
repeat_n = 3
stall_n  = 6
ignore_tools = ["TodoWrite"]

[verify]
non_git_oracle = ""
"""


def written(root: Path, content: bytes) -> Path:
    (root / "dos.toml").write_bytes(content)
    return root


def refusal(root: Path) -> ConfigInvalid:
    with pytest.raises(ConfigInvalid) as caught:
        load(root)
    assert str(root / "dos.toml") in caught.value.message
    assert caught.value.hint
    return caught.value


def test_a_complete_file_loads_without_a_warning(tmp_path: Path) -> None:
    loaded = load(written(tmp_path, COMPLETE.encode()))
    assert loaded.warnings == ()
    assert loaded.path == tmp_path / "dos.toml"
    assert loaded.config.roster() == ["api", "worker", "web", "docs", "infra", "global"]
    assert loaded.config.canonical_lane("UI") == "web"
    assert loaded.config.class_budgets() == {"cluster": 3}
    assert [move.trigger for move in loaded.config.lifecycle.transitions] == [
        "approved",
        "all_phases_shipped",
    ]


def test_without_a_file_everything_is_default(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    assert (loaded.config, loaded.path, loaded.origins) == (Config(), None, {})


@pytest.mark.parametrize("content", [b"", b"\n", b"# only a comment\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_all_defaults(tmp_path: Path, content: bytes) -> None:
    assert load(written(tmp_path, content)).config == Config()


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_byte_order_mark_and_either_newline_are_read(
    tmp_path: Path, before: bytes, newline: bytes
) -> None:
    text = newline.join([b"[supervise]", b"target = 7", b""])
    assert load(written(tmp_path, before + text)).config.supervise.target == 7


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[supervise]\ntarget = \x00 1", "dos.toml:2: there is a NUL byte"),
        (b"[supervise]\n# caf\xe9\n", "dos.toml:2: found the byte 0xe9"),
        ("[supervise]\n".encode("utf-16"), "dos.toml:1: the file is UTF-16"),
        (b"[supervise\ntarget = 1", "dos.toml:1: not TOML"),
        (b"[supervise]\ntarget = three\n", "dos.toml:2: not TOML at column 10"),
        (b"[supervise]\ntarget = 1\ntarget = 2\n", "dos.toml:3: not TOML"),
        (b"[supervise]\ntarget = [1,\n", "dos.toml:2: not TOML at the end of the file"),
        (b"[a.b]\n[a.b]\n", "dos.toml:2: not TOML at column 5: cannot declare a.b twice"),
        (b"x = " + b"9" * 5000, "dos.toml: not TOML"),
        (b"x = " + b"[" * 50_000, "nested too deeply"),
        (b"x = " + b"{a=" * 50_000, "nested too deeply"),
        (b"\n" + b"a." * 300_000 + b"a = 1", "dos.toml:2: a key has more than 200 parts"),
        (b"x = {" + b"a." * 300_000 + b"a = 1}", "dos.toml:1: a key has more than 200 parts"),
        (b"[" + b"a." * 300_000 + b"a]", "dos.toml:1: a key has more than 200 parts"),
    ],
)
def test_a_file_that_is_not_toml_is_one_error_with_its_place(
    tmp_path: Path, content: bytes, said: str
) -> None:
    assert said in refusal(written(tmp_path, content)).message


def test_a_row_of_dots_in_a_text_is_no_long_key(tmp_path: Path) -> None:
    text = "# " + "." * 500 + '\n[workers]\nsetup = """\n' + "." * 500 + '\n"""\n'
    assert load(written(tmp_path, text.encode())).config.workers.setup.count(".") == 500


def test_a_deep_table_that_toml_can_read_is_answered(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="has no table or key `a`"):
        load(written(tmp_path, b"[" + b"a." * 150 + b"a]"))
    with pytest.raises(ConfigInvalid, match="has no key `x`"):
        load(written(tmp_path, b"[ci]\nx = " + b"[" * 150 + b"]" * 150))


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    error = refusal(written(tmp_path, b"#" * 10_000_000))
    assert "10,000,000 bytes" in error.message


def test_a_file_of_exactly_the_largest_size_is_read(tmp_path: Path) -> None:
    assert load(written(tmp_path, b"#" * LARGEST_BYTES)).config == Config()
    refusal(written(tmp_path, b"#" * (LARGEST_BYTES + 1)))


def test_a_directory_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "dos.toml").mkdir()
    assert "a directory" in refusal(tmp_path).message


def test_a_pipe_in_its_place_is_an_error_and_nothing_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "dos.toml")
    code = "import sys, pathlib\nfrom dos.config.load import load\nload(pathlib.Path(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, timeout=PATIENCE
    )
    assert "not a file" in done.stderr


def test_a_socket_in_its_place_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket has to be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("dos.toml")
        refusal(tmp_path)


def test_a_device_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "dos.toml").symlink_to("/dev/zero")
    assert "not a file" in refusal(tmp_path).message


def test_a_link_to_a_file_is_read_and_a_link_to_nowhere_is_not_taken_for_no_file(
    tmp_path: Path,
) -> None:
    (tmp_path / "real.toml").write_text("[supervise]\ntarget = 4\n")
    (tmp_path / "dos.toml").symlink_to("real.toml")
    assert load(tmp_path).config.supervise.target == 4
    (tmp_path / "real.toml").unlink()
    assert "points nowhere" in refusal(tmp_path).message


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_a_file_that_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    written(tmp_path, b"").joinpath("dos.toml").chmod(0)
    assert "Permission denied" in refusal(tmp_path).message


def test_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "dos.toml").symlink_to("dos.toml")
    assert "cannot be read" in refusal(tmp_path).message


@pytest.mark.parametrize(
    ("text", "place", "found", "nearest"),
    [
        ("[lane]\nconcurrent = []", "dos.toml:1", "`lane`", "`lanes`"),
        ("\n\n[Supervise]\ntarget = 1", "dos.toml:3", "`Supervise`", "`supervise`"),
        ("[lanes]\nautopik = []", "dos.toml:2", "`autopik`", "`autopick`"),
        ("[lanes]\n'autopik' = []", "dos.toml:2", "`autopik`", "`autopick`"),
        ("lanes.autopik = []", "dos.toml:1", "`autopik`", "`autopick`"),
        ("x = 1\n[lanes]", "dos.toml:1", "`x`", "The keys of dos.toml are workspace, lanes"),
        ("target = 3", "dos.toml:1", "`target`", "[supervise]"),
        ("[verify]\nposture = 'gate'", "dos.toml:2", "`posture`", "[enforcement]"),
        ("[paths]\nplan_glob = 'x'", "dos.toml:2", "`plan_glob`", "`plans_glob`"),
        (
            "[supervise]\ntarget = 1 # ok\nmax_concurency = 3",
            "dos.toml:3",
            "`max_concurency`",
            "`max_concurrency`",
        ),
        ("[reasons.X]\ncategory = 'MISROUTE'\nsummry = ''", "dos.toml:3", "`summry`", "`summary`"),
        (
            "[intervention.X]\nrank = 5\ndispatch = false",
            "dos.toml:3",
            "`dispatch`",
            "`dispatches`",
        ),
        (
            "[[concurrency_class]]\nname = 'a'\nmax_concurrent = 1\nmax = 2",
            "dos.toml:4",
            "`max`",
            "The keys of [concurrency_class[0]] are name",
        ),
        (
            (
                "[lifecycle]\ntransitions = [\n"
                "  {from='active', to='done', trigger='t', auto_=true},\n]"
            ),
            "dos.toml:3",
            "`auto_`",
            "`auto`",
        ),
        ("[workers]\nisolation = 'worktre'", "dos.toml:2", '"worktre"', '"worktree"'),
        ("[verify]\nrequire = 'witness'", "dos.toml:2", '"witness"', '"witnessed"'),
        ("lanes = 3", "dos.toml:1", "the number 3", "[lanes]"),
        ("[[lanes]]\n", "dos.toml:1", "a list", "[lanes]"),
        ("['x y z']\nx = 1", "dos.toml:1", '`"x y z"`', "The keys of dos.toml are"),
    ],
)
def test_an_error_names_the_line_what_was_found_and_the_nearest_name(
    text: str, place: str, found: str, nearest: str
) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        parse(text, FILE)
    assert caught.value.message.startswith(place + ": ")
    assert found in caught.value.message
    assert nearest in caught.value.message + caught.value.hint


def test_of_several_errors_the_first_in_the_file_is_raised() -> None:
    with pytest.raises(ConfigInvalid, match=r"^dos.toml:2: "):
        parse("[workers]\nagnt = 'x'\n[supervise]\ntarget = -1\n[nothing]\n", FILE)


BROKEN = """
[supervise]
target = -1
max_concurency = 2
[workers]
wall_seconds = 60
[reasons.A]
category = "MISROUTE"
[reasons.a]
category = "MISROUTE"
[surprise]
"""


def test_a_lenient_load_leaves_bad_tables_at_their_defaults_and_lists_every_problem() -> None:
    loaded = parse(BROKEN, FILE, lenient=True)
    assert [problem.line for problem in loaded.problems] == [3, 4, 9, 11]
    assert len(loaded.warnings) == 4
    assert loaded.config.supervise == Config().supervise
    assert loaded.config.reasons == {}
    assert loaded.config.workers.wall_seconds == 60


@pytest.mark.parametrize("content", [b"[supervise", b"\x00", b"\xff\xfe"])
def test_a_lenient_load_of_a_file_that_is_not_toml_is_all_defaults_and_says_so(
    tmp_path: Path, content: bytes
) -> None:
    loaded = load(written(tmp_path, content), lenient=True)
    assert loaded.config == Config()
    assert loaded.path == tmp_path / "dos.toml"
    assert len(loaded.warnings) == len(loaded.problems) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[cooldown]\nwindow_ms = 1\nwindow_hours = 1", "window_hours has no effect"),
        (
            "[cooldown]\nerror_window_ms = 1\nerror_window_minutes = 1",
            "error_window_minutes has no effect",
        ),
        ("[lanes]\nconcurrent = ['a', 'b']\naliases = {A = 'b', c = 'b'}", "A has no effect"),
    ],
)
def test_a_key_that_changes_nothing_is_warned_about(text: str, said: str) -> None:
    (warning,) = parse(text, FILE).warnings
    assert said in warning


def test_loading_a_good_file_imports_neither_the_editor_nor_the_spelling_checker(
    tmp_path: Path,
) -> None:
    written(tmp_path, COMPLETE.encode())
    code = (
        "import sys, pathlib\nfrom dos.config.load import load\nload(pathlib.Path(sys.argv[1]))\n"
        "print([name for name in ('difflib', 'tomlkit') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout.strip() == "[]", done.stderr


TABLES = list(Config.__struct_fields__)
KEYS = sorted(
    {
        name
        for field in TABLES
        for name in getattr(type(getattr(Config(), field)), "__struct_fields__", ())
    }
)
WORDS = st.one_of(st.sampled_from(KEYS), st.sampled_from(TABLES), st.text(max_size=6))
SCALARS = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["none", "MISROUTE", "live", "a/**"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=8,
)


def answered(text: str) -> LoadedConfig | None:
    try:
        return parse(text, FILE)
    except ConfigInvalid as error:
        assert error.message.startswith("dos.toml")
        assert error.hint
        lenient = parse(text, FILE, lenient=True)
        assert lenient.problems
        return None


@settings(deadline=None)
@given(st.dictionaries(st.one_of(st.sampled_from(TABLES), WORDS), VALUES, max_size=4))
def test_any_tables_either_load_or_are_one_clear_error(tables: dict[str, object]) -> None:
    answered(
        "\n".join(f"{key_text((name,))} = {value_text(value)}" for name, value in tables.items())
    )


@settings(deadline=None)
@given(
    st.sampled_from(TABLES),
    st.dictionaries(st.sampled_from(KEYS), SCALARS | st.lists(SCALARS, max_size=3)),
)
def test_any_keys_in_a_table_either_load_or_are_one_error_with_a_line(
    table: str, keys: dict[str, object]
) -> None:
    lines = [f"[{table}]", *(f"{name} = {value_text(value)}" for name, value in keys.items())]
    try:
        parse("\n".join(lines), FILE)
    except ConfigInvalid as error:
        assert error.message.startswith("dos.toml:")
        line = int(error.message.split(":")[1])
        assert 1 <= line <= len(lines)


@settings(deadline=None)
@given(st.text(alphabet="[]{}=.\"'#,\n\r\t -+_ae0129\\u\x00é\u2028", max_size=60))
def test_any_text_either_loads_or_is_one_clear_error(text: str) -> None:
    answered(text)


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes_either_load_or_are_one_clear_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    root = tmp_path_factory.mktemp("loaded", numbered=True)
    (root / "dos.toml").write_bytes(content)
    try:
        load(root)
    except ConfigInvalid as error:
        assert str(root / "dos.toml") in error.message


def test_of_several_errors_the_first_is_shown_with_the_number_of_the_others() -> None:
    with pytest.raises(ConfigInvalid) as raised:
        parse('[leases]\nttl = 1\n[supervise]\ntarget = "x"\n[workers]\nagnt = "x"\n', FILE)
    assert raised.value.message == "dos.toml:2: [leases] has no key `ttl` (and 2 more errors)"
    assert raised.value.hint.endswith(" `dos lint` lists all errors.")
