"""The words of commit subjects, by what they say about a change.

The lists hold words as people and agents write them. A word that is missing lets a claim pass; a
word too many accuses an honest commit.
"""

from dos.verify.file_kinds import words

# A subject that begins with one of these is housekeeping: it claims nothing that a diff could show.
HOUSEKEEPING = words(
    "bump chore cleanup format lint merge misc nit nits release revert style tidy version "
    "whitespace wip"
)
HOUSEKEEPING_PHRASES = (
    "address review", "address comment", "address feedback", "address pr", "apply suggestion",
    "apply review", "changes from review", "code review", "fixes from review", "pr comment",
    "pr feedback", "review comment", "review feedback", "review fix", "rename variable",
)  # fmt: skip
# A subject of nothing but these announces a release.
RELEASE = words(
    "release releases released releasing version versions bump prepare preparing prep begin start "
    "begins new another next final beta alpha rc dev development snapshot iteration tag cut v"
)
FIXES = words(
    "fix fixes fixed fixing bugfix hotfix correct corrects corrected correcting resolve resolves "
    "resolved patch patches patched repair repairs"
)
ADDS = words(
    "add adds added adding create creates created creating introduce introduces introduced write "
    "writes wrote written include includes extend extends provide provides cover covers covered "
    "increase make makes made"
)
REMOVES = words(
    "remove removed removes removing delete deleted deletes drop dropped drops retire retired strip"
)
REVERTS = words("revert reverts reverted reverting undo undoes undid backout rollback unrevert")
# With one of these, tests may go together with the code that they were about.
REMOVALS = words(
    "remove removed removes delete deleted deletes drop dropped drops retire retired revert "
    "reverts undo"
)
# Verbs and conventional types that are said of what a program does, never of a document.
BEHAVES = words(
    "allow allows allowed allowing support supports supporting implement implements "
    "implemented implementing handle handles handled handling avoid avoids avoided avoiding "
    "prevent prevents prevented ensure ensures ensured enable enables enabled disable disables "
    "disabled optimise optimize optimises optimizes optimising optimizing optimised optimized "
    "expose exposes accept accepts reject rejects return returns throw throws "
    "validate validates detect detects respect respects honor honour preserve propagate parse "
    "escape wire wires wired hook migrate migrates migrated feat perf "
    "refactor refactors refactored default defaults print prints emit emits render renders convert "
    "converts normalize normalise sanitize encode decode compute lowercase uppercase truncate "
    "enlarge forbid disallow permit recover redirect forward dispatch cancel abort inherit "
    "override delegate defer throttle persist serialize deserialize compress treat hide"
)
# Those of them that name what a part of a program is about as well: `after a redirect`.
TELLING_VERBS = words(
    "redirect escape parse render hook wire encode decode compress serialize deserialize dispatch "
    "forward override inherit throttle cancel abort recover truncate uppercase lowercase convert "
    "normalize normalise sanitize"
)
# Other verbs that open a claim; the words after them decide what it is about.
LOOSE = words(
    "build builds built finish finished finishes complete completed completes ship shipped ships "
    "update updated updates done move moved moves rename renamed renames "
    "downgrade upgrade upgrades upgraded use uses improve improves improved change changes changed"
)
# Verbs that claim a change of code, however little is said about which.
CHANGES_CODE = words("reduce reduces simplify simplifies rework rewrite replace replaces switch")
# The last word of a short subject that claims something without a verb: `Login done`.
DONE = words("done implemented finished completed complete shipped added fixed")
# With one of these the subject describes, asks or denies instead of claiming.
NOT_DONE = words(
    "not never no isn't aren't wasn't half nearly almost partly how what why when which where "
    "that if until"
)

