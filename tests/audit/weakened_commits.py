"""Small commits by language, each weaker one beside one that only looks like it."""

from labelled_commit import LabelledCommit


def change(
    tests: str, why: str, path: str, old: str | None, new: str | None, **more
) -> LabelledCommit:
    """A commit that changes one test file; `code` is what else it changes."""
    code = more.pop("code", {})
    files = {path: (old, new), **code}
    subject = more.pop("subject", "Sort orders by date")
    return LabelledCommit(subject=subject, files=files, claim="done", tests=tests, why=why, **more)


def weakened(why: str, path: str, old: str | None, new: str | None, **more) -> LabelledCommit:
    return change("weakened", why, path, old, new, **more)


def kept(why: str, path: str, old: str | None, new: str | None, **more) -> LabelledCommit:
    return change("kept", why, path, old, new, **more)


PY = "tests/test_orders.py"
TOTAL = """def test_total(cart):
    cart.add("tea", 2)
    assert cart.total() == 14
    assert cart.names() == ["tea"]
"""
EMPTY = """def test_an_empty_cart_costs_nothing():
    assert Cart().total() == 0
"""
SHIPPED = """def test_shipping_is_free_above_fifty(cart):
    cart.add("rug", 1)
    assert cart.shipping() == Money("0.00")
"""
PRICES = """@pytest.mark.parametrize(
    ("weight", "price"),
    [
        (1, "2.50"),
        (5, "4.00"),
        (30, "19.90"),
    ],
)
def test_prices(weight, price):
    assert postage(weight) == Money(price)
"""
CODE = (
    "def total(self):\n    return sum(self.lines)\n\ndef gift_wrap(self):\n    return self.paper\n"
)
WRAP = 'def test_a_gift_is_wrapped(cart):\n    assert cart.gift_wrap() == "red"\n'
PYTHON = [
    weakened("its own case is no other one", PY, TOTAL + EMPTY, TOTAL + SHIPPED),
    kept("renamed and reordered", PY, TOTAL + EMPTY, EMPTY + TOTAL.replace("_total(", "_sum(")),
    weakened("the second hides the first", PY, TOTAL + EMPTY, TOTAL + EMPTY + EMPTY.replace(
        "test_an_empty_cart_costs_nothing()", "test_total()").replace("0", "1")),
    weakened("one word of a message", PY, 'def test_help():\n    assert out == "usage: a b"\n',
        'def test_help():\n    assert "usage" in out\n'),
    kept("other quotes", PY, TOTAL, TOTAL.replace('"tea"', "'tea'")),
    kept("another value of the same", PY, TOTAL, TOTAL.replace("14", "15")),
    kept("wrapped over lines", PY, TOTAL, TOTAL.replace(
        'cart.names() == ["tea"]', '(\n        cart.names()\n        == ["tea"]\n    )')),
    weakened("any error will do", PY,
        'def test_bad():\n    with pytest.raises(ValueError):\n        read("x")\n',
        'def test_bad():\n    with pytest.raises(Exception):\n        read("x")\n'),
    kept("another error of a kind", PY,
        'def test_bad():\n    with pytest.raises(ValueError):\n        read("x")\n',
        'def test_bad():\n    with pytest.raises(ReadError):\n        read("x")\n'),
    weakened("any message will do", PY,
        'def test_bad():\n    with pytest.raises(ValueError, match="no x"):\n        read("x")\n',
        'def test_bad():\n    with pytest.raises(ValueError):\n        read("x")\n'),
    weakened("a row less", PY, PRICES, PRICES.replace('        (30, "19.90"),\n', "")),
    kept("a row laid out anew", PY, PRICES, PRICES.replace(
        '(30, "19.90"),', '(\n            30,\n            "19.90",\n        ),')),
    kept("rows for calls", PY,
        "def test_p():\n    assert postage(1) == 2\n    assert postage(5) == 4\n",
        '@pytest.mark.parametrize(("w", "p"), [(1, 2), (5, 4)])\ndef test_p(w, p):\n'
        "    assert postage(w) == p\n"),
    weakened("a value more is accepted", PY, TOTAL, TOTAL.replace("== 14", "in (14, 15)")),
    weakened("a lower limit", PY, TOTAL, TOTAL.replace("== 14", ">= 1")),
    weakened("a wider limit", PY, TOTAL.replace("== 14", "< 20"), TOTAL.replace("== 14", "< 90")),
    kept("a narrower limit", PY, TOTAL.replace("== 14", "< 90"), TOTAL.replace("== 14", "< 20")),
    weakened("read and not compared", PY, TOTAL, TOTAL.replace("assert cart.total() == 14",
        "cart.total()")),
    kept("several things at once", PY, TOTAL, TOTAL.replace(
        '14\n    assert cart.names() == ["tea"]', '14 and cart.names() == ["tea"]')),
    weakened("one of several things", PY, 'def test_t():\n    assert a() == 1 and b() == 2\n',
        "def test_t():\n    assert a() == 1\n"),
    kept("the check is in a helper", PY, TOTAL,
        'def has_one(cart):\n    assert cart.total() == 14\n    assert cart.names() == ["tea"]\n\n'
        'def test_total(cart):\n    cart.add("tea", 2)\n'
        "    has_one(cart)\n"),
    weakened("the helper's check is gone", PY,
        "def has_one(cart):\n    assert cart.total() == 14\n    return cart\n\n"
        "def test_total(cart):\n    has_one(cart)\n",
        "def has_one(cart):\n    return cart\n\ndef test_total(cart):\n    has_one(cart)\n"),
    kept("the whole for its parts", PY,
        'def test_notes():\n    notes = " ".join(read())\n    assert "one" in notes\n'
        '    assert "two" in notes\n',
        'def test_notes():\n    notes = read()\n    assert notes == ["one", "two"]\n'),
    kept("a helper of its own", PY, TOTAL + EMPTY, TOTAL.replace(
        '14\n    assert cart.names() == ["tea"]\n', "14\n    is_named(cart, 'tea')\n") + EMPTY
        + "def is_named(cart, *names):\n    assert cart.names() == list(names)\n"),
    kept("renamed and written anew", PY,
        EMPTY + "def test_a_cart_that_rests_for_long_costs_nothing(clock):\n    clock.wait(60)\n"
        "    assert Cart().fee() == 0\n",
        EMPTY + "def test_carts_that_rest_for_long_cost_nothing():\n    carts = [Cart(), Cart()]\n"
        "    assert {cart.price for cart in carts} == {0}\n"),
    kept("a golden file says more", PY, TOTAL, TOTAL.replace(
        'assert cart.total() == 14\n    assert cart.names() == ["tea"]',
        "file_regression.check(cart.text())")),
    kept("it goes with its code", PY, TOTAL + WRAP, TOTAL, subject="Sell no paper any more",
        code={"src/cart.py": (CODE, CODE.partition("\n\ndef")[0] + "\n")}),
    weakened("its code is still there", PY, TOTAL + WRAP, TOTAL, subject="Remove gift wrap",
        code={"src/cart.py": (CODE, CODE.replace("sum", "fsum"))}),
    kept("a change is taken back", PY, TOTAL + WRAP, TOTAL, subject="Revert adding gift paper",
        code={"src/cart.py": (CODE, CODE.replace("return self.paper", "return None"))}),
    weakened("nothing is taken back", PY, TOTAL + WRAP, TOTAL, subject="Revert adding gifts"),
    weakened("another case goes with it", PY, TOTAL + EMPTY + WRAP, EMPTY,
        subject="Revert adding gift paper",
        code={"src/cart.py": (CODE, CODE.replace("return self.paper", "return None"))}),
    weakened("the case is not there", PY, TOTAL + EMPTY, TOTAL + EMPTY + "del test_total\n"),
    weakened("its class is passed over", PY, f"class TestCarts:\n    {EMPTY}".replace(
        "    assert", "        assert").replace("nothing()", "nothing(self)"),
        f"class Carts:\n    {EMPTY}".replace("    assert", "        assert").replace(
        "nothing()", "nothing(self)")),
    kept("a query for only some columns", PY, TOTAL, TOTAL.replace(
        "    cart.add", "    Order.objects.only('id')\n    cart.add")),
    kept("one platform only", PY, TOTAL, "@pytest.mark.skipif(sys.platform == 'win32', "
        f"reason='no sockets')\n{TOTAL}"),
]  # fmt: skip

