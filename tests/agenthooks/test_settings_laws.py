"""Laws of editing a person's settings: what was there stays, in its order, and comes back."""

import json
import os
import stat
from functools import partial
from pathlib import Path

import pytest
from commanding import git, in_process
from hypothesis import example, given
from hypothesis import strategies as st

from dos.agenthooks import json_edit, json_settings, toml_settings
from dos.agenthooks.json_settings import NotPlain
from dos.agenthooks.wiring import HOSTS, Form

JSON_HOSTS = [name for name, host in HOSTS.items() if host.form not in (Form.TOML, Form.PLUGIN)]
CALLER = "dos hook"
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
foreign_entries = st.one_of(
    values,
    st.fixed_dictionaries({"command": st.sampled_from(["lint.sh", "dosh hook", "", "'"])}),
    st.fixed_dictionaries({"hooks": st.lists(values, max_size=2), "matcher": st.text(max_size=3)}),
)
EVENTS = ["PreToolUse", "Stop", "BeforeTool", "AfterAgent", "stop", "preToolUse", "Other"]
hooks = st.dictionaries(
    st.sampled_from(EVENTS), st.lists(foreign_entries, min_size=1, max_size=3), min_size=1
)
keys = st.text(max_size=5).filter(lambda key: key != "hooks")


@st.composite
def settings_of_a_person(draw):
    made = draw(st.dictionaries(keys, values, max_size=4))
    if draw(st.booleans()):
        made["hooks"] = draw(hooks)
        made |= draw(st.dictionaries(keys, values, max_size=2))
    return made


def in_order(value):
    """A value in which the order of keys counts."""
    if isinstance(value, dict):
        return [(key, in_order(each)) for key, each in value.items()]
    if isinstance(value, list):
        return [in_order(each) for each in value]
    return value


@pytest.mark.parametrize("name", JSON_HOSTS)
@given(settings=settings_of_a_person())
def test_our_hooks_go_in_once_and_out_again(name, settings):
    host = HOSTS[name]
    before = json.dumps(settings)
    made = json_settings.install(settings, host, CALLER)
    assert json.dumps(settings) == before, "what was given is not changed"
    assert json_settings.is_wired(made, host, CALLER)
    assert in_order(json_settings.install(made, host, CALLER)) == in_order(made)
    assert in_order(json_settings.install(made, host, CALLER, force=True)) == in_order(made)
    left = json_settings.uninstall(made, host)
    if host.form is Form.FLAT and "version" not in settings:
        left.pop("version", None)
    assert in_order(left) == in_order(settings)
    kept = [key for key in made if key in settings]
    assert kept == list(settings)


SPACES = st.text(" \n\t\r", max_size=3)
ODD_SCALARS = [
    "1e5",
    "1.0",
    "-0.0",
    "1E+2",
    "12345678901234567890123",
    '"\\u00e9"',
    '"\\/"',
    "true",
]


@st.composite
def written_by_hand(draw, value):
    """The text of a value with blanks and numbers as somebody wrote them."""
    blank = partial(draw, SPACES)
    if isinstance(value, dict):
        members = [
            f"{blank()}{json.dumps(key)}{blank()}:{blank()}{draw(written_by_hand(each))}{blank()}"
            for key, each in value.items()
        ]
        return "{" + (",".join(members) or blank()) + "}"
    if isinstance(value, list):
        items = [f"{blank()}{draw(written_by_hand(each))}{blank()}" for each in value]
        return "[" + (",".join(items) or blank()) + "]"
    if isinstance(value, int):
        return draw(st.sampled_from(ODD_SCALARS))
    return json.dumps(value)


