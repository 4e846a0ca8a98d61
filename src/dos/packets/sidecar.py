"""The prompts file beside a packet (its sidecar), and the check that every pick has its prompt.

Programs written for dos-kernel read this format: its keys are never renamed, and unknown ones are
ignored. `packets.io.files` reads and writes the file.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import DecodeError, Struct, json, structs, to_builtins

SCHEMA = "next-up-prompts-v1"
MOST_PICKS = 10_000


class Pick(Struct, frozen=True, kw_only=True):
    """One unit to dispatch, as the prompts file keeps it."""

    n: int = 0
    plan_id: str = ""
    phase_id: str = ""
    phase_title: str = ""
    phase_chain: list[str] = []
    doc_path: str = ""
    subagent_type: str = ""
    mode: str = ""
    pick_kind: str = ""
    files: list[str] = []
    gates_on: list[str] = []  # phases that have to ship first
    reserve_paths: list[str] = []
    prompt_text: str = ""


def encode_prompts(picks: Sequence[Pick]) -> bytes:
    """The content of a prompts file: the schema and the picks, indented for people."""
    data = {"schema": SCHEMA, "picks": to_builtins(picks)}
    return json.format(json.encode(data), indent=2) + b"\n"


def decode_prompts(text: bytes | str) -> tuple[Pick, ...]:
    """The picks of a prompts file. Unknown keys are dropped; raises ValueError for another file."""
    try:
        data = json.decode(text)
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from error
    is_prompts = isinstance(data, dict) and data.get("schema") == SCHEMA
    if not is_prompts or not isinstance(data.get("picks"), list):
        raise ValueError(f"it is not of the schema {SCHEMA}")
    return tuple(_decode_pick(pick, number) for number, pick in enumerate(data["picks"], 1))


def _decode_pick(data: Any, number: int) -> Pick:
    """A pick, with an empty value for every field of another type."""
    if not isinstance(data, dict):
        raise ValueError(f"pick {number} is not an object")
    values: dict[str, Any] = {}
    for field in structs.fields(Pick):
        value = data.get(field.name)
        if field.name == "n":
            values["n"] = number
            if isinstance(value, int) and not isinstance(value, bool):
                values["n"] = value
        elif isinstance(field.default, str):
            if isinstance(value, str):
                values[field.name] = value
        elif isinstance(value, list):
            values[field.name] = [word for word in value if isinstance(word, str)]
    return Pick(**values)


class ReasonCode(StrEnum):
    """Why a packet is refused."""

    OK = "ok"
    ABSENT = "sidecar_absent"
    CORRUPT = "sidecar_corrupt"
    EMPTY_BODIES = "sidecar_empty_bodies"


class Shippable(Struct, frozen=True, kw_only=True):
    """Whether every pick that a packet shows has its prompt."""

    refuse: bool
    reason_code: ReasonCode
    reason: str
    empty_body_picks: tuple[int, ...] = ()
    rendered_pick_count: int = 0


def shippable(sidecar: bytes | str | None, rendered_pick_count: int) -> Shippable:
    """Decide whether a packet may be used, by the content of its prompts file.

    `sidecar` is that content; None: there is no such file. A packet is refused as a whole: an agent
    that is started without its prompt would do anything or nothing.
    """
    if rendered_pick_count <= 0:
        return _answer(
            ReasonCode.OK, "no pick is shown, so none needs a prompt", rendered_pick_count
        )
    if sidecar is None:
        reason = f"{rendered_pick_count} picks are shown, but there is no prompts file"
        return _answer(ReasonCode.ABSENT, reason, rendered_pick_count)
    try:
        picks = decode_prompts(sidecar)
    except ValueError as error:
        reason = f"the prompts file cannot be read: {error}"
        return _answer(ReasonCode.CORRUPT, reason, rendered_pick_count)
    shown = range(1, min(rendered_pick_count, MOST_PICKS) + 1)
    expected = set(shown)
    written = set()
    for pick in picks:
        expected.add(pick.n)
        if pick.prompt_text.strip():
            written.add(pick.n)
    empty = sorted(expected - written)
    if empty:
        reason = f"picks without a prompt: {', '.join(map(str, empty))}"
        return _answer(ReasonCode.EMPTY_BODIES, reason, rendered_pick_count, empty)
    reason = f"every one of {rendered_pick_count} picks has its prompt"
    return _answer(ReasonCode.OK, reason, rendered_pick_count)


def _answer(
    code: ReasonCode, reason: str, rendered_pick_count: int, empty: Sequence[int] = ()
) -> Shippable:
    """The answer with the fields that every one has."""
    return Shippable(
        refuse=code is not ReasonCode.OK,
        reason_code=code,
        reason=reason,
        empty_body_picks=tuple(empty),
        rendered_pick_count=rendered_pick_count,
    )
