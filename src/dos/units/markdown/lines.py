"""The lines of a markdown text: what is code, comment or front matter is blanked, and every line keeps its number."""

import re

from msgspec import Struct

LONGEST_FRONT_MATTER = 200
_FRONT = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ \t]*:(?P<value>.*)")
_MARKER = re.compile(
    r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?=```|~~~)"
)  # a fence may begin right after a bullet
_OPEN_COMMENT, _CLOSE_COMMENT = "<!--", "-->"


class Text(Struct, frozen=True, kw_only=True):
    written: list[str]
    visible: list[str]  # as long as `written`; what is hidden is an empty line
    front: dict[str, str]
    unclosed: tuple[int, str] | None = (
        None  # the line where something hides the rest, and what it is
    )


def read(text: str) -> Text:
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    written = text.split("\n")
    front, begins = _front_matter(written) if text.startswith("---") else ({}, 0)
    visible, unclosed = written, None
    if begins or "```" in text or "~~~" in text or _OPEN_COMMENT in text:
        visible, unclosed = _visible(written, begins)
    return Text(written=written, visible=visible, front=front, unclosed=unclosed)


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """Its keys and the first line after it. A rule at the top of a text is no front matter."""
    found: dict[str, str] = {}
    if lines[0].rstrip() != "---":
        return {}, 0
    for number, line in enumerate(lines[1:LONGEST_FRONT_MATTER], 1):
        if line.rstrip() in ("---", "..."):
            return (found, number + 1) if found else ({}, 0)
        if line.startswith("##"):
            break
        if match := _FRONT.match(line):
            found[match["key"].lower()] = _scalar(match["value"])
        elif line.strip() and not line.startswith((" ", "\t", "#", "-")):
            break
    return {}, 0


def _scalar(written: str) -> str:
    value = written.strip()
    if value[:1] in ("'", '"') and value.find(value[0], 1) > 0:
        return value[1 : value.find(value[0], 1)].strip()
    return "" if value.startswith("#") else value.partition(" #")[0].strip()


def _visible(written: list[str], begins: int) -> tuple[list[str], tuple[int, str] | None]:
    visible = [""] * begins
    fence, commented, since = "", False, 0
    for number, line in enumerate(written[begins:], begins + 1):
        shown = ""
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif commented:
            commented = _CLOSE_COMMENT not in line
        elif fence := _opened(line):
            since = number
        elif _OPEN_COMMENT in line:
            shown = _without_comments(line)
            commented = shown.lstrip().startswith(_OPEN_COMMENT)
            shown, since = ("", number) if commented else (shown, since)
        else:
            shown = line
        visible.append(shown)
    if fence or commented:
        return visible, (since, "the code fence" if fence else "the comment")
    return visible, None


def _opened(line: str) -> str:
    """The characters of the fence that begins on this line; empty when none does."""
    if "```" not in line and "~~~" not in line:
        return ""
    marker = _MARKER.match(line)
    rest = line[marker.end() :] if marker else line.lstrip()
    mark = rest[:1]
    if mark not in ("`", "~"):
        return ""
    width = len(rest) - len(rest.lstrip(mark))
    return mark * width if width >= 3 and not (mark == "`" and "`" in rest[width:]) else ""


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and bare == fence[0] * len(bare)


def _without_comments(line: str) -> str:
    kept, at = [], 0
    while (begin := line.find(_OPEN_COMMENT, at)) >= 0 and (
        end := line.find(_CLOSE_COMMENT, begin + 4)
    ) >= 0:
        kept.append(line[at:begin])
        at = end + len(_CLOSE_COMMENT)
    return "".join([*kept, line[at:]])
