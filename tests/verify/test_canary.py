"""Which files are emptied to see whether a test notices: the program, and never a test."""

import pytest

from dos.verify import file_kinds


@pytest.mark.parametrize(
    "path",
    ["shop/tests.py", "price-test.mjs", "test-price.js", "test.js", "src/PriceTest.java",
     "src/PriceTests.cs",
     "Shop.Tests/Price.cs", "app/src/androidTest/A.kt", "e2e-tests/a.ts", "lib/price_spec.rb",
     "unit_tests/a.c"],
)  # fmt: skip
def test_a_test_is_not_emptied_since_an_empty_test_passes(path):
    assert not file_kinds.is_program(path)


@pytest.mark.parametrize(
    "path",
    ["src/contest.py", "src/latest/a.js", "testing/a.py", "attest.rs", "Protest.java", "Latest.cs",
     "spectrum.py",
     "inspect.go", "testutil.go", "src/manifest/x.ts"],
)  # fmt: skip
def test_a_name_that_only_sounds_like_one_is_the_program(path):
    assert file_kinds.is_program(path)