SCRIPT = "test/orders.test.ts"
AVA = """import test from 'ava';
test('adds up', async t => {
	const cart = await open({
		lines: [1, 2],
	});
	t.is(cart.total, 3);
	t.deepEqual(cart.names, {
		first: 'tea',
	});
});
test('is empty', t => {
	t.true(cart.empty);
});
"""
SCRIPTS = [
    weakened("commented out", SCRIPT, AVA, AVA.replace("\tt.true", "\t// t.true")),
    weakened("only one runs", SCRIPT, AVA, AVA.replace("test('adds", "test.only('adds")),
    weakened("skipped by an option", SCRIPT, AVA, AVA.replace(
        "'is empty', ", "'is empty', {skip: true}, ")),
    weakened("expected to fail", SCRIPT, AVA, AVA.replace("test('adds", "test.failing('adds")),
    weakened("a case in a comment", SCRIPT, AVA, AVA.replace(
        "test('is", "/*\ntest('is").replace("empty);\n});\n", "empty);\n});\n*/\n")),
    kept("laid out anew", SCRIPT, AVA, AVA.replace("\t", "  ").replace(
        "{\n    first: 'tea',\n  }", "{first: 'tea'}")),
    kept("renamed", SCRIPT, AVA, AVA.replace("'adds up'", "'sums up'")),
]  # fmt: skip

