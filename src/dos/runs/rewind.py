"""Decide back to which turn to cut a conversation after git shows a dead end.

The conversation is cut after the last turn that was stamped as good. The next attempt gets a note
made of fixed sentences, so that it avoids the dead end without inheriting its text.
"""

from enum import StrEnum

from msgspec import Struct, field


class Answer(StrEnum):
    """Whether to cut the conversation."""

    REWIND = "REWIND"
    NO_REWIND = "NO_REWIND"  # no trigger fired
    UNANCHORED = "UNANCHORED"  # no turn was stamped, or the transcript no longer has it


class Fire(StrEnum):
    """What triggers a rewind."""

    DIVERGED = "DIVERGED"
    THRASHING = "THRASHING"
    STARVED = "STARVED"


# A note for the next attempt holds only these sentences: free text would carry the dead end along.
TEMPLATES: dict[str, tuple[str, tuple[str, ...]]] = {
    "DIVERGED": ("others changed the files of this lane after the run began", ()),
    "VERIFY_NOT_SHIPPED": ("commit {sha} was claimed but git does not confirm it", ("sha",)),
    "TOOL_STREAM_REPEATING": (
        "the same call was made {count} times from turn {turn} on",
        ("count", "turn"),
    ),
}
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
ACCOUNTABLE = frozenset({"OS_RECORDED", "THIRD_PARTY"})


class Checkpoint(Struct, frozen=True, kw_only=True):
    """A turn that was stamped as good, by its number and the digest of its text."""

    turn: int
    digest: str


class Finding(Struct, frozen=True, kw_only=True):
    """A problem by its token, a key of `TEMPLATES`; unknown tokens are left out of the note."""

    kind: str
    payload: dict[str, str | int] = {}


class Excerpt(Struct, frozen=True, kw_only=True):
    """Text from the environment; only text that the agent did not write reaches the note."""

    text: str
    accountability: str  # who vouches for it


class Evidence(Struct, frozen=True, kw_only=True):
    """What a rewind is judged on."""

    run_id: str = ""
    fire: str = ""
    checkpoint: Checkpoint | None = None
    turns: tuple[str, ...] = ()  # the digest of each turn there is now
    findings: tuple[Finding, ...] = ()
    excerpt: Excerpt | None = None


class Token(Struct, frozen=True, kw_only=True):
    """One finding of the note, with its sentence."""

    kind: str
    payload: dict[str, str | int]
    rendered: str


class Note(Struct, frozen=True, kw_only=True):
    """What the next attempt is told about the dead end."""

    tokens: tuple[Token, ...] = ()
    env_excerpt: str = ""
    lines: tuple[str, ...] = ()


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether to rewind, and to which turn. `dos rewind --json` prints it."""

    answer: Answer = field(name="verdict")
    reason: str = ""
    rewind_to_turn: int = -1
    transcript_digest: str = ""
    dropped_turns: tuple[int, ...] = ()
    no_good_note: Note = Note()
    run_id: str = ""


def judge(evidence: Evidence) -> Verdict:
    """Decide whether to cut the conversation, and after which turn."""
    if evidence.fire not in list(Fire):
        return Verdict(answer=Answer.NO_REWIND, reason="no trigger fired", run_id=evidence.run_id)
    note = _note(evidence)
    checkpoint = evidence.checkpoint
    if checkpoint is None:
        return _unanchored(evidence, "no turn was recorded as sound", note)
    turns = evidence.turns
    in_range = 0 <= checkpoint.turn < len(turns)
    if not in_range or turns[checkpoint.turn] != checkpoint.digest:
        reason = f"turn {checkpoint.turn} of the transcript is not the one that was recorded"
        return _unanchored(evidence, reason, note)
    dropped = tuple(range(checkpoint.turn + 1, len(turns)))
    return Verdict(
        answer=Answer.REWIND,
        reason=f"{evidence.fire}: back to turn {checkpoint.turn}, dropping {len(dropped)}",
        rewind_to_turn=checkpoint.turn,
        transcript_digest=checkpoint.digest,
        dropped_turns=dropped,
        no_good_note=note,
        run_id=evidence.run_id,
    )


def _unanchored(evidence: Evidence, reason: str, note: Note) -> Verdict:
    """A verdict without a turn to go back to; the note is still useful."""
    return Verdict(
        answer=Answer.UNANCHORED, reason=reason, no_good_note=note, run_id=evidence.run_id
    )


def _note(evidence: Evidence) -> Note:
    """The note for the next attempt, made only of templates and accountable text."""
    tokens = tuple(_token(finding) for finding in evidence.findings if finding.kind in TEMPLATES)
    excerpt = ""
    if evidence.excerpt and evidence.excerpt.accountability in ACCOUNTABLE:
        excerpt = evidence.excerpt.text
    return Note(tokens=tokens, env_excerpt=excerpt, lines=tuple(token.rendered for token in tokens))


def _token(finding: Finding) -> Token:
    """A finding as its template sentence, with plain values only."""
    template, names = TEMPLATES[finding.kind]
    payload = {}
    for name in names:
        if _is_plain(finding.payload.get(name)):
            payload[name] = finding.payload[name]
    rendered = template.format_map({name: payload.get(name, "") for name in names})
    return Token(kind=finding.kind, payload=payload, rendered=rendered)


def _is_plain(value: object) -> bool:
    """Whether a value is a number or a commit, and cannot carry text into the next attempt."""
    if isinstance(value, str):
        return set(value) <= _HEXADECIMAL
    return isinstance(value, int)
