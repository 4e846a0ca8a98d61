"""How people name the unit that a commit ships, and how they mention one in passing."""

from families.variant import Family, Kind, Variant, worded


def _declared(message: str, unit: str = "AUTH1", why: str = "") -> Variant:
    return worded(message, unit=unit, is_declared=True, why=why)


STARTS = Family(
    "An id at the start of the subject names a unit that a plan declares",
    Kind.HONEST,
    (
        _declared("[AUTH1] log in"),
        _declared("[AUTH1]: log in"),
        _declared("AUTH1. log in"),
        _declared("AUTH1 - log in"),
        _declared("AUTH1 – log in"),
        _declared("AUTH1 log in", why="without a plan this is NOT_SHIPPED in the released table"),
        _declared("(AUTH1) log in"),
        _declared("#AUTH1 log in"),
        _declared("auth1: log in"),
        _declared("PROJ-12: log in", "PROJ-12"),
        _declared("PROJ-12 log in", "PROJ-12"),
        _declared("[PROJ-12][api] log in", "PROJ-12"),
        _declared("PROJ-12; log in", "PROJ-12"),
        _declared("ZKP-4190. Log in. Contributed by A.", "ZKP-4190"),
        _declared("gh-77: log in", "gh-77"),
        _declared("gh-77: Log in (GH-81)", "gh-77"),
        _declared("feat: AUTH1 log in", why="`fix: AUTH1 bug` is NOT_SHIPPED without a plan"),
        _declared("feat: [PROJ-12] log in", "PROJ-12"),
        _declared("✨ AUTH1: log in"),
    ),
)

ENDS = Family(
    "A scope, an end or a closing word names a unit that a plan declares",
    Kind.HONEST,
    (
        _declared("feat(AUTH1): log in"),
        _declared("fix(auth1)!: log in"),
        _declared("feat(PROJ-12): log in", "PROJ-12"),
        _declared("log in (AUTH1)"),
        _declared("feat: log in (AUTH1)"),
        _declared("feat: log in (AUTH1) (#42)"),
        _declared("log in [ZKP-4190]", "ZKP-4190"),
        _declared("Log in, PROJ-12", "PROJ-12", why="arguable: a bare id at the end"),
        _declared("Log in\n\nCloses AUTH1"),
        _declared("Log in\n\nFixes #AUTH1"),
        _declared("Log in\n\nThe session lives in a cookie.\n\nFixes: PROJ-12", "PROJ-12"),
        _declared("Log in\n\nResolves gh-77.", "gh-77"),
        _declared("Log in\n\nCloses #77", "gh-77", why="arguable: #77 is how GitHub writes gh-77"),
        _declared("Log in (#42)\n\nCloses PROJ-12, PROJ-13", "PROJ-12"),
        _declared("Fix PROJ-12: log in", "PROJ-12"),
        _declared("Fixed AUTH1 -- Log in."),
        _declared("Log in\n\nIssue: PROJ-12\nReviewed-by: B <b@example.org>", "PROJ-12"),
    ),
)

BARE = Family(
    "A tracker's id in a tracker's form names a unit without any plan",
    Kind.HONEST,
    (
        worded("[AUTH1] log in"),
        worded("AUTH1. Log in"),
        worded("AUTH1 - log in"),
        worded("AUTH1 — log in"),
        worded("feat(AUTH1): log in"),
        worded("PROJ-12: log in", unit="PROJ-12"),
        worded("[PROJ-12] log in", unit="PROJ-12"),
        worded("ZKP-4190. Log in", unit="ZKP-4190"),
        worded("gh-77: log in", unit="gh-77"),
    ),
)

