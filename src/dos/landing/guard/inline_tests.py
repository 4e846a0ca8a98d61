"""Puts the tests of the base into a file of the program that contains its own tests, as in Rust."""

import re

from dos.landing.guard import additions

SUFFIX = ".rs"  # of the files that can contain their own tests
_TEST_MODULE = re.compile(
    r"^(?P<indent>[ \t]*)#\[cfg\(test\)\]\s*\n(?:[ \t]*#\[[^\n]*\n)*"
    r"[ \t]*(?:pub )?mod (?P<name>\w+)[ \t]*\{\n.*?^(?P=indent)\}[ \t]*$",
    re.MULTILINE | re.DOTALL,
)


def with_base_tests(old: str | None, new: str | None) -> str | None:
    """Return the new text of a file with the test modules that it had before.

    None if they are as they were, if tests were only added, or if there were none.
    """
    if old is None or new is None:
        return None
    before = {match["name"]: match[0] for match in _TEST_MODULE.finditer(old)}
    text = new
    for match in _TEST_MODULE.finditer(new):
        known = before.get(match["name"])
        if known and not additions.only_adds_tests(SUFFIX, known, match[0]):
            text = text.replace(match[0], known, 1)
    return text if text != new else None
