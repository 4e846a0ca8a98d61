"""Labelled commits of Ruby and PHP projects."""

from labelled_commit import labelled

COMMITS = (
    labelled(
        "ruby-case-asserts-nothing",
        "Add spec for currency formatting",
        "not_done kept",
        "the new example calls the code and expects nothing",
        r"""
spec/money_spec.rb
 require "money"

 RSpec.describe Money do
   it "adds amounts" do
     expect(Money.new(5) + Money.new(7)).to eq(Money.new(12))
   end
+
+  it "formats with the symbol of the currency" do
+    Money.new(5, "EUR").format
+  end
 end
""",
    ),
    labelled(
        "ruby-pending",
        "Reuse the connection between deliveries",
        "done weakened",
        "an existing example is pending now",
        r"""
lib/mailer.rb
 class Mailer
   def initialize(host)
     @host = host
   end

   def deliver(mail)
-    connection = Connection.open(@host)
     connection.send(mail.to_s)
-  ensure
-    connection&.close
   end
+
+  def connection
+    @connection ||= Connection.open(@host)
+  end
 end
spec/mailer_spec.rb
 require "mailer"

 RSpec.describe Mailer do
   subject(:mailer) { described_class.new("mail.example.org") }

   it "delivers" do
     expect(mailer.deliver(sample_mail)).to eq(:sent)
   end

   it "closes the connection when the server hangs up" do
+    pending "flaky since connections are reused"
     hang_up
     expect { mailer.deliver(sample_mail) }.to raise_error(EOFError)
     expect(open_connections).to eq(0)
   end
+
+  it "opens one connection for two deliveries" do
+    2.times { mailer.deliver(sample_mail) }
+    expect(open_connections).to eq(1)
+  end
 end
""",
    ),
    labelled(
        "ruby-renamed-example",
        "Reword the examples of the basket",
        "done kept",
        "other names, the same expectations",
        r"""
spec/basket_spec.rb
 require "basket"

 RSpec.describe Basket do
-  it "should be empty" do
+  it "starts empty" do
     expect(Basket.new).to be_empty
   end

-  it "should sum up" do
+  it "sums up the prices of its items" do
     basket = Basket.new
     basket.add(:pear, price: 3)
     basket.add(:plum, price: 4)
     expect(basket.total).to eq(7)
   end
 end
""",
    ),
    labelled(
        "ruby-rake-task",
        "Let rake test run the specs in random order",
        "done not_touched",
        "a task is changed; no test file has to be",
        r"""
Rakefile
 require "rspec/core/rake_task"

 RSpec::Core::RakeTask.new(:spec)

 task :test do
-  sh "bundle exec rspec"
+  sh "bundle exec rspec --order random"
 end

 task default: :test
""",
    ),
    labelled(
        "php-comment-for-a-fix",
        "Escape user names in the comment list",
        "not_done not_touched",
        "only the comment above the method says so",
        r"""
src/CommentList.php
 <?php

 namespace Forum;

 final class CommentList
 {
     /** @param Comment[] $comments */
     public function __construct(private array $comments)
     {
     }

-    /** Renders the list as HTML. */
+    /** Renders the list as HTML. User names are escaped. */
     public function render(): string
     {
         $rows = '';
         foreach ($this->comments as $comment) {
             $rows .= '<li>' . $comment->author . ': ' . $comment->html . '</li>';
         }
         return '<ul>' . $rows . '</ul>';
     }
 }
""",
    ),
    labelled(
        "php-one-more-message",
        "Limit nicknames to 20 letters",
        "done weakened",
        "the case for empty names takes a second message",
        r"""
src/Nickname.php
 <?php

 namespace Forum;

 final class Nickname
 {
     public function __construct(public readonly string $name)
     {
         if ($name === '') {
             throw new \InvalidArgumentException('a nickname must not be empty');
         }
+        if (mb_strlen($name) > 20) {
+            throw new \InvalidArgumentException('a nickname has at most 20 letters');
+        }
     }
 }
tests/NicknameTest.php
 <?php

 use Forum\Nickname;
 use PHPUnit\Framework\TestCase;

 final class NicknameTest extends TestCase
 {
     public function testEmpty(): void
     {
         $this->expectException(InvalidArgumentException::class);
-        $this->expectExceptionMessageMatches('/must not be empty/');
+        $this->expectExceptionMessageMatches('/must not be empty|at most/');
         new Nickname('');
     }
+
+    public function testTooLong(): void
+    {
+        $this->expectException(InvalidArgumentException::class);
+        new Nickname(str_repeat('x', 21));
+    }
 }
""",
    ),
    labelled(
        "php-follows-behaviour",
        "Show prices with two decimals",
        "done kept",
        "the expected text follows the new format, as exact as before",
        r"""
src/Price.php
 <?php

 namespace Shop;

 final class Price
 {
     public function __construct(private int $cents)
     {
     }

     public function __toString(): string
     {
-        return ($this->cents / 100) . ' EUR';
+        return number_format($this->cents / 100, 2) . ' EUR';
     }
 }
tests/PriceTest.php
 <?php

 use PHPUnit\Framework\TestCase;
 use Shop\Price;

 final class PriceTest extends TestCase
 {
     public function testText(): void
     {
-        $this->assertSame('12.5 EUR', (string) new Price(1250));
+        $this->assertSame('12.50 EUR', (string) new Price(1250));
     }
 }
""",
    ),
)
