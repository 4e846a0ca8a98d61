"""Reads changes of a few lines of one case, as a table writes them."""

import re

from labelled_commit import Files, LabelledCommit, read_diff

# By framework: the path of a test file, and the file around the body of a case.
FRAMES = {
    "pytest": ("tests/test_cart.py", "def test_total(cart):\n{}\n"),
    "jest": ("src/cart.test.js", "test('total', () => {{\n{}\n}});\n"),
    "vitest": (
        "src/cart.test.ts",
        "describe('cart', () => {{\nit('total', () => {{\n{}\n}});\n}});\n",
    ),
    "chai": (
        "test/cart.spec.js",
        "describe('cart', () => {{\nit('total', () => {{\n{}\n}});\n}});\n",
    ),
    "node": ("test/cart.test.mjs", "test('total', () => {{\n{}\n}});\n"),
    "ava": ("test/cart.js", "test('total', t => {{\n{}\n}});\n"),
    "go": ("cart_test.go", "package cart\n\nfunc TestTotal(t *testing.T) {{\n{}\n}}\n"),
    "junit": (
        "src/test/java/CartTest.java",
        "class CartTest {{\n@Test\nvoid total() {{\n{}\n}}\n}}\n",
    ),
    "kotlin": (
        "src/test/kotlin/CartTest.kt",
        "class CartTest {{\n@Test\nfun `total`() {{\n{}\n}}\n}}\n",
    ),
    "scala": (
        "src/test/scala/CartSpec.scala",
        'class CartSpec extends FunSuite {{\ntest("total") {{\n{}\n}}\n}}\n',
    ),
    "swift": (
        "Tests/CartTests.swift",
        "class CartTests: XCTestCase {{\nfunc testTotal() {{\n{}\n}}\n}}\n",
    ),
    "phpunit": (
        "tests/CartTest.php",
        "<?php\nclass CartTest extends TestCase {{\npublic function testTotal() {{\n{}\n}}\n}}\n",
    ),
    "xunit": (
        "tests/CartTests.cs",
        "class CartTests {{\n[Fact]\npublic void Total() {{\n{}\n}}\n}}\n",
    ),
    "nunit": (
        "tests/CartTests.cs",
        "class CartTests {{\n[Test]\npublic void Total() {{\n{}\n}}\n}}\n",
    ),
    "gtest": ("test/cart_test.cc", "TEST(Cart, Total) {{\n{}\n}}\n"),
    "catch2": ("test/cart_test.cpp", 'TEST_CASE("total") {{\n{}\n}}\n'),
    "check": ("tests/check_cart.c", "START_TEST(total)\n{{\n{}\n}}\nEND_TEST\n"),
    "rust": ("tests/cart.rs", "#[test]\nfn total() {{\n{}\n}}\n"),
    "rspec": ("spec/cart_spec.rb", "describe Cart do\n  it 'totals' do\n{}\n  end\nend\n"),
    "minitest": (
        "test/cart_test.rb",
        "class CartTest < Minitest::Test\n  def test_total\n{}\n  end\nend\n",
    ),
    "exunit": ("test/cart_test.exs", 'defmodule CartTest do\n  test "total" do\n{}\n  end\nend\n'),
    "perl": ("t/cart.t", "subtest 'total' => sub {{\n{}\n}};\ndone_testing;\n"),
    "busted": (
        "spec/cart_spec.lua",
        'describe("cart", function()\n  it("totals", function()\n{}\n  end)\nend)\n',
    ),
    "dart": ("test/cart_test.dart", "void main() {{\ntest('total', () {{\n{}\n}});\n}}\n"),
    "testthat": ("tests/testthat/test-cart.R", 'test_that("total", {{\n{}\n}})\n'),
    "bats": ("test/cart.bats", '@test "total" {{\n{}\n}}\n'),
    "shell": ("tests/cart_test.sh", "test_total() {{\n{}\n}}\n"),
    "tcl": ("tests/unit/cart.tcl", "test {{total}} {{\n{}\n}}\n"),
}

_TITLE = re.compile(r"(?P<framework>\w+): .+")


def read(tests: str, table: str) -> list[LabelledCommit]:
    """Return a commit for each change of a table, all with one label.

    A change is a line with the framework and what it does, and the lines of a case: those before
    begin with a minus, those after with a plus, the others with blanks.
    """
    changes: list[tuple[str, list[str]]] = []
    for line in table.strip("\n").splitlines():
        if _TITLE.fullmatch(line) and line[:2].strip(" +-"):
            changes.append((line, []))
        else:
            changes[-1][1].append(line)
    return [_commit(tests, title, lines) for title, lines in changes]


def read_diffs(tests: str, table: dict[str, str]) -> list[LabelledCommit]:
    """Return a commit for each diff of a table, all with one label."""
    return [_labelled(tests, title, read_diff(diff)[0]) for title, diff in table.items()]


def _commit(tests: str, title: str, lines: list[str]) -> LabelledCommit:
    path, frame = FRAMES[title.partition(":")[0]]
    return _labelled(
        tests, title, {path: (_written(frame, lines, "-"), _written(frame, lines, "+"))}
    )


def _labelled(tests: str, why: str, files: Files) -> LabelledCommit:
    return LabelledCommit(
        subject="Sort orders by date", files=files, claim="done", tests=tests, why=why
    )


def _written(frame: str, lines: list[str], sign: str) -> str:
    """Return the file with the lines of context and those with the sign."""
    kept = [f"  {line}".replace(f"  {sign}", "   ", 1) for line in lines if line[0] in (" ", sign)]
    return frame.format("\n".join(kept))