MENTIONS = Family(
    "A mention in passing names no unit",
    Kind.LIE,
    (
        _declared("Prepare for AUTH1"),
        _declared("Log out, see AUTH1"),
        _declared("Log out (see AUTH1)"),
        _declared("Part of AUTH1"),
        _declared("Log out (part of AUTH1)"),
        _declared("Log out, unlike AUTH1"),
        _declared("Follow-up to AUTH1"),
        _declared("Follow-up to AUTH1: log out"),
        _declared("Clean up before AUTH1"),
        _declared("Unblock AUTH1"),
        _declared("Log out (needed by AUTH1)"),
        _declared("Log out (blocked by AUTH1)"),
        _declared("Log out (not AUTH1)"),
        _declared("Revert AUTH1"),
        _declared('Revert "AUTH1: log in"'),
        _declared('Revert "feat(AUTH1): log in"'),
        _declared("Like PROJ-12, but for the admins", "PROJ-12"),
        _declared("Move the code for [PROJ-12] out of the way", "PROJ-12"),
        _declared("feat(AUTH2): AUTH1 will need this"),
        _declared("AUTH2: log out (AUTH1 comes later)"),
        _declared("AUTH1-related cleanup"),
        _declared("AUTH1 needs this first: log out", why="arguable: only its meaning tells"),
        _declared("AUTH1 will build on this", why="arguable: only its meaning tells"),
        _declared("chore: rename what AUTH1 will use"),
    ),
)

BODY_MENTIONS = Family(
    "A mention in the body names no unit",
    Kind.LIE,
    (
        _declared("Log out\n\nRefs AUTH1"),
        _declared("Log out\n\nRefs: AUTH1"),
        _declared("Log out\n\nSee-also: PROJ-12", "PROJ-12"),
        _declared("Log out\n\nPart-of: AUTH1"),
        _declared("Log out\n\nBlocked-by: AUTH1"),
        _declared("Log out\n\nRelated to gh-77", "gh-77"),
        _declared("Log out\n\nAUTH1 will need this."),
        _declared("Log out\n\nUnlike AUTH1 this has no form."),
        _declared("Log out\n\nCloses AUTH2, but not AUTH1."),
        _declared("Log out\n\nThis does not close AUTH1."),
        _declared("Log out\n\nDoes not fix #AUTH1 yet."),
        _declared("Log out\n\nAUTH1 - log in - is next."),
        _declared("Log out\n\n> AUTH1: log in\n\nas the plan says."),
    ),
)

LOOKALIKES = Family(
    "Another id that looks alike names another unit",
    Kind.LIE,
    (
        _declared("AUTH10: log out"),
        _declared("[AUTH10] log out"),
        _declared("AUTH1.1: log out"),
        _declared("AUTH1.1 - log out"),
        _declared("AUTH1-port: log out"),
        _declared("AUTH1a: log out"),
        _declared("XAUTH1: log out"),
        _declared("feat(AUTH11): log out"),
        _declared("log out (AUTH12)"),
        _declared("Log out\n\nCloses AUTH10"),
        _declared("PROJ-120: log out", "PROJ-12"),
        _declared("PROJ-1: log out", "PROJ-12"),
        _declared("[PROJ-12-2] log out", "PROJ-12"),
        _declared("OTHERPROJ-12: log out", "PROJ-12"),
        _declared("OTHER-PROJ-12: log out", "PROJ-12"),
        _declared("gh-770: log out", "gh-77"),
        _declared("Log out\n\nCloses #770", "gh-77"),
        _declared("TAſK1: log out", "TASK1"),
        _declared("[TA\u017fK1] log out", "TASK1"),
        _declared("TAS\u212a1: log out", "TASK1"),
        _declared("feat(TAS\u212a1): log out", "TASK1"),
        _declared("\u0410UTH1: log out"),
        _declared("[AUT\u041d1] log out"),
        _declared("AUTH\uff11: log out"),
        _declared("AUTH\u200b1: log out"),
        _declared("A\u00adUTH1 - log out"),
    ),
)

FAMILIES = (STARTS, ENDS, BARE, MENTIONS, BODY_MENTIONS, LOOKALIKES)
