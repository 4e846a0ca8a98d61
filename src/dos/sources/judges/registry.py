"""Every judge by its name: those of dos first, then what other packages add."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, convert, to_builtins

from dos.config.tables import Config
from dos.errors import BadInput
from dos.records.names import meant, shown
from dos.records.unknown import Unknown
from dos.sources import plugins
from dos.sources.judges.asked_program import AskedProgram
from dos.sources.judges.likeness import Likeness
from dos.sources.witnesses.places import standing
from dos.sources.world import World
from dos.verdicts.belief.judging import Claim, JudgeVerdict, Stance, abstain

ABSTAINING = "abstain"
ALIASES = {"llm": "command"}  # the name that released versions have for it


class Abstaining(Struct, frozen=True):
    def rule(self, claim: Claim, config: Config) -> JudgeVerdict:
        return abstain("this judge has no opinion")


class OperatorDecision(Struct, frozen=True):
    """What a person decided, as an opinion."""

    def rule(self, claim: Claim, config: Config) -> JudgeVerdict:
        stances = {"accept-recommended": Stance.AGREE, "escalate": Stance.DISAGREE}
        stance = stances.get(claim.claim_text.strip(), Stance.ABSTAIN)
        return JudgeVerdict(stance=stance, why=f"the operator said {shown(claim.claim_text)}")


def run_judge(judge: Any, claim: Claim, config: Any) -> JudgeVerdict:
    """Whatever goes wrong, the judge abstains: it never agrees by accident."""
    answer = plugins.call(lambda: judge.rule(claim, config))
    if isinstance(answer, Unknown):
        return abstain(f"the judge raised {answer.why}")
    if not isinstance(answer, JudgeVerdict):
        return abstain(f"the judge answered with {type(answer).__name__}, not with a JudgeVerdict")
    said = plugins.call(lambda: convert(to_builtins(answer), JudgeVerdict))
    return abstain(f"its answer has values of other kinds: {said.why}") if isinstance(said, Unknown) else said


def find(world: World, name: str, warn: Callable[[str], None]) -> Any:
    name = ALIASES.get(name, name)
    built_in = _built_in(world)
    if name in built_in:
        return built_in[name]
    loaded, failed = plugins.load_what_can_be(plugins.JUDGES)
    for complaint in failed:
        warn(f"warning: {complaint}")
    others = {each: plugin for each, plugin in loaded if each not in built_in and each not in ALIASES}
    if name not in others:
        raise BadInput(f"there is no judge {shown(name)}", hint=meant(name, [*built_in, *others], "judges"))
    return others[name]


def _built_in(world: World) -> dict[str, Any]:
    here = standing(world.workspace)
    return {
        ABSTAINING: Abstaining(),
        "command": AskedProgram(cwd=here),
        "similarity": Likeness(cwd=here),
        "operator-decision": OperatorDecision(),
    }
