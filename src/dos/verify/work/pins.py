"""Pins and settings that were changed again: what a commit set is still set, to something newer.

Only files of data are read so: requirements, manifests, lock files, settings, CI, and constants of
code. Any other line of code that was rewritten is not the line that a commit added.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from dos.verify.work import constants, versions

Lines = Sequence[str]
_DATA = frozenset(
    (
        "json", "jsonc", "json5", "yml", "yaml", "toml", "ini", "cfg", "conf", "config", "env",
        "properties", "lock", "sum", "mod", "csproj", "fsproj", "vbproj", "props", "targets",
        "tfvars", "resolved", "txt",
    )
)  # fmt: skip
_NAMES = frozenset(("pipfile", "brewfile", "cartfile", "version", ".nvmrc", ".tool-versions"))
# Manifests that are programs: a line of theirs is a pin only if it says so.
_PROGRAMS = frozenset(
    (
        "gemspec", "podspec", "gradle", "tf", "hcl", "nix", "bzl", "bazel", "sbt", "edn",
    )
)  # fmt: skip
_PROGRAM_NAMES = frozenset(
    (
        "dockerfile", "containerfile", "gemfile", "podfile", "package.swift", "mix.exs",
        "project.clj", "rebar.config", "build.gradle.kts", "setup.py", "conanfile.py",
        "cmakelists.txt",
    )
)  # fmt: skip
_TOOL_VERSION = re.compile(r"\.\w+-version")
_CONTAINER = re.compile(r"dockerfile[.-].*|.*\.dockerfile", re.DOTALL)
_SAYS_PIN = re.compile(
    r"""^(?:FROM|ARG|ENV)\s|["'][^"'\0]*\0|(?i:version|tag|ref)\W{0,3}\0""", re.DOTALL
)
_HAS_PARTS = re.compile(r"\d\.\d|[<>=~^]")
_IS_VERSION = re.compile(r"(?i)(?<!con)(?<!in)(?<!re)(?<!di)version")
_CONSTANT = re.compile(r"""[^"'()<>!=]{0,80}(?::?=|\s)\s?["'(]?v?\d[\w.,+ -]*["')]?[;,]?""")
_HEADER = re.compile(r"\[\[?[^\[\]=]+\]\]?")
_NAME = re.compile(r"name\s?=\s?\S+")
_OPENS_LIST = re.compile(r"""["']?([\w.-]+)["']?\s?=\s?\[""")
_JSON_OPENS = re.compile(r'(?:("(?:[^"\\]|\\.)*+"):)?[{\[]')
_ARTIFACT = re.compile(r"<(?:artifactId|id|groupId)>[^<>]*</\w+>")
_YAML = re.compile(r"(- )?([^\s:#\"']++)\s?:(?:\s(\S+))?")
_SETTING = re.compile(r"""["']?([\w.$/@-]+)["']?\s?[=:]\s?["']?([^\s"'{}\[\]]+)["']?,?""")
_NUMBER = re.compile(r"""(?:- )?["']?[\w.$/@-]+["']?\s?[=:]\s?-?\d+(?:\.\d+)?,?""")
_ABOUT_VERSIONS = re.compile(
    r"version|depend|requir|image|uses|tag|rev|package|python|node|ruby|java|sdk|release|plugin",
    re.IGNORECASE,
)
_LIST = re.compile(r"""((?:- )?["']?[\w./-]+["']?\s?[=:]\s?)\[([^\[\]{}]*)\],?""")
_TABLE = re.compile(r"""^(["']?[\w.-]+["']?)=\{[^{}]*?\bversion="([^"]*)"[^{}]*\}$""")
_IS_REQUIREMENT = re.compile(r"""["']?[A-Za-z][\w.-]*(?:\[[\w,\s-]*\])?\s?[<>=~!]=""")
_EXTRAS = re.compile(r"\[[\w,\s-]*\]")
_STAGE = re.compile(r"(?i)\sas\s[\w.-]+$")  # the name of a stage: `FROM python:3.12 AS build`
MOST_ALIKE = 20  # lines of one key; with more of them no line can be told from another
_OFF = frozenset(("false", "off", "no", "none", "null", "nil", "0", "disabled", "never", "~"))


class _Pin(NamedTuple):
    """A line without its values; lines of the same key are about the same thing."""

    key: str
    values: tuple[str, ...]
    is_setting: bool = False  # its value is no version: any other value is as good
    is_list: bool = False  # its values are items of a list, which may grow
    is_constant: bool = False  # its value is one of code, which may go on in its direction


