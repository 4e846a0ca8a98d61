"""Whether the hooks of an agent program stop what they have to stop: the trial and its verdict.

The model asks for four writes: two in a lane that another worker holds, two elsewhere, each once by
the program's own tool and once by a shell redirect. What counts is what is on the disk afterwards.
"""

from enum import StrEnum

from msgspec import Struct

from dos.conformance.programs import Step, Trial

LANE = "held"  # another worker holds it during the trial
REGION = "held/**"
FOLDERS = (LANE, "own")
REFUSED_FILES = ("held/written.md", "held/redirected.md")
OWN_FILES = ("own/written.md", "own/redirected.md")
SENTENCE = f"belongs to lane {LANE}"  # of the refusal, as the model has to be told it
CONFIG = f"""[lanes]
concurrent = ["{LANE}", "own"]
[lanes.trees]
{LANE} = ["{REGION}"]
own = ["own/**"]
[enforcement]
posture = "block"
"""


class Result(StrEnum):
    """What a trial of hooks showed."""

    WORKS = "WORKS"
    INERT = "INERT"  # a write was made that the hooks have to refuse
    FAILED = "FAILED"  # the trial tells nothing, or more was refused than should be
    NOT_FOUND = "NOT_FOUND"  # the program is not on the PATH
    NOT_TRIED = "NOT_TRIED"  # it cannot be run without its vendor


class Evidence(Struct, frozen=True, kw_only=True):
    """What was seen after a program had done what the model asked for."""

    written: frozenset[str]  # of the files above, those that exist
    told_refusals: int  # results that told the model why a call was refused
    calls: int  # that the program reported results of
    ending: str = ""  # how the program ended, where not by itself and well
    last_words: str = ""  # that it printed


class HookVerdict(Struct, frozen=True, kw_only=True):
    """The result of one program, with its reason."""

    host: str
    result: Result
    reason: str
    version: str = ""
    program: str = ""  # its path


def steps(trial: Trial, tree: str) -> list[Step]:
    """Return the script of the model: in each folder a file by the tool and one by the shell.

    `tree` is the repository, for a program whose tool takes no relative path.
    """
    if not trial.has_tools:
        files = [trial.write(path, "text")["say"] for path in (OWN_FILES[0], REFUSED_FILES[0])]
        return [trial.say("\n".join(files))]
    made: list[Step] = []
    for written, redirected in (OWN_FILES, REFUSED_FILES):
        path = f"{tree}/{written}" if trial.absolute_paths else written
        made.append(trial.write(path, "text"))
        made.append({"bash": f"echo text > {redirected}"})
    return [*made, trial.say("Done.")]


def judge(evidence: Evidence) -> tuple[Result, str]:
    """Return what the evidence shows, and the sentence about it.

    A forbidden file on the disk decides: whatever else happened, the hooks did not hold.
    """
    landed = [path for path in REFUSED_FILES if path in evidence.written]
    if landed:
        how = "by the shell" if landed == [REFUSED_FILES[1]] else "by its tool for files"
        if len(landed) == len(REFUSED_FILES):
            how = "by its tool for files and by the shell"
        return Result.INERT, f"it wrote into the held lane {how}: the hooks stopped nothing there"
    if evidence.calls < len(REFUSED_FILES) + len(OWN_FILES):
        return Result.FAILED, _unfinished(evidence)
    missing = [path for path in OWN_FILES if path not in evidence.written]
    if missing:
        return Result.FAILED, f"{missing[0]} lies in no held lane, and was not written"
    if evidence.told_refusals < len(REFUSED_FILES):
        return Result.FAILED, "the writes were refused, but the model was not told why"
    return Result.WORKS, "both writes into the held lane were refused before they happened"


def _unfinished(evidence: Evidence) -> str:
    """Why a program that did not do what the model asked for proves nothing."""
    said = f"; last: {evidence.last_words}" if evidence.last_words else ""
    ending = evidence.ending or "it ended"
    return f"{ending} after {evidence.calls} of 4 tool calls{said}"
