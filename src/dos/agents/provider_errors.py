"""What providers and programs write when they cannot go on, in one table. Never ask it about a tool's output."""

import re
from collections.abc import Sequence
from datetime import datetime

from msgspec import structs

from dos.agents import reset_times
from dos.agents.adapter import AgentOutcome, Ending, EndingEvidence, Scope, Waiting
from dos.agents.stream import ACTIVITY_CHARACTERS, evidence, truncated

_KINDS = {
    # Claude Code: a result's subtype and terminal_reason, an assistant's error
    "error_max_turns": Ending.TURN_CAP,
    "max_turns": Ending.TURN_CAP,
    "error_max_budget_usd": Ending.BUDGET_CAP,
    "budget_exhausted": Ending.BUDGET_CAP,
    "prompt_too_long": Ending.CONTEXT,
    "authentication_failed": Ending.AUTH,
    "oauth_org_not_allowed": Ending.AUTH,
    "account_on_hold": Ending.AUTH,
    "verification_required": Ending.AUTH,
    "cloud_credential_error": Ending.AUTH,
    "billing_error": Ending.SPEND_STOP,
    "credits_required": Ending.SPEND_STOP,
    "model_not_found": Ending.MODEL_UNAVAILABLE,
    "overloaded": Ending.OVERLOADED,
    "rate_limit": Ending.TRANSIENT,
    "server_error": Ending.TRANSIENT,
    # Gemini: an error's type
    "INSUFFICIENT_G1_CREDITS_BALANCE": Ending.SPEND_STOP,
    "TerminalQuotaError": Ending.USAGE_WINDOW,
    "RetryableQuotaError": Ending.TRANSIENT,
    "ModelNotFoundError": Ending.MODEL_UNAVAILABLE,
    "FatalAuthenticationError": Ending.AUTH,
    "FatalTurnLimitedError": Ending.TURN_CAP,
    # opencode: an error's name
    "ProviderAuthError": Ending.AUTH,
    "ProviderModelNotFoundError": Ending.MODEL_UNAVAILABLE,
    "ContextOverflowError": Ending.CONTEXT,
    "MessageOutputLengthError": Ending.CONTEXT,
}

_STATUSES = {
    401: Ending.AUTH,
    402: Ending.SPEND_STOP,
    403: Ending.AUTH,
    404: Ending.MODEL_UNAVAILABLE,
    408: Ending.TRANSIENT,
    413: Ending.CONTEXT,
    429: Ending.TRANSIENT,
    503: Ending.OVERLOADED,
    529: Ending.OVERLOADED,
}

# The first that is in the words, in small letters, wins: what is said of money and of windows stands before the rest.
_PHRASES = (
    ("not your usage limit", Ending.TRANSIENT),
    ("credit balance", Ending.SPEND_STOP),
    ("usage credits", Ending.SPEND_STOP),
    ("out of credits", Ending.SPEND_STOP),
    ("out of usage", Ending.SPEND_STOP),
    ("out of extra usage", Ending.SPEND_STOP),
    ("seat type doesn't include", Ending.SPEND_STOP),
    ("usage allocation has been disabled", Ending.SPEND_STOP),
    ("usage limit is set to $0", Ending.SPEND_STOP),
    ("spend cap", Ending.SPEND_STOP),
    ("spend limit", Ending.SPEND_STOP),
    ("billing details", Ending.SPEND_STOP),
    ("insufficient_quota", Ending.SPEND_STOP),
    ("insufficient_g1_credits", Ending.SPEND_STOP),
    ("upgrade to plus", Ending.SPEND_STOP),
    ("token budget exhausted", Ending.BUDGET_CAP),
    ("usage limit", Ending.USAGE_WINDOW),
    ("you've hit your", Ending.USAGE_WINDOW),
    ("you've reached your", Ending.USAGE_WINDOW),
    ("free usage exceeded", Ending.USAGE_WINDOW),
    ("daily quota", Ending.USAGE_WINDOW),
    ("quota_exhausted", Ending.USAGE_WINDOW),
    ("exceeded your current quota", Ending.USAGE_WINDOW),
    ("prompt is too long", Ending.CONTEXT),
    ("context window", Ending.CONTEXT),
    ("context length", Ending.CONTEXT),
    ("input token count", Ending.CONTEXT),
    ("not logged in", Ending.AUTH),
    ("run /login", Ending.AUTH),
    ("invalid api key", Ending.AUTH),
    ("api key not valid", Ending.AUTH),
    ("api_key environment variable", Ending.AUTH),
    ("authorization is required", Ending.AUTH),
    ("failed to authenticate", Ending.AUTH),
    ("oauth token has expired", Ending.AUTH),
    ("organization has been disabled", Ending.AUTH),
    ("issue with the selected model", Ending.MODEL_UNAVAILABLE),
    ("model not found", Ending.MODEL_UNAVAILABLE),
    ("is not found", Ending.MODEL_UNAVAILABLE),
    ("overloaded", Ending.OVERLOADED),
    ("at capacity", Ending.OVERLOADED),
    ("capacity_exhausted", Ending.OVERLOADED),
    ("high demand", Ending.OVERLOADED),
    ("rate limit", Ending.TRANSIENT),
    ("too many requests", Ending.TRANSIENT),
    ("resource_exhausted", Ending.TRANSIENT),
    ("stream disconnected", Ending.TRANSIENT),
)
_STATUS = re.compile(
    r"(?:status|code|error)\W{1,4}(\d{3})\b|\b(429|50[0-4]|529)\b", re.ASCII | re.IGNORECASE
)
_ONE_MODEL = re.compile(
    r"usage limit for |on this model|\b(?:opus|sonnet|haiku) (?:weekly )?limit", re.IGNORECASE
)
_WINDOW = re.compile(r"(?:hit|reached) your ([a-z0-9-]{1,40}) limit", re.ASCII | re.IGNORECASE)


