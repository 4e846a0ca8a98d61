"""New modules that nothing imports, and those that are used in other ways."""

from families.variant import Family, Kind, work

_FUNCTION = "def login(user):\n    return user.is_known\n"
UNUSED = Family(
    "A new module that nothing imports is named as such",
    Kind.TOLD,
    (
        work(
            "Python, in a package",
            {"src/app/login.py": _FUNCTION},
            before={"src/app/__init__.py": "", "src/app/main.py": "def main():\n    return 1\n"},
        ),
        work(
            "Python, only its own name in a comment",
            {"src/app/login.py": _FUNCTION},
            before={
                "src/app/__init__.py": "",
                "src/app/main.py": "# see login\ndef main():\n    return 1\n",
            },
        ),
        work(
            "JS",
            {"src/login.js": "export function login(user) {\n  return user.known;\n}\n"},
            before={"src/main.js": "import './other.js';\n", "src/other.js": "run();\n"},
        ),
        work(
            "TypeScript",
            {"src/login.ts": "export const login = (user: User) => user.known;\n"},
            before={
                "src/main.ts": "import { a } from './other';\n",
                "src/other.ts": "export const a = 1;\n",
            },
        ),
        work(
            "Ruby",
            {"lib/login.rb": "module Login\n  def self.of(user) = user.known\nend\n"},
            before={"lib/app.rb": "require_relative 'other'\n", "lib/other.rb": "puts 1\n"},
        ),
        work(
            "Rust, without mod",
            {"src/login.rs": "pub fn login(user: &User) -> bool { user.known }\n"},
            before={
                "Cargo.toml": '[package]\nname = "a"\n',
                "src/main.rs": "mod other;\nfn main() {}\n",
                "src/other.rs": "pub fn a() {}\n",
            },
        ),
        work(
            "Python, two that import each other",
            {
                "src/app/login.py": "from app import users\n\n" + _FUNCTION,
                "src/app/users.py": "from app import login\n\nUSERS = [login]\n",
            },
            before={"src/app/__init__.py": "", "src/app/main.py": "def main():\n    return 1\n"},
            why="arguable: it takes a walk over the imports to see it",
        ),
    ),
)

USED = Family(
    "A new module that something uses is not called unused",
    Kind.PLAIN,
    (
        work(
            "Python, imported",
            {
                "src/app/login.py": _FUNCTION,
                "src/app/main.py": "from app.login import login\n\nlogin(1)\n",
            },
            before={"src/app/__init__.py": ""},
        ),
        work(
            "Python, imported by its package",
            {"src/app/login.py": _FUNCTION, "src/app/main.py": "from . import login\n"},
            before={"src/app/__init__.py": "", "src/app/main.py": "a = 1\n"},
        ),
        work(
            "Python, imported later",
            {"src/app/login.py": _FUNCTION},
            before={"src/app/__init__.py": "", "src/app/main.py": "a = 1\n"},
            later={"src/app/main.py": "import app.login\n"},
        ),
        work(
            "Python, a script",
            {
                "bin/login.py": (
                    "#!/usr/bin/env python3\n"
                    "import sys\n"
                    "\n"
                    'if __name__ == "__main__":\n'
                    "    print(sys.argv)\n"
                )
            },
        ),
        work(
            "Python, a test",
            {"tests/test_login.py": "def test_login():\n    assert base.login(1)\n"},
        ),
        work(
            "Python, a plugin",
            {
                "src/app/login.py": _FUNCTION,
                "pyproject.toml": (
                    "[project]\n"
                    'name = "app"\n'
                    "\n"
                    '[project.entry-points."app.plugins"]\n'
                    'login = "app.login:login"\n'
                ),
            },
            before={"src/app/__init__.py": ""},
        ),
        work(
            "Python, named in the settings",
            {
                "src/app/login.py": _FUNCTION,
                "src/app/settings.py": 'MIDDLEWARE = ["app.login.login"]\n',
            },
            before={"src/app/__init__.py": "", "src/app/settings.py": "MIDDLEWARE = []\n"},
        ),
        work(
            "Python, a migration",
            {"app/migrations/0002_login.py": "class Migration:\n    operations = [1]\n"},
            before={"app/migrations/0001_initial.py": "class Migration:\n    operations = []\n"},
        ),
        work(
            "Go, a file of a package",
            {"app/login.go": "package app\n\nfunc login(user User) bool { return user.known }\n"},
            before={
                "go.mod": "module app\n",
                "app/app.go": "package app\n\nfunc Run() { login(User{}) }\n",
            },
        ),
        work(
            "Java, a class of a package",
            {
                "src/app/Login.java": (
                    "package app;\n\nclass Login { boolean of(User user) { return user.known; } }\n"
                ),
                "src/app/Main.java": "package app;\n\nclass Main { Login login = new Login(); }\n",
            },
        ),
        work(
            "JS, imported",
            {
                "src/login.js": "export const login = (user) => user.known;\n",
                "src/main.js": "import { login } from './login.js';\nlogin(1);\n",
            },
        ),
        work(
            "JS, required",
            {
                "src/login.js": "module.exports = (user) => user.known;\n",
                "src/main.js": "const login = require('./login');\nlogin(1);\n",
            },
        ),
        work(
            "a script that make runs",
            {
                "bin/login.sh": "curl https://a.example/login\n",
                "Makefile": "login:\n\tsh bin/login.sh\n",
            },
        ),
        work(
            "Rust, with mod",
            {
                "src/login.rs": "pub fn login() -> bool { true }\n",
                "src/main.rs": "mod login;\nfn main() { login::login(); }\n",
            },
            before={"Cargo.toml": '[package]\nname = "a"\n', "src/main.rs": "fn main() {}\n"},
        ),
    ),
)

FAMILIES = (UNUSED, USED)
