"""Cases in which a number, or a value, became a limit or something that is there."""

from changed.case import read

WEAKER = r"""
gtest: a limit for a number
- EXPECT_EQ(cart.size(), 3u);
+ EXPECT_GE(cart.size(), 1u);
gtest: any but one
- ASSERT_EQ(cart.size(), 3u);
+ ASSERT_NE(cart.size(), 0u);
catch2: a limit for a number
- REQUIRE(cart.size() == 3);
+ REQUIRE(cart.size() >= 1);
check: a limit for a number
- ck_assert_int_eq(size(cart), 3);
+ ck_assert_int_ge(size(cart), 1);
junit: a limit for a number
- assertEquals(3, cart.size());
+ assertTrue(cart.size() >= 1);
junit: assertj: a limit
- assertThat(cart.size()).isEqualTo(3);
+ assertThat(cart.size()).isGreaterThan(0);
junit: assertj: something
- assertThat(cart.names()).hasSize(3);
+ assertThat(cart.names()).isNotEmpty();
junit: hamcrest: a limit
- assertThat(cart.size(), is(3));
+ assertThat(cart.size(), greaterThan(0));
kotlin: a limit for a number
- assertEquals(3, cart.size)
+ assertTrue(cart.size > 0)
kotlin: kotest: a limit
- cart.size shouldBe 3
+ cart.size shouldBeGreaterThan 0
scala: a limit for a number
- cart.size should be (3)
+ cart.size should be > 0
swift: a limit for a number
- XCTAssertEqual(cart.count, 3)
+ XCTAssertGreaterThan(cart.count, 0)
swift: something
- XCTAssertEqual(cart.name, "tea")
+ XCTAssertNotNil(cart.name)
phpunit: a limit for a number
- $this->assertCount(3, $cart->lines());
+ $this->assertGreaterThan(0, count($cart->lines()));
phpunit: something
- $this->assertSame('tea', $cart->name());
+ $this->assertNotEmpty($cart->name());
xunit: a limit for a number
- Assert.Equal(3, cart.Count);
+ Assert.True(cart.Count > 0);
xunit: something
- Assert.Equal(3, cart.Lines.Count);
+ Assert.NotEmpty(cart.Lines);
nunit: a limit for a number
- Assert.That(cart.Count, Is.EqualTo(3));
+ Assert.That(cart.Count, Is.GreaterThan(0));
nunit: fluent: a limit
- cart.Count.Should().Be(3);
+ cart.Count.Should().BeGreaterThan(0);
go: testify: a limit
- require.Equal(t, 3, cart.Len())
+ require.GreaterOrEqual(t, cart.Len(), 1)
go: testify: something
- assert.Len(t, cart.Lines(), 3)
+ assert.NotEmpty(t, cart.Lines())
go: a limit for a number
- if cart.Len() != 3 {
+ if cart.Len() < 1 {
      t.Fatal("no")
  }
rust: a limit for a number
- assert_eq!(cart.len(), 3);
+ assert!(cart.len() >= 1);
rust: no error is enough
- assert_eq!(cart.total(), Ok(14));
+ assert!(cart.total().is_ok());
rspec: a limit for a number
- expect(cart.size).to eq 3
+ expect(cart.size).to be > 0
rspec: a limit by a name
- expect(cart.size).to eq(3)
+ expect(cart.size).to be_positive
minitest: a limit for a number
- assert_equal 3, cart.size
+ assert_operator cart.size, :>, 0
minitest: something
- assert_equal ['tea'], cart.names
+ refute_empty cart.names
exunit: a limit for a number
- assert Cart.size(cart) == 3
+ assert Cart.size(cart) > 0
exunit: any value
- assert Cart.total(cart) == {:ok, 14}
+ assert {:ok, _} = Cart.total(cart)
perl: a limit for a number
- is($cart->size, 3, 'size');
+ cmp_ok($cart->size, '>', 0, 'size');
perl: something
- is($cart->name, 'tea', 'name');
+ ok($cart->name, 'name');
busted: a limit for a number
- assert.are.equal(3, #cart.lines)
+ assert.is_true(#cart.lines > 0)
busted: something
- assert.are.same({ 'tea' }, cart.names)
+ assert.is_not_nil(cart.names)
dart: a limit for a number
- expect(cart.length, 3);
+ expect(cart.length, greaterThan(0));
dart: something
- expect(cart.name, equals('tea'));
+ expect(cart.name, isNotNull);
testthat: a limit for a number
- expect_equal(size(cart), 3)
+ expect_gt(size(cart), 0)
testthat: something
- expect_equal(size(cart), 3)
+ expect_true(size(cart) > 0)
jest: a limit for a number
- expect(cart.size).toBe(3);
+ expect(cart.size).toBeGreaterThan(0);
chai: a limit for a number
- expect(cart.size).to.equal(3);
+ expect(cart.size).to.be.above(0);
chai: something
- cart.names.should.deep.equal(['tea']);
+ cart.names.should.not.be.empty;
node: a limit for a number
- assert.strictEqual(cart.size, 3);
+ assert.ok(cart.size > 0);
ava: a limit for a number
- t.is(cart.size, 3);
+ t.true(cart.size > 0);
bats: a limit for a number
- [ "$count" -eq 3 ]
+ [ "$count" -ge 1 ]
bats: something
- [ "$output" = "tea" ]
+ [ -n "$output" ]
shell: a limit for a number
- assertEquals 3 "$count"
+ assertTrue "[ $count -gt 0 ]"
"""

AS_STRICT = r"""
gtest: another number
- EXPECT_EQ(cart.size(), 3u);
+ EXPECT_EQ(cart.size(), 4u);
gtest: a number for a limit
- EXPECT_GE(cart.size(), 1u);
+ EXPECT_EQ(cart.size(), 3u);
gtest: other spelling
- EXPECT_EQ(cart.size(), 3u);
+ EXPECT_THAT(cart.size(), Eq(3u));
dart: another number
- expect(cart.length, 3);
+ expect(cart.length, 4);
bats: another number
- [ "$count" -eq 3 ]
+ [ "$count" -eq 4 ]
exunit: turned round
- assert 3 == Cart.size(cart)
+ assert Cart.size(cart) == 3
"""

COMMITS = (*read("weakened", WEAKER), *read("kept", AS_STRICT))
