"""Back to which turn should a conversation be cut, after a dead end that the ground truth shows?"""

from enum import StrEnum

from msgspec import Struct, field


class Answer(StrEnum):
    REWIND = "REWIND"
    NO_REWIND = "NO_REWIND"  # nothing calls for it
    UNANCHORED = "UNANCHORED"  # no turn was stamped, or it is not in the transcript any more


class Fire(StrEnum):
    """What calls for it."""

    DIVERGED = "DIVERGED"
    THRASHING = "THRASHING"
    STARVED = "STARVED"


# A note for the next try is made of these and nothing else: free text would carry the dead end along.
TEMPLATES: dict[str, tuple[str, tuple[str, ...]]] = {
    "DIVERGED": ("others changed the files of this lane since the run began", ()),
    "VERIFY_NOT_SHIPPED": ("commit {sha} was claimed and is not borne out by git", ("sha",)),
    "TOOL_STREAM_REPEATING": (
        "the same call came {count} times, from turn {turn} on",
        ("count", "turn"),
    ),
}
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
ACCOUNTABLE = frozenset({"OS_RECORDED", "THIRD_PARTY"})


class Checkpoint(Struct, frozen=True, kw_only=True):
    turn: int
    digest: str


class Finding(Struct, frozen=True, kw_only=True):
    """What was found wrong, by its token; of an unknown one no note is made."""

    kind: str
    payload: dict[str, str | int] = {}


class Excerpt(Struct, frozen=True, kw_only=True):
    text: str
    accountability: str  # who vouches for it


class Evidence(Struct, frozen=True, kw_only=True):
    run_id: str = ""
    fire: str = ""
    checkpoint: Checkpoint | None = None
    turns: tuple[str, ...] = ()  # the digest of each turn there is now
    findings: tuple[Finding, ...] = ()
    excerpt: Excerpt | None = None


class Token(Struct, frozen=True, kw_only=True):
    kind: str
    payload: dict[str, str | int]
    rendered: str


class Note(Struct, frozen=True, kw_only=True):
    tokens: tuple[Token, ...] = ()
    env_excerpt: str = ""
    lines: tuple[str, ...] = ()


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="verdict")
    reason: str = ""
    rewind_to_turn: int = -1
    transcript_digest: str = ""
    dropped_turns: tuple[int, ...] = ()
    no_good_note: Note = Note()
    run_id: str = ""


def judge(seen: Evidence) -> Verdict:
    if seen.fire not in list(Fire):
        return Verdict(answer=Answer.NO_REWIND, reason="nothing calls for it", run_id=seen.run_id)
    stamped, note = seen.checkpoint, _note(seen)
    if stamped is None:
        return Verdict(
            answer=Answer.UNANCHORED,
            reason="no turn was ever stamped",
            no_good_note=note,
            run_id=seen.run_id,
        )
    if not 0 <= stamped.turn < len(seen.turns) or seen.turns[stamped.turn] != stamped.digest:
        reason = f"turn {stamped.turn} of the transcript is not the one that was stamped"
        return Verdict(
            answer=Answer.UNANCHORED, reason=reason, no_good_note=note, run_id=seen.run_id
        )
    dropped = tuple(range(stamped.turn + 1, len(seen.turns)))
    return Verdict(
        answer=Answer.REWIND,
        reason=f"{seen.fire}: back to turn {stamped.turn}, which drops {len(dropped)}",
        rewind_to_turn=stamped.turn,
        transcript_digest=stamped.digest,
        dropped_turns=dropped,
        no_good_note=note,
        run_id=seen.run_id,
    )


def _note(seen: Evidence) -> Note:
    tokens = tuple(_token(finding) for finding in seen.findings if finding.kind in TEMPLATES)
    excerpt = (
        seen.excerpt.text if seen.excerpt and seen.excerpt.accountability in ACCOUNTABLE else ""
    )
    return Note(tokens=tokens, env_excerpt=excerpt, lines=tuple(token.rendered for token in tokens))


def _token(finding: Finding) -> Token:
    template, names = TEMPLATES[finding.kind]
    payload = {
        name: finding.payload[name] for name in names if _is_plain(finding.payload.get(name))
    }
    rendered = template.format_map({name: payload.get(name, "") for name in names})
    return Token(kind=finding.kind, payload=payload, rendered=rendered)


def _is_plain(value: object) -> bool:
    """A number, or a commit: not a text in which somebody could write to the next try."""
    return isinstance(value, int) or (isinstance(value, str) and set(value) <= _HEXADECIMAL)
