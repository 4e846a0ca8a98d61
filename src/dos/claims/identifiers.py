"""Which values of a call are identifiers, and which parts of one were not made up by whoever knows its pattern?"""

import re

_UUID = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE
)
_EMAIL = re.compile(r"[\w.+-]{1,100}@[\w-]{1,100}(?:\.[\w-]{1,100}){1,8}")
_CHARACTERS = re.compile(r"[\w@.:#/+-]+")
_NEVER = (
    re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"),  # a date
    re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}[\d:.]{0,20}(?:Z|[+-]\d{2}:?\d{2})?", re.IGNORECASE),
    re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:am|pm)?", re.IGNORECASE),  # a time
    re.compile(r"[+-]?\d{1,40}\.\d{1,40}(?:e[+-]?\d{1,9})?", re.IGNORECASE),  # a decimal
    re.compile(r"v?\d{1,9}(?:\.\d{1,9}){1,4}(?:[-+][\w.]{1,40})?", re.IGNORECASE),  # a version
    re.compile(r"\+\d[\d.-]{5,20}|\d{3}[-.]\d{3}[-.]\d{4}|\d{3}[-.]\d{4}"),  # a telephone number
    re.compile(r"1\d{12}"),  # milliseconds since 1970
    re.compile(r"true|false|null|none|nan|inf", re.IGNORECASE),
)
_SLOT = re.compile(r"(?:^|_)(?:id|sys_id|ref|key|email)s?$")
_QUANTITIES = frozenset({
    "price", "amount", "count", "total", "size", "limit", "number", "num", "age", "score", "rate", "year",
    "quantity", "qty", "weight", "height", "width", "length", "duration", "timeout", "seconds", "minutes", "hours",
    "days", "months", "offset", "page", "percent", "percentage", "ratio", "cost", "budget", "balance", "rank",
    "priority", "level", "max", "min", "sum", "port", "zip", "zipcode", "postal", "month", "day", "hour", "minute",
    "second", "index", "version", "latitude", "longitude",
})  # fmt: skip
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS = re.compile(r"[@._:#/+-]+")
PREFIXED = re.compile(r"[^\W\d_]+(\d+)")  # a number with letters before it
_GENERIC = frozenset({
    "com", "org", "net", "edu", "gov", "mil", "info", "name", "mail", "email", "gmail", "test", "local",
    "localhost", "cloud", "online", "site",
})  # fmt: skip
SHORTEST_ID = 4
SHORTEST_WORD = 4
SHORT_TAIL = 3  # digits after a name in an address, as in anna92@example.com


def slot_name(name: str) -> str:
    return _CAMEL.sub("_", name).replace("-", "_").lower()


def is_id_slot(slot: str) -> bool:
    return _SLOT.search(slot) is not None


def is_id_shaped(value: str, slot: str) -> bool:
    """Whether a value points at something that exists, instead of saying how much, when or what."""
    if not _CHARACTERS.fullmatch(value) or any(never.fullmatch(value) for never in _NEVER):
        return False
    named = is_id_slot(slot)
    if value.isdecimal():
        if named:
            return len(value) >= 2
        return len(value) >= SHORTEST_ID and not _QUANTITIES & set(slot.split("_"))
    if len(value) < SHORTEST_ID:
        return False
    if _EMAIL.fullmatch(value) or is_uuid(value):
        return True
    if any(character.isdigit() for character in value):
        return any(character.isalpha() for character in value) or not _QUANTITIES & set(
            slot.split("_")
        )
    return named and value.isalnum()  # elsewhere it is a word


def is_uuid(value: str) -> bool:
    return _UUID.fullmatch(value) is not None


def components(value: str, slot: str) -> list[str]:
    """The parts of an identifier that carry data: each has to have been seen somewhere."""
    if is_uuid(value):
        return [value.replace("-", "")]
    if _EMAIL.fullmatch(value):
        return _of_address(value)
    found: list[str] = []
    for part in _SEPARATORS.split(value):
        if prefixed := PREFIXED.fullmatch(part):
            found.append(prefixed[1])
        elif any(character.isdigit() for character in part):
            found.append(part)
    return found or ([value] if is_id_slot(slot) and value.isalnum() else [])


def _of_address(value: str) -> list[str]:
    local, _, domain = value.partition("@")
    found: list[str] = []
    for part in _SEPARATORS.split(local):
        letters = part.rstrip("0123456789")
        tail = part[len(letters) :]
        found += [tail] if len(tail) > SHORT_TAIL else []
        found += [letters] if len(letters) >= SHORTEST_WORD else []
    found += [
        part
        for part in _SEPARATORS.split(domain)
        if len(part) >= SHORTEST_WORD and part.lower() not in _GENERIC
    ]
    return found
