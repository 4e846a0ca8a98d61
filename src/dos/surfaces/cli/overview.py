"""The first page of help: every verb, by what people come for."""

from dos.questions import GROUPS, VERBS

_HEAD = """dos keeps a fleet of coding agents working on one git repository, and believes git instead of the agents.

usage: dos VERB [arguments] [--workspace DIR] [--json] [--explain]
"""
_FOOT = """
`dos VERB --help` says what a verb takes and what its exit codes mean. Begin with `dos init`, then `dos doctor`.
"""


def overview() -> str:
    lines = [_HEAD]
    for group, title in GROUPS.items():
        verbs = [verb for verb in VERBS.values() if verb.group == group]
        if verbs:
            lines.append(f"{title}:")
            lines += [f"  {verb.name:<22}{verb.summary}" for verb in verbs]
            lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n" + _FOOT
