"""The class of a plan document: the key `classification` of its front matter."""

import re

from dos.units.markdown import blocks

KEY = "classification"
_BYTE_ORDER_MARK = "\ufeff"
_ENTRY = re.compile(
    r"(?P<key>[A-Za-z][\w-]*)(?P<colon>[ \t]*:[ \t]*)(?P<value>[^\r]*)(?P<end>\r?)$"
)


def classification(text: str) -> str:
    """Return the class that a document states; empty where it states none."""
    return blocks.read_text(text).front.get(KEY, "")


def with_classification(text: str, plan_class: str) -> str:
    """Return the document with this class in its front matter; all else stays as it is."""
    mark = ""
    if text.startswith(_BYTE_ORDER_MARK):
        mark = _BYTE_ORDER_MARK
    lines = text.removeprefix(mark).split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    stated = f"{KEY}: {plan_class}{end}"
    if not blocks.read_text(text).front:
        rule = f"---{end}"
        return mark + "\n".join([rule, stated, rule, end, *lines])
    is_stated = False
    for at, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            if not is_stated:
                lines.insert(at, stated)
            break
        entry = _ENTRY.match(line)
        if entry and entry["key"].lower() == KEY:
            is_stated = True
            lines[at] = f"{entry['key']}{entry['colon']}{plan_class}{entry['end']}"
    return mark + "\n".join(lines)
