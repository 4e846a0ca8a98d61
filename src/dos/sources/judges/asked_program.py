"""The opinion of a program of the user's: a model behind a command. We ask no model ourselves."""

import os
from pathlib import Path

from msgspec import Struct

from dos.config.tables import Config
from dos.records.unknown import Unknown
from dos.sources import commands
from dos.verdicts.belief import judging
from dos.verdicts.belief.judging import Claim, JudgeVerdict

VARIABLE = "DOS_LLM_JUDGE_CMD"
TIMEOUT_SECONDS = 120.0


class AskedProgram(Struct, frozen=True, kw_only=True):
    cwd: Path

    def rule(self, claim: Claim, config: Config) -> JudgeVerdict:
        line = os.environ.get(VARIABLE, "").strip()
        words = ["/bin/sh", "-c", line] if line else list(config.judges.command)
        if not words:
            return judging.abstain(f"there is no program to ask: set {VARIABLE} or [judges] command")
        seconds = TIMEOUT_SECONDS if line else config.judges.timeout_seconds
        feed = judging.prompt(claim).encode("utf-8", "replace")
        said = commands.printed("the program", commands.run(words, self.cwd, seconds, feed=feed))
        return (
            judging.abstain(said.why) if isinstance(said, Unknown) else judging.parsed(said.decode("utf-8", "replace"))
        )