GO = """package orders

func TestTotal(t *testing.T) {
	cart := open()
	if cart.Total() != 14 {
		t.Errorf("got %d", cart.Total())
	}
	if err := cart.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPrices(t *testing.T) {
	for _, c := range []struct {
		weight int
		price  string
	}{
		{1, "2.50"},
		{5, "4.00"},
	} {
		if got := postage(c.weight); got != c.price {
			t.Errorf("%d: %s", c.weight, got)
		}
	}
}
"""
CHECK = '\tif cart.Total() != 14 {\n\t\tt.Errorf("got %d", cart.Total())\n\t}\n'
GOES = [
    weakened("the check around a failure", "orders_test.go", GO, GO.replace(CHECK, "")),
    kept("another failure message", "orders_test.go", GO, GO.replace("got %d", "total is %d")),
    weakened("it only logs", "orders_test.go", GO, GO.replace("t.Errorf(\"got", "t.Logf(\"got")),
    weakened("a row less", "orders_test.go", GO, GO.replace('\t\t{5, "4.00"},\n', "")),
    kept("a row more", "orders_test.go", GO, GO.replace(
        '\t\t{5, "4.00"},\n', '\t\t{5, "4.00"},\n\t\t{9, "7.00"},\n')),
]  # fmt: skip

TCL = """start_server {} {
    test {Streams are trimmed} {
        r trim s 85
        assert_equal 89 [r len s]
        assert {[r first s] == 4}
    }

    test {Streams have a type} {
        r type s
    } {stream}

    foreach size {1 10 100} {
        test "Streams of $size" {
            assert_equal $size [r fill s $size]
        }
    }
}
"""
TCLS = [
    weakened("a case less", "tests/unit/stream.tcl", TCL, TCL.replace(
        "    test {Streams have a type} {\n        r type s\n    } {stream}\n", "")),
    weakened("not compared", "tests/unit/stream.tcl", TCL, TCL.replace(
        "assert_equal 89 [r len s]", "r len s")),
    weakened("a lower limit", "tests/unit/stream.tcl", TCL, TCL.replace("== 4", ">= 1")),
    weakened("nothing expected", "tests/unit/stream.tcl", TCL, TCL.replace("} {stream}", "}")),
    weakened("the file", "tests/unit/stream.tcl", TCL, None),
    kept("another number", "tests/unit/stream.tcl", TCL, TCL.replace("89", "91")),
    kept("moved", "tests/unit/stream.tcl", TCL, None, code={"tests/type/stream.tcl": (None, TCL)}),
]  # fmt: skip

