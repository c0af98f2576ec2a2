using System;
using System.Diagnostics;
using System.Linq;

namespace Hurray.Bench;

/// <summary>Times two ways of doing the same, in turns within one run: clocks and neighbours change, ratios less.</summary>
internal static class Measure
{
    /// <summary>Median time and allocations of each, and the median of their ratios.</summary>
    public static Result Pair(Action ours, Action theirs, int rounds, int calls)
    {
        Time(ours, calls);
        Time(theirs, calls);
        var first = new double[rounds];
        var second = new double[rounds];
        for (int round = 0; round < rounds; ++round)
        {
            // Who goes first changes.
            if (round % 2 == 0)
            {
                first[round] = Time(ours, calls);
                second[round] = Time(theirs, calls);
            }
            else
            {
                second[round] = Time(theirs, calls);
                first[round] = Time(ours, calls);
            }
        }

        return new Result(
            Median(first),
            Median(second),
            Median(first.Zip(second, (a, b) => a / b).ToArray()),
            Allocated(ours, calls),
            Allocated(theirs, calls));
    }

    private static double Time(Action action, int calls)
    {
        long started = Stopwatch.GetTimestamp();
        for (int i = 0; i < calls; ++i)
        {
            action();
        }

        return Stopwatch.GetElapsedTime(started).TotalNanoseconds / calls;
    }

    private static long Allocated(Action action, int calls)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < calls; ++i)
        {
            action();
        }

        return (GC.GetAllocatedBytesForCurrentThread() - before) / calls;
    }

    private static double Median(double[] values)
    {
        double[] sorted = [.. values.Order()];
        return sorted[sorted.Length / 2];
    }
}

/// <summary>What was measured: nanoseconds and bytes a call.</summary>
internal readonly record struct Result(double Ours, double Theirs, double Ratio, long OurBytes, long TheirBytes);
