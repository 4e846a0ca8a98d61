"""The tokens that dos-kernel released, their present names, and the words that people read.

Programs find these tokens in JSON and in the journal, and they never change. Texts for people use
`words(token)`.
"""

from enum import StrEnum

from dos.loop.gate import Gate


class PacketOutcome(StrEnum):
    """How the launched picks of a packet ended, as dos-kernel names it."""

    SHIPPED_CLEAN = "SHIPPED-CLEAN"
    SHIPPED_DIRTY = "SHIPPED-DIRTY"
    STALLED = "STALLED"
    BLOCKED_OUTCOME = "BLOCKED-OUTCOME"
    WEDGED = "BLOCKED-OUTCOME"  # its older name


FORMER = {"WEDGE": Gate.BLOCKED.value, "WEDGED": PacketOutcome.BLOCKED_OUTCOME.value}
KNOWN_VERDICT_TOKENS = frozenset(
    {*Gate, *PacketOutcome, *FORMER, "COLLISION", "ERROR", "RATE_LIMITED"}
)

_SHIPPED_BY = {
    "ci-green": "its CI run is green",
    "grep-artifact": "a commit names it and changes its declared files",
    "grep-subject": "a commit names it",
    "registry": "a registry lists it",
    # Of a unit in a plan document.
    "meta-shipped": "by the caller",
    "child-rollup": "by its children",
}
_STOPS = {
    "iteration-cap": "iteration limit reached",
    "drained-twice": "no work left after a replan",
    "launch-failed": "agent did not start",
    "rate-limited": "usage limit reached",
    "consecutive-overloaded": "provider overloaded",
    "not-ratcheting": "no more improvement",
    "pick-held-invariant": "next unit held",
    "pick-cooldown": "units on cooldown",
    "consecutive-unclear": "agent ended without a result",
    "unmeasured-shipped": "work not measured",
    "consecutive-dirty-zero": "no work delivered",
    "replan-stalled": "replans found nothing",
    "blocked-redispatch-invariant": "blocked, and a replan cannot clear it",
    "stale-stamp-unreconciled": "plan document out of date",
    "benign-drain": "no work left",
    "drain": "no unit left to offer",
    "drain-requested": "asked to stop",
    "lease-lost": "lease lost",
    "lane-held": "lane held",
    "decision-needed": "decision needed",
    "not-ready": "setup failed",
    "journal-away": "journal unavailable",
}
_STEPS = {
    "retry-same-iter": "retry",
    "none-observed": "none seen",
    "diff-witnessed": "diff supports it",
    "subject-only": "subject only",
    PacketOutcome.SHIPPED_CLEAN: "all landed",
    PacketOutcome.SHIPPED_DIRTY: "not all landed",
    PacketOutcome.BLOCKED_OUTCOME: "blocked",
    Gate.STALE_STAMP: "shipped but not marked",
}
_CLEARS_BY = {
    "other-worker": "another worker",
    "code-fix": "a code fix",
}
_NEEDS = {
    "operator": "needs you",
    "environment": "needs a fix on this machine",
    "time": "clears with time",
    "nobody": "needs no action",
}
_NOTES = {  # beside a verdict of `dos verify`
    "shallow": "the history is cut off",
    "enclosing_repo": "read from a repository around the workspace",
    "no_git": "no git repository",
    "config_dirty": "dos.toml on disk has other rules; the committed one was used",
    "config_invalid": "dos.toml on disk has errors; the committed one was used",
    "replaced_object": "git shows replaced objects",
    "ci_red": "its CI run is red",
}
_WORDS: dict[str, str] = {**_SHIPPED_BY, **_STOPS, **_STEPS, **_CLEARS_BY, **_NOTES}
# The kinds of an iteration's outcome; SHIPPED means something else in `dos verify`.
_ITERATIONS = {
    "SHIPPED": "agent finished",
    "GATE": "nothing dispatched",
    "REPLAN_DONE": "replan finished",
    "UNCLEAR": "no clear result",
    "RATE_LIMITED": "usage limit reached",
    "OVERLOADED": "provider overloaded",
    "LAUNCH_FAILED": "agent did not start",
}

# The rules of `decide`, by what each of them looks for. SHIPPED only means that the agent finished.
_RULES = {
    "launch-failed": "agent did not start",
    "rate-limited": "usage limit reached",
    "overloaded": "provider overloaded",
    "complete": "every declared unit verified",
    "under-declared": "more work needed than declared",
    "converging": "remaining work does not get less",
    "spinning": "alive, and nothing landed for too long",
    "ratcheting": "no change worth keeping for too long",
    "pick-held": "next unit held",
    "pick-cooldown": "only units on cooldown left",
    "unclear": "no clear result",
    "shipped": "agent finished",
    "replanned": "replan finished",
    "blocked-cause": "blocked, and a replan cannot clear it",
    "stale-stamp": "plan document out of date",
    "gate": "nothing dispatched",
    "iteration-cap": "iteration limit reached",
}


def words(token: str) -> str:
    """Return what people read for a released token; any other text is returned as it is.

    Never use it for JSON or the journal, where programs look for the token.
    """
    return _WORDS.get(token, str(token))


def iteration_words(kind: str) -> str:
    """Return what people read for the kind of an iteration's outcome."""
    return _ITERATIONS.get(kind, str(kind))


def rule_words(name: str) -> str:
    """Return what people read for a rule of `decide`: what it looks for."""
    return _RULES.get(name, name.replace("-", " "))


def needs_words(needs: str) -> str:
    """Return who or what clears a stop, in words that end a sentence: `needs you`."""
    return _NEEDS.get(needs, f"needs {needs}")


def decision_words(action: str, next_mode: str, stop_reason: str | None) -> str:
    """Return a decision in words: `continue dispatch`, `retry`, `stop: no work delivered`.

    An unknown stop reason, as a newer version may write one, is shown as it is.
    """
    what = f"{words(action)} {next_mode}".rstrip()
    return f"{what}: {words(stop_reason)}" if stop_reason else what


def normalize_token(text: str | None) -> str | None:
    """Return the present name of a token in capitals; None for an empty text.

    Older loops write `WEDGE` for what is called `BLOCKED` now.
    """
    word = (text or "").strip().upper()
    return FORMER.get(word, word) or None