JUNIT = "src/test/java/OrdersTest.java"
JAVA = """public class OrdersTest extends TestCase {
    @Test
    public void testTotal() throws Exception {
        Cart cart = open();
        assertEquals("the total", 14,
            cart.total());
        try {
            cart.add(null);
            fail("nothing was added");
        } catch (NullPointerException e) {
            assertNotNull(e.getMessage());
        }
    }

    @Test(timeout = 1000)
    public void testNames()
        throws IOException,
            InterruptedException {
        assertThat(open().names()).isEqualTo(List.of("tea"));
    }
}
"""
JAVAS = [
    weakened("disabled by its full name", JUNIT, JAVA, JAVA.replace(
        "    @Test(", "    @org.junit.jupiter.api.Disabled\n    @Test(")),
    weakened("there is something", JUNIT, JAVA, JAVA.replace(
        'assertEquals("the total", 14,\n            cart.total());',
        "assertNotNull(cart.total());")),
    weakened("a whole scenario", JUNIT, JAVA,
        JAVA[: JAVA.index("        try")] + JAVA[JAVA.index("    }\n\n    @Test(") :]),
    weakened("the last of a case", JUNIT, JAVA, JAVA.replace(
        'assertThat(open().names()).isEqualTo(List.of("tea"));', "open().names();")),
    kept("on one line", JUNIT, JAVA, JAVA.replace(",\n            c", ", c")),
    kept("another message", JUNIT, JAVA, JAVA.replace("the total", "sum")),
]  # fmt: skip

CPP = """class OrdersTest : public CPPUNIT_NS::TestFixture {
    CPPUNIT_TEST_SUITE(OrdersTest);
    CPPUNIT_TEST(testTotal);
    CPPUNIT_TEST(testNames);
    CPPUNIT_TEST_SUITE_END();
  public:
    void testTotal() {
        CPPUNIT_ASSERT_EQUAL(14, cart.total());
        CPPUNIT_ASSERT(cart.open());
    }
    void testNames() {
        CPPUNIT_ASSERT_EQUAL(std::string("tea"), cart.name());
    }
};
"""
C = """int main(void) {
    struct cart *cart = open_cart();
    assert(total(cart) == 14);
    test_cond("one name", count(cart) == 1);
    /* Assertion failed: never */
    return 0;
}
"""
NATIVES = [
    weakened("not registered", "tests/OrdersTest.cc", CPP, CPP.replace(
        "    CPPUNIT_TEST(testNames);\n", "")),
    weakened("an assertion less", "tests/OrdersTest.cc", CPP, CPP.replace(
        "        CPPUNIT_ASSERT(cart.open());\n", "")),
    weakened("a plain assert less", "tests/orders.c", C, C.replace(
        "    assert(total(cart) == 14);\n", "")),
    weakened("a macro less", "tests/orders.c", C, C.replace(
        '    test_cond("one name", count(cart) == 1);\n', "")),
    kept("a comment less", "tests/orders.c", C, C.replace(
        "    /* Assertion failed: never */\n", "")),
]  # fmt: skip

