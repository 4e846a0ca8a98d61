"""Which variables of the user's environment a program of a lane gets: a list, and nothing else.

A variable that is not listed here, is not one of the agent's own and is not named by
`[workers] pass_environment` is withheld. Names that look like a secret are withheld even where a
pattern of the list would match them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from functools import cache, lru_cache

IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")

_SESSION = (
    "PATH", "HOME", "TMPDIR", "LANG", "LANGUAGE", "LC_*", "TERM", "TERMINFO", "TERMINFO_DIRS",
    "COLORTERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES",
    "TZ", "TZDIR", "SHELL", "USER", "LOGNAME", "HOSTNAME", "CI", "SOURCE_DATE_EPOCH",
    "LD_LIBRARY_PATH", "LOCALE_ARCHIVE", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS",
)  # fmt: skip
# Written in upper and in lower case. A password in them is passed on: without it nothing is
# reached, the agent's provider included.
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY")
PROXIES = (*_PROXIES, *(name.lower() for name in _PROXIES))
_CERTIFICATES = (
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    "NIX_SSL_CERT_FILE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "AWS_CA_BUNDLE", "DENO_CERT",
    "DENO_TLS_CA_STORE", "HTTPLIB2_CA_CERTS", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "NODE_TLS_REJECT_UNAUTHORIZED", "NODE_USE_SYSTEM_CA",
)  # fmt: skip
# Package managers: their index, their mirrors, their settings.
_PACKAGES = (
    "PIP_*", "UV_*", "POETRY_*", "PDM_*", "PIPENV_*", "HATCH_*", "CONDA_*", "MAMBA_*", "PIXI_*",
    "npm_config_*", "NPM_CONFIG_*", "YARN_*", "PNPM_*", "COREPACK_*", "BUN_*", "CARGO_*",
    "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOSUMCHECK", "GOPRIVATE", "GONOPROXY", "GOINSECURE",
    "GOVCS", "GOTOOLCHAIN", "BUNDLE_GEMFILE", "BUNDLE_PATH", "BUNDLE_WITH", "BUNDLE_WITHOUT",
    "BUNDLE_JOBS", "BUNDLE_DEPLOYMENT", "BUNDLE_FROZEN", "BUNDLE_MIRROR_*", "NUGET_*",
    "COMPOSER_*", "MAVEN_*", "GRADLE_OPTS", "SBT_OPTS", "HEX_*", "MIX_*",
)  # fmt: skip
# Compilers, interpreters and the programs that choose their version.
_TOOLCHAINS = (
    "CC", "CXX", "CPP", "AR", "AS", "LD", "NM", "RANLIB", "STRIP", "FC", "CFLAGS", "CXXFLAGS",
    "CPPFLAGS", "LDFLAGS", "FFLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH", "MAKEFLAGS", "PKG_CONFIG*", "CMAKE_*", "CTEST_*", "CCACHE_*", "SCCACHE_*",
    "LLVM_*", "CUDA_*", "PROTOC", "PYTHON*", "VIRTUAL_ENV", "PYENV_*", "NODE_*", "NVM_*",
    "FNM_*", "VOLTA_*", "N_PREFIX", "DENO_*", "RUST*", "GOROOT", "GOOS", "GOARCH", "GOARM",
    "GOAMD64", "GOFLAGS", "GOEXPERIMENT", "GODEBUG", "CGO_*", "JAVA_*", "_JAVA_OPTIONS", "JDK_*",
    "KOTLIN_*", "SDKMAN_*", "ANDROID_*", "DOTNET_*", "MSBUILD*", "RUBY*", "GEM_*", "RBENV_*",
    "PERL*", "PHP*", "JULIA_*", "R_*", "GHC*", "STACK_*", "CABAL_*", "OPAM*", "OCAML*", "ERL_*",
    "ELIXIR_*", "ZIG_*", "SWIFT_*", "ASDF_*", "MISE_*", "NIX_*", "OMP_*", "MKL_*", "OPENBLAS_*",
)  # fmt: skip
_TESTS = (
    "PYTEST_*", "TOX_*", "NOX_*", "COVERAGE_*", "HYPOTHESIS_*", "SETUPTOOLS_*", "RAILS_ENV",
    "RACK_ENV", "DJANGO_SETTINGS_MODULE", "PLAYWRIGHT_*", "PUPPETEER_*", "CYPRESS_*", "CHROME_BIN",
    "JEST_*", "VITEST_*",
)  # fmt: skip
LISTED = (*_SESSION, *PROXIES, *_CERTIFICATES, *_PACKAGES, *_TOOLCHAINS, *_TESTS)

# Where programs look for configuration and keep caches, which a lane has of its own, and what
# tells of the session around dos.
_OF_THE_USER = (
    "*_CACHE_DIR", "*_cache_dir", "npm_config_cache", "NPM_CONFIG_CACHE", "YARN_CACHE_FOLDER",
    "npm_config_userconfig", "NPM_CONFIG_USERCONFIG", "npm_config_prefix", "NPM_CONFIG_PREFIX",
    "npm_config_globalconfig", "NPM_CONFIG_GLOBALCONFIG", "PIP_CONFIG_FILE", "PYTHONUSERBASE",
    "PYTHONSTARTUP", "CARGO_HOME", "CARGO_TARGET_DIR", "COMPOSER_HOME", "CONDA_PKGS_DIRS",
    "MAVEN_CONFIG", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_*", "PYTEST_VERSION", "UV_CONFIG_FILE",
    "COVERAGE_PROCESS_START",
)  # fmt: skip

# What leads to a database: often what a test needs, and never passed on unasked.
SERVICES = (
    "DATABASE_URL", "*_DATABASE_URL", "PG*", "MYSQL_*", "REDIS_URL", "MONGO*_UR*", "AMQP_URL",
    "TESTCONTAINERS_*",
)  # fmt: skip

# The parts of a name, split at every sign that is no letter and no digit.
_SECRET_WORDS = frozenset(
    {"AUTH", "KEY", "KEYS", "PASS", "PAT", "OTP", "USERNAME", "COOKIE", "COOKIES", "SIGNATURE"}
)
_SECRET_PARTS = ("TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "APIKEY", "PRIVATEKEY")
_SPLIT = re.compile(r"[^A-Z0-9]+")
_LOGIN = re.compile(r"(?i)://[^/@\s:]*:[^/@\s]+@|\bhttps?://[^/@\s]+@")
_WEB_LOGIN = re.compile(r"(?i)\b(https?://)[^/@\s]+@")


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name is one of these names or patterns."""
    return _joined(tuple(patterns)).match(name) is not None


