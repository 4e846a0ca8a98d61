"""Every judge by its name, those of dos before what other packages add, and what one says about a claim."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from dos import plugins
from dos.config.tables import Config
from dos.errors import BadInput
from dos.records.names import meant, shown
from dos.records.unknown import Unknown
from dos.sources.judges.asked_program import AskedProgram
from dos.sources.judges.likeness import Likeness
from dos.sources.witnesses.places import standing
from dos.sources.world import World
from dos.verdicts.belief.judging import Claim, JudgeVerdict, Stance, abstain

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


def asking(world: World, name: str, warn: Callable[[str], None]) -> Callable[[Claim], JudgeVerdict]:
    """The judge of that name, ready to be asked."""
    here = standing(world.workspace)
    judges: dict[str, Any] = {
        "abstain": Abstaining(),
        "command": AskedProgram(cwd=here),
        "similarity": Likeness(cwd=here),
        "operator-decision": OperatorDecision(),
    }
    wanted = ALIASES.get(name, name)
    if wanted not in judges:
        judges |= plugins.added(plugins.JUDGES, {*judges, *ALIASES}, warn)
    if wanted not in judges:
        raise BadInput(f"there is no judge {shown(wanted)}", hint=meant(wanted, judges, "judges"))
    return lambda claim: run_judge(judges[wanted], claim, world.config)


def run_judge(judge: Any, claim: Claim, config: Any) -> JudgeVerdict:
    """Whatever goes wrong, the judge abstains: it never agrees by accident."""
    said = plugins.answer(lambda: judge.rule(claim, config), JudgeVerdict)
    return abstain(f"the judge gave no opinion: {said.why}") if isinstance(said, Unknown) else said
