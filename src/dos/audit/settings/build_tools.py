"""Reads what build files say about tests: make, Cargo, Maven, Gradle, CTest, RSpec and others."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from dos.audit.settings.facts import RunnerFacts, joined, number
from dos.audit.settings.shell_text import read_shell
from dos.testrunners.test_commands import parse_test_command
from dos.verify import runners

_TARGET = re.compile(r"(?P<name>[\w./%-]++)[^:=\n]*+:(?![=:])(?P<needs>[^=\n#]*)")
_ABOUT_TESTS = re.compile(r"tests?|specs?|check|unit|integration|e2e|verify|cov(?:erage)?", re.I)
_PREPARES = re.compile(
    r"lint|fmt|format|build|compile|install|deps|clean|doc|generate|venv|setup|type|\$"
    r"|[./]|^\|$",
    re.I,
)
_XML_COMMENT = re.compile(r"<!--[^-]*+(?:-(?!->)[^-]*+)*+-->")
_PROFILES = re.compile(r"<profiles>[^<]*+(?:<(?!/profiles>)[^<]*+)*+</profiles>")
_XML_VALUE = re.compile(r"<(?P<key>[\w.:]+)(?:\s[^<>]*)?>(?P<value>[^<]{0,300})</(?P=key)>")
_MAVEN_SWITCHES = frozenset((
    "skipTests", "maven.test.skip", "testFailureIgnore", "maven.test.failure.ignore", "skipITs",
    "skipUnitTests", "surefire.skip",
))  # fmt: skip
_MAVEN_LISTS = frozenset(("exclude", "excludedGroups", "TestCaseFilter"))
_SUREFIRE = re.compile(r"maven-(?:surefire|failsafe)-plugin|<testsuite\b|<RunConfiguration>")
_PLUGIN_END = re.compile(r"</plugin>|</testsuite>|</RunConfiguration>")
_FAILS_ON = re.compile(r"\b(failOn\w+)=\"true\"")
_GRADLE_BLOCK = re.compile(
    r"(?:[\w.]*[tT]est\w*|withType\(?[<(]?Test\b.*|useJUnitPlatform.*|filter)"
)
_GRADLE_MUTES = re.compile(
    r"\b(?P<what>ignoreFailures\s*=?\s*true|enabled\s*=?\s*false|onlyIf\s*\{?\s*\(?\{?\s*false)\b"
)
_GRADLE_LEAVES_OUT = re.compile(
    r"\b(?P<how>exclude|excludeTestsMatching|excludeTags|excludeCategories|excludeGroups)\b"
    r"[\s(]*(?P<what>[\"'][^\n\"']*[\"'])"
)
_RUBY_LEAVES_OUT = re.compile(
    r"\.(?P<how>filter_run_excluding|exclusion_filter|filter_run_including|filter_run)\b[ (=]*"
    r"(?P<what>[^\n)]*)"
)
_RAKE_MUTES = re.compile(r"\bfail_on_error\s*=\s*false\b")
_CTEST_IGNORES = re.compile(r"CTEST_CUSTOM_TESTS_IGNORE(?P<names>[^)]*)\)?")
_CTEST_DISABLES = re.compile(
    r"set_tests_properties\s*\((?P<names>[^)]{0,300}?)\sPROPERTIES\s[^)]{0,300}?"
    r"\b(?P<how>DISABLED|WILL_FAIL)\s+(?:TRUE|ON|1|YES)\b",
    re.I,
)
_CTEST_TESTS = re.compile(
    r"^\s*(?:add_test|gtest_discover_tests|catch_discover_tests|gtest_add_tests)\s*\(\s*"
    r"(?:NAME\s+)?(?P<name>[\w.:${}-]+)",
    re.I | re.M,
)
_GO_NEVER = re.compile(
    r"^//(?:go:build|\s*\+build)\s+(?P<tag>disabled?|skip\w*|off|none|todo|broken|flaky|exclude)\s*$",
    re.M,
)


def read_makefile(_path: str, text: str) -> RunnerFacts:
    """Return what the rules of a Makefile, or of a justfile, run and need."""
    parts = []
    selections: dict[str, frozenset[str]] = {}
    is_about_tests = False
    for line in text.replace("\\\n", " ").split("\n"):
        head = _TARGET.match(line)
        if head and not line.startswith((" ", "\t", ".")):
            is_about_tests = _ABOUT_TESTS.search(head["name"]) is not None
            needs = frozenset(need for need in head["needs"].split() if not _PREPARES.search(need))
            if is_about_tests and needs:
                selections[f"needs of {head['name']}"] = needs
        if line.startswith(".IGNORE"):
            parts.append(RunnerFacts(restraints=frozenset(["make .IGNORE"])))
        if line[:1] in ("\t", " ") and line.strip():
            facts = read_shell(_recipe_line(line))
            if is_about_tests or facts.commands:
                parts.append(facts)
    return joined([*parts, RunnerFacts(selections=selections)])


def _recipe_line(line: str) -> str:
    """Return a line of a recipe as the shell gets it; a dash before it hides its failure."""
    bare = line.strip()
    marks = bare[: len(bare) - len(bare.lstrip("@-+ "))]
    return f"{bare.lstrip('@-+ ')} || :" if "-" in marks else bare.lstrip("@-+ ")


def read_cargo(path: str, text: str) -> RunnerFacts:
    """Return what a Cargo.toml switches off: a target's tests, its harness, the search."""
    part = runners.settings_part(path, text, "")
    restraints = set()
    named: list[Any] = []
    if isinstance(part, dict):
        for table in ("package", "lib", "bin", "test"):
            entries = part.get(table, [])
            named += entries if table == "test" and isinstance(entries, list) else []
            for entry in entries if isinstance(entries, list) else ():
                for key in ("test", "doctest", "harness", "autotests"):
                    if isinstance(entry, dict) and entry.get(key) is False:
                        name = entry.get("name", entry.get("path", ""))
                        restraints.add(" ".join(filter(None, ("cargo", table, name, key))))
    if named:  # tests that are listed one by one need not be looked for
        restraints.discard("cargo package autotests")
    return RunnerFacts(restraints=frozenset(restraints))


