"""The first page of help: every verb, by what people come for."""

from dos.verbs.table import GROUPS, VERBS

_HEAD = """dos keeps a fleet of coding agents working on one git repository, and believes git instead of the agents.

usage: dos VERB [arguments] [--workspace DIR] [--json] [--explain]
"""
_FOOT = """
`dos VERB --help` says what a verb takes and what its exit codes mean. Begin with `dos init`, then `dos doctor`.
"""


def overview() -> str:
    lines = [_HEAD]
    for group, title in GROUPS.items():
        rows = [(verb.name, verb.summary) for verb in VERBS.values() if verb.group == group]
        if rows:
            lines += [f"{title}:", *_aligned(rows), ""]
    return "\n".join(lines).rstrip("\n") + "\n" + _FOOT


def family_page(word: str) -> str:
    """The verbs of two words that begin with this one."""
    rows = [
        (verb.name, verb.summary) for verb in VERBS.values() if verb.name.startswith(f"{word} ")
    ]
    lines = [
        f"usage: dos {word} VERB [arguments]",
        "",
        *_aligned(rows),
        "",
        f"`dos {word} VERB --help` says more.",
    ]
    return "\n".join(lines) + "\n"


def _aligned(rows: list[tuple[str, str]]) -> list[str]:
    width = max(22, *(len(name) + 2 for name, _ in rows))
    return [f"  {name:<{width}}{summary}" for name, summary in rows]