# What is done to tests alone, where they are what the verb is about.
KEEPS_TESTS = words(
    "skip skips rename renames renamed move moves moved split splits parametrize parametrise "
    "refactor simplify simplifies remove removes removed delete deletes deleted drop rewrite "
    "unify reorganize reorganise extract convert port"
)
# After "test", these make it a part of a program: `Add a test runner option`.
AFTER_TEST = words(
    "runner runners command commands option options flag flags mode framework api badge badges "
    "report reports tool tools service"
)
TESTS = words("test tests testing tested testcase testcases spec specs coverage")
# Words of tests beside these: with one of them a change of tests alone is what is spoken of.
ABOUT_TESTS = TESTS | words(
    "assert asserts assertion assertions flaky flake flakes flakiness fixture fixtures mock "
    "mocks mocked mocking pytest unittest jest mocha ava rspec junit tox nox vitest cypress "
    "playwright parametrize parametrise parametrized xfail testsuite suite snapshot snapshots "
    "golden harness regression regressions benchmark benchmarks bench doctest doctests fuzz "
    "fuzzing fuzzer conftest"
)
# The same, as the first word or beside an open verb: programs have them too.
TEST_HINTS = words(
    "case cases timeout timeouts sleep helper helpers cover covers covered covering ensure "
    "ensures verify verifies exercise reproduce reproduces repro demonstrate stub stubs"
)
# Types, leads and objects that are said of documents alone.
DOCUMENTS = words(
    "changelog changelogs clarify comment comments doc docs docstring docstrings documentation "
    "readme rephrase reword typo typos wording"
)
# After a word of documents, these make it a part of a program: `Fix changelog generation`.
AFTER_DOCUMENT = words(
    "command commands generation generator generators parser parsing builder renderer rendering "
    "writer reader handling detection extraction tool tools checker option options flag flags "
    "function functions method methods class support hook hooks output server"
)
# Documents that are files: no string or comment in code is one of them.
DOCUMENT_FILES = words(
    "readme changelog changelogs contributing codeowners badge badges wiki faq roadmap authors"
)
# With one of these a change of documents or comments is what is spoken of.
ABOUT_DOCUMENTS = DOCUMENTS - words("comment comments docstring docstrings") | words(
    "rdoc sphinx mkdocs contributing codeowners licensing copyright grammar "
    "grammatical spelling misspelling misspelled misspellings punctuation phrasing manpage "
    "manpages faq badge badges markup markdown rst screenshot screenshots glossary wiki quickstart "
    "howto acknowledgements roadmap whatsnew"
)
# The same, said of programs too: they count beside an open verb, or as what it is about.
DOCUMENT_OBJECTS = words(
    "document documents documented documenting authors contributors maintainers "
    "license licence licenses description descriptions instructions instruction guide guides "
    "guidelines tutorial tutorials manual paragraph paragraphs sentence sentences heading headings "
    "explain explains explained explaining explanation describe describes described mention "
    "mentions mentioned say says translate translation translations diagram website homepage "
    "credit credits acknowledge sponsor sponsors conduct proposal footnote news caveat caveats "
    "example examples adr tip tips spell backtick backticks bullet bullets numbering "
    "capitalization capitalisation capitalize phrase phrases apostrophe"
)
COMMENT_OBJECTS = words("comment comments")
# The same, only beside an open verb.
DOCUMENT_PARTS = words("page pages")
# Words of documents and of programs: with one of them a document may be what is spoken of.
DOCUMENT_HINTS = words(
    "link links url urls section sections title titles template templates note notes usage "
    "installation toc anchor related snippet snippets sample samples introduction intro policy "
    "funding info information outdated"
)
# A typo can be anywhere.
TYPOS = words("typo typos spelling misspelling misspelled misspellings spell")
# With one of these a change of comments or layout is what is spoken of.
ABOUT_LAYOUT = words(
    "formatting formatted reformat reformatted fmt indentation indent indents whitespace "
    "whitespaces newline newlines alignment cosmetic cosmetics trailing beautify layout prettify "
    "reindent dedent unindent codestyle crlf eol endings"
)
# The same, unless a part of a program is named as well: `Add a format function`.
LAYOUT_HINTS = words(
    "format formats formatter space spaces blank align aligned style styling tab tabs wrap "
    "wrapping brace braces dots line lines"
)
ABOUT_LINT = words(
    "lint linting linter lints pep flake black prettier gofmt rustfmt clang eslint xo rubocop "
    "isort ruff clippy mypy pylint checkstyle findbugs spotbugs golint staticcheck shellcheck "
    "codespell tslint jshint pyupgrade"
)
# With one of these a change of comments alone is what is spoken of.
ABOUT_COMMENTS = words(
    "docstring docstrings javadoc godoc rustdoc todo todos fixme noqa nolint pragma annotation "
    "annotations deprecated deprecate header headers note notes year years commented author since"
)
# With one of these a binary file is what is spoken of.
ABOUT_DATA = words(
    "image images icon icons logo logos favicon asset assets binary binaries font fonts jar jars "
    "data dataset datasets sample samples picture pictures media video gif"
)
# Said of CI as often as of the program.
CI_HINTS = words(
    "build builds deploy deployment publish publishing bot runner runners cron release"
)
ABOUT_CI = words(
    "ci travis appveyor circleci jenkins jenkinsfile workflow workflows gha gitlab pipeline "
    "pipelines azure buildkite codecov coveralls dependabot renovate drone cirrus semaphore "
    "nightly matrix actions action"
)
# What is said of programs that run; a document has none of it.
DEFECTS = words(
    "crash crashes race races leak leaks deadlock deadlocks segfault overflow memory reliability "
    "performance robustness exception exceptions"
)
# Nouns of programs: a subject that names one is not about a document.
CODE_NOUNS = words(
    "function functions method methods option options flag flags api apis hook hooks class "
    "classes parameter parameters argument arguments support crash crashes race races leak leaks "
    "bug bugs exception exceptions deadlock segfault overflow memory regression implementation "
    "handler handlers callback callbacks middleware endpoint endpoints module modules "
    "reliability performance robustness thread threads buffer pointer metrics"
)

