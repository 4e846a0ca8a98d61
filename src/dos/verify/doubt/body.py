"""What the body of a commit message admits about the work.

Honest bodies describe the fault that a commit repairs, in any tense: `The parser does not work with
tabs`. Therefore only a short sentence counts that says of the work, and of now, that it fails:
`It does not work yet.`, `But the tests fail.`, `I could not get it to work.` Quotations, code,
lists and trailers are not read, unless the body begins with the confession: `TODO: the check`.
"""

from collections.abc import Iterator

from dos.lazy_pattern import LazyPattern
from dos.verify.doubt.phrase_list import Phrases

MOST_LINES = 20  # of a body that are read
_LONGEST = 200  # characters of a sentence; a longer one explains something
_LONGEST_LINE = 1000
_SKIPPED = LazyPattern(r"\s*>|[ ]{4}|\t|\s*[*+\-•]\s|\s*\d+[.)]\s|[A-Za-z][A-Za-z\-]{0,40}: ")
# What prose begins with as well: such a line is no trailer.
_LABEL = LazyPattern(
    r"(?i:note|nb|caveat|warning|status|disclaimer|known issues?|unable to verify): +"
)
_BULLETS = ("* ", "+ ", "- ", "• ")
_MARKERS = ("TODO", "FIXME", "WIP", "TBD")
_MARKER = LazyPattern(
    r"(?:TODO|FIXME|WIP|TBD)(?=: +(?!(?:lines?|items?|comments?|entr(?:y|ies)|lists?|tags?)\b)\S)"
)
_FENCE = ("```", "~~~")
_SENTENCE = LazyPattern(r"(?<=[.!?;])\s+")
_CONTRAST = LazyPattern(r"(?:^|[,;] |\s)(?=(?:but|though|although|however)\b)")
# A sentence about the fault that was there before, a condition, a reason, or something else.
_ABOUT_ELSE = Phrases(
    r"""
    \b(?:before|previously|formerly|until|till|used to|earlier|prior|was|were|had|no longer)\b
    \b(?:if|when|whenever|because|since|so that|which|whose|who|unless|while|once|otherwise)\b
    \bwithout (?:this|it|that)\b
    \b(?:fix(?:es|ed|ing)?|instead|would|should|upstream|users?|master|main)\b
    \bon (?:old|older|windows|mac)\b
    """
)
# The body's first line, where it is an item of a list.
_ITEM = Phrases(
    r"""
    not (?:yet )?(?:done|finished|completed?|ready|working|implemented|tested)(?: <yet>)*
    (?:still )?(?:unfinished|incomplete|wip|work in progress|half[ -]done|untested)(?: <yet>)*
    """,
    {"yet": "yet|for now|so far"},
)
# Before a colon. `Not done: …` and `Not tested: …` list what is out of scope.
_HEADING = Phrases(
    r"""
    (?:(?:this|it) is )?(?:still )?not (?:yet )?(?:finished|completed?)(?: yet)?
    (?:(?:this|it) is )?(?:still )?(?:unfinished|incomplete|wip|work in progress)
    """
)
_STOPGAP = Phrases(
    r"""
    (?:this|it) is (?:(?:only|just|still) )*(?:an? )?<stopgap> (?:until|till)\b(?!.*\b<shown>\b)
    """,
    {
        "stopgap": "placeholder|stub|stopgap|dummy|mock|draft|wip|work in progress",
        # A placeholder that users see goes away by itself.
        "shown": "loads?|loaded|shown|types?|typed|arrives?|arrived|fetched|rendered|clicks?",
    },
)
_ADMISSION = Phrases(
    r"<lead>(<admission>)<now>",
    {
        "lead": "(?:(?:but|and|sadly|unfortunately|however|though|also|so far|for now),? )*",
        "now": "(?:,? (?:yet|still|for now|so far|at the moment|right now|today|though|either))*",
        "admission": "(?:<checks fail>|<not yet>|<state>|<I could not>|<later>|<half>)<why>?",
        "why": "(?:,? (?:i|we) <ran out>)",
        "ran out": "ran out of (?:time|tokens|context|budget|credits)",
        "checks fail": (
            "<checks> (?:is |are )?<how>(?:fail(?:s|ing)?|red|broken|crash(?:es)?)"
            "|<checks> (?:does|do)(?: not|n't) <how>(?:pass|run|compile)"
            "|nothing (?:works|compiles|passes|is done)"
        ),
        "checks": (
            "(?:(?:the|all|some|many|most|a few|two|three|\\d+|its|our|new|unit) )*"
            "(?:tests?|test suite|suite|ci|build|checks?|pipeline|lint)"
        ),
        "how": "(?:(?:still|currently|all|now|only|just|mostly|completely) )*",
        "not yet": (
            "(?:<what> )?(?:does|do|is|are)(?: not|n't) <how>(?:\\w+ )?<works>,? (?:yet|for now)"
            "|<this> (?:(?:does|is)(?: not|n't)|won't) <how><works>"
            "|not (?:yet )?<works>"
        ),
        "what": "it|this|that|(?:the|this|my|our)(?: [\\w\\-]+){1,3}|[\\w\\-]+",
        "this": "it|this|that|this (?:commit|change|patch|part)",
        "works": (
            "works?|compile|build|pass|run|working|done|finished|completed?|implemented|ready"
            "|tested|there"
        ),
        "state": (
            "<this> is <how><bad>"
            "|(?:<what> )?(?:is |are )?still <how>(?:<bad>|fails?)(?: (?:on|in) (?:the )?ci)?"
            "|(?:this is )?(?:wip|work in progress|not done|unfinished|untested|stub only)<merge>?"
            "|<this> is (?:only|just) (?:the|a) first (?:half|part|step|draft|pass|version|cut)"
            "|<this> is the first half|(?:please )?(?:do not|don't) merge"
        ),
        "merge": "(?:,? (?:please )?(?:do not|don't) merge)",
        "bad": (
            "broken|failing|red|incomplete|unfinished|half[ -]done|untested|missing|to be done"
            "|(?:only )?(?:a )?(?:wip|work in progress|stub|placeholder|stopgap|(?:first )?draft)"
            "|(?:only )?half of it"
        ),
        "I could not": (
            "(?:i |we )?<failed to> (?:get|make|manage)<words>"
            "|(?:i |we )<failed to> <finish><words>"
            "|(?:could not|couldn't|did not|didn't) (?:finish|complete|solve|figure)<words>"
            "|(?:(?:i|we|i have|we have|i've) )?(?:gave|given) up<words>|(?:i|we) <ran out>"
        ),
        "failed to": (
            "(?:could not|couldn't|can not|cannot|can't|did not|didn't|have not|haven't|never)"
        ),
        "finish": "(?:finish|figure|complete|solve|implement|test)(?:e?d)?",
        "words": "(?: [\\w\\-']+){0,8}",
        "later": (
            "(?:(?:i|we|i'll|we'll|will|to) )*(?:finish|complete|continue|do)<it> <tomorrow>"
            "|(?:the )?(?:rest|remainder|tests?|second half|other half)(?: will)? <follow>"
            "|(?:(?:it|this) )?(?:still )?needs (?:more |some |a lot of )?work"
        ),
        "it": "(?: it| this| that| the rest)?",
        "tomorrow": "(?:tomorrow|later|next (?:week|time)|soon)",
        "follow": "(?:follows?|to follow|comes?|is missing|is todo)?(?: ?<tomorrow>)?",
        "half": (
            "only (?:the )?(?:first )?half(?: of it)?(?: (?:is|works)(?: \\w+)?)?"
            "|half of it(?: is)? (?:missing|done|works|broken)"
        ),
    },
)


