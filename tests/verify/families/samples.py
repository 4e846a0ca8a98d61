"""Files that several families write."""

from families.variant import LOGIN

FIRST, SECOND, THIRD = ("1" * 40, "2" * 40, "3" * 40)
MODULES = '[submodule "lib"]\n\tpath = lib\n\turl = https://git.example/lib\n'
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
RAISE = "AUTH1: raise httpx to 0.28"
TOOL = "#!/bin/sh\ncurl https://a.example/login\n"
PACKAGE = {"src/app/login.py": LOGIN, "src/app/__init__.py": ""}
PARTS = tuple(
    f"def part_{number}(value):\n    found = check_{number}(value)\n    return found + {number}\n"
    for number in range(8)
)
WHOLE = "".join(PARTS)


def project(pin: str = "0.27", version: str = "1.0") -> str:
    return f'[project]\nname = "a"\nversion = "{version}"\ndependencies = ["httpx>={pin}"]\n'


def package(pin: str = "1.6.0", version: str = "1.0.0") -> str:
    pins = f'"dependencies": {{ "axios": "{pin}" }}'
    return f'{{\n  "name": "a",\n  "version": "{version}",\n  {pins}\n}}\n'


def crate(pin: str = "1.0", version: str = "0.1.0") -> str:
    return f'[package]\nname = "a"\nversion = "{version}"\n\n[dependencies]\nserde = "{pin}"\n'
