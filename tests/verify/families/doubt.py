"""Words that say that the work is not done, and the same words about what the program does."""

from families.variant import Family, Kind, worded

_ONE_WORD = "arguable: one word or its place tells it from the neighbour of the other kind"

NEGATIONS = Family(
    "A subject that says what the program does not do is no doubt",
    Kind.HONEST,
    (
        worded("AUTH1: no password in the logs"),
        worded("AUTH1: never log a password"),
        worded("AUTH1: do not retry on 404"),
        worded("AUTH1: don't ask twice"),
        worded("AUTH1: handle not found"),
        worded("AUTH1: log in without a cookie"),
        worded("AUTH1: refuse names that do not exist"),
        worded("AUTH1: say why a name is not valid"),
        worded("AUTH1: not every user is an admin"),
        worded("AUTH1: no longer block the event loop"),
        worded("AUTH1: log in when the mail is not yet confirmed"),
    ),
)

FAILURES = Family(
    "A subject about failures of others is no doubt",
    Kind.HONEST,
    (
        worded("AUTH1: failed logins are counted"),
        worded("AUTH1: count failed logins"),
        worded("AUTH1: give up after three retries"),
        worded("AUTH1: list blocked users"),
        worded("AUTH1: warn about broken links"),
        worded("AUTH1: fix the broken login"),
        worded("AUTH1: repair tests that fail on Windows"),
        worded("AUTH1: tell a user that the login failed"),
        worded("AUTH1: fall back when the proxy does not work"),
        worded("AUTH1: make it compile without OpenSSL"),
        worded("AUTH1: fix login that could not be repeated"),
    ),
)

NOUNS = Family(
    "A subject about drafts, parts and removals is no doubt",
    Kind.HONEST,
    (
        worded("AUTH1: skip empty names"),
        worded("AUTH1: remove stale tokens"),
        worded("AUTH1: undo support", why=_ONE_WORD),
        worded("AUTH1: partial updates"),
        worded("AUTH1: draft mails"),
        worded("AUTH1: start the session at login"),
        worded("AUTH1: todo list of a user", why=_ONE_WORD),
        worded("AUTH1: a placeholder for the empty field"),
        worded("AUTH1: plan for each customer", why=_ONE_WORD),
        worded("AUTH1: revert a payment", why=_ONE_WORD),
        worded("AUTH1: half-open circuit breaker"),
        worded("AUTH1: stop polling after logout"),
        worded("AUTH1: temporary passwords expire"),
        worded("AUTH1: resume unfinished uploads"),
        worded("AUTH1: show a badge for work in progress"),
        worded("AUTH1: drop support for old cookies"),
        worded("AUTH1: form takes 1/3 of the width"),
        worded("AUTH1: try the next server when one is down"),
    ),
)

PAST = Family(
    "A body that says what was wrong before is no doubt",
    Kind.HONEST,
    (
        worded("AUTH1: log in\n\nBefore, it did not work behind a proxy."),
        worded("AUTH1: log in\n\nThe login was broken since 2.1."),
        worded("AUTH1: log in\n\nLogging in failed when the name was empty."),
        worded("AUTH1: log in\n\nUsers could not log in with a blank in their name."),
        worded("AUTH1: log in\n\nDoes not store the password."),
        worded("AUTH1: log in\n\nThe test was not testing anything; now it does."),
        worded("AUTH1: log in\n\nNo placeholder is left. All tests pass."),
        worded(
            "AUTH1: log in\n\nThe cookie is set. What is not done here is AUTH2.",
            why="arguable: it speaks of another unit",
        ),
        worded("AUTH1: log in\n\nSkips what the server has not sent yet."),
    ),
)

GIVEN_UP = Family(
    "A subject that says that it does not work is believed",
    Kind.LIE,
    (
        worded("AUTH1: could not get it to work"),
        worded("AUTH1: couldn't get it to work"),
        worded("AUTH1: login is broken"),
        worded("AUTH1: login, broken"),
        worded("AUTH1: failed"),
        worded("AUTH1: give up"),
        worded("AUTH1: gave up on the cookie"),
        worded("AUTH1: log in, but the tests fail"),
        worded("AUTH1: log in, tests are still red"),
        worded("AUTH1: log in, does not compile"),
        worded("AUTH1: log in, doesn\u2019t work yet"),
        worded("AUTH1: log in, won't build"),
        worded("AUTH1: log in (untested)"),
        worded("AUTH1: log in - does not work on Windows yet"),
        worded("AUTH1: log in (fails on CI)"),
        worded("AUTH1: cannot be done"),
        worded("AUTH1: stuck on the cookie", why="arguable: rare words"),
    ),
)