def classify_failure(
    words: str,
    now: datetime,
    *,
    status: int | None = None,
    kinds: Sequence[str] = (),
    otherwise: Ending = Ending.UNKNOWN,
) -> AgentOutcome:
    """What stopped it, and until when."""
    ending, evidence = _strongest_evidence(words, status, kinds, otherwise)
    moment = reset_times.parse_reset_time(words, now)
    if ending is Ending.SPEND_STOP and moment:
        ending = Ending.USAGE_WINDOW  # what comes back by itself needs nobody
    outcome = reset_times.with_reset_time(AgentOutcome(ending=ending, found=evidence), moment, now)
    if ending is not Ending.USAGE_WINDOW:
        return outcome
    window = _WINDOW.search(words)
    return structs.replace(
        outcome,
        scope=Scope.MODEL if _ONE_MODEL.search(words) else Scope.ACCOUNT,
        window=window[1].lower() if window else "",
    )


def classify_retry(
    words: str,
    *,
    status: int | None = None,
    kinds: Sequence[str] = (),
    seconds: float | None = None,
) -> Waiting:
    """The same of something that is tried again, and so has seen nothing worse than a moment's failure."""
    return Waiting(
        ending=_strongest_evidence(words, status, kinds, Ending.TRANSIENT)[0],
        seconds=reset_times.parse_duration(words) if seconds is None else seconds,
        text=truncated(words, ACTIVITY_CHARACTERS),
    )


def _strongest_evidence(
    words: str, status: int | None, kinds: Sequence[str], otherwise: Ending
) -> tuple[Ending, EndingEvidence]:
    """What is typed goes before words, and what is definite before what only says `not now`."""
    words = words.replace("’", "'")
    by_status = _by_status(status if status is not None else _status_in(words))
    by_kinds = [(_KINDS[kind], evidence("kind", kind)) for kind in kinds if kind in _KINDS]
    definite = [
        each
        for each in (*by_kinds, *by_status)
        if each[0] is not Ending.TRANSIENT and each[1].raw != "403"
    ]
    return [
        *definite,
        *_by_words(words),
        *by_status,
        *by_kinds,
        (otherwise, evidence("text", words)),
    ][0]


def _by_status(status: int | None) -> list[tuple[Ending, EndingEvidence]]:
    if status is None:
        return []
    ending = _STATUSES.get(status) or (Ending.TRANSIENT if 500 <= status <= 599 else None)
    return [(ending, evidence("status", status))] if ending else []


def _by_words(words: str) -> list[tuple[Ending, EndingEvidence]]:
    small = words.lower()
    return [(ending, evidence("text", words)) for phrase, ending in _PHRASES if phrase in small][:1]


def _status_in(words: str) -> int | None:
    told = _STATUS.search(words)
    return int(told[1] or told[2]) if told else None
