"""What the tested versions of agent programs were measured to do: `make conformance` writes it."""

from functools import cache
from importlib.resources import files

from msgspec import Struct, json

from dos.conformance.questions import Answer

FILE = "measured.json"


class Measurement(Struct, frozen=True, kw_only=True):
    """What one version of a program was seen to do, and on which day."""

    version: str  # empty: it prints none
    date: str  # as in 2026-11-19
    answers: dict[str, Answer]  # by the name of the question, in lower case


@cache
def measurements() -> dict[str, Measurement]:
    """Return the measurements that this version of dos brings, by the name of the agent."""
    content = files("dos.conformance").joinpath(FILE).read_bytes()
    return json.decode(content, type=dict[str, Measurement])