IN_PART = Family(
    "A subject that says that it is only a part is believed",
    Kind.LIE,
    (
        worded("AUTH1: log in (1/3)"),
        worded("AUTH1: [2/5] log in"),
        worded("AUTH1: log in, part 1"),
        worded("AUTH1: log in (part 1 of 3)"),
        worded("AUTH1: half of it"),
        worded("AUTH1: first half of the login"),
        worded("AUTH1: not yet"),
        worded("AUTH1: log in, not yet complete"),
        worded("AUTH1: placeholder"),
        worded("AUTH1: placeholder for the login", why=_ONE_WORD),
        worded("AUTH1: incomplete login"),
        worded("AUTH1: unfinished"),
        worded("AUTH1: log in, to be continued"),
        worded("AUTH1: log in, the rest follows"),
        worded("AUTH1: begin the login", why=_ONE_WORD),
        worded("AUTH1: skeleton only"),
        worded("AUTH1: first draft"),
        worded("AUTH1: almost done"),
    ),
)

IN_PROGRESS = Family(
    "A subject that says that work is in progress is believed",
    Kind.LIE,
    (
        worded("AUTH1: WIP"),
        worded("AUTH1: [WIP] log in"),
        worded("AUTH1: log in (wip)"),
        worded("AUTH1: log in - WIP!"),
        worded("AUTH1: log in #wip"),
        worded("AUTH1 (WIP): log in", is_declared=True),
        worded("[WIP] AUTH1: log in", is_declared=True),
        worded("WIP: AUTH1: log in", is_declared=True),
        worded("[AUTH1] WIP log in", is_declared=True),
        worded("AUTH1: W.I.P. log in"),
        worded("AUTH1: work in progress"),
        worded("AUTH1: log in (work-in-progress)"),
        worded("AUTH1: checkpoint", why="arguable: a program can have checkpoints"),
        worded("AUTH1: save point, log in later", why="arguable: rare words"),
        worded("AUTH1: log in FIXME"),
        worded("AUTH1: TODO log in"),
        worded("draft: AUTH1: log in", is_declared=True),
    ),
)

FIRST_SENTENCES = Family(
    "A body that begins with the confession is believed",
    Kind.LIE,
    (
        worded("AUTH1: log in\n\nDoes not work yet."),
        worded("AUTH1: log in\n\nIt doesn't work yet. The cookie is never set."),
        worded("AUTH1: log in\n\nNot finished: the check is missing."),
        worded("AUTH1: log in\n\nWIP"),
        worded("AUTH1: log in\n\nThe tests still fail."),
        worded("AUTH1: log in\n\nStill red on CI."),
        worded("AUTH1: log in\n\nDoes not compile yet."),
        worded("AUTH1: log in\n\nUntested."),
        worded("AUTH1: log in\n\nI could not get the tests to pass."),
        worded("AUTH1: log in\n\nThis is only the first half."),
        worded("AUTH1: log in\n\nTODO: the check itself."),
        worded("AUTH1: log in\n\n- not done yet\n- the check is missing"),
        worded("Log in\n\nWork in progress, do not merge.\n\nUnit: AUTH/AUTH1"),
        worded("AUTH1: log in\n\nThis is a placeholder until the server is ready."),
    ),
)

OTHER_NAMES = Family(
    "Doubt counts beside any form of the name",
    Kind.LIE,
    (
        worded("[AUTH1] log in (1/3)", is_declared=True),
        worded("[AUTH1] could not get it to work", is_declared=True),
        worded("feat(AUTH1): log in, but the tests fail", is_declared=True),
        worded("feat(AUTH1): WIP log in", is_declared=True),
        worded("wip(AUTH1): log in", is_declared=True),
        worded("AUTH1 - log in, not finished", is_declared=True),
        worded("PROJ-12 log in, untested", unit="PROJ-12", is_declared=True),
        worded("WIP log in (AUTH1)", is_declared=True),
        worded("log in, does not work yet (AUTH1) (#42)", is_declared=True),
        worded("Log in\n\nDoes not work yet.\n\nCloses AUTH1", is_declared=True),
        worded("[AUTH1] log in\n\nThe tests still fail.", is_declared=True),
    ),
)

OTHER_SUBJECTS = Family(
    "A word of doubt about the program is none beside any form of the name",
    Kind.HONEST,
    (
        worded("[AUTH1] No password in the logs", is_declared=True),
        worded("[AUTH1] Skip empty names", is_declared=True),
        worded("feat(AUTH1): draft mails", is_declared=True),
        worded("fix(AUTH1): do not retry on 404", is_declared=True),
        worded("AUTH1 - failed logins are counted", is_declared=True),
        worded("PROJ-12 give up after three retries", unit="PROJ-12", is_declared=True),
        worded("Remove stale tokens (AUTH1)", is_declared=True),
        worded("Handle not found (AUTH1) (#42)", is_declared=True),
        worded("Never log a password\n\nIt was broken before.\n\nCloses AUTH1", is_declared=True),
    ),
)

FAMILIES = (
    NEGATIONS,
    FAILURES,
    NOUNS,
    PAST,
    GIVEN_UP,
    IN_PART,
    IN_PROGRESS,
    FIRST_SENTENCES,
    OTHER_NAMES,
    OTHER_SUBJECTS,
)
