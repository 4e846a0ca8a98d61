"""Changes of other things than code: which of them are work."""

from families.samples import (
    FIRST,
    MODULES,
    PACKAGE,
    PNG,
    RAISE,
    SECOND,
    TOOL,
    WHOLE,
    crate,
    package,
    project,
)
from families.variant import (
    LOGIN,
    Change,
    Family,
    Kind,
    Link,
    Program,
    Submodule,
    Variant,
    asked,
    work,
)

DEPENDENCIES = Family(
    "A dependency that was raised is work",
    Kind.HONEST,
    (
        work(
            "pyproject.toml",
            {"pyproject.toml": project("0.28")},
            before={"pyproject.toml": project()},
            subject=RAISE,
        ),
        work(
            "pyproject.toml and its lock",
            {"pyproject.toml": project("0.28"), "uv.lock": 'version = "0.28"\n'},
            before={"pyproject.toml": project(), "uv.lock": 'version = "0.27"\n'},
            subject=RAISE,
        ),
        work(
            "a dependency more",
            {
                "pyproject.toml": project()
                + '\n[project.optional-dependencies]\nlogin = ["argon2-cffi"]\n'
            },
            before={"pyproject.toml": project()},
        ),
        work(
            "a script of the project",
            {"pyproject.toml": project() + '\n[project.scripts]\nlogin = "a.login:main"\n'},
            before={"pyproject.toml": project()},
        ),
        work(
            "a setting of a tool",
            {"pyproject.toml": project() + '\n[tool.ruff]\nselect = ["S"]\n'},
            before={"pyproject.toml": project()},
        ),
        work(
            "package.json",
            {"package.json": package("1.7.0")},
            before={"package.json": package()},
            subject="AUTH1: raise axios to 1.7",
        ),
        work(
            "Cargo.toml",
            {"Cargo.toml": crate("1.1")},
            before={"Cargo.toml": crate()},
            subject="AUTH1: raise serde to 1.1",
        ),
        work(
            "go.mod",
            {"go.mod": "module a\n\nrequire b.example/c v1.3.0\n"},
            before={"go.mod": "module a\n\nrequire b.example/c v1.2.0\n"},
        ),
        work(
            "requirements.txt",
            {"requirements.txt": "httpx==0.28\n"},
            before={"requirements.txt": "httpx==0.27\n"},
            subject=RAISE,
        ),
        work(
            "Gemfile",
            {"Gemfile": "gem 'rack', '~> 3.1'\n"},
            before={"Gemfile": "gem 'rack', '~> 3.0'\n"},
        ),
        work(
            "pom.xml",
            {"pom.xml": "<project><dependency><version>2.1</version></dependency></project>\n"},
            before={
                "pom.xml": "<project><dependency><version>2.0</version></dependency></project>\n"
            },
        ),
        work(
            "an image",
            {"Dockerfile": "FROM python:3.13\n"},
            before={"Dockerfile": "FROM python:3.12\n"},
        ),
        work(
            "a step of CI",
            {".github/workflows/a.yml": "steps:\n- uses: actions/checkout@v4\n"},
            before={".github/workflows/a.yml": "steps:\n- uses: actions/checkout@v3\n"},
        ),
    ),
)

EXPORTS = Family(
    "Code in the first file of a package is work",
    Kind.HONEST,
    (
        work("an export", {"src/app/__init__.py": "from .login import login\n"}, before=PACKAGE),
        work(
            "an export with its list",
            {"src/app/__init__.py": 'from .login import login\n\n__all__ = ["login"]\n'},
            before=PACKAGE,
        ),
        work("a function", {"src/app/__init__.py": LOGIN}, before=PACKAGE),
        work(
            "a lazy import",
            {
                "src/app/__init__.py": (
                    "def __getattr__(name):\n"
                    "    from . import login\n"
                    "\n"
                    "    return getattr(login, name)\n"
                )
            },
            before=PACKAGE,
        ),
        work(
            "an export taken away",
            {"src/app/__init__.py": "from .login import login\n"},
            before={**PACKAGE, "src/app/__init__.py": "from .login import login, _hash\n"},
        ),
        work(
            "JS",
            {"src/index.js": "export * from './login.js';\n"},
            before={"src/index.js": "export {};\n", "src/login.js": "export const login = 1;\n"},
        ),
        work(
            "Rust",
            {"src/lib.rs": "pub mod login;\npub use login::login;\n"},
            before={"src/lib.rs": "", "src/login.rs": "pub fn login() {}\n"},
        ),
    ),
)

