"""The prompts of a packet, as the file beside it keeps them; and whether they were really written."""

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
    return (
        json.format(json.encode({"schema": SCHEMA, "picks": to_builtins(picks)}), indent=2) + b"\n"
    )


def decode_prompts(text: bytes | str) -> tuple[Pick, ...]:
    """The picks of a prompts file; ValueError when it is none. What nobody knows is dropped."""
    try:
        found = json.decode(text)
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from error
    if (
        not isinstance(found, dict)
        or found.get("schema") != SCHEMA
        or not isinstance(found.get("picks"), list)
    ):
        raise ValueError(f"it is not of the schema {SCHEMA}")
    return tuple(_read_pick(pick, number) for number, pick in enumerate(found["picks"], 1))


def _read_pick(given: Any, number: int) -> Pick:
    if not isinstance(given, dict):
        raise ValueError(f"pick {number} is not an object")
    values: dict[str, Any] = {}
    for field in structs.fields(Pick):
        value = given.get(field.name)
        if field.name == "n":
            values["n"] = (
                value if isinstance(value, int) and not isinstance(value, bool) else number
            )
        elif isinstance(field.default, str):
            values[field.name] = value if isinstance(value, str) else ""
        else:
            values[field.name] = (
                [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
            )
    return Pick(**values)


class ReasonCode(StrEnum):
    OK = "ok"
    ABSENT = "sidecar_absent"
    CORRUPT = "sidecar_corrupt"
    EMPTY_BODIES = "sidecar_empty_bodies"


class Shippable(Struct, frozen=True, kw_only=True):
    """Were the prompts of a packet really written?"""

    refuse: bool
    reason_code: ReasonCode
    reason: str
    empty_body_picks: tuple[int, ...] = ()
    rendered_pick_count: int = 0


def shippable(sidecar: bytes | str | None, rendered_pick_count: int) -> Shippable:
    """What is in the prompts file decides, not what was meant to be; None: there is none."""

    def answer(code: ReasonCode, reason: str, empty: Sequence[int] = ()) -> Shippable:
        return Shippable(
            refuse=code is not ReasonCode.OK,
            reason_code=code,
            reason=reason,
            empty_body_picks=tuple(empty),
            rendered_pick_count=rendered_pick_count,
        )

    if rendered_pick_count <= 0:
        return answer(ReasonCode.OK, "no pick is shown, so none needs a prompt")
    if sidecar is None:
        return answer(
            ReasonCode.ABSENT,
            f"{rendered_pick_count} picks are shown, and the prompts are not there",
        )
    try:
        picks = decode_prompts(sidecar)
    except ValueError as error:
        return answer(ReasonCode.CORRUPT, f"the prompts cannot be read: {error}")
    expected = {pick.n for pick in picks} | set(range(1, min(rendered_pick_count, MOST_PICKS) + 1))
    empty = sorted(expected - {pick.n for pick in picks if pick.prompt_text.strip()})
    if empty:
        return answer(
            ReasonCode.EMPTY_BODIES, f"picks without a prompt: {', '.join(map(str, empty))}", empty
        )
    return answer(ReasonCode.OK, f"every one of {rendered_pick_count} picks has its prompt")
