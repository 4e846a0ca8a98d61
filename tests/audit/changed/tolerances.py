"""Cases in which a tolerance, or only the time to wait, changed."""

from changed.case import read

WEAKER = r"""
tcl: a hundred times as wide
- assert {abs($got - 20.3667) < 0.001}
+ assert {abs($got - 20.3667) < 0.1}
pytest: a wider share
- assert cart.total() == pytest.approx(14.2, rel=1e-6)
+ assert cart.total() == pytest.approx(14.2, rel=1e-2)
pytest: fewer places
- self.assertAlmostEqual(cart.total(), 14.2, places=6)
+ self.assertAlmostEqual(cart.total(), 14.2, places=1)
gtest: a wider distance
- EXPECT_NEAR(cart.total(), 14.2, 0.001);
+ EXPECT_NEAR(cart.total(), 14.2, 0.5);
catch2: a wider margin
- REQUIRE(cart.total() == Approx(14.2).margin(0.001));
+ REQUIRE(cart.total() == Approx(14.2).margin(0.5));
junit: a wider delta
- assertEquals(14.2, cart.total(), 0.001);
+ assertEquals(14.2, cart.total(), 0.5);
junit: assertj: a wider offset
- assertThat(cart.total()).isCloseTo(14.2, within(0.001));
+ assertThat(cart.total()).isCloseTo(14.2, within(0.5));
junit: hamcrest: a wider distance
- assertThat(cart.total(), closeTo(14.2, 0.001));
+ assertThat(cart.total(), closeTo(14.2, 0.5));
go: testify: a wider delta
- assert.InDelta(t, 14.2, cart.Total(), 0.001)
+ assert.InDelta(t, 14.2, cart.Total(), 0.5)
go: a wider distance
- if math.Abs(cart.Total()-14.2) > 0.001 {
+ if math.Abs(cart.Total()-14.2) > 0.5 {
      t.Fatal("no")
  }
phpunit: a wider delta
- $this->assertEqualsWithDelta(14.2, $cart->total(), 0.001);
+ $this->assertEqualsWithDelta(14.2, $cart->total(), 0.5);
xunit: fewer digits
- Assert.Equal(14.2, cart.Total, 6);
+ Assert.Equal(14.2, cart.Total, 1);
nunit: a wider distance
- Assert.That(cart.Total, Is.EqualTo(14.2).Within(0.001));
+ Assert.That(cart.Total, Is.EqualTo(14.2).Within(0.5));
swift: a wider accuracy
- XCTAssertEqual(cart.total, 14.2, accuracy: 0.001)
+ XCTAssertEqual(cart.total, 14.2, accuracy: 0.5)
rspec: a wider distance
- expect(cart.total).to be_within(0.001).of(14.2)
+ expect(cart.total).to be_within(0.5).of(14.2)
minitest: a wider delta
- assert_in_delta 14.2, cart.total, 0.001
+ assert_in_delta 14.2, cart.total, 0.5
exunit: a wider delta
- assert_in_delta Cart.total(cart), 14.2, 0.001
+ assert_in_delta Cart.total(cart), 14.2, 0.5
jest: fewer places
- expect(cart.total).toBeCloseTo(14.2, 5);
+ expect(cart.total).toBeCloseTo(14.2, 1);
chai: a wider delta
- expect(cart.total).to.be.closeTo(14.2, 0.001);
+ expect(cart.total).to.be.closeTo(14.2, 0.5);
dart: a wider delta
- expect(cart.total, closeTo(14.2, 0.001));
+ expect(cart.total, closeTo(14.2, 0.5));
testthat: a wider tolerance
- expect_equal(total(cart), 14.2, tolerance = 0.001)
+ expect_equal(total(cart), 14.2, tolerance = 0.5)
rust: a wider distance
- assert!((cart.total() - 14.2).abs() < 0.001);
+ assert!((cart.total() - 14.2).abs() < 0.5);
busted: a wider distance
- assert.near(14.2, cart.total, 0.001)
+ assert.near(14.2, cart.total, 0.5)
"""

AS_STRICT = r"""
gtest: a narrower distance
- EXPECT_NEAR(cart.total(), 14.2, 0.5);
+ EXPECT_NEAR(cart.total(), 14.2, 0.001);
junit: another value
- assertEquals(14.2, cart.total(), 0.001);
+ assertEquals(15.7, cart.total(), 0.001);
jest: more places
- expect(cart.total).toBeCloseTo(14.2, 1);
+ expect(cart.total).toBeCloseTo(14.2, 5);
jest: more time
- await expect.poll(() => cart.total, { timeout: 100 }).toBe(14);
+ await expect.poll(() => cart.total, { timeout: 5000 }).toBe(14);
junit: more time
- await().atMost(5, SECONDS).until(() -> cart.isOpen());
+ await().atMost(50, SECONDS).until(() -> cart.isOpen());
  assertEquals(3, cart.size());
go: testify: more time
- require.Eventually(t, cart.IsOpen, 1*time.Second, 10*time.Millisecond)
+ require.Eventually(t, cart.IsOpen, 9*time.Second, 10*time.Millisecond)
exunit: more time
- assert_receive {:total, 14}, 100
+ assert_receive {:total, 14}, 500
"""

COMMITS = (*read("weakened", WEAKER), *read("kept", AS_STRICT))
