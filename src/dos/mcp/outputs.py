"""What each tool answers, as a JSON Schema: the fields of its verb's JSON with their types.

Written out for the same reason as the tools. No field is required, and others can be there: what
was refused or took too long has its own. A test calls each tool and holds it to this table.
"""

from typing import Any

Schema = dict[str, Any]
# How the table names a type; `?` behind a name means that the field can be null.
TYPES = {
    "text": "string",
    "integer": "integer",
    "number": "number",
    "flag": "boolean",
    "object": "object",
    "list": "array",
}
SHARED = {"exit_code": "integer", "token": "text"}  # in every answer of a verb
_VERIFY = {
    "text": "plan phase ref reason verdict tier tier_name source schema",
    "flag": "shipped",
    "list": "candidates contradictions expected_paths limits",
    "text?": "undone_by commit sha rung summary",
}
_DECISION = {
    "text": "outcome lane lane_kind requested_lane reason reason_class",
    "flag": "auto_picked substituted",
    "list": "tree free_clusters",
    "integer?": "pick_count",
}
FIELDS: dict[str, dict[str, str]] = {
    "fleet": {
        "text": "at now workspace",
        "flag": "initialized",
        "list": "lanes rows landings limits supervisors verdicts activity",
        "object": "decisions totals",
        "object?": "paused",
    },
    "plan": {
        "text": "now workspace plan_source",
        "flag": "initialized",
        "list": "phases problems activity",
        "object": "summary",
    },
    "why": {
        "flag": "found",
        "list": "steps incidents refused messages",
        "object?": "stop",
        "text?": "run_id lane begun at_work",
    },
    "verify": _VERIFY,
    "decisions": {"list": "rows"},
    "log": {
        "text": "lane run_id agent",
        "list": "lines",
        "text?": "log",
        "integer": "iteration attempt",
    },
    "costs": {
        "text": "by",
        "list": "rows",
        "object": "total per_landed_unit",
        "text?": "since",
    },
    "wait": {
        "text": "verdict reason",
        "integer": "position",
        "list": "landed questions",
        "flag": "idle",
        "number": "waited_seconds",
    },
    "start": {"flag": "detached", "integer?": "pid", "text?": "log"},
    "stop": {"flag": "down", "list": "left"},
    "answer": {
        "text": "id handle kind lane run_id run_ts about question otherwise proposed_command"
        " raised_at reason_text reason_token resolver_kind source_path",
        "list": "choices evidence waiting waits released",
        "object": "detail",
        "object?": "answer",
        "integer": "age_seconds dup_count",
        "flag": "expires_on_start answered proposed_by_asker",
        "text?": "expires_at",
    },
    "add_unit": {
        "text": "unit document lane text note",
        "flag": "added",
        "integer": "line",
    },
    "steer": {"text": "run_id lane id", "flag": "steered delivered"},
    "lane": {
        "text": "kind",
        "list": "tree also_held held_by_others",
        "text?": "lane run_id",
        "integer?": "fence",
    },
    "claim": _VERIFY,
    "commit_audit": {
        "text": "sha verdict witness claim_kind reason",
        "flag": "config_only",
        "list": "source_files test_files ci_files weakened limits commits",
    },
    "arbitrate": _DECISION,
    "refuse_reasons": {"text": "section workspace", "list": "reasons", "integer": "count"},
    "check_reason": {
        "text": "section key reason_class category summary fix kind needs clears_by",
        "flag": "known refusal retryable built_in",
        "list": "see_also live",
    },
    "recall": {"text": "verdict reason memory type", "list": "claims", "text?": "culprit"},
    "doctor": {
        "text": "dos_version workspace",
        "flag": "git",
        "object": "paths lanes stamp",
        "list": "findings",
    },
    "status": {
        "text": "run_id",
        "integer": "schema",
        "object": "liveness progress",
        "list": "region",
        "object?": "resume",
    },
    "loop": {
        "text": "verdict reason",
        "integer": "target alive admissible",
        "list": "spawn reap flag hold blocked proposed_halt",
        "object": "evidence",
    },
    "packet": {
        "text": "verdict reason",
        "integer": "left",
        "list": "picks dispositions evidence",
        "object": "paths",
    },
    "pickable": {
        "text": "unit evidence",
        "flag": "held redispatch_invariant",
        "list": "waiting",
        "text?": "reason",
    },
    "cooldown": {"text": "unit_id state reason last_ts", "integer": "count until_ms"},
    "reconcile": {
        "text": "unit state reason flag",
        "flag": "claimed keeps_in_residual",
        "flag?": "oracle_shipped",
    },
    "lease": {
        **_DECISION,
        "text": f"{_DECISION['text']} owner run_id",
        "flag": f"{_DECISION['flag']} journaled refusal_journaled beat released free",
        "integer?": "pick_count fence",
        "number?": "expires_in_seconds waited_seconds",
    },
    "attempt": {
        "text": "unit_id outcome run_id lane loop_ts ts",
        "flag": "recorded",
        "integer": "seq",
    },
    "decide": {
        "text": "run_id action needs next_mode reason",
        "integer": "iteration attempt",
        "number": "backoff_seconds",
        "flag": "reconcile repeated surface",
        "list": "ladder",
        "object": "next_state",
        "text?": "stop_reason until",
    },
}


def output_schema(tool: str) -> Schema:
    """Return the schema of a tool's answers."""
    properties: dict[str, Schema] = {}
    for kind, names in FIELDS[tool].items():
        for name in names.split():
            properties[name] = _schema(kind)
    for name, kind in SHARED.items():
        properties.setdefault(name, _schema(kind))
    return {"type": "object", "properties": properties}


def _schema(kind: str) -> Schema:
    """Return the schema of a type. Programs that know a part of JSON Schema take no list of types,
    so one that can be null is one of two."""
    schema: Schema = {"type": TYPES[kind.removesuffix("?")]}
    if kind.endswith("?"):
        return {"anyOf": [schema, {"type": "null"}]}
    return schema