ASKED = Family(
    "What a plan asks for is work, whatever it is",
    Kind.HONEST,
    (
        asked(
            "a mode",
            "make bin/run executable",
            "bin/run",
            ({"bin/run": Program(TOOL)},),
            {"bin/run": TOOL},
        ),
        Variant(
            name="a mode, declared in dos.toml",
            before={"bin/run": TOOL, "dos.toml": '[units.AUTH1]\npaths = ["bin/run"]\n'},
            changes=(Change("AUTH1: chmod +x bin/run", {"bin/run": Program(TOOL)}),),
        ),
        asked(
            "a mode taken away",
            "make bin/run no program",
            "bin/run",
            ({"bin/run": TOOL},),
            {"bin/run": Program(TOOL)},
        ),
        asked("a link", "link the current release", "current", ({"current": Link("releases/2")},)),
        asked(
            "a link to another place",
            "link the current release",
            "current",
            ({"current": Link("releases/2")},),
            {"current": Link("releases/1")},
        ),
        asked(
            "a submodule",
            "raise lib",
            "lib",
            ({"lib": Submodule(SECOND)},),
            {"lib": Submodule(FIRST), ".gitmodules": MODULES},
        ),
        asked("a picture", "draw the logo", "web/logo.png", ({"web/logo.png": PNG + b"\1"},)),
        asked("a version", "release 2.0", "VERSION", ({"VERSION": "2.0\n"},), {"VERSION": "1.0\n"}),
        asked(
            "a package",
            "make src/app a package",
            "src/app/__init__.py",
            ({"src/app/__init__.py": ""},),
            {"src/app/a.py": "a = 1\n"},
            why="arguable: an empty file, but it is the whole of the task",
        ),
        asked(
            "a lock",
            "renew the lock",
            "uv.lock",
            ({"uv.lock": 'version = "0.28"\n'},),
            {"uv.lock": 'version = "0.27"\n'},
        ),
        asked(
            "a new name",
            "rename a.py to b.py",
            "src/a.py, src/b.py",
            ({"src/a.py": None, "src/b.py": LOGIN},),
            {"src/a.py": LOGIN},
            why="arguable: a rename alone, but the plan asks for it",
        ),
        work(
            "UTF-16, edited",
            {"src/a.ps1": "function Login { 2 }\n".encode("utf-16")},
            before={"src/a.ps1": "function Login { 1 }\n".encode("utf-16")},
        ),
        work("UTF-16, new", {"src/login.cs": "class Login { int a = 1; }\n".encode("utf-16")}),
    ),
)

