"""Every witness by its name, those of dos before what other packages add, and what they say about a claim."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs

from dos import plugins
from dos.errors import BadInput
from dos.testwitness.io import recorded
from dos.text import did_you_mean, quote
from dos.unknown import Unknown
from dos.witness.accountability import Accountability
from dos.witness.belief import EffectClaim
from dos.witness.fact import EvidenceFacts, no_signal
from dos.witness.io import acceptance, ancestry, ci, citations, files, snapshots
from dos.world import World

LOWEST = Accountability.AGENT_AUTHORED
NULL = "null"
Warn = Callable[[str], None]

BUILT_IN: dict[str, Callable[[World, str], EvidenceFacts]] = {
    NULL: lambda world, subject: no_signal(NULL, LOWEST, subject, "it witnesses nothing"),
    ancestry.NAME: ancestry.witness,
    acceptance.NAME: acceptance.witness,
    ci.NAME: ci.witness,
    recorded.NAME: recorded.witness,
    snapshots.NAME: snapshots.witness,
    citations.NAME: citations.witness,
    files.NAME: files.witness,
}
# The names that released versions have for them.
ALIASES = {
    "ci_status": "ci",
    "os_acceptance": "exit",
    "citation_resolve": "citation",
    "state_diff": "state-diff",
}
OWN = {*BUILT_IN, *ALIASES}


def gather(
    world: World, claim: EffectClaim, wanted: Sequence[tuple[str, str]], warn: Warn
) -> list[EvidenceFacts]:
    """Each witness by name, with its subject, or about what is claimed where that is empty.

    Nobody is asked before every name is known, and a blank claim asks nobody.
    """
    asking = [_asking(world, name, subject, claim.probe, warn) for name, subject in wanted]
    return [ask() for ask in asking] if claim.key.strip() else []


def gather_evidence(source: Any, subject: str, config: Any, *, name: str = "") -> EvidenceFacts:
    """What a source says, under its own name and at most at the rung that it declares."""
    called, rung = name or str(getattr(source, "name", "")), _declared(source)
    said = plugins.typed_answer(lambda: source.gather(subject, config), EvidenceFacts)
    if isinstance(said, Unknown):
        return no_signal(called, rung, subject, said.why)
    least = min(rung, said.accountability, key=lambda each: each.rank)
    return structs.replace(said, source_name=called, subject=subject, accountability=least)


def known(warn: Warn) -> list[str]:
    return [*BUILT_IN, *plugins.load_others(plugins.EVIDENCE_SOURCES, OWN, warn)]


def _declared(source: Any) -> Accountability:
    """A rung that is none is the lowest."""
    rung = getattr(source, "accountability", None)
    return rung if isinstance(rung, Accountability) else LOWEST


def _asking(
    world: World, name: str, subject: str, claimed: str, warn: Warn
) -> Callable[[], EvidenceFacts]:
    name = ALIASES.get(name, name)
    if name == acceptance.NAME and not subject.strip():
        # What an agent calls its claim must never be run.
        raise BadInput(
            f"the source {name!r} has no command to run",
            hint=f"For example: --source '{name}=make test'",
        )
    subject = subject or claimed
    if name == snapshots.NAME:  # the key that it looks for may be what is claimed
        return lambda: snapshots.witness(world, subject, claimed)
    if name in BUILT_IN:
        return lambda: BUILT_IN[name](world, subject)
    found = plugins.load_others(plugins.EVIDENCE_SOURCES, OWN, warn)
    if name not in found:
        raise BadInput(
            f"there is no evidence source {quote(name)}",
            hint=did_you_mean(name, [*BUILT_IN, *found], "sources"),
        )
    return lambda: gather_evidence(found[name], subject, world.config, name=name)
