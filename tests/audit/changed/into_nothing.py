"""Cases whose checks became comments, or only read."""

from changed.case import read

WEAKER = r"""
kotlin: read and not compared
- assertEquals(14, cart.total())
+ cart.total()
exunit: read and not compared
- assert Cart.total(cart) == 14
+ Cart.total(cart)
perl: read and not compared
- is($cart->total, 14, 'total');
+ $cart->total;
dart: read and not compared
- expect(cart.total, 14);
+ cart.total;
testthat: read and not compared
- expect_equal(total(cart), 14)
+ total(cart)
busted: read and not compared
- assert.are.equal(14, cart.total)
+ local total = cart.total
bats: printed and not compared
- [ "$output" = "tea" ]
+ echo "$output"
exunit: in a comment
- assert Cart.total(cart) == 14
+ # assert Cart.total(cart) == 14
  assert Cart.open?(cart)
busted: in a comment
- assert.are.equal(14, cart.total)
+ -- assert.are.equal(14, cart.total)
  assert.is_true(cart.open)
perl: in a comment
- is($cart->total, 14, 'total');
+ # is($cart->total, 14, 'total');
  ok($cart->open, 'open');
testthat: in a comment
- expect_equal(total(cart), 14)
+ # expect_equal(total(cart), 14)
  expect_true(open(cart))
phpunit: in a comment
- $this->assertSame(14, $cart->total());
+ # $this->assertSame(14, $cart->total());
  $this->assertTrue($cart->open());
tcl: in a comment
- assert_equal 14 [cart total]
+ # assert_equal 14 [cart total]
  assert {[cart open]}
swift: in a comment
- XCTAssertEqual(cart.total, 14)
+ /* XCTAssertEqual(cart.total, 14) */
  XCTAssertTrue(cart.isOpen)
bats: in a comment
  [ "$status" -eq 0 ]
- [ "$output" = "tea" ]
+ # [ "$output" = "tea" ]
"""

AS_STRICT = r"""
exunit: a comment less
- # assert Cart.total(cart) == 14
  assert Cart.open?(cart)
busted: a comment less
- -- assert.are.equal(14, cart.total)
  assert.is_true(cart.open)
"""

COMMITS = (*read("weakened", WEAKER), *read("kept", AS_STRICT))