RUBY = """describe Cart do
  it 'adds up' do
    cart.add 'tea', 2
    expect(cart.total).to eq 14
    assert_equal ['tea'], cart.names
  end

  %w[red green blue].each do |paper|
    it "wraps in #{paper}" do
      assert_includes cart.papers, paper
    end
  end

  should 'be empty' do
    assert cart.empty?
  end
end
"""
RUBIES = [
    weakened("pending", "spec/cart_spec.rb", RUBY, RUBY.replace(
        "    cart.add 'tea', 2\n", "    pending\n    cart.add 'tea', 2\n")),
    weakened("a row less", "spec/cart_spec.rb", RUBY, RUBY.replace("green ", "")),
    weakened("a case less", "spec/cart_spec.rb", RUBY, RUBY.replace(
        "  should 'be empty' do\n    assert cart.empty?\n  end\n", "")),
    weakened("an assertion less", "spec/cart_spec.rb", RUBY, RUBY.replace(
        "    assert_equal ['tea'], cart.names\n", "")),
    kept("more is done before", "spec/cart_spec.rb", RUBY, RUBY.replace(
        "    cart.add", "    cart.clear\n    cart.add")),
]  # fmt: skip

RUST = """#[test]
fn adds_up() {
    cart()
        .add("tea")
        .assert()
        .success()
        .stdout(contains("14"));
}

#[test]
#[should_panic(expected = "no tea")]
fn refuses() {
    cart().take("tea");
    assert_eq!(cart().total(), 0);
}

#[rstest]
#[case(1, 2)]
#[case(5, 4)]
fn prices(#[case] weight: u32, #[case] price: u32) {
    assert_eq!(postage(weight), price);
}
"""
RUSTS = [
    weakened("ignored", "tests/cart.rs", RUST, RUST.replace("fn adds", "#[ignore]\nfn adds")),
    weakened("a row less", "tests/cart.rs", RUST, RUST.replace("#[case(5, 4)]\n", "")),
    weakened("a case less", "tests/cart.rs", RUST, RUST[RUST.index("#[test]\n#[should") :]),
    kept("turned round where it stands", "tests/cart.rs", RUST, RUST.replace(
        "adds_up", "cannot_add").replace(".success()", ".failure()")),
]  # fmt: skip

OTHERS = [
    weakened("Kotlin: a case less", "src/test/kotlin/CartTest.kt",
        "class CartTest {\n  @Test\n  fun `adds up`() = runTest {\n    assertEquals(14, total())\n"
        "  }\n  @Test\n  fun `is empty`() {\n    assertTrue(empty())\n  }\n}\n",
        "class CartTest {\n  @Test\n  fun `adds up`() = runTest {\n    assertEquals(14, total())\n"
        "  }\n}\n"),
    weakened("PHP: skipped", "tests/CartTest.php",
        "<?php\nclass CartTest extends TestCase {\n  public function testTotal(): void {\n"
        "    $this->assertSame(14, total());\n  }\n}\n",
        "<?php\nclass CartTest extends TestCase {\n  public function testTotal(): void {\n"
        "    $this->markTestSkipped('later');\n    $this->assertSame(14, total());\n  }\n}\n"),
    weakened("Swift: an assertion less", "Tests/CartTests.swift",
        "final class CartTests: XCTestCase {\n  func testTotal() {\n"
        "    XCTAssertEqual(14, total())\n    XCTAssertTrue(isOpen)\n  }\n}\n",
        "final class CartTests: XCTestCase {\n  func testTotal() {\n    XCTAssertTrue(isOpen)\n"
        "  }\n}\n"),
    weakened("Bats: a case less", "tests/cart.bats",
        '@test "adds up" {\n  run total\n  [ "$output" = 14 ]\n}\n\n@test "is empty" {\n'
        '  run empty\n  [ "$status" -eq 0 ]\n}\n',
        '@test "adds up" {\n  run total\n  [ "$output" = 14 ]\n}\n'),
    weakened("a language that nobody reads", "tests/cart_test.exs", "test x do\nend\n", None),
]  # fmt: skip

COMMITS = [
    *PYTHON, *SCRIPTS, *GOES, *TCLS, *JAVAS, *NATIVES, *RUBIES, *RUSTS, *OTHERS,
]  # fmt: skip
