"""The phrases by which people say that work is not done, by the place where they count."""

from dos.verify.doubt.phrase_list import Phrases

# Classes of words. A phrase names one as <now>.
_CLASSES = {
    "now": "yet|still|again|now|for now|so far|today|for today|atm|at the moment|currently|sadly",
    "how": "still|yet|now|currently|all|also|always|just|only|partly|mostly|completely",
    "some": "the|all|some|many|most|one|two|three|few|a few|our|its|these|unit|new|\\d+",
    "checks": "tests?|test suite|suite|ci|build|lint|mypy|checks?|pipeline|specs?|it|this|nothing",
    "fails": "red|fail(?:s|ed|ing)?|broken|crash(?:es|ed)?|hangs?",
    "is not": "(?:is|are|was|were|does|do|did|has|have|will|would)(?: not|n't| never)",
    "no": "not|no|never|nothing|isn't|aren't|won't|<is not>",
    "half done": "half[ -](?:done|finished|baked|working|way|implemented)|halfway",
    "nearly": "almost|nearly|mostly|partly|partially|barely|kind of|sort of",
    "wip": "wip|work in progress|work-in-progress|in progress",
    "state": (
        "broken|failing|red|incomplete|unfinished|missing|<half done>|stuck|untested|<wip>|stubbed"
        "|stubs?|a stub|a placeholder|a mess|unimplemented|flaky|wrong|pending|todo"
        "|(?:to be|not|never) \\w+"
    ),
    "works": (
        "done|finished|work(?:s|ed|ing)?(?: out)?|compil(?:e|es|ed|ing)|build(?:s|ing)?|built"
        "|pass(?:es|ed|ing)?|run(?:s|ning)?|completed?|implemented|started|shipped|ready|tested"
        "|there|merged|wired(?: up)?|hooked up|functional|usable|good enough|correct|right|yet"
    ),
    "done": "yet|<did>|started|done|completed?|working|ready|merged|shipped",
    "did": "finished|tested|implemented|verified",
    "a": "a|an|the|just|only|another|some|very|first|initial|rough|early|quick|empty",
    "of": "of|for|at|to|only|with|until|towards?|implementation|version|code|the|a|an|\\d",
    "it": "it|this|that|everything|all of it",
    "later": "tomorrow|later|soon|next (?:week|time)",
    "manage": "get|make|finish|figure|fix|complete|solve|manage|implement",
}