@pytest.mark.parametrize("name", JSON_HOSTS)
@given(data=st.data(), settings=settings_of_a_person())
def test_what_is_not_ours_keeps_its_text(name, data, settings):
    """Every value of the person stands in the result as it stood, and in the same order."""
    host = HOSTS[name]
    text = data.draw(SPACES) + data.draw(written_by_hand(settings)) + data.draw(SPACES)
    try:
        parsed = json_settings.parse(text, "settings.json")
    except NotPlain:
        return
    made = json_settings.install(parsed, host, CALLER)
    written = json_edit.rewrite(text, parsed, made)
    written.encode("utf-8", "surrogatepass")
    again = json.loads(written)
    assert in_order(again) == in_order(made)
    left = iter(written)
    assert all(character in left for character in text.strip("{} \t\n\r[]") if settings)
    assert json_edit.rewrite(written, again, again) == written
    gone = json_settings.uninstall(again, host)
    assert in_order(json.loads(json_edit.rewrite(written, again, gone))) == in_order(gone)


HAND_WRITTEN = """\ufeff{\r
\t"model" :\t"m",  "a": [1.0,1e5 , 10000000000000000000000],\r
\t"hooks": {\r
\t\t"Stop": [ {"hooks": [ {"command": "bell", "timeout": 1.50} ]} ],\r
\t\t"PreToolUse": [{"matcher": "X", "hooks": [{"command": "lint", "t": 1E3}]}]\r
\t},\r
\t"end": "\\u00e9\\/"\r
}\r\n \r\n"""


@pytest.mark.parametrize("name", JSON_HOSTS)
def test_only_lines_of_ours_come_and_go(name):
    host = HOSTS[name]
    settings = json_settings.parse(HAND_WRITTEN, "settings.json")
    made = json_settings.install(settings, host, CALLER)
    written = json_edit.rewrite(HAND_WRITTEN, settings, made)
    assert "\n" not in written.replace("\r\n", ""), "the ends of lines are those of the file"
    assert written.endswith("\r\n}\r\n \r\n")
    for kept in (
        '\ufeff{\r\n\t"model" :\t"m",  "a": [1.0,1e5 , 10000000000000000000000],\r\n',
        '"Stop": [ {"hooks": [ {"command": "bell", "timeout": 1.50} ]}',
        '"PreToolUse": [{"matcher": "X", "hooks": [{"command": "lint", "t": 1E3}]}',
        '},\r\n\t"end": "\\u00e9\\/"',
    ):
        assert kept in written
    again = json_settings.parse(written, "settings.json")
    left = json_edit.rewrite(written, again, json_settings.uninstall(again, host))
    if host.form is not Form.FLAT:  # which has a version as well
        assert left == HAND_WRITTEN


ODD_NUMBERS = [
    '{"a": NaN}',
    '{"a": Infinity}',
    '{"a": -Infinity}',
    '{"a": 1e999}',
    '{"a": [-1e999]}',
]


@given(text=st.text() | values.map(json.dumps) | st.binary().map(lambda raw: raw.decode("latin-1")))
@example("[" * 100_000)
@example("\xa0")
@example('{"hooks": null}')
@example('{"hooks": {"Stop": {}}}')
@example('{"a": "\\ud800"}')
@example(ODD_NUMBERS[0])
@example(ODD_NUMBERS[3])
def test_any_text_is_read_or_left_alone(text):
    for host in map(HOSTS.get, JSON_HOSTS):
        try:
            settings = json_settings.parse(text, "settings.json")
        except NotPlain as refusal:
            assert "settings.json" in refusal.message
            continue
        made = json_settings.install(settings, host, CALLER)
        written = json_edit.rewrite(text, settings, made).removeprefix("\ufeff")
        json.loads(written.encode(), parse_constant=pytest.fail)


@pytest.mark.parametrize("text", ODD_NUMBERS)
def test_numbers_that_json_does_not_have_are_left_to_their_owner(text):
    with pytest.raises(NotPlain):
        json_settings.parse(text, "settings.json")


lines = st.lists(
    st.sampled_from(
        [
            "# mine",
            'model = "m"',
            "[features]",
            "hooks = true",
            "",
            "[[hooks.Other]]",
            "x = 1  # on",
        ]
    ),
    max_size=6,
    unique=True,
)


