"""Cases and rows that came, moved or changed, and none that is lost."""

from changed.case import read_diffs

AS_STRICT = {
    "busted: a case more": """
spec/cart_spec.lua
 describe("cart", function()
   it("totals", function()
     assert.are.equal(14, cart.total(7, 7))
   end)
+  it("sorts by date", function()
+    assert.are.same({ 1, 2 }, cart.sorted())
+  end)
 end)
""",
    "Perl: laid out anew": """
t/cart.t
 use Test::More;

-is(total(7, 7), 14, 'total');
+is(
+    total(7, 7),
+    14,
+    'total'
+);
 done_testing;
""",
    "testthat: renamed": """
tests/testthat/test-cart.R
-test_that("totals", {
+test_that("orders add up", {
   expect_equal(total(7, 7), 14)
 })
""",
    "Vitest: calls became rows": """
src/cart.test.ts
-test("prices", () => {
-  expect(postage(1)).toBe("2.50");
-  expect(postage(5)).toBe("4.00");
-});
+test.each([
+  [1, "2.50"],
+  [5, "4.00"],
+])("price of %i", (weight, price) => {
+  expect(postage(weight)).toBe(price);
+});
""",
    "Go: another value in a row": """
cart_test.go
 package cart

 func TestPrices(t *testing.T) {
     for name, c := range map[string]struct {
         weight int
         price  string
     }{
         "light":  {1, "2.50"},
-        "medium": {5, "4.00"},
+        "medium": {5, "4.20"},
         "heavy":  {30, "19.90"},
     } {
         assert.Equal(t, c.price, Postage(c.weight), name)
     }
 }
""",
    "Go: a row that moved, with another value": """
cart_test.go
 package cart

 func TestPrices(t *testing.T) {
     for name, c := range map[string]struct {
         weight int
         price  string
     }{
-        "medium": {5, "4.00"},
         "light":  {1, "2.50"},
+        "medium": {5, "4.20"},
         "heavy":  {30, "19.90"},
     } {
         assert.Equal(t, c.price, Postage(c.weight), name)
     }
 }
""",
    "xUnit: a row more": """
tests/CartTests.cs
 public class CartTests
 {
     [Theory]
     [InlineData(1, "2.50")]
+    [InlineData(5, "4.00")]
     public void Prices(int weight, string price)
     {
         Assert.Equal(price, Postage(weight));
     }
 }
""",
    "tcltest: a case more": """
tests/cart.test
 test total-1.0 {two lines} -body {
     cart::total {7 7}
 } -result 14

+test total-1.1 {no lines} -body {
+    cart::total {}
+} -result 0
+
 cleanupTests
""",
    "Rust: one panic for any": """
tests/cart.rs
 #[test]
-#[should_panic]
+#[should_panic(expected = "negative count")]
 fn refuses_a_negative_count() {
     add(-1);
 }
""",
    "Catch2: a section more": """
test/cart_test.cpp
 TEST_CASE("cart") {
     Cart cart;
     SECTION("totals") {
         REQUIRE(cart.total() == 0);
     }
+    SECTION("refuses a negative count") {
+        REQUIRE_THROWS_AS(cart.add(-1), CountError);
+    }
 }
""",
}

COMMITS = read_diffs("kept", AS_STRICT)
