"""What came after the work: whether it is still there."""

from families.samples import (
    FIRST,
    MODULES,
    PACKAGE,
    PARTS,
    PNG,
    RAISE,
    SECOND,
    THIRD,
    TOOL,
    WHOLE,
    project,
)
from families.variant import Family, Kind, Link, Program, Submodule, asked, work

_ADDED = {"src/parts.py": WHOLE}
CONTINUED = Family(
    "Work that others built on is still there",
    Kind.HONEST,
    (
        work(
            "a pin raised again",
            {"requirements.txt": "httpx==0.28\n"},
            before={"requirements.txt": "httpx==0.27\n"},
            later={"requirements.txt": "httpx==0.29\n"},
            subject=RAISE,
        ),
        work(
            "a pin of pyproject.toml raised again",
            {"pyproject.toml": project("0.28")},
            before={"pyproject.toml": project()},
            later={"pyproject.toml": project("0.30")},
            subject=RAISE,
        ),
        work(
            "from 0.9 over 0.10 to 0.11",
            {"requirements.txt": "a==0.10\n"},
            before={"requirements.txt": "a==0.9\n"},
            later={"requirements.txt": "a==0.11\n"},
            subject="AUTH1: raise a to 0.10",
        ),
        work(
            "an image raised again",
            {"Dockerfile": "FROM python:3.12\n"},
            before={"Dockerfile": "FROM python:3.11\n"},
            later={"Dockerfile": "FROM python:3.13\n"},
            subject="AUTH1: run on 3.12",
        ),
        work(
            "a constant raised again",
            {"src/a.py": "LIMIT = 20\n"},
            before={"src/a.py": "LIMIT = 10\n"},
            later={"src/a.py": "LIMIT = 30\n"},
            subject="AUTH1: raise the limit",
        ),
        work(
            "a constant lowered again",
            {"src/a.py": "TIMEOUT = 20\n"},
            before={"src/a.py": "TIMEOUT = 30\n"},
            later={"src/a.py": "TIMEOUT = 10\n"},
            subject="AUTH1: lower the timeout",
            why="arguable: further in the direction of the work",
        ),
        asked(
            "a submodule raised again",
            "raise lib",
            "lib",
            ({"lib": Submodule(SECOND)}, {"lib": Submodule(THIRD)}),
            {"lib": Submodule(FIRST), ".gitmodules": MODULES},
        ),
        asked(
            "a picture drawn again",
            "draw the logo",
            "web/logo.png",
            ({"web/logo.png": PNG + b"\1"}, {"web/logo.png": PNG + b"\2"}),
        ),
        work(
            "a file split in two",
            _ADDED,
            later={
                "src/parts.py": None,
                "src/one.py": "".join(PARTS[:4]),
                "src/two.py": "".join(PARTS[4:]),
            },
        ),
        work(
            "a file split in four",
            _ADDED,
            later={
                "src/parts.py": None,
                **{
                    f"src/parts/p{number}.py": "".join(PARTS[2 * number : 2 * number + 2])
                    for number in range(4)
                },
            },
        ),
        work(
            "moved into a file that was there",
            _ADDED,
            before={"src/all.py": "a = 1\n"},
            later={"src/parts.py": None, "src/all.py": "a = 1\n" + WHOLE},
        ),
        work(
            "moved and indented",
            _ADDED,
            later={
                "src/parts.py": None,
                "src/all.py": "class Parts:\n"
                + "".join(f"    {line}\n" for line in WHOLE.splitlines()),
            },
        ),
        work(
            "laid out again",
            _ADDED,
            later={
                "src/parts.py": WHOLE.replace("(value)", "(\n        value,\n    )").replace(
                    " + ", "  +  "
                )
            },
        ),
        work(
            "with a comment on each line",
            _ADDED,
            later={"src/parts.py": WHOLE.replace("\n", "  # part\n")},
        ),
        work(
            "with other quotes",
            {"src/a.js": "send('log', 'in');\nsend('log', 'out');\n"},
            later={"src/a.js": 'send("log", "in");\nsend("log", "out");\n'},
        ),
    ),
)

