"""Does a piece of evidence say what a claim says, by its words?"""

import re
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher

from dos.verdicts.belief.judging import Claim, JudgeVerdict, Stance, abstain

THRESHOLD = 0.82
LONGEST = 200_000  # characters of one text
LONGEST_ORDERED = 2_000  # comparing in order takes the square of it
# Words that turn what stands beside them into its opposite.
_NEGATION = re.compile(
    r"not?|never|none|nothing|neither|nor|without|cannot|nobody|nowhere|hardly|barely|fail\w*|missing|absent|lack\w*"
    r"|(?:is|was|are|were|do|does|did|has|have|had|ca|could|wo|would|should)nt|un(?:able|finished|shipped|done)"
    r"|incomplete|revert\w*|rolled|removed|blocked|todo|wip|pending|false|wrong|broken|refuted|denied|rejected|errors?"
)
_EMPTY = re.compile(r"an?|the|is|was|are|were|be|been|has|have|had|it|this|that|to|of|in|on|at|by|for|and")
_NOTHING_WRONG = re.compile(r"\b(?:0|no|zero)\s+(?:errors?|fail\w*|missing|broken)\b", re.IGNORECASE)
SHORTEST = 3  # words of a sentence that can stand alone


def judge(claim: Claim, threshold: float = THRESHOLD, scored: float | None = None) -> JudgeVerdict:
    """`scored` is somebody else's measure of likeness, instead of ours; what is negated decides either way."""
    said = claim.claim_text.strip()
    evidence = tuple(item for item in claim.evidence if item.strip())
    if not said:
        return abstain("nothing is claimed")
    if not evidence:
        return abstain("there is no evidence to compare it with")
    score = max(likeness(said, item) for item in evidence) if scored is None else min(1.0, max(0.0, scored))
    if score < threshold:
        why = f"the evidence is like the claim to {score:.2f}, and {threshold:.2f} is wanted"
        return JudgeVerdict(stance=Stance.DISAGREE, why=why, evidence=evidence)
    if turned := negated(said, evidence):
        why = f"the same words, turned around: {turned[:200]}"
        return JudgeVerdict(stance=Stance.DISAGREE, why=why, evidence=evidence)
    return JudgeVerdict(stance=Stance.AGREE, why=f"the evidence is like the claim to {score:.2f}", evidence=evidence)


def likeness(claim: str, evidence: str) -> float:
    one, other = claim[:LONGEST].casefold(), evidence[:LONGEST].casefold()
    words = _words(one)
    recall = len(set(words) & set(_words(other))) / len(set(words)) if words else 0.0
    in_order = SequenceMatcher(None, one[:LONGEST_ORDERED], other[:LONGEST_ORDERED], autojunk=False)
    return max(recall, in_order.ratio())


def negated(claim: str, evidence: Iterable[str]) -> str:
    """The first sentence of the evidence that speaks of the claim's words and negates otherwise; or nothing."""
    words = _words(_NOTHING_WRONG.sub(" ", claim))
    wanted = _negations(words)
    subject = {word for word in words if word not in wanted}
    subject = {word for word in subject if not _EMPTY.fullmatch(word)} or subject
    for item in evidence:
        for sentence in _sentences(item, subject):
            found = _words(sentence)
            if subject & set(found) and _negations(found) != wanted:
                return " ".join(sentence.split())
    return ""


def _negations(words: list[str]) -> Counter[str]:
    return Counter(word for word in words if _NEGATION.fullmatch(word))


def _sentences(text: str, subject: set[str]) -> list[str]:
    """Each with the few words after it that have no subject of their own, as in `Shipped? No.`"""
    found: list[str] = []
    for part in re.split(r"[.;!?\n]+", _NOTHING_WRONG.sub(" ", text[:LONGEST])):
        words = _words(part)
        if found and len(words) <= SHORTEST and not subject & set(words):
            found[-1] += f", {part}"
        else:
            found.append(part)
    return found


def _words(text: str) -> list[str]:
    """Lower case; `wasn't` and `isn’t` are one word, without the apostrophe."""
    return re.findall(r"\w+", re.sub(r"(?<=\w)['’](?=\w)", "", text.casefold()))
