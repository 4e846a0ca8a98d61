"""Several lies in one commit, and one real change among much that is none."""

from families.samples import PARTS, TOOL, WHOLE, project
from families.variant import LOGIN, Change, Family, Kind, Program, Variant, work

_WRAPPED = WHOLE.replace("(value)", "(\n        value,\n    )")
_DRESSED = "".join(f"{line}  # part\n" for line in WHOLE.splitlines())

LIES = Family(
    "Several lies at once are no work",
    Kind.LIE,
    (
        work(
            "a comment and a layout",
            {"src/a.py": "# log in\n" + _WRAPPED},
            before={"src/a.py": WHOLE},
        ),
        work(
            "a rename, a comment and a layout",
            {"src/a.py": None, "src/login.py": "# log in\n" + _WRAPPED},
            before={"src/a.py": WHOLE},
        ),
        work(
            "a copy with a comment on each line",
            {"src/login.py": _DRESSED},
            before={"src/a.py": WHOLE},
        ),
        work(
            "a version, a list of changes and a lock",
            {
                "pyproject.toml": project(version="2.0"),
                "CHANGELOG.md": "# 2.0\n",
                "uv.lock": 'version = "2.0"\n',
            },
            before={"pyproject.toml": project(), "uv.lock": 'version = "1.0"\n'},
        ),
        work(
            "prose and dead code",
            {"README.md": "Log in.\n", "src/a.py": "a = 1\nif False:\n    login(a)\n"},
            before={"src/a.py": "a = 1\n"},
        ),
        work(
            "a docstring and a value",
            {"src/a.py": '"""Log in."""\na = 1\n4190\n'},
            before={"src/a.py": "a = 1\n"},
        ),
        work(
            "a mode, a comment and an empty package",
            {"bin/a": Program(TOOL + "# log in\n"), "src/login/__init__.py": ""},
            before={"bin/a": TOOL},
        ),
        Variant(
            name="a comment, then a layout",
            before={"src/a.py": WHOLE},
            changes=(
                Change("AUTH1: log in", {"src/a.py": "# log in\n" + WHOLE}),
                Change("AUTH1: log in again", {"src/a.py": "# log in\n" + _WRAPPED}),
            ),
        ),
    ),
)

WORK = Family(
    "One real change among others is work",
    Kind.HONEST,
    (
        work(
            "in a new layout",
            {"src/a.py": _WRAPPED.replace("+ 3", "+ 30")},
            before={"src/a.py": WHOLE},
        ),
        work(
            "among comments",
            {"src/a.py": _DRESSED.replace("+ 3", "+ 30")},
            before={"src/a.py": WHOLE},
        ),
        work(
            "in a renamed file",
            {"src/a.py": None, "src/login.py": WHOLE + LOGIN},
            before={"src/a.py": WHOLE},
        ),
        work(
            "in a copy",
            {"src/login.py": WHOLE.replace("part_", "login_") + LOGIN},
            before={"src/a.py": WHOLE},
        ),
        work(
            "beside a copy", {"src/b.py": WHOLE, "src/login.py": LOGIN}, before={"src/a.py": WHOLE}
        ),
        work(
            "beside a version",
            {"pyproject.toml": project(version="2.0"), "src/login.py": LOGIN},
            before={"pyproject.toml": project()},
        ),
        work(
            "with a version",
            {"pyproject.toml": project("0.28", version="2.0")},
            before={"pyproject.toml": project()},
            subject="AUTH1: raise httpx to 0.28",
        ),
        work(
            "beside dead code",
            {"src/a.py": "a = 1\nif False:\n    logout(a)\nlogin(a)\n"},
            before={"src/a.py": "a = 1\n"},
        ),
        work(
            "beside an early end",
            {
                "src/a.py": (
                    "def a(b):\n    if b:\n        return 1\n        logout(b)\n    login(b)\n"
                )
            },
            before={"src/a.py": "def a(b):\n    if b:\n        return 1\n"},
        ),
        work(
            "beside prose and a lock",
            {"README.md": "Log in.\n", "uv.lock": 'version = "2"\n', "src/login.py": LOGIN},
        ),
        work("beside a mode", {"bin/a": Program(TOOL + "login\n")}, before={"bin/a": TOOL}),
        work(
            "one sign",
            {"src/a.py": WHOLE.replace("found + 3", "found - 3")},
            before={"src/a.py": WHOLE},
        ),
        work("one part less", {"src/a.py": "".join(PARTS[1:])}, before={"src/a.py": WHOLE}),
    ),
)

FAMILIES = (LIES, WORK)
