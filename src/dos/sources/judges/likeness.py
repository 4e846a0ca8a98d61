"""The opinion of a measure of likeness: ours, or that of a program of the user's."""

import math
import os
from pathlib import Path

from msgspec import Struct

from dos.config.tables import Config
from dos.records.unknown import Unknown
from dos.sources import commands
from dos.verdicts.belief import similarity
from dos.verdicts.belief.judging import Claim, JudgeVerdict, abstain

SCORER, LIMIT = "DOS_SIMILARITY_CMD", "DOS_SIMILARITY_THRESHOLD"
TIMEOUT_SECONDS = 120.0


class Likeness(Struct, frozen=True, kw_only=True):
    cwd: Path

    def rule(self, claim: Claim, config: Config) -> JudgeVerdict:
        line = os.environ.get(SCORER, "").strip()
        if not line or not claim.claim_text.strip() or not any(item.strip() for item in claim.evidence):
            return similarity.judge(claim, threshold())
        feed = "\0".join((claim.claim_text, "\n".join(claim.evidence))).encode("utf-8", "replace")
        ran = commands.run(["/bin/sh", "-c", line], self.cwd, TIMEOUT_SECONDS, feed=feed)
        said = commands.printed("the scorer", ran)
        if isinstance(said, Unknown):
            return abstain(said.why)
        score = _number(said.decode("utf-8", "replace"))
        return abstain("the scorer gave no number") if score is None else similarity.judge(claim, threshold(), score)


def threshold() -> float:
    found = _number(os.environ.get(LIMIT, ""))
    return found if found is not None and 0 <= found <= 1 else similarity.THRESHOLD


def _number(text: str) -> float | None:
    try:
        found = float(text.strip())
    except ValueError:
        return None
    return found if math.isfinite(found) else None
