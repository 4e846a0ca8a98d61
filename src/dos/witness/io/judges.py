"""The judges by name, and what one says about a claim.

`open_judge` finds a judge; built-in ones come before those that other packages add. A judge that
fails, is missing its program or answers nonsense abstains: an error must never look like consent.
"""

import math
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from dos import plugins
from dos.config.schema import Config
from dos.errors import BadInput
from dos.machine import commands
from dos.text import did_you_mean, quote
from dos.unknown import Unknown
from dos.witness.io.files import caller_root
from dos.witness.judges import (
    THRESHOLD,
    Claim,
    JudgeVerdict,
    Stance,
    abstain,
    build_prompt,
    judge_similarity,
    parse_reply,
)
from dos.world import World

# The environment variables: the program to ask, the program that scores, and the least score.
VARIABLE = "DOS_LLM_JUDGE_CMD"
TIMEOUT_SECONDS = 120.0
SCORER = "DOS_SIMILARITY_CMD"
LIMIT = "DOS_SIMILARITY_THRESHOLD"
SCORER_SECONDS = 120.0
ALIASES = {"llm": "command"}  # the name in dos-kernel 0.30 and older


class CommandJudge(Struct, frozen=True, kw_only=True):
    """Asks the program of `$DOS_LLM_JUDGE_CMD` or `[judges] command`, which reads a prompt."""

    cwd: Path

    def rule(self, claim: Claim, config: Config) -> JudgeVerdict:
        """Give the program the prompt on its stdin, and parse what it prints."""
        line = os.environ.get(VARIABLE, "").strip()
        if line:
            words = ["/bin/sh", "-c", line]
            seconds = TIMEOUT_SECONDS
        else:
            words = list(config.judges.command)
            seconds = config.judges.timeout_seconds
        if not words:
            return abstain(f"there is no program to ask: set {VARIABLE} or [judges] command")
        prompt = build_prompt(claim).encode("utf-8", "replace")
        ran = commands.run(words, self.cwd, seconds, stdin_bytes=prompt)
        output = commands.output_or_unknown("the program", ran)
        if isinstance(output, Unknown):
            return abstain(output.why)
        return parse_reply(output.decode("utf-8", "replace"))


class SimilarityJudge(Struct, frozen=True, kw_only=True):
    """Compares the claim with the evidence, by `$DOS_SIMILARITY_CMD` or by common words."""

    cwd: Path

    def rule(self, claim: Claim, _config: Config) -> JudgeVerdict:
        """Score the texts and compare the score with the threshold.

        The scorer reads the claim, a NUL character and the evidence, and prints one number.
        """
        line = os.environ.get(SCORER, "").strip()
        has_evidence = any(item.strip() for item in claim.evidence)
        if not line or not claim.claim_text.strip() or not has_evidence:
            return judge_similarity(claim, threshold())
        texts = "\0".join((claim.claim_text, "\n".join(claim.evidence)))
        feed = texts.encode("utf-8", "replace")
        words = ["/bin/sh", "-c", line]
        ran = commands.run(words, self.cwd, SCORER_SECONDS, stdin_bytes=feed)
        output = commands.output_or_unknown("the scorer", ran)
        if isinstance(output, Unknown):
            return abstain(output.why)
        score = _number(output.decode("utf-8", "replace"))
        if score is None:
            return abstain("the scorer gave no number")
        return judge_similarity(claim, threshold(), score)


def threshold() -> float:
    """Return the least similarity to agree: `$DOS_SIMILARITY_THRESHOLD`, else the default."""
    value = _number(os.environ.get(LIMIT, ""))
    if value is None or not 0 <= value <= 1:
        return THRESHOLD
    return value


def _number(text: str) -> float | None:
    """Return a finite number, or None for any other text."""
    try:
        value = float(text.strip())
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return value


class AbstainingJudge(Struct, frozen=True):
    """Never has an opinion."""

    def rule(self, _claim: Claim, _config: Config) -> JudgeVerdict:
        return abstain("this judge has no opinion")


class OperatorDecision(Struct, frozen=True):
    """Takes what a person decided as an opinion."""

    def rule(self, claim: Claim, _config: Config) -> JudgeVerdict:
        stances = {"accept-recommended": Stance.AGREE, "escalate": Stance.DISAGREE}
        stance = stances.get(claim.claim_text.strip(), Stance.ABSTAIN)
        return JudgeVerdict(stance=stance, why=f"the operator said {quote(claim.claim_text)}")


def open_judge(
    world: World, name: str, warn: Callable[[str], None]
) -> Callable[[Claim], JudgeVerdict]:
    """Return the judge of a name as a function; raises BadInput for an unknown name."""
    cwd = caller_root(world.workspace)
    judges: dict[str, Any] = {
        "abstain": AbstainingJudge(),
        "command": CommandJudge(cwd=cwd),
        "similarity": SimilarityJudge(cwd=cwd),
        "operator-decision": OperatorDecision(),
    }
    name = ALIASES.get(name, name)
    if name not in judges:
        judges |= plugins.load_others(plugins.JUDGES, {*judges, *ALIASES}, warn)
    if name not in judges:
        raise BadInput(
            f"there is no judge {quote(name)}", hint=did_you_mean(name, judges, "judges")
        )
    return partial(_rule, judges[name], world.config)


def _rule(judge: Any, config: Config, claim: Claim) -> JudgeVerdict:
    return run_judge(judge, claim, config)


def run_judge(judge: Any, claim: Claim, config: Any) -> JudgeVerdict:
    """Ask a judge; whatever goes wrong is an abstention, so that it never agrees by accident."""
    verdict = plugins.typed_answer(lambda: judge.rule(claim, config), JudgeVerdict)
    if isinstance(verdict, Unknown):
        return abstain(f"the judge gave no opinion: {verdict.why}")
    return verdict