def read_nextest(_path: str, text: str) -> RunnerFacts:
    """Return the filters of nextest's profiles."""
    try:
        profiles = tomllib.loads(text).get("profile", {})
    except tomllib.TOMLDecodeError:
        return RunnerFacts()
    restraints = []
    for profile in profiles.values() if isinstance(profiles, dict) else ():
        if isinstance(profile, dict) and profile.get("default-filter"):
            restraints.append(f"nextest default-filter {profile['default-filter']}")
    return RunnerFacts(restraints=frozenset(restraints))


def read_markup(_path: str, text: str) -> RunnerFacts:
    """Return what a pom.xml, a phpunit.xml or a .runsettings leaves out, outside of profiles."""
    text = _PROFILES.sub("", _XML_COMMENT.sub("", text))
    restraints = set()
    for match in _XML_VALUE.finditer(text):
        key, value = match["key"], match["value"].strip()
        if key in _MAVEN_SWITCHES and value == "true":
            restraints.add(f"{key} = true")
        elif key in _MAVEN_LISTS and _is_in_tests(text, match.start()):
            restraints.add(f"{key} {value}")
    demands = dict.fromkeys(_FAILS_ON.findall(text), 1.0)
    return RunnerFacts(restraints=frozenset(restraints), demands=demands)


def _is_in_tests(text: str, at: int) -> bool:
    """Whether a place in markup is inside of a plugin or a suite that runs tests."""
    before = text[max(0, at - 5_000) : at]
    opened = [match.end() for match in _SUREFIRE.finditer(before)]
    closed = [match.end() for match in _PLUGIN_END.finditer(before)]
    return bool(opened) and max(opened) > max(closed, default=0)


def read_maven_options(_path: str, text: str) -> RunnerFacts:
    """Return which options of every run of Maven leave tests out, or hide failures."""
    found = parse_test_command(["mvn", "verify", *text.split()])
    if found is None:
        return RunnerFacts()
    options = [*found.restraints, *filter(None, [found.muted])]
    return RunnerFacts(restraints=frozenset(f"maven {option}" for option in options))


def read_gradle(_path: str, text: str) -> RunnerFacts:
    """Return what a Gradle script leaves out of its tests, or lets fail."""
    restraints: set[str] = set()
    demands = {}
    for blocks, line in _blocks(text):
        if any(map(_GRADLE_BLOCK.match, blocks)) or re.match(r"\s*(?:tasks\.)?test\.", line):
            restraints.update(f"gradle {match['what']}" for match in _GRADLE_MUTES.finditer(line))
            for match in _GRADLE_LEAVES_OUT.finditer(line):
                restraints.add(f"gradle {match['how']} {match['what'][1:-1]}")
        found = re.search(r"\bminimum\s*=\s*[\"']?([\d.]+)", line)
        asked = number(found[1]) if found else None
        if asked is not None:
            demands["jacoco minimum"] = asked
    return RunnerFacts(restraints=frozenset(restraints), demands=demands)


def _blocks(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each line of a script in braces with what stands before each brace around it."""
    blocks: list[str] = []
    for line in text.split("\n"):
        code = line.partition("//")[0]
        around = list(blocks)
        part = ""
        for piece in re.split(r"([{}])", code):
            if piece == "{":
                blocks.append(part.strip().removeprefix("tasks."))
                around.append(blocks[-1])
            elif piece == "}" and blocks:
                blocks.pop()
            part = piece
        yield tuple(around), code


def read_ruby(path: str, text: str) -> RunnerFacts:
    """Return what `.rspec`, a Rakefile or a helper of specs leaves out."""
    restraints: set[str] = set()
    if path.endswith(".rspec"):
        found = parse_test_command(["rspec", *text.split()])
        restraints.update(f"rspec {one}" for one in (found.restraints if found else ()))
    for match in _RUBY_LEAVES_OUT.finditer(text):
        if ":focus" not in match["what"] and "focus:" not in match["what"]:
            restraints.add(f"rspec {match['how']} {match['what'].strip()}")
    if _RAKE_MUTES.search(text):
        restraints.add("rake fail_on_error = false")
    return RunnerFacts(restraints=frozenset(restraints))


def read_cmake(_path: str, text: str) -> RunnerFacts:
    """Return which tests CTest is told of, and which of them it leaves out."""
    text = re.sub(r"#[^\n]*", "", text)
    restraints: set[str] = set()
    for match in _CTEST_IGNORES.finditer(text):
        restraints.update(
            f"ctest ignores {name}" for name in re.findall(r"[\w.-]+", match["names"])
        )
    for match in _CTEST_DISABLES.finditer(text):
        restraints.update(f"ctest {match['how']} {name}" for name in match["names"].split())
    names = frozenset(_CTEST_TESTS.findall(text))
    selections = {"needs of ctest": names} if names else {}
    return RunnerFacts(restraints=frozenset(restraints), selections=selections)


def read_go_test(path: str, text: str) -> RunnerFacts:
    """Return the build tag of a Go test that nothing sets, so that it is never built."""
    tags = [f"go build tag {tag} in {path}" for tag in _GO_NEVER.findall(text)]
    return RunnerFacts(restraints=frozenset(tags))
