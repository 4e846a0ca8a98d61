"""Cases whose checks are spelled by another library, or compare a whole for its parts."""

from changed.case import read

WEAKER = r"""
junit: assertj: the order is not asked for
- assertEquals(2, cart.names().size());
- assertEquals("tea", cart.names().get(0));
- assertEquals("cup", cart.names().get(1));
+ assertThat(cart.names()).contains("tea");
go: testify: something
- if cart.Total() != 14 {
-     t.Errorf("got %d", cart.Total())
- }
+ require.NotZero(t, cart.Total())
jest: one of two
- expect(cart.names.length).toBe(2);
- expect(cart.names[0]).toBe('tea');
- expect(cart.names[1]).toBe('cup');
+ expect(cart.names).toContain('tea');
swift: testing: something
- XCTAssertEqual(cart.total, 14)
+ #expect(cart.total != nil)
"""

AS_STRICT = r"""
go: testify for a condition
- if cart.Total() != 14 {
-     t.Errorf("got %d", cart.Total())
- }
+ require.Equal(t, 14, cart.Total())
go: testify for an error
- if err := cart.Close(); err != nil {
-     t.Fatal(err)
- }
+ require.NoError(t, cart.Close())
go: testify for one error
- if err := cart.Close(); err != ErrOpen {
-     t.Fatal(err)
- }
+ require.ErrorIs(t, cart.Close(), ErrOpen)
go: is for testify
- require.Equal(t, 14, cart.Total())
+ is.Equal(cart.Total(), 14)
go: a comparer
- if !reflect.DeepEqual(cart.Names(), want) {
-     t.Fatal(cart.Names())
+ if diff := cmp.Diff(want, cart.Names()); diff != "" {
+     t.Fatal(diff)
  }
junit: assertj
- assertEquals(14, cart.total());
- assertTrue(cart.isOpen());
- assertNull(cart.owner());
+ assertThat(cart.total()).isEqualTo(14);
+ assertThat(cart.isOpen()).isTrue();
+ assertThat(cart.owner()).isNull();
junit: assertj: the whole list
- assertEquals(2, cart.names().size());
- assertEquals("tea", cart.names().get(0));
- assertEquals("cup", cart.names().get(1));
+ assertThat(cart.names()).containsExactly("tea", "cup");
junit: hamcrest
- assertEquals(14, cart.total());
+ assertThat(cart.total(), is(14));
junit: hamcrest for contains
- assertTrue(cart.names().contains("tea"));
+ assertThat(cart.names(), hasItem("tea"));
kotlin: kotest
- assertEquals(14, cart.total())
+ cart.total() shouldBe 14
kotlin: truth
- assertEquals(14, cart.total())
+ assertThat(cart.total()).isEqualTo(14)
xunit: fluent
- Assert.Equal(14, cart.Total);
- Assert.True(cart.IsOpen);
+ cart.Total.Should().Be(14);
+ cart.IsOpen.Should().BeTrue();
nunit: that
- Assert.AreEqual(14, cart.Total);
+ Assert.That(cart.Total, Is.EqualTo(14));
jest: the whole list
- expect(cart.names.length).toBe(2);
- expect(cart.names[0]).toBe('tea');
- expect(cart.names[1]).toBe('cup');
+ expect(cart.names).toEqual(['tea', 'cup']);
jest: assert for expect
- expect(cart.total).toBe(14);
+ assert.strictEqual(cart.total, 14);
chai: should for assert
- assert.equal(cart.total, 14);
+ cart.total.should.equal(14);
node: assert for ava
- t.is(cart.total, 14);
- t.deepEqual(cart.names, ['tea']);
+ assert.equal(cart.total, 14);
+ assert.deepStrictEqual(cart.names, ['tea']);
rspec: expect for should
- cart.total.should == 14
+ expect(cart.total).to eq(14)
rspec: the whole list
- expect(cart.names.size).to eq(2)
- expect(cart.names[0]).to eq('tea')
- expect(cart.names[1]).to eq('cup')
+ expect(cart.names).to eq(['tea', 'cup'])
minitest: expectations
- assert_equal 14, cart.total
+ _(cart.total).must_equal 14
pytest: from unittest
- self.assertEqual(cart.total(), 14)
- self.assertTrue(cart.is_open())
- self.assertIn('tea', cart.names())
+ assert cart.total() == 14
+ assert cart.is_open()
+ assert 'tea' in cart.names()
pytest: the whole list
- assert len(cart.names()) == 2
- assert cart.names()[0] == 'tea'
- assert cart.names()[1] == 'cup'
+ assert cart.names() == ['tea', 'cup']
phpunit: pest
- $this->assertSame(14, $cart->total());
+ expect($cart->total())->toBe(14);
gtest: from plain assert
- assert(cart.total() == 14);
+ EXPECT_EQ(cart.total(), 14);
catch2: from gtest
- EXPECT_EQ(cart.total(), 14);
+ REQUIRE(cart.total() == 14);
rust: pretty
- assert!(cart.total() == 14);
+ assert_eq!(cart.total(), 14);
swift: testing
- XCTAssertEqual(cart.total, 14)
- XCTAssertTrue(cart.isOpen)
+ #expect(cart.total == 14)
+ #expect(cart.isOpen)
scala: should
- assert(cart.total == 14)
+ cart.total shouldBe 14
dart: equals named
- expect(cart.total, 14);
+ expect(cart.total, equals(14));
perl: is for ok
- ok($cart->total == 14, 'total');
+ is($cart->total, 14, 'total');
bats: a library
- [ "$status" -eq 0 ]
- [ "$output" = "tea" ]
+ assert_success
+ assert_output "tea"
busted: same for equal
- assert.are.equal(14, cart.total)
+ assert.are.same(14, cart.total)
"""

COMMITS = (*read("weakened", WEAKER), *read("kept", AS_STRICT))