@cache
def _joined(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all patterns; with none of them it matches nothing."""
    return re.compile("|".join(map(translate, patterns)) or r"(?!)")


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name holds a token, a password or a key, as far as names tell."""
    upper = name.upper()
    if any(part in upper for part in _SECRET_PARTS):
        return True
    return not _SECRET_WORDS.isdisjoint(_SPLIT.split(upper))


def without_web_login(value: str) -> str:
    """The value, with user and password taken out of the web addresses in it."""
    return _WEB_LOGIN.sub(r"\1", value)


def inherited(
    given: Mapping[str, str],
    *,
    own: Sequence[str] = (),
    refused: Sequence[str] = (),
    passed: Sequence[str] = (),
    journal_url: str = "",
) -> dict[str, str]:
    """The variables of `given` that a program may see.

    `own` are patterns of what this program itself needs, its keys included, less `refused`;
    `passed` are those of `[workers] pass_environment`, which outranks everything. A password in
    the address of a package index is taken out: the program then fails at that index, instead of
    silently using another one. The address of the journal is withheld under any name.
    """
    environment = {}
    for name, value in given.items():
        if matches(name, passed):
            environment[name] = value
        elif journal_url and value == journal_url:
            continue
        elif name in (*IDENTITY, *PROXIES) or _is_own(name, own, refused):
            environment[name] = value
        elif is_listed(name):
            environment[name] = without_web_login(value)
    return environment


def _is_own(name: str, own: Sequence[str], refused: Sequence[str]) -> bool:
    return matches(name, own) and not matches(name, refused)


def is_listed(name: str) -> bool:
    """Whether every program of a lane may see the variable."""
    if is_secret_name(name) or matches(name, _OF_THE_USER):
        return False
    return matches(name, LISTED)


@lru_cache(maxsize=1_000)
def is_private(name: str, value: str) -> bool:
    """Whether no other process may read the variable: by its name, or by a password in an address.

    Such variables are kept out of the environment that a process is started with, where possible:
    every process of the user can read that.
    """
    return is_secret_name(name) or _LOGIN.search(value) is not None


def private_variables(given: Mapping[str, str]) -> dict[str, str]:
    """The variables of `given` that no other process may read."""
    return {name: value for name, value in given.items() if is_private(name, value)}


def public_variables(given: Mapping[str, str]) -> dict[str, str]:
    """The variables of `given` without those that no other process may read."""
    return {name: value for name, value in given.items() if not is_private(name, value)}