@given(lines=lines, ends=st.booleans())
def test_the_block_of_codex_goes_in_once_and_out_again(lines, ends):
    host = HOSTS["codex"]
    text = "\n".join(lines) + ("\n" if ends and lines else "")
    try:
        made = toml_settings.install(text, host, CALLER, "config.toml")
    except NotPlain:
        return
    assert made.startswith(text)
    assert toml_settings.install(made, host, CALLER, "config.toml") == made
    left = toml_settings.uninstall(made, "config.toml")
    assert left == text or left == f"{text}\n"
    more = made + "[later]\ny = 2\n"
    assert toml_settings.uninstall(more, "config.toml").endswith("[later]\ny = 2\n")
    assert toml_settings.install(more, host, CALLER, "config.toml") == more


@given(text=st.text() | st.lists(st.sampled_from(
    [toml_settings.MARKS.begin, toml_settings.MARKS.end, "a = 1", "[b]", "\r", "\u2028", "'''"]
)).map("\n".join))  # fmt: skip
def test_any_toml_is_edited_or_left_alone(text):
    host = HOSTS["codex"]
    try:
        made = toml_settings.install(text, host, CALLER, "config.toml")
    except NotPlain:
        return
    made.encode("utf-8", "surrogatepass")
    assert toml_settings.install(made, host, CALLER, "config.toml") == made


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git("init", "--quiet", ".", cwd=root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return root


def snapshot(root):
    return {
        str(path.relative_to(root)): (path.lstat().st_mode, path.read_bytes())
        for path in root.rglob("*") if path.is_file() and ".git" not in path.parts
    }  # fmt: skip


BYTES = {
    "windows": b'{\r\n\t"a": 1\r\n}\r\n',
    "mark": b'\xef\xbb\xbf{"a": 1}',
    "empty": b"",
    "blank": b" \n",
    "no end": b'{"a":1}',
    "numbers": b'{"a": 1.10, "b": 1E5, "c": 123456789012345678901234567890}',
    "odd text": b'{"a": "\\ud800", "\\u00e9": "\xc3\xa9"}',
}


@pytest.mark.parametrize("kind", BYTES)
@pytest.mark.parametrize("host", JSON_HOSTS)
def test_the_very_bytes_come_back(repository, host, kind):
    path = repository / HOSTS[host].file
    path.parent.mkdir()
    path.write_bytes(BYTES[kind])
    path.chmod(0o604)
    before = snapshot(repository)
    assert in_process("hooks", "install", host).code == 0
    installed = json.loads(path.read_bytes().decode("utf-8-sig"))
    assert installed["hooks"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert in_process("hooks", "uninstall", host).code == 0
    assert snapshot(repository) == before


def test_what_was_edited_after_the_installation_stays(repository):
    path = repository / HOSTS["gemini"].file
    path.parent.mkdir()
    path.write_text('{"a": 1}')
    in_process("hooks", "install", "gemini")
    edited = json.loads(path.read_text())
    edited["b"] = 2
    path.write_text(json.dumps(edited))
    in_process("hooks", "install", "gemini")
    in_process("hooks", "uninstall", "gemini")
    assert json.loads(path.read_text()) == {"a": 1, "b": 2}
    assert in_process("hooks", "uninstall", "gemini").code == 0
    assert json.loads(path.read_text()) == {"a": 1, "b": 2}


def test_all_go_in_and_out_together(repository):
    before = snapshot(repository)
    assert in_process("hooks", "install", "all").code == 0
    assert in_process("hooks", "install", "all").code == 0
    assert in_process("hooks", "uninstall", "all").code == 0
    assert snapshot(repository) == before
    assert not [path for path in repository.iterdir() if path.name != ".git"]


@pytest.mark.parametrize("host", HOSTS)
def test_a_place_that_cannot_be_written_is_an_error_that_names_it(repository, host):
    first = repository / HOSTS[host].path[0]
    first.write_text("a file where a folder has to be")
    answer = in_process("hooks", "install", host)
    assert answer.code == 2 and first.name in answer.err and "Traceback" not in answer.err
    first.unlink()
    (repository / HOSTS[host].file).mkdir(parents=True)
    answer = in_process("hooks", "install", host)
    assert answer.code == 2 and HOSTS[host].path[-1] in answer.err


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_without_permission_is_an_error(repository):
    folder = repository / ".claude"
    folder.mkdir(mode=0o500)
    assert in_process("hooks", "install", "claude-code").code == 2