def admission(body: str) -> str:
    """The words, in lower case, by which a body says that the work is not done; "" for none."""
    if found := _first_confession(body):
        return found
    for sentence in _sentences(body):
        heading, colon, _ = sentence.partition(":")
        if colon and _HEADING.fullmatch(heading):
            return heading
        if match := _STOPGAP.match(sentence):
            return match[0]
        if len(sentence) > _LONGEST or _ABOUT_ELSE.search(sentence):
            continue
        for part in _CONTRAST.split(sentence):
            if match := _ADMISSION.fullmatch(part.strip(" ,;.!")):
                return match[1]
    return ""


def _first_confession(body: str) -> str:
    """The marker or the item of a list by which a body begins with what is not done."""
    line = body.lstrip("\n").partition("\n")[0][:_LONGEST]
    if line.startswith(_MARKERS) and (marker := _MARKER.match(line)):
        return marker[0].lower()
    item = line.lstrip(" ")
    if item.startswith(_BULLETS) and (match := _ITEM.fullmatch(item[2:].strip(" .!").lower())):
        return match[0]
    return ""


def _sentences(body: str) -> Iterator[str]:
    """The sentences of the prose in the first lines of a body, in lower case."""
    for paragraph in _paragraphs(body):
        for sentence in _SENTENCE.split(paragraph):
            yield " ".join(sentence.split()).rstrip(".!;").lower().replace("’", "'")


def _paragraphs(body: str) -> Iterator[str]:
    """The paragraphs without quotations, code, lists and trailers, each as one line."""
    lines: list[str] = []
    is_code = False
    for whole in [*body.split("\n", MOST_LINES)[:MOST_LINES], ""]:
        label = _LABEL.match(whole)
        line = whole[label.end() :] if label else whole
        if line.lstrip().startswith(_FENCE):
            is_code = not is_code
        if is_code or _SKIPPED.match(line) or not line.strip(" `~"):
            if lines:
                yield " ".join(lines)
            lines = []
        else:
            lines.append(line[:_LONGEST_LINE])
