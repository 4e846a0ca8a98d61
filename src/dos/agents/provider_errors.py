"""Classify what providers and agent programs print when they cannot continue.

Only for messages of the program itself: the output of a tool may quote any of these phrases.
"""

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

# The first phrase in the message (in lower case) wins. Money and usage windows come first, because
# such messages often mention rate limits too.
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
    message: str,
    now: datetime,
    *,
    status: int | None = None,
    kinds: Sequence[str] = (),
    otherwise: Ending = Ending.UNKNOWN,
) -> AgentOutcome:
    """The outcome that an error message tells, with the reset time that it names.

    `status` is an HTTP status and `kinds` are error types that came with the message; `otherwise`
    is the ending when nothing is recognised.
    """
    ending, proof = _strongest_evidence(message, status, kinds, otherwise)
    moment = reset_times.parse_reset_time(message, now)
    if ending is Ending.SPEND_STOP and moment:
        ending = Ending.USAGE_WINDOW  # credit that comes back by itself needs no person
    outcome = AgentOutcome(ending=ending, found=proof)
    outcome = reset_times.with_reset_time(outcome, moment, now)
    if ending is not Ending.USAGE_WINDOW:
        return outcome
    if _ONE_MODEL.search(message):
        outcome = structs.replace(outcome, scope=Scope.MODEL)
    window = _WINDOW.search(message)
    if window:
        outcome = structs.replace(outcome, window=window[1].lower())
    return outcome


def classify_retry(
    message: str,
    *,
    status: int | None = None,
    kinds: Sequence[str] = (),
    seconds: float | None = None,
) -> Waiting:
    """What a program waits for that retries by itself.

    A program retries only failures that may pass, so an unrecognised message is TRANSIENT.
    """
    ending, _ = _strongest_evidence(message, status, kinds, Ending.TRANSIENT)
    if seconds is None:
        seconds = reset_times.parse_duration(message)
    return Waiting(ending=ending, seconds=seconds, text=truncated(message, ACTIVITY_CHARACTERS))


def _strongest_evidence(
    message: str, status: int | None, kinds: Sequence[str], otherwise: Ending
) -> tuple[Ending, EndingEvidence]:
    """Typed evidence beats words, and a definite ending beats one that only means "not now".

    A status of 403 is not definite: providers use it for limits as well as for logins.
    """
    message = message.replace("’", "'")
    if status is None:
        status = _status_in(message)
    by_status = _by_status(status)
    by_kinds = [(_KINDS[kind], evidence("kind", kind)) for kind in kinds if kind in _KINDS]
    definite = []
    for ending, proof in (*by_kinds, *by_status):
        if ending is not Ending.TRANSIENT and proof.raw != "403":
            definite.append((ending, proof))
    unrecognised = (otherwise, evidence("text", message))
    ranked = [*definite, *_by_words(message), *by_status, *by_kinds, unrecognised]
    return ranked[0]


def _by_status(status: int | None) -> list[tuple[Ending, EndingEvidence]]:
    """The ending that an HTTP status tells; any 5xx is a transient failure."""
    if status is None:
        return []
    ending = _STATUSES.get(status)
    if ending is None and 500 <= status <= 599:
        ending = Ending.TRANSIENT
    if ending is None:
        return []
    return [(ending, evidence("status", status))]


def _by_words(message: str) -> list[tuple[Ending, EndingEvidence]]:
    """The ending of the first known phrase in the message."""
    lower = message.lower()
    for phrase, ending in _PHRASES:
        if phrase in lower:
            return [(ending, evidence("text", message))]
    return []


def _status_in(message: str) -> int | None:
    """The HTTP status that a message mentions."""
    match = _STATUS.search(message)
    if match is None:
        return None
    return int(match[1] or match[2])
