"""Help pages that need no verb's module: all verbs by group, and the verbs of one first word.

Nothing else is imported: `dos --help` is what people wait for first.
"""

from dos.verbs.listing.table import VERBS
from dos.verbs.listing.verb import GROUPS, Verb

GLOBAL_OPTIONS = {
    "--workspace DIR": "use the workspace of this directory (default: the current one)",
    "--json": "print one JSON document instead of text",
    "--output NAME": "output format: text, json, or plain (one sentence)",
    "--pretty": "indent the JSON",
    "--explain": "also print what to do next",
    "--lenient": "read dos.toml despite errors; refused by verbs that act",
}
# What a person types on a normal day, in the order of that day.
COMMON_VERBS = (
    "demo",
    "init",
    "doctor",
    "up",
    "top",
    "status",
    "plan",
    "decisions",
    "why",
    "verify",
    "report",
    "down",
)
NAME_WIDTH = 22
_HEAD = """\
dos supervises a fleet of coding agents on one git repository and believes git, not the agents.

usage: dos VERB [arguments] [--workspace DIR] [--json] [--explain]
"""
_FOOT = """
`dos VERB --help` shows the arguments and exit codes of a verb. Start with `dos init`, then
`dos doctor`.
"""


def overview() -> str:
    """Return the first page of help: the common verbs, then every other verb by group."""
    common = [VERBS[name] for name in COMMON_VERBS]
    lines = [_HEAD, "Common verbs:", *_summaries(common), ""]
    for group, title in GROUPS.items():
        verbs = [verb for verb in VERBS.values() if verb.group == group and verb not in common]
        if verbs:
            lines += [f"{title}:", *_summaries(verbs), ""]
    return "\n".join(lines).rstrip("\n") + "\n" + _FOOT


def family_page(word: str) -> str:
    """Return the page of the verbs of two words that begin with this one."""
    verbs = [verb for verb in VERBS.values() if verb.name.startswith(f"{word} ")]
    lines = [
        f"usage: dos {word} VERB [arguments]",
        "",
        *_summaries(verbs),
        "",
        f"`dos {word} VERB --help` shows the arguments of a verb.",
    ]
    return "\n".join(lines) + "\n"


def _summaries(verbs: list[Verb]) -> list[str]:
    """Return a line for each verb: its name and its help line."""
    width = NAME_WIDTH
    for verb in verbs:
        width = max(width, len(verb.name) + 2)
    return [f"  {verb.name:<{width}}{verb.summary}" for verb in verbs]
