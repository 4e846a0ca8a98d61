"""The lines by which a file states the version of its own project, or who wrote it.

Every release changes them, so they prove nothing. Whatever else such a file says, a dependency, an
entry point or a setting, is work.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

Lines = Sequence[str]
_Finder = Callable[[Lines], Iterable[str]]

# Patterns as text: a file needs one or two of them, and `re` compiles and keeps those it needs.
_PLAIN = r"""["']?v?\d[\w.+!-]*+["']?"""  # a version, quoted or not
_ASSIGNMENT = r"""["']?([\w.-]+)["']?\s?[=:]\s?(\S+)(?:\s[;#].*)?"""
_HEADER = r"\[\[?([^\[\]]+)\]\]?"
# Sections and keys of pyproject.toml, Cargo.toml, setup.cfg and the tools that raise versions.
_OWN_KEY = (
    r"(?i)(?:(?:project|package|workspace\.package|metadata|commitizen|tool\.[\w-]+"
    r"(?:\.(?:project|workspace|package|metadata))?)\.)?version(?:_name|_code)?"
    r"|(?:bumpversion|bumpver|tool\.[\w-]+(?:\.version)?)\.current(?:[-_]version)?"
)
_JSON_VERSION = r'"version":"[^"]*",?'
_JSON_STRING = r'"(?:[^"\\]|\\.)*+"?'
_TAG = r"<(/?)([\w.:-]++)([^<>]*+)>"
_XML_VERSION = r"(?i)<((?:assembly|file|package|informational)?version(?:prefix)?)>[^<>]*</\1>"
_AT_TOP = r"(?i)(?:version|appVersion|date-released|date)\s?:\s?\S+"
_GRADLE = r"""version(?:Code|Name)?[ =(]{1,3}["']?[\w.+-]+["']?\)?"""
_CALL = r"""(?i)\s*@?version\s?[:=]?\s?["'][^"']*["'],?"""
_SPEC = r"""\w+\.version\s?=\s?(["'])[^"']*\1(?:\.freeze)?"""
# What a Python module says about itself; a package may say nothing else.
_ABOUT = "|".join(
    (
        "version", "version_info", "version_tuple", "author", "authors", "author_email", "email",
        "license", "copyright", "credits", "maintainer", "status", "date", "url", "uri", "title",
        "summary", "description", "build", "commit_id", "revision",
    )
)  # fmt: skip
_DUNDER = rf"""__(?:{_ABOUT})__(?::[^=]{{1,40}})?=(?:\w{{1,40}}=)?(?:["'(\[].*|None|\d.*)"""
_PACKAGE = (
    rf"{_DUNDER}|"
    r"""(?:VERSION|version|version_info)=["'(]v?\d.*"""
    r"|from [\w.]+ import __version__(?: as __version__)?"
    r"|from __future__ import [\w,]+"
    r"""|__all__(?::[^=]{1,40})?=[\[(](?:["']__version__["'],?)?[\])]"""
)
# Files that are there to state a version, in any language.
_VERSION_STEM = r"_{0,2}(?:version|versions|about|version_info|versioninfo)_{0,2}"
_PARTS_OF_VERSIONS = ("version", "major", "minor", "patch", "micro", "build", "revision", "commit")
_VALUE = r"""["'(\[]?v?\d[\w.,+ "'-]*+[)\]]?(?:\.freeze)?;?"""
# What stands around a constant: `module Shop`, `package version`, `public class Version {`.
_FRAME = r"(?:module|class|package|namespace|object|public|export|final|pub)\b[\w .:{]*+"


def own_version_lines(path: str, old: Lines, new: Lines) -> frozenset[str]:
    """The significant lines of both sides of a change that state the project's own version."""
    name = path.rpartition("/")[2].lower()
    finder = _finder(name)
    if finder is None:
        return frozenset()
    found = frozenset((*finder(old), *finder(new)))
    if name in _INLINE:
        found |= _within_lines(_INLINE[name], frozenset(old) - frozenset(new), new)
    return found


@lru_cache(maxsize=4096)
def _finder(name: str) -> _Finder | None:
    """How the version is found in a file of this name; None if such a file states none."""
    if name in _IN_NAMED_FILES:
        return _IN_NAMED_FILES[name]
    stem, _, suffix = name.partition(".")
    if suffix and re.fullmatch(_VERSION_STEM, stem):
        return _constants
    return _BY_SUFFIX.get(suffix.rpartition(".")[2])


def _within_lines(pattern: str, old: Iterable[str], new: Lines) -> frozenset[str]:
    """Lines of both sides that are the same but for a version within them."""
    before = {re.sub(pattern, r"\1", line): line for line in old}
    found: set[str] = set()
    for line in new:
        masked = re.sub(pattern, r"\1", line)
        if masked != line and masked in before:
            found |= {line, before[masked]}
    return frozenset(found)


def _in_sections(lines: Lines) -> Iterable[str]:
    """Lines of TOML or an INI file, by their section and key; a header alone says nothing."""
    section = ""
    for line in lines:
        header = re.fullmatch(_HEADER, line)
        if header:
            section = f"{header[1]}."
            yield line
            continue
        assignment = re.fullmatch(_ASSIGNMENT, line)
        if not assignment or not re.fullmatch(_PLAIN, assignment[2]):
            continue
        if re.fullmatch(_OWN_KEY, section + assignment[1]):
            yield line


def _in_json(lines: Lines) -> Iterable[str]:
    """The version of the outermost object: those inside it are of something else."""
    depth = 0
    for line in lines:
        if depth == 1 and re.fullmatch(_JSON_VERSION, line):
            yield line
        bare = re.sub(_JSON_STRING, "", line)
        depth += bare.count("{") + bare.count("[") - bare.count("}") - bare.count("]")


def _in_pom(lines: Lines) -> Iterable[str]:
    """The version of the project: not that of its parent, a plugin or a dependency."""
    open_tags: list[str] = []
    for line in lines:
        if open_tags == ["project"] and re.fullmatch(_XML_VERSION, line):
            yield line
        for closes, tag, rest in re.findall(_TAG, line):
            if closes and open_tags:
                open_tags.pop()
            elif not closes and not rest.endswith("/"):
                open_tags.append(tag)


def _in_gradle(lines: Lines) -> Iterable[str]:
    """The version that is set outside every block; an Android version also inside one."""
    depth = 0
    for line in lines:
        if re.fullmatch(_GRADLE, line) and (
            not depth or not line.startswith(("version ", "version="))
        ):
            yield line
        depth += line.count("{") - line.count("}")


def _in_package(lines: Lines) -> Iterable[str]:
    """What a package says about itself, also over several lines."""
    is_open = False
    for line in lines:
        if is_open or re.fullmatch(_PACKAGE, line):
            yield line
            is_open = line.endswith(("(", "[")) or (is_open and not line.startswith((")", "]")))


def _constants(lines: Lines) -> Iterable[str]:
    """Constants such as `const Version = "1.2"`, and what stands around them."""
    for line in lines:
        if re.fullmatch(f"{_FRAME}|{_PACKAGE}", line) or _is_constant(line):
            yield line


def _is_constant(line: str) -> bool:
    """Whether a line sets a name that means a version to one: `#define SHOP_VERSION "1.2"`."""
    name, equals, value = line.rpartition("=")
    if not equals:
        name, _, value = line.rpartition(" ")
    word = name.partition(":")[0].strip().rpartition(" ")[2].lower()
    if not any(part in word for part in _PARTS_OF_VERSIONS):
        return False
    return re.fullmatch(_VALUE, value.strip()) is not None


def _matching(pattern: str) -> _Finder:
    """Find the lines that a pattern matches as a whole."""

    def find(lines: Lines) -> Iterable[str]:
        return [line for line in lines if re.fullmatch(pattern, line)]

    return find


_IN_NAMED_FILES: dict[str, _Finder] = {
    **dict.fromkeys(
        (
            "pyproject.toml", "cargo.toml", "project.toml", "gleam.toml", "fpm.toml", "typst.toml",
            "setup.cfg", ".bumpversion.cfg", ".bumpversion.toml", ".cz.toml", "dist.ini",
            "gradle.properties",
        ),
        _in_sections,
    ),
    **dict.fromkeys(
        (
            "package.json", "composer.json", "manifest.json", "elm.json", "deno.json", "jsr.json",
            "lerna.json", "bower.json", "plugin.json", "module.json", "component.json",
            "tauri.conf.json", "vcpkg.json", "info.json",
        ),
        _in_json,
    ),
    **dict.fromkeys(
        (
            "chart.yaml", "pubspec.yaml", "galaxy.yml", "snapcraft.yaml", "citation.cff",
            "description", "package.yaml", "meta.yaml",
        ),
        _matching(_AT_TOP),
    ),
    **dict.fromkeys(("setup.py", "mix.exs", "meson.build", "conanfile.py"), _matching(_CALL)),
    **dict.fromkeys(("build.gradle", "build.gradle.kts"), _in_gradle),
    "__init__.py": _in_package,
    "pom.xml": _in_pom,
    "cmakelists.txt": _matching(_CALL),
}  # fmt: skip
# Versions within a longer line; what the group matches stays.
_INLINE = {
    **dict.fromkeys(
        ("setup.py", "mix.exs", "meson.build", "conanfile.py"),
        r"""(\bversion\s?[:=]\s?)["'][^"']*["']""",
    ),
    **dict.fromkeys(
        ("package.json", "composer.json", "manifest.json", "deno.json", "jsr.json"),
        r'^(\{(?:"[^"\\]*":"[^"\\]*",)*+"version":)"[^"]*"',
    ),
    "cmakelists.txt": r"(?i)(\bproject ?\([^()]{0,80}\bversion )[\d.]+",
    "cargo.toml": r'(\bpath="[^"]*",version=)"[^"]*"|(?<==\{)()version="[^"]*"(?=,path=)',
}
_BY_SUFFIX: dict[str, _Finder] = {
    "py": _matching(_DUNDER),
    "cabal": _matching(_AT_TOP),
    **dict.fromkeys(("gemspec", "podspec"), _matching(_SPEC)),
    **dict.fromkeys(("csproj", "fsproj", "vbproj", "props", "nuspec"), _matching(_XML_VERSION)),
}
