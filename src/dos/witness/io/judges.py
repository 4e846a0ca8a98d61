"""Every judge by its name, those of dos before what other packages add, and what one says about a claim."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from dos import plugins
from dos.config.schema import Config
from dos.errors import BadInput
from dos.machine import commands
from dos.text import did_you_mean, quote
from dos.unknown import Unknown
from dos.witness import judges
from dos.witness import judges as similarity
from dos.witness.io.writable import caller_root
from dos.witness.judges import Claim, JudgeVerdict, Stance, abstain
from dos.world import World

VARIABLE = "DOS_LLM_JUDGE_CMD"
TIMEOUT_SECONDS = 120.0


class CommandJudge(Struct, frozen=True, kw_only=True):
    cwd: Path

    def rule(self, claim: Claim, config: Config) -> JudgeVerdict:
        line = os.environ.get(VARIABLE, "").strip()
        words = ["/bin/sh", "-c", line] if line else list(config.judges.command)
        if not words:
            return judges.abstain(f"there is no program to ask: set {VARIABLE} or [judges] command")
        seconds = TIMEOUT_SECONDS if line else config.judges.timeout_seconds
        feed = judges.build_prompt(claim).encode("utf-8", "replace")
        said = commands.output_or_unknown(
            "the program", commands.run(words, self.cwd, seconds, stdin_bytes=feed)
        )
        return (
            judges.abstain(said.why)
            if isinstance(said, Unknown)
            else judges.parse_reply(said.decode("utf-8", "replace"))
        )


SCORER, LIMIT = "DOS_SIMILARITY_CMD", "DOS_SIMILARITY_THRESHOLD"
LIKENESS_SECONDS = 120.0


class SimilarityJudge(Struct, frozen=True, kw_only=True):
    cwd: Path

    def rule(self, claim: Claim, config: Config) -> JudgeVerdict:
        line = os.environ.get(SCORER, "").strip()
        if (
            not line
            or not claim.claim_text.strip()
            or not any(item.strip() for item in claim.evidence)
        ):
            return similarity.judge_similarity(claim, threshold())
        feed = "\0".join((claim.claim_text, "\n".join(claim.evidence))).encode("utf-8", "replace")
        ran = commands.run(["/bin/sh", "-c", line], self.cwd, LIKENESS_SECONDS, stdin_bytes=feed)
        said = commands.output_or_unknown("the scorer", ran)
        if isinstance(said, Unknown):
            return abstain(said.why)
        score = _number(said.decode("utf-8", "replace"))
        return (
            abstain("the scorer gave no number")
            if score is None
            else similarity.judge_similarity(claim, threshold(), score)
        )


def threshold() -> float:
    found = _number(os.environ.get(LIMIT, ""))
    return found if found is not None and 0 <= found <= 1 else similarity.THRESHOLD


def _number(text: str) -> float | None:
    try:
        found = float(text.strip())
    except ValueError:
        return None
    return found if math.isfinite(found) else None


ALIASES = {"llm": "command"}  # the name that released versions have for it


class AbstainingJudge(Struct, frozen=True):
    def rule(self, claim: Claim, config: Config) -> JudgeVerdict:
        return abstain("this judge has no opinion")


class OperatorDecision(Struct, frozen=True):
    """What a person decided, as an opinion."""

    def rule(self, claim: Claim, config: Config) -> JudgeVerdict:
        stances = {"accept-recommended": Stance.AGREE, "escalate": Stance.DISAGREE}
        stance = stances.get(claim.claim_text.strip(), Stance.ABSTAIN)
        return JudgeVerdict(stance=stance, why=f"the operator said {quote(claim.claim_text)}")


def open_judge(
    world: World, name: str, warn: Callable[[str], None]
) -> Callable[[Claim], JudgeVerdict]:
    """The judge of that name, ready to be asked."""
    here = caller_root(world.workspace)
    judges: dict[str, Any] = {
        "abstain": AbstainingJudge(),
        "command": CommandJudge(cwd=here),
        "similarity": SimilarityJudge(cwd=here),
        "operator-decision": OperatorDecision(),
    }
    wanted = ALIASES.get(name, name)
    if wanted not in judges:
        judges |= plugins.load_others(plugins.JUDGES, {*judges, *ALIASES}, warn)
    if wanted not in judges:
        raise BadInput(
            f"there is no judge {quote(wanted)}", hint=did_you_mean(wanted, judges, "judges")
        )
    return lambda claim: run_judge(judges[wanted], claim, world.config)


def run_judge(judge: Any, claim: Claim, config: Any) -> JudgeVerdict:
    """Whatever goes wrong, the judge abstains: it never agrees by accident."""
    said = plugins.typed_answer(lambda: judge.rule(claim, config), JudgeVerdict)
    return abstain(f"the judge gave no opinion: {said.why}") if isinstance(said, Unknown) else said
