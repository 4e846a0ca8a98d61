"""Whether a changed `.gitmodules` may enter: where `git submodule` would fetch from."""

import re
from collections.abc import Iterable, Mapping

from dos.handover.refusal import Refused, Rule
from dos.text import quote

# Keys and values as `git config --list` gives them: a key can be set several times.
Settings = Mapping[str, tuple[str, ...]]

_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?"
# A user name, but no password: it would be in the history for good.
_USER = r"(?:[A-Za-z0-9][\w.+-]*@)?"
_ADDRESS = re.compile(rf"(?:https|ssh|git)://{_USER}{_HOST}(?::\d+)?/[^\s\\]+")
_SCP = re.compile(rf"{_USER}{_HOST}:(?![:-])[^\s\\]+")
_ENCODED_CONTROL = re.compile(r"%(?:[01][0-9a-fA-F]|7[fF])")
_ORDINARY_UPDATES = ("checkout", "rebase", "merge", "none")


def settings_of(listing: bytes) -> dict[str, tuple[str, ...]]:
    """Parse what `git config --null --list` prints."""
    settings: dict[str, tuple[str, ...]] = {}
    for record in listing.decode("utf-8", "surrogateescape").split("\0"):
        if record:
            key, _, value = record.partition("\n")
            settings[key] = (*settings.get(key, ()), value)
    return settings


def judge_settings(settings: Settings, base: Settings) -> Refused | None:
    """Judge the settings of a `.gitmodules` that the base does not have like this."""
    for key, values in settings.items():
        for value in _added(values, base.get(key, ())):
            refusal = _judge_setting(key, value)
            if refusal:
                return refusal
    return None


def _added(values: tuple[str, ...], before: tuple[str, ...]) -> Iterable[str]:
    return (value for value in values if value not in before)


def _judge_setting(key: str, value: str) -> Refused | None:
    section, _, rest = key.partition(".")
    if section != "submodule" or "." not in rest:
        return _refuse(f"sets {quote(key)}; only settings of submodules belong there")
    name, _, variable = rest.rpartition(".")
    if ".." in re.split(r"[/\\]", name):
        return _refuse(f"has a submodule named {quote(name)}")
    if variable == "url" and not is_remote_address(value):
        return _refuse(
            f"sets the URL of {quote(name)} to {quote(value)}; a new URL has to begin with https://,"
            " ssh:// or git://, or be of the form user@host:path"
        )
    if variable == "path" and value.startswith("-"):
        return _refuse(f"sets the path of {quote(name)} to {quote(value)}")
    if variable == "update" and value not in _ORDINARY_UPDATES:
        return _refuse(f"sets the update of {quote(name)} to {quote(value)}")
    return None


def is_remote_address(url: str) -> bool:
    """Whether a URL names another host by a protocol that runs no command and reads no file."""
    if not url.isprintable() or _ENCODED_CONTROL.search(url):
        return False
    if "://" in url:
        return _ADDRESS.fullmatch(url) is not None
    return _SCP.fullmatch(url) is not None and "::" not in url


def _refuse(what: str) -> Refused:
    return Refused(rule=Rule.SUBMODULE, reason=f".gitmodules {what}")
