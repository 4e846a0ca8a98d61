"""Labelled commits of C# projects."""

from labelled_commit import labelled

COMMITS = (
    labelled(
        "csharp-empty-commit",
        "Dispose the timer when the poller stops",
        "not_done not_touched",
        "nothing changes",
        "",
    ),
    labelled(
        "csharp-any-exception",
        "Validate IBANs before a transfer is stored",
        "done weakened",
        "the existing case takes any exception instead of one type",
        r"""
src/Bank/Transfers.cs
 using System;
 using System.Collections.Generic;

 namespace Bank;

 public class Transfers
 {
     private readonly List<Transfer> stored = new();

     public void Store(Transfer transfer)
     {
         if (transfer.Amount <= 0)
             throw new ArgumentOutOfRangeException(nameof(transfer));
+        if (!Iban.IsValid(transfer.Target))
+            throw new FormatException(transfer.Target);
         stored.Add(transfer);
     }
 }
tests/Bank.Tests/TransfersTests.cs
 using System;
 using Xunit;

 namespace Bank.Tests;

 public class TransfersTests
 {
     [Fact]
     public void RefusesNothing()
     {
         var transfers = new Transfers();
-        Assert.Throws<ArgumentOutOfRangeException>(() => transfers.Store(Sample.Transfer(0)));
+        Assert.ThrowsAny<Exception>(() => transfers.Store(Sample.Transfer(0)));
     }
+
+    [Fact]
+    public void RefusesWrongIban()
+    {
+        var transfers = new Transfers();
+        Assert.Throws<FormatException>(() => transfers.Store(Sample.To("DE00")));
+    }
 }
""",
    ),
    labelled(
        "csharp-facts-to-rows",
        "Turn rounding facts into a theory",
        "done kept",
        "three facts became three rows",
        r"""
tests/Bank.Tests/RoundingTests.cs
 using Xunit;

 namespace Bank.Tests;

 public class RoundingTests
 {
-    [Fact]
-    public void RoundsDown()
-    {
-        Assert.Equal(1.2m, Rounding.ToTenth(1.24m));
-    }
-
-    [Fact]
-    public void RoundsUp()
-    {
-        Assert.Equal(1.3m, Rounding.ToTenth(1.26m));
-    }
-
-    [Fact]
-    public void RoundsHalfToEven()
-    {
-        Assert.Equal(1.2m, Rounding.ToTenth(1.25m));
-    }
+    [Theory]
+    [InlineData(1.24, 1.2)]
+    [InlineData(1.26, 1.3)]
+    [InlineData(1.25, 1.2)]
+    public void Rounds(decimal amount, decimal expected)
+    {
+        Assert.Equal(expected, Rounding.ToTenth(amount));
+    }
 }
""",
    ),
    labelled(
        "csharp-leaked-timer",
        "Timer is leaked when polling stops early",
        "done not_touched",
        "the subject states the fault; the timer is disposed",
        r"""
src/Bank/Poller.cs
 using System;
 using System.Threading;

 namespace Bank;

 public sealed class Poller
 {
     private Timer? timer;

     public void Start(Action poll) =>
         timer = new Timer(_ => poll(), null, TimeSpan.Zero, TimeSpan.FromSeconds(5));

     public void Stop()
     {
+        timer?.Dispose();
         timer = null;
     }
 }
""",
    ),
)