PUT_BACK = Family(
    "Work that was put back is not there",
    Kind.LIE,
    (
        work(
            "a pin put back",
            {"requirements.txt": "httpx==0.28\n"},
            before={"requirements.txt": "httpx==0.27\n"},
            later={"requirements.txt": "httpx==0.27\n"},
            subject=RAISE,
        ),
        work(
            "a pin lowered",
            {"requirements.txt": "httpx==0.28\n"},
            before={"requirements.txt": "httpx==0.27\n"},
            later={"requirements.txt": "httpx==0.26\n"},
            subject=RAISE,
        ),
        work(
            "from 0.9 over 0.10 to 0.2",
            {"requirements.txt": "a==0.10\n"},
            before={"requirements.txt": "a==0.9\n"},
            later={"requirements.txt": "a==0.2\n"},
            subject="AUTH1: raise a to 0.10",
        ),
        work(
            "a pin of pyproject.toml put back",
            {"pyproject.toml": project("0.28")},
            before={"pyproject.toml": project()},
            later={"pyproject.toml": project("0.27")},
            subject=RAISE,
        ),
        work(
            "a constant put back",
            {"src/a.py": "LIMIT = 20\n"},
            before={"src/a.py": "LIMIT = 10\n"},
            later={"src/a.py": "LIMIT = 10\n"},
            subject="AUTH1: raise the limit",
        ),
        work(
            "a constant lowered below where it was",
            {"src/a.py": "LIMIT = 20\n"},
            before={"src/a.py": "LIMIT = 10\n"},
            later={"src/a.py": "LIMIT = 5\n"},
            subject="AUTH1: raise the limit",
        ),
        asked(
            "a submodule put back",
            "raise lib",
            "lib",
            ({"lib": Submodule(SECOND)}, {"lib": Submodule(FIRST)}),
            {"lib": Submodule(FIRST), ".gitmodules": MODULES},
        ),
        asked(
            "a mode put back",
            "make bin/run executable",
            "bin/run",
            ({"bin/run": Program(TOOL)}, {"bin/run": TOOL}),
            {"bin/run": TOOL},
        ),
        asked(
            "a link taken away",
            "link the current release",
            "current",
            ({"current": Link("releases/2")}, {"current": None}),
        ),
        asked(
            "a picture taken away",
            "draw the logo",
            "web/logo.png",
            ({"web/logo.png": PNG + b"\1"}, {"web/logo.png": None}),
        ),
        work(
            "a file taken away, other code elsewhere",
            _ADDED,
            later={"src/parts.py": None, "src/one.py": "def other():\n    return 1\n"},
        ),
        work(
            "in comments now",
            _ADDED,
            later={"src/parts.py": "".join(f"# {line}\n" for line in WHOLE.splitlines())},
        ),
        work("in a string now", _ADDED, later={"src/parts.py": f'"""\n{WHOLE}"""\n'}),
        work(
            "below if False now",
            _ADDED,
            later={
                "src/parts.py": "if False:\n"
                + "".join(f"    {line}\n" for line in WHOLE.splitlines())
            },
        ),
        work(
            "behind __END__ now",
            {"src/a.rb": "def login(user)\n  user.known?\nend\n"},
            later={"src/a.rb": "__END__\ndef login(user)\n  user.known?\nend\n"},
        ),
        work(
            "below #if 0 now",
            {"src/a.c": "int login(void) {\n  return known();\n}\n"},
            later={"src/a.c": "#if 0\nint login(void) {\n  return known();\n}\n#endif\n"},
        ),
        work(
            "in prose now",
            _ADDED,
            later={"src/parts.py": None, "docs/parts.md": f"```python\n{WHOLE}```\n"},
        ),
        work(
            "an export put back",
            {"src/app/__init__.py": "from .login import login\n"},
            before=PACKAGE,
            later={"src/app/__init__.py": ""},
        ),
    ),
)

FAMILIES = (CONTINUED, PUT_BACK)