# A whole clause: `AUTH1: blocked`, `AUTH1: started again`.
STATUS = Phrases(
    r"""
    (?:(?:<now>|is|it is|was|all|just|only) )*<word>(?: <now>)*
    """,
    _CLASSES
    | {
        "word": (
            "not|no|never|<wip>|to ?do|fixme|tb[acd]|plan(?:ned|ning)?|start(?:ed|ing|s)?|begin"
            "|began|begun|drafts?|blocked|revert(?:ed|ing|s)?|undo(?:ne)?|partial(?:ly)?"
            "|skip(?:ped|s)?|remov(?:e[ds]?|ing)|half|stub(?:bed|s)?|placeholders?"
            "|scaffold(?:ing)?|skeleton|unfinished|unimplemented|incomplete|back(?:ed|ing)? out"
            "|roll(?:ed|ing)? back|<half done>|fail(?:s|ed|ing|ure)?|broken|broke|stuck"
            "|abandon(?:ed)?|gave up|giv(?:e|en|ing) up|deferred|postponed|paused|pending|untested"
            "|stopgap|on hold|ongoing|not[ -]done|prototype|poc|spike|experiment(?:al)?|attempt"
            "|try|trial|unstable|red|waiting|needs? work|dnm|(?:do not|don't) merge|unverified"
            "|unproven|<nearly>(?: <works>)?|commented out|disabled|hack|temp|tmp|later"
            "|save point|save-point|savepoint|sav(?:e|ed|ing) (?:work|progress)(?: so far)?"
            "|(?:checkpoint|interim)(?: commit)?"
            "|never mind|crash(?:es|ed)?|hangs"
            "|work started|step (?:\\d|one|two)|take \\d"
            "|(?:another|second|third) (?:try|attempt)"
            "|(?:design|plan|stubs?|skeleton|types|signatures) only"
        )
    },
)
# A clause with a participle that is said of the work: `blocked on PAY2`, `removed because …`.
CAUSED = Phrases(
    r"""
    (?:blocked|stuck|waiting|pending|failed|failing|deferred|postponed|paused|reverted) <cause>\b
    (?:removed|skipped|abandoned|planned|undone|started|broken|on hold) <cause>\b
    (?:blocked|stuck|waiting) (?:on|by|for)\b
    checkpoint before (?:the |my )?(?:context|session|tokens?|budget|time|compaction)\b
    (?:fail(?:ed|ing|s)?|broken|red) (?:on|in) (?:the )?(?:ci|main|master)\b
    """,
    {"cause": "because|due to|until|till|pending|awaiting|waiting"},
)
# In brackets, or at the end, fewer words are a status: lists of words end like this as well.
TAG = Phrases(
    r"""
    (?:<now> )*<tag>(?: <now>)*
    """,
    _CLASSES
    | {
        "tag": (
            "<wip>|todo|fixme|tbd|draft|unfinished|incomplete|partial|<half done>|untested|broken"
            "|failing|unimplemented|blocked|failed|stub(?:s|bed)?|placeholder|stopgap|prototype"
            "|poc|not[ -]done|needs? work|do not merge|dnm|gave up|revert(?:ed|s)?"
        )
    },
)
# How a statement opens. With a condition behind it, it is what a program does.
OPENING = Phrases(
    r"""
    # What kind of work it is.
    (?:<a> )*(?:drafts?|stubs?|skeletons?|scaffold(?:s|ing)?)(?:$| <of>\b)
    (?:<a> )*placeholders?(?:$| <of>\b)(?!.*\b<field>\b)
    (?:<a> )*(?:prototypes?|spikes?|poc|proof of concept|stopgap|groundwork)(?:$| <of>\b)
    (?:<a> )*(?:prep|preparations?)(?:$| <of>\b)
    (?:<a> )*(?:outline|sketch|beginnings?|attempt|stab)(?:$| (?:of|at|for|to|with|\d))
    (?:dummy|fake|mock|empty|partial|temporary|incomplete|unfinished|untested) <piece>\b
    (?:(?:an?|the|still) )*(?:incomplete|unfinished|untested) (?!(?:data|input|\w*s)$)\w++$
    (?:initial|early|some|more|preliminary|first) work\b
    (?:some |more )?progress (?:on|with|towards?)\b
    (?:just|only) (?:\w+ ){1,5}(?:for now|so far)$
    (?:(?:it|just|only|simply) )*<pretends>\b.{0,80} for now$
    (?:trying|experimenting|playing around|fiddling)\b
    (?:(?:a|the|just|only) )*<first> (?:part|half|pass|cut|try|stab|draft|iteration)\b<of work>
    (?:(?:a|the|just|only) )*(?:<first>|third|last|next) attempt\b
    (?:(?:a|the|just|only) )*<first> (?:stage|steps?)(?: (?:to|towards?)\b|$)
    (?:another )?(?:attempt|try) (?:#?\d|one\b|two\b|three\b|number\b)
    (?:temporary|interim|dirty) (?:fix|hack|workaround|solution|version|patch)
    (?:quick|ugly) hack\b
    (?:(?:only|just|about|the|other) )*half (?:of|the|a|an|my|is|done)\b<of work>
    <half done>\b
    (?:the )?(?:bulk|rest|parts?|most|some) of (?:it|this|that|the)\b(?! (?:world|time))<of work>
    (?:start|beginning) of (?:it|this|the|a|an|work)\b<of work>
    <wip>\b(?! (?:badges?|labels?|limits?|tags?|pages?|status|columns?|(?:\w+ )?requests?)\b)
    (?:todo|fixme)\b(?! <list>\b)
    prepar(?:e|es|ed|ing|ations?) (?:for|to)\b(?! \w{0,40}\d)
    (?:towards?|working (?:on|towards?))\b
    work (?:towards?|on (?:the|it|this|a|an|\w+ing))\b
    continu(?:e|es|ed|ing) (?:to|work|working|tomorrow|later)\b
    # What is meant to happen.
    (?:i'll|i will|we'll|we will|will|going to|gonna|to be|about to)\b
    plan(?:s|ned|ning)? (?:to|for|the|out|on|how)\b(?! (?:each|every)\b)
    (?:intend(?:s|ing)?|hop(?:e|es|ing)|want(?:s|ing)?|aim(?:s|ing)?) to\b
    (?:start(?:s|ed|ing)?|begin(?:s|ning)?|began|begun) (?:to|on|work|working)\b
    (?:started|began|begun|starting|beginning) (?:the|a|an|with|it|this)\b(?!.*\b<is>\b)
    (?:started|began|begun) \w++$
    begin (?:the|an?|with) (?!<run>\b)\w++$
    (?:tr(?:y|ies|ied|ying)|attempt(?:s|ed|ing)?) to\b
    # What is taken back.
    (?:revert|undo|roll back|back out)\b(?![/-])(?! <tool>\b)(?! <any one>\b)
    (?:revert(?:s|ed|ing)|undo(?:es|ne|ing)|undid)\b(?![/-])(?! <tool>\b)
    (?:back(?:s|ed|ing) out|roll(?:s|ed|ing) back)\b(?! <tool>\b)
    (?:remov|skip)(?:e|p)?(?:s|d|ed|ing)? <it>(?: again| for now)?$
    (?:gave|given|giving) up\b
    give up(?: on\b|$)
    stub(?:s|bed|bing)?(?: out)? (?!.*\b<tests>\b)(?:(?:out|the|an?|it|this|all)\b|\w+$)
    # What is denied or left out.
    not (?:\w+ ){0,2}<done>\b
    not (?:doing|going|able|sure|quite|really|there|today|worth|possible|happening|good)\b
    never (?:\w+ )?(?:finished|done|completed?|worked|works|started|implemented|tested|shipped)\b
    no (?:\w+ ){0,2}(?:yet|so far|for now)$
    no (?:luck|success|progress|work done|implementation|time)\b
    (?:without|except(?: for)?|minus|sans|lacks?|lacking|missing|excluding) <part>\b
    (?:not|all but|all except|everything but|everything except|apart from) <part>\b
    failed (?:to|again|attempt|at)\b
    (?:couldn't|could not|can't|cannot|unable to|didn't|did not) (?:<manage>|do it|do this)\b
    """,
    _CLASSES
    | {
        "first": "first|1st|initial|rough|early|second|2nd",
        # Not as in `the first half of the month is shown`.
        "of work": "(?!.*\\b(?:is|are|was|were)\\b(?! (?:<done>|there)))",
        "is": "is|are|was|were|no longer",
        # A placeholder of a form, or for what is not there, is a thing that users see.
        "field": (
            "fields?|inputs?|box(?:es)?|columns?|cells?|images?|avatars?|pictures?|photos?"
            "|thumbnails?|values?|parameters?|empty|missing|absent|deleted"
        ),
        # A program begins these; `begin the login` tells of the author.
        "run": (
            "transactions?|sessions?|uploads?|downloads?|scans?|jobs?|timers?|rounds?|games?"
            "|turns?|syncs?|playback|recordings?|streams?|backups?|countdowns?|migrations?"
            "|handshakes?|tours?|trials?|lines?|lists?|strings?|day|week|month|line|text"
        ),
        # Of many: what a program takes back, unless it is a piece of the history.
        "any one": "(?:an?|any|each|every) (?!(?:\\w+ )?<history>\\b)\\w+",
        "history": "commits?|changes?|patch(?:es)?|merges?|hunks?|parts?|bit|few|lot|hack",
        "piece": "implementation|version|code|work|solution|feature",
        "pretends": "returns|ignores|skips|fakes?|assumes|accepts|does|empty|no-op|nothing|dummy",
        "tests": "tests?|specs?|fixtures?",
        "part": "the|its|any|tests?|error|most|half|docs?|validation|edge",
        "list": (
            "lists?|pages?|items?|entr(?:y|ies)|apps?|boards?|comments?|views?|panels?|api|models?"
            "|endpoints?|counts?|stores?|screens?|tabs?|widgets?|files?|tasks?|tags?|lines?"
        ),
        "tool": (
            "buttons?|dialogs?|commands?|actions?|flows?|endpoints?|options?|links?|support|apis?"
            "|icons?|handlers?|operations?|pages?|menus?|shortcuts?|hooks?|strateg(?:y|ies)"
            "|scripts?|tools?|stacks?|history|buffers?|logs?|limits?|levels?|keys?|steps?"
            "|(?:and|or) redo|for|of|send|failed|broken"
        ),
    },
)
# What a clause says of the work, up to its end.
PREDICATE = Phrases(
    r"""
    (?:\b(?:is|are|was|were|remains?|stays?|seems?)|'s|'re) (?:<how> )*<state>(?: <now>)*$
    \b<no> (?:\w+ ){0,2}<works>(?: (?:<now>|either))*$
    \b<no>(?: \w+){0,5} yet$
    \b(?:does|do)(?: not|n't) pass (?:the |all |its )?(?:tests|ci)$
    \bworks (?:only )?sometimes$|^(?:but )?(?:has|with) (?:failing|broken|red) tests?\b
    \b<nearly> <works>$|\bonly (?:partly|partially|half)$
    ^(?:but )?(?:with )?no (?:tests?|error handling|validation)$
    ^(?:but )?(?:it )?(?:breaks|fails) (?:the )?(?:build|tests?|ci|main)\b
    \bleaves? (?:\w+ ){1,3}(?:broken|red|failing)\b|\bin a broken state\b|\bknown to fail\b
    \bhad to give up\b
    \bstill (?:<fails>|<state>|failing|no|needs?|to ?do|lacks?|crashing|buggy|has|be)\b
    \bstill (?:doesn't|don't|isn't)\b
    ^(?:but |and |though |although |however )?(?:<some> )*<checks> <failing>(?: <now>)*$
    \b(?:could not|couldn't|unable to) <manage>\b
    ^(?:did not|didn't) <manage>\b
    \b(?:did not|didn't) manage to\b|\b(?:was not|wasn't) able to <manage>\b
    \b(?:can't|cannot|can not) (?:finish|figure out|get (?:it|this|that|them)|make it)\b
    \b(?:broken|disabled|stubbed(?: out)?|skipped|failing|commented out|red) <for now>$
    \b(?:hard-?coded|faked|mocked|hacked) <for now>$
    \b(?:unfinished|incomplete) <for now>$
    ^(?:\w+ ){0,2}(?:untested|unfinished|unimplemented|<half done>)$
    ^(?:\w+ ){1,2}broken$
    ^<rest> (?:is |are )?(?:still )?(?:missing|to follow|later|tomorrow|todo|tbd|pending)\b
    ^<rest> (?:is |are )?(?:still )?(?:disabled|commented out)\b
    ^(?:but |and )?(?:the )?(?:rest|remainder|tests?|docs?) (?:follows?|comes?)(?: <later>)?$
    ^(?:but |and )?(?:it |this |that )?<cannot> be <finished>(?: (?:<now>|here|like this))*$
    """,
    _CLASSES
    | {
        "failing": "(?:\\w+ )?(?:(?:is|are) )?(?:<how> )*<fails>",
        "cannot": "can't|cannot|can not|could not|couldn't",
        "finished": "done|finished|completed|implemented|solved|fixed|built|tested",
        "for now": "for now|atm|at the moment|so far|currently",
        "rest": "tests?|docs?|the rest|error handling|validation|implementation|parts?",
    },
)
# In a clause behind another one: it fails. Behind an order it is the fault that was repaired.
FAULT = Phrases(
    r"""
    (?:(?:but|it|this|still) )*(?:fails?|failing|breaks?|broken|red|crashes) (?:on|in) <shared>\b
    """,
    {"shared": "(?:the |our )?(?:ci|main|master|pipeline)"},
)
# What a clause says is left.
REMAINDER = Phrases(
    r"""
    \bneeds? (?:<more> ){0,2}(?:work|testing|tests|clean-?up|finishing|polish|debugging|fixing)\b
    \bwill (?:\w+ ){0,2}?(?:finish|continue|complete it|do the rest|follow|come later)\b
    \bwill (?:fix (?:it|this)|be (?:done|finished|added|fixed|completed) <later>)\b
    \bto be (?:done|continued|finished|implemented|completed|decided|fixed|tested|added)<few>$
    \b(?:more|rest|tests?|remainder) (?:to (?:come|follow)|<later>)\b
    \b<but> (?:for )?(?:(?:the|its|any|most|all) )?<hard part>\b(?! (?:mode|data|suite)\b)
    \b(?:doesn't|does not|don't|do not) (?:work|compile|build|pass|run) yet\b
    \b(?:finish|fix|test|do)(?:ing)? (?:it |this |that |the rest )?<later>\b
    \bnothing (?:works|compiles|builds|passes|runs|is done)\b
    \bi (?:gave up|give up|could not|couldn't|can't|cannot)\b
    """,
    _CLASSES
    | {
        "more": "some|more|a lot of|a bit of|further|much|lots of",
        "few": "(?: \\w+){0,3}",
        "but": "except|without|minus|lacking|but no|but without|sans",
        "hard part": (
            "hard|difficult|tricky|last|actual|real|rest|tests?|parts?|bits?|remaining|edge cases?"
            "|error handling|validation"
        ),
    },
)
# After an opening: `roll back the transaction when it fails` is what a program does.
CONDITION = Phrases(
    r"""
    \b(?:when|whenever|if|unless|once|upon|before|while|for each|every|in tests?)\b
    \bafter (?:\w+ing|\d+|a|an|the|too|several|some)\b
    \bon (?:error|failures?|cancel|abort|exit|close|timeouts?|conflicts?|crash|exceptions?)\b
    \bon (?:escape|logout|\w+ing)\b
    """
)
# An opening in the past tells of the author, and no program does it.
PAST = Phrases(r"(?:gave|given|could|couldn't|did|didn't|failed|started|began|not|never|tried)\b")
# Before a predicate: the clause depends on another one.
SUBORDINATE = Phrases(
    r"""
    \b(?:when|whenever|if|unless|while|whether|that|which|who|whose|what|where|why|how)\b
    \b(?:until|till|because|since|once|after|before|than|as|for \w+ing)\b
    """
)
# An order to a program: what its object is said to be is no news about the work.
ORDER = Phrases(
    r"""
    (?:show|say|report|warn|tell|detect|mark|list|flag|note|handle|explain|check|assert|ensure)(?= )
    (?:fix|fixes|fixed|repair|correct|log(?! (?:in|out)\b)|print|display|count|find|rename)(?= )
    (?:skip|ignore|treat|retry|reject|catch|raise|prevent|avoid|stop|drop|remove|return|hide)(?= )
    (?:document|allow|support)(?= )
    """
)