def standing(path: str, old: Lines, new: Lines, now: Lines, lost: Counter[str]) -> tuple[int, bool]:
    """What became of `lost`, the lines that a commit added and that are not in the file now.

    Returns how many of them stand with a newer value, and whether another was set back to an older
    one.
    """
    if not lost:
        return 0, False
    left = lost.copy()
    before = _by_key(path, old)
    set_by_commit = _by_key(path, new)
    replacing = _by_key(path, now)
    for key, pins in set_by_commit.items():
        # What a key has now beyond what the commit left there: each replaces one line.
        others = list((Counter(replacing.get(key, ())) - Counter(pins)).elements())
        replacing[key] = others if len(pins) <= MOST_ALIKE else []
    raised = 0
    is_set_back = False
    for line, pin in _pins(path, new):
        if not left[line]:
            continue
        left[line] -= 1
        others = replacing[pin.key]
        newer = [other for other in others if _is_newer(pin, before.get(pin.key, ()), other)]
        if newer:
            raised += 1
            others.remove(newer[0])
        elif others:
            is_set_back = True
    return raised, is_set_back


def _is_newer(pin: _Pin, was: Sequence[_Pin], other: _Pin) -> bool:
    """Whether a pin has gone on from what a commit set it to, and not back."""
    if pin.is_list:
        return other.is_list and _holds_items(pin, was, other)
    if any(other.values == old.values for old in was):
        return False
    if pin.is_constant:
        return _is_constant_newer(pin, was, other)
    if pin.is_setting:
        return _OFF.isdisjoint(map(str.lower, (*pin.values, *other.values)))
    if len(other.values) < len(pin.values):
        return False  # it is not pinned any more
    return _has_newer_versions(pin, was, other)


def _has_newer_versions(pin: _Pin, was: Sequence[_Pin], other: _Pin) -> bool:
    """Whether each version has gone on from what a commit set it to."""
    for place, value in enumerate(pin.values):
        set_to = versions.order(value)
        now = versions.order(other.values[place])
        if set_to is None or now is None:
            continue
        ceiling = _lowered_from(was, place, set_to)
        if ceiling is not None:
            if now >= ceiling:
                return False
        elif now < set_to:
            return False
    return True


def _is_constant_newer(pin: _Pin, was: Sequence[_Pin], other: _Pin) -> bool:
    """Whether a constant is still set, and neither switched nor set back."""
    if not _OFF.isdisjoint(map(str.lower, (*pin.values, *other.values))):
        return False
    old = [value for each in was for value in each.values]
    return constants.has_gone_on(old, pin.values[0], other.values[0])


def _holds_items(pin: _Pin, was: Sequence[_Pin], other: _Pin) -> bool:
    """Whether each item that a commit added to a list is in it now, or a newer one is."""
    before: list[_Pin] = []
    for old in was:
        before += map(_item_pin, old.values)
    now = list(map(_item_pin, other.values))
    for item in map(_item_pin, pin.values):
        if item in now or item in before:
            continue
        older = [old for old in before if old.key == item.key]
        newer = [each for each in now if each.key == item.key and _is_newer(item, older, each)]
        if not item.values or not newer:
            return False
    return True


def _item_pin(item: str) -> _Pin:
    """An item of a list as a pin."""
    return _masked("", _requirement(item))


def _lowered_from(was: Sequence[_Pin], place: int, set_to: versions.Order) -> versions.Order | None:
    """The version that a commit lowered: to reach it again is to undo that. None if it rose."""
    for old in was:
        before = versions.order(old.values[place]) if place < len(old.values) else None
        if before is not None and before > set_to:
            return before
    return None


def _by_key(path: str, lines: Lines) -> dict[str, list[_Pin]]:
    """The pins of a file by their keys."""
    found: dict[str, list[_Pin]] = {}
    for _, pin in _pins(path, lines):
        found.setdefault(pin.key, []).append(pin)
    return found


def _pins(path: str, lines: Lines) -> Iterator[tuple[str, _Pin]]:
    """Each line that is a pin or a setting, with its key below the headings around it."""
    form = _form(path)
    if form == "toml" and lines and lines[0].startswith("{"):
        form = "json"  # lock files are written in any format
    for line, heading in zip(lines, _headings(form, lines), strict=True):
        bare = line.strip()
        if form == "code":
            pin = _constant(bare)
        else:
            pin = _pin(form, heading, bare)
        if pin is not None:
            yield line, pin


def _constant(line: str) -> _Pin | None:
    """The pin of a line of code that sets a version or a constant; None for all other code."""
    if _IS_VERSION.search(line) and _CONSTANT.fullmatch(line):
        return _masked("", line)
    constant = constants.parse(line)
    if constant is None:
        return None
    name, value = constant
    return _Pin(name, (value,), is_constant=True)


