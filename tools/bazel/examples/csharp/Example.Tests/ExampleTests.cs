using Xunit;

namespace Example.Tests;

public class ExampleTests
{
    [Fact]
    public void Sums() => Assert.Equal(42, Numbers.Sum([1, 2, 39]));

    [Fact]
    public void SumOfNothing() => Assert.Equal(0, Numbers.Sum([]));
}