# Conventional types that are no verbs.
TYPES = words("build ci docs doc test tests style chore deps")
# Products that are written in camel case, and are no names of a program's parts.
PROPER_NAMES = words(
    "github gitlab javascript typescript macos freebsd openbsd netbsd powershell macports youtube "
    "homebrew pypi nodejs webassembly postgresql mysql sqlite mongodb graphql stackoverflow "
    "intellij vscode jruby opensuse circleci devops wordpress"
)
# What says nothing about which part of a program is meant.
STOP = words(
    "a an the and or but nor of to in on at by for from with without within into onto over under "
    "about as is are was were be been being it its this that these those there here then than so "
    "such not no never now only also too just even still again more most less least some any all "
    "each every both either neither one two three first second third last next new old other "
    "another same different own we i you he she they our your their my me us them his her who "
    "whose what which when where why how if else while until unless since because do does did "
    "done doing don doesn didn isn aren wasn won can cannot could should would may might must "
    "will shall has have had having get gets got getting set sets setting let lets use uses used "
    "using usage via per up down out off back instead whether vs etc eg ie due between during "
    "after before against across along around like than upon yet very much many really longer "
    "always already please ok okay way ways together four five six seven eight nine ten hundred "
    "thousand long short near far once twice"
)
GENERIC = words(
    "minor small bit little few various several misc miscellaneous issue issues problem problems "
    "error errors failure failures fail fails failing failed code codebase commit commits pr pull "
    "request work works working worked properly correctly incorrect incorrectly wrong wrongly "
    "need needs needed require requires required missing unused unnecessary useless unneeded "
    "duplicate duplicated possible able ability better good bad nice initial final latest current "
    "call calls called check checks checked checking see ref refs thanks closes closed part parts "
    "stuff thing things cleanup clean cleans cleaned cleaning simplify simplifies simplified "
    "simplification simple refactoring refactor rework reworked rewrite rewrites rewritten reduce "
    "reduces reduced switch switches switched replace replaces replaced replacing tweak tweaks "
    "tweaked polish bring keep keeps kept give gives given take takes taken put puts turn show "
    "shows shown try tries follow follows reliability robustness robuster robust readability "
    "performance consistency consistent compatibility incompatibility behavior behaviour logic "
    "dead repetition duplication improvement improvements enhancement enhancements optimization "
    "optimisation confusion construction feature features bug bugs crash fixup adjustment adjust "
    "adjusts corner edge case cases support supporting implementation implementations dependency "
    "dependencies deps file files warning warnings modify modifies modified apply applies applied "
    "increase increasing decrease reflect state merge bump stop stops start starts fail revert "
    "generic general common special regression ugly wonky actually appropriate proper correct "
    "safe safely"
)
# Words in "-ly" that say more than how something is done.
TELLING_ADVERBS = words("apply reply supply assembly family anomaly multiply imply")
# Function words that other languages do not have: a subject with one of them is English.
ENGLISH = (
    frozenset(word for word in STOP if len(word) > 2)
    - words("was her per via due all two see his our")
    | CHANGES_CODE
    | words(
        "of to is it if by up speed keep check show load read write find wait turn give take "
        "modify require requires adjust extract unify restore reset"
    )
)
# Nouns so common in programs that to meet them in a file says little.
COMMON_NOUNS = words(
    "option options value values name names named type types function functions method methods "
    "class classes line lines field fields argument arguments string strings list lists data "
    "object objects variable variables parameter parameters param params key keys item items "
    "number numbers result results test tests self user users custom module modules import "
    "imports return returns message messages"
)
# How programs shorten words.
SHORT_FORMS = {
    "parameter": "param", "argument": "arg", "configuration": "conf", "configure": "conf",
    "message": "msg", "directory": "dir", "environment": "env", "function": "func",
    "initialize": "init", "initialise": "init", "initialization": "init", "response": "resp",
    "context": "ctx", "command": "cmd", "temporary": "tmp", "string": "str", "number": "num",
    "database": "db", "password": "pass", "authentication": "auth", "authorization": "auth",
    "authenticate": "auth", "application": "app", "repository": "repo", "package": "pkg",
    "connection": "conn", "source": "src", "destination": "dst", "previous": "prev",
    "maximum": "max", "minimum": "min", "information": "info", "utility": "util",
    "library": "lib", "image": "img", "button": "btn", "character": "char", "integer": "int",
    "boolean": "bool", "variable": "var", "reference": "ref", "pointer": "ptr", "memory": "mem",
    "length": "len", "asynchronous": "async", "synchronous": "sync", "synchronize": "sync",
    "statistics": "stat", "average": "avg", "calculate": "calc", "original": "orig",
    "attribute": "attr", "property": "prop", "identifier": "id", "execute": "exec",
    "expression": "expr", "javascript": "js", "typescript": "ts", "windows": "win",
    "format": "fmt", "request": "req", "index": "idx", "column": "col", "position": "pos",
    "operation": "op", "address": "addr", "allocate": "alloc", "allocation": "alloc",
    "description": "desc", "specification": "spec", "administrator": "admin", "separator": "sep",
    "timestamp": "time", "milliseconds": "ms", "seconds": "sec", "makefile": "make",
}  # fmt: skip