def _pin(form: str, heading: str, line: str) -> _Pin | None:
    """What a line of data pins or sets; None if neither."""
    if form == "text":
        return _masked("", _requirement(line.partition(" #")[0].partition(" //")[0]))
    if form == "program":
        return _pin_in_program(line)
    items = _LIST.fullmatch(line)
    if items:
        listed = tuple(item.strip(" \"'") for item in items[2].split(",") if item.strip())
        return _Pin(f"{heading}\n{items[1]}", listed, is_list=True)
    if form == "toml":
        line = _TABLE.sub(r'\1="\2"', _requirement(line))
    masked = _masked(heading, line.rstrip(","))
    is_number = _NUMBER.fullmatch(line) and not _ABOUT_VERSIONS.search(masked.key)
    if masked.values and not is_number:
        return masked
    setting = _SETTING.fullmatch(line.removeprefix("- "))
    if setting is None:
        return None
    return _Pin(f"{heading}\n{setting[1]}", (setting[2],), is_setting=True)


def _requirement(line: str) -> str:
    """A requirement without its extras and its markers, which are not what is pinned."""
    if _IS_REQUIREMENT.match(line) is None:
        return line
    return _EXTRAS.sub("", line.partition(";")[0]).strip(" \"',")


def _pin_in_program(line: str) -> _Pin | None:
    """The pin of a manifest that is a program; None for what it does besides."""
    line = _STAGE.sub("", line)
    masked, values = versions.mask(line)
    if not values:
        return None
    if _SAYS_PIN.search(masked) is None and not any(map(_HAS_PARTS.search, values)):
        return None
    return _masked("", line)


def _masked(heading: str, line: str) -> _Pin:
    """A line without its versions; one that has none may get one later."""
    key, values = versions.mask(line)
    return _Pin(f"{heading}\n{key.replace(versions.MASK, '')}", values)


@lru_cache(maxsize=4096)
def _form(path: str) -> str:
    """How a file is read: toml, json, yaml, xml, text or program; code if it is no data."""
    name = path.rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2]
    if suffix in ("json", "jsonc", "json5", "resolved") or name == "composer.lock":
        return "json"
    if suffix in ("yml", "yaml"):
        return "yaml"
    if name == "pom.xml" or suffix in ("csproj", "fsproj", "vbproj", "props", "targets"):
        return "xml"
    if suffix in ("toml", "ini", "cfg", "conf", "config", "env", "properties", "lock"):
        return "toml"
    if suffix in _PROGRAMS or name in _PROGRAM_NAMES or _CONTAINER.fullmatch(name):
        return "program"
    if suffix in _DATA or name in _NAMES or _TOOL_VERSION.fullmatch(name):
        return "text"
    return "code"


def _headings(form: str, lines: Lines) -> Iterator[str]:
    """For each line, under what it stands: a section, the keys around it, the package."""
    if form == "toml":
        return _sections(lines)
    if form == "json":
        return _json_keys(lines)
    if form == "yaml":
        return _yaml_keys(lines)
    if form == "xml":
        return _artifacts(lines)
    return iter([""] * len(lines))


def _sections(lines: Lines) -> Iterator[str]:
    """The section, the name in one of many sections, and the list that a line is in."""
    section = ""
    in_list = ""
    for line in lines:
        if not in_list and _HEADER.fullmatch(line):
            section = line
        elif section.startswith("[[") and _NAME.fullmatch(line):
            section = f"{section.partition(' ')[0]} {line}"
        opens = _OPENS_LIST.fullmatch(line)
        yield f"{section} {in_list}"
        if opens:
            in_list = opens[1]
        elif line.startswith("]"):
            in_list = ""


def _json_keys(lines: Lines) -> Iterator[str]:
    """The keys of the objects around a line, if each is opened and closed at a line's end."""
    keys: list[str] = []
    for line in lines:
        if line.startswith(("}", "]")) and keys:
            keys.pop()
        yield "/".join(keys)
        opens = _JSON_OPENS.fullmatch(line)
        if opens or line.endswith(("{", "[")):
            keys.append(opens[1] or "" if opens else line)


def _yaml_keys(lines: Lines) -> Iterator[str]:
    """The keys around a line by its indentation, and the first line of the item it is in."""
    around: list[tuple[int, str]] = []
    for line in lines:
        depth = len(line) - len(line.lstrip())
        while around and around[-1][0] >= depth:
            around.pop()
        yield "/".join(key for _, key in around)
        entry = _YAML.match(line.strip())
        if entry is None:
            continue
        if entry[1]:
            around.append((depth, versions.mask(line.strip())[0]))
        else:
            around.append((depth, entry[2]))


def _artifacts(lines: Lines) -> Iterator[str]:
    """The artifact that was named last before a line."""
    artifact = ""
    for line in lines:
        if _ARTIFACT.fullmatch(line):
            artifact = line
        yield artifact
