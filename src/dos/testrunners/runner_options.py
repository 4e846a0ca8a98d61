"""The options of test runners that leave tests out, or keep a failure from counting."""

from msgspec import Struct

from dos.verify.file_kinds import words


class RunnerOptions(Struct, frozen=True, kw_only=True):
    """The options of a runner that matter here, as they are typed."""

    narrowing: frozenset[str] = frozenset()  # with a value
    narrowing_flags: frozenset[str] = frozenset()
    muting: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()  # other options whose value is the next word


_PYTEST = RunnerOptions(
    narrowing=words("-k -m --deselect --ignore --ignore-glob"),
    narrowing_flags=words("--collect-only --co --lf --last-failed --picked --testmon --sw"),
    muting=words("--suppress-no-test-exit-code --suppress-tests-failed-exit-code"),
    valued=words(
        "-n -p -c -o -W -r --cov --cov-report --cov-config --junitxml --junit-xml --rootdir"
        " --confcutdir --basetemp --maxfail --timeout --durations --tb --dist --log-level --ds"
        " --override-ini --config-file --import-mode --random-order-seed --html --color"
    ),
)
_JEST = RunnerOptions(
    narrowing=words(
        "--testPathIgnorePatterns --testNamePattern -t --testPathPattern --testPathPatterns"
        " --ignoreProjects --findRelatedTests --exclude"
    ),
    narrowing_flags=words("--onlyChanged -o --onlyFailures --changed --listTests"),
    muting=words("--passWithNoTests --pass-with-no-tests"),
    valued=words(
        "--config -c --coverageReporters --maxWorkers -w --reporters --reporter --root"
        " --shard --project"
    ),
)
_MOCHA = RunnerOptions(
    narrowing=words("--grep -g --fgrep -f --exclude --ignore"),
    narrowing_flags=words("--invert -i"),
    muting=words("--pass-on-failing-test-suite"),
    valued=words("--require -r --reporter -R --timeout -t --config --ui -u --file --import"),
)
_GO = RunnerOptions(
    narrowing=words("-run -skip --run --skip -test.run -test.skip"),
    narrowing_flags=words("-short --short -test.short"),
    valued=words("-timeout -coverprofile -covermode -coverpkg -tags -count -p -parallel -bench"),
)
_CARGO = RunnerOptions(
    narrowing=words(
        "--skip --exclude --test --bin --example -p --package -E --filter-expr"
        " --filterset --default-filter"
    ),
    narrowing_flags=words("--no-run --lib --bins --doc --examples"),
    muting=words("--no-tests=pass"),
    valued=words("--features --target --manifest-path --profile -j --jobs --color --test-threads"),
)
_RSPEC = RunnerOptions(
    narrowing=words(
        "--tag -t --example -e --exclude-pattern --pattern -P --example-matches -E --name -n"
    ),
    narrowing_flags=words("--only-failures --next-failure --dry-run"),
    muting=words("--failure-exit-code=0"),
    valued=words("--format -f --require -r --out -o --seed --order -I --exclude -x"),
)
_JVM = RunnerOptions(
    narrowing=words("-x --exclude-task --tests -Dtest -Dit.test -Dgroups -DexcludedGroups"),
    narrowing_flags=words(
        "-DskipTests -Dmaven.test.skip -DskipITs -DskipUnitTests -Dsurefire.skip"
        " -DskipTests=true -Dmaven.test.skip=true -DskipITs=true -DskipUnitTests=true"
    ),
    muting=words(
        "-Dmaven.test.failure.ignore -Dmaven.test.failure.ignore=true -fn --fail-never"
        " -DtestFailureIgnore=true"
    ),
    valued=words("-f --file -P --settings -s -T --init-script -I"),
)
OPTIONS = {
    "pytest": _PYTEST,
    "unittest": RunnerOptions(narrowing=words("-k -p --pattern"), valued=words("-s -t")),
    "jest": _JEST,
    "vitest": _JEST,
    "mocha": _MOCHA,
    "ava": RunnerOptions(narrowing=words("--match -m"), valued=words("--config --node-arguments")),
    "node --test": RunnerOptions(
        narrowing=words("--test-name-pattern --test-skip-pattern"),
        narrowing_flags=words("--test-only"),
        valued=words("--import --require -r --test-reporter --test-reporter-destination --loader"),
    ),
    "playwright": RunnerOptions(
        narrowing=words("--grep -g --grep-invert -gv"),
        narrowing_flags=words("--only-changed --last-failed --list"),
        muting=words("--pass-with-no-tests"),
        valued=words("--config -c --reporter --workers -j --project --shard"),
    ),
    "cypress": RunnerOptions(
        narrowing=words("--spec -s"), valued=words("--browser -b --config -e")
    ),
    "go test": _GO,
    "cargo test": _CARGO,
    "rspec": _RSPEC,
    "minitest": _RSPEC,
    "phpunit": RunnerOptions(
        narrowing=words(
            "--filter --exclude-filter --group --exclude-group --testsuite --exclude-testsuite"
        ),
        muting=words("--do-not-fail-on-empty-test-suite --do-not-fail-on-warning"),
        valued=words("--configuration -c --bootstrap --coverage-clover --log-junit"),
    ),
    "maven": _JVM,
    "gradle": _JVM,
    "dotnet test": RunnerOptions(
        narrowing=words("--filter --TestCaseFilter /TestCaseFilter"),
        narrowing_flags=words("--list-tests -t"),
        valued=words("--logger -l --configuration -c --framework -f --settings -s --collect"),
    ),
    "ctest": RunnerOptions(
        narrowing=words(
            "-E --exclude-regex -LE --label-exclude -R --tests-regex -L --label-regex -I -FA -FS"
        ),
        narrowing_flags=words("-N --show-only --rerun-failed"),
        valued=words("-j --parallel --test-dir -C --build-config --timeout -T -S"),
    ),
    "bats": RunnerOptions(
        narrowing=words("-f --filter --filter-tags"), valued=words("-j --jobs -F")
    ),
    "mix test": RunnerOptions(
        narrowing=words("--only --exclude --include"), narrowing_flags=words("--failed --stale")
    ),
    "swift test": RunnerOptions(narrowing=words("--filter --skip")),
    "bazel test": RunnerOptions(narrowing=words("--test_filter --test_tag_filters")),
    "prove": RunnerOptions(valued=words("-I -j -e")),
    "make": RunnerOptions(muting=words("-i --ignore-errors")),
}
# What a task hands on to a runner that is not known.
OF_TASKS = RunnerOptions(
    narrowing=words(
        "--deselect --ignore --testPathIgnorePatterns --testNamePattern --grep --exclude --filter"
    ),
    muting=words("--passWithNoTests --pass-with-no-tests"),
)
