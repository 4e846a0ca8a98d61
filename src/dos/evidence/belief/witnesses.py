"""Every witness by its name, those of dos before what other packages add, and what they say about a claim."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, convert, structs, to_builtins

from dos.errors import BadInput
from dos.evidence.belief import recorded_tests
from dos.records.accountability import Accountability
from dos.records.names import meant, shown
from dos.records.unknown import Unknown
from dos.sources import plugins
from dos.sources.witnesses import acceptance, ancestry, checks, citations, files, snapshots
from dos.sources.world import World
from dos.verdicts.belief.effect import EffectClaim
from dos.verdicts.belief.facts import EvidenceFacts, no_signal

LOWEST = Accountability.AGENT_AUTHORED
NULL = "null"
Ask = Callable[[World, str, str], EvidenceFacts]  # the world, the subject, what is claimed
Warn = Callable[[str], None]

BUILT_IN: dict[str, Ask] = {
    NULL: lambda world, subject, claimed: no_signal(NULL, LOWEST, subject, "it witnesses nothing"),
    ancestry.NAME: lambda world, subject, claimed: ancestry.witness(world, subject),
    acceptance.NAME: lambda world, subject, claimed: acceptance.witness(world, subject),
    checks.NAME: lambda world, subject, claimed: checks.witness(world, subject),
    recorded_tests.NAME: lambda world, subject, claimed: recorded_tests.witness(world, subject),
    snapshots.NAME: snapshots.witness,
    citations.NAME: lambda world, subject, claimed: citations.witness(world, subject),
    files.NAME: lambda world, subject, claimed: files.witness(world, subject),
}
# The names that released versions have for them.
ALIASES = {"ci_status": "ci", "os_acceptance": "exit", "citation_resolve": "citation", "state_diff": "state-diff"}


class Wanted(Struct, frozen=True, kw_only=True):
    """A witness to be asked, and about what: about what is claimed, where nothing is said."""

    name: str
    subject: str = ""


def gather(world: World, claim: EffectClaim, wanted: Sequence[Wanted], warn: Warn) -> list[EvidenceFacts]:
    """Nobody is asked before every name is known, and a blank claim asks nobody."""
    asking = [_asking(world, each, claim.probe, warn) for each in wanted]
    return [ask() for ask in asking] if claim.key.strip() else []


def gather_evidence(source: Any, subject: str, config: Any, *, name: str = "") -> EvidenceFacts:
    """What a source says, under its own name and at most at the rung that it declares."""
    called, rung = name or str(getattr(source, "name", "")), _declared(source)
    answer = plugins.call(lambda: source.gather(subject, config))
    if isinstance(answer, Unknown):
        return no_signal(called, rung, subject, f"it raised {answer.why}")
    if not isinstance(answer, EvidenceFacts):
        return no_signal(called, rung, subject, f"it answered with {type(answer).__name__}, not with EvidenceFacts")
    said = plugins.call(lambda: convert(to_builtins(answer), EvidenceFacts))
    if isinstance(said, Unknown):
        return no_signal(called, rung, subject, f"its answer has values of other kinds: {said.why}")
    least = min(rung, said.accountability, key=lambda each: each.rank)
    return structs.replace(said, source_name=called, subject=subject, accountability=least)


def known(warn: Warn) -> list[str]:
    return [*BUILT_IN, *_plugins(warn)]


def _declared(source: Any) -> Accountability:
    """A rung that is none is the lowest."""
    rung = getattr(source, "accountability", None)
    return rung if isinstance(rung, Accountability) else LOWEST


def _asking(world: World, wanted: Wanted, claimed: str, warn: Warn) -> Callable[[], EvidenceFacts]:
    name = ALIASES.get(wanted.name, wanted.name)
    if name == acceptance.NAME and not wanted.subject.strip():
        # What an agent calls its claim must never be run.
        raise BadInput(f"the source {name!r} has no command to run", hint=f"For example: --source '{name}=make test'")
    subject = wanted.subject or claimed
    if name in BUILT_IN:
        return lambda: BUILT_IN[name](world, subject, claimed)
    plugin = _plugin(name, warn)
    return lambda: gather_evidence(plugin, subject, world.config, name=name)


def _plugin(name: str, warn: Warn) -> Any:
    found = _plugins(warn)
    if name not in found:
        raise BadInput(f"there is no evidence source {shown(name)}", hint=meant(name, [*BUILT_IN, *found], "sources"))
    return found[name]


def _plugins(warn: Warn) -> dict[str, Any]:
    loaded, failed = plugins.load_what_can_be(plugins.EVIDENCE_SOURCES)
    for complaint in failed:
        warn(f"warning: {complaint}")
    return {name: plugin for name, plugin in loaded if name not in BUILT_IN and name not in ALIASES}