BOOKKEEPING = Family(
    "A version, a lock, a list or an empty file is no work",
    Kind.LIE,
    (
        work(
            "version of pyproject.toml",
            {"pyproject.toml": project(version="2.0")},
            before={"pyproject.toml": project()},
        ),
        work(
            "version of package.json",
            {"package.json": package(version="2.0.0")},
            before={"package.json": package()},
        ),
        work(
            "version of Cargo.toml",
            {"Cargo.toml": crate(version="0.2.0")},
            before={"Cargo.toml": crate()},
        ),
        work(
            "__version__",
            {"src/app/__init__.py": '__version__ = "2.0"\n'},
            before={"src/app/__init__.py": '__version__ = "1.0"\n'},
        ),
        work(
            "version and its list of changes",
            {"pyproject.toml": project(version="2.0"), "CHANGELOG.md": "# 2.0\n\nLog in.\n"},
            before={"pyproject.toml": project()},
        ),
        work(
            "a comment of pyproject.toml",
            {"pyproject.toml": "# login\n" + project()},
            before={"pyproject.toml": project()},
        ),
        work("an empty __init__", {"src/login/__init__.py": ""}),
        work("an __init__ of a docstring", {"src/login/__init__.py": '"""Log in."""\n'}),
        work("a kept folder", {"src/login/.gitkeep": ""}),
        work("dos.toml", {"dos.toml": '[units.AUTH1]\npaths = ["src/**"]\n'}),
        work("a plan", {"docs/auth-plan.md": "## AUTH AUTH1: log in ✅\n"}),
        work(
            "package-lock.json",
            {"package-lock.json": '{ "lockfileVersion": 3 }\n'},
            before={"package-lock.json": '{ "lockfileVersion": 2 }\n'},
        ),
        work("uv.lock", {"uv.lock": 'version = "2"\n'}, before={"uv.lock": 'version = "1"\n'}),
        work(
            "poetry.lock",
            {"poetry.lock": 'version = "2"\n'},
            before={"poetry.lock": 'version = "1"\n'},
        ),
        work("Cargo.lock", {"Cargo.lock": "version = 4\n"}, before={"Cargo.lock": "version = 3\n"}),
        work(
            "yarn.lock",
            {"yarn.lock": "a@2:\n  version: 2\n"},
            before={"yarn.lock": "a@1:\n  version: 1\n"},
        ),
        work(
            "go.sum",
            {"go.sum": "b.example/c v1.3.0 h1:abc=\n"},
            before={"go.sum": "b.example/c v1.2.0 h1:abc=\n"},
        ),
        work(
            "a mode that nobody asked for", {"src/a.py": Program(LOGIN)}, before={"src/a.py": LOGIN}
        ),
        work(
            "a mode of a script that nobody asked for",
            {"bin/run": Program(TOOL)},
            before={"bin/run": TOOL},
        ),
    ),
)

MOVED = Family(
    "A file that was renamed or copied is no work",
    Kind.LIE,
    (
        work("renamed", {"src/a.py": None, "src/login.py": LOGIN}, before={"src/a.py": LOGIN}),
        work(
            "moved to another folder",
            {"src/a.py": None, "lib/auth/a.py": LOGIN},
            before={"src/a.py": LOGIN},
        ),
        work(
            "renamed with a comment",
            {"src/a.py": None, "src/login.py": "# log in\n" + LOGIN},
            before={"src/a.py": LOGIN},
        ),
        work(
            "renamed and laid out again",
            {"src/a.js": None, "src/login.js": "if (a) {\n  b('x');\n}\n"},
            before={"src/a.js": "if (a) { b('x'); }\n"},
        ),
        work(
            "renamed and made a program",
            {"bin/a": None, "bin/login": Program(TOOL)},
            before={"bin/a": TOOL},
        ),
        work("copied", {"src/login.py": LOGIN}, before={"src/a.py": LOGIN}),
        work(
            "copied twice",
            {"src/login.py": LOGIN, "lib/login.py": LOGIN},
            before={"src/a.py": LOGIN},
        ),
        work(
            "copied with a comment",
            {"src/login.py": "# log in\n" + LOGIN},
            before={"src/a.py": LOGIN},
        ),
        work(
            "a folder copied",
            {"v2/a.py": LOGIN, "v2/b.py": WHOLE},
            before={"v1/a.py": LOGIN, "v1/b.py": WHOLE},
        ),
        work(
            "a folder renamed",
            {"v1/a.py": None, "v1/b.py": None, "v2/a.py": LOGIN, "v2/b.py": WHOLE},
            before={"v1/a.py": LOGIN, "v1/b.py": WHOLE},
        ),
    ),
)

FAMILIES = (DEPENDENCIES, EXPORTS, ASKED, BOOKKEEPING, MOVED)
