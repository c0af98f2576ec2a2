using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using Xunit;

namespace Hurray.Tests;

/// <summary>What only a process of its own can show.</summary>
public class ProcessTests
{
    [Fact]
    public void Sample_of_the_readme_does_what_it_says()
    {
        (int code, string output, string errors) = Run("HURRAY_SAMPLE", []);
        Assert.Equal("", errors);
        Assert.Equal(0, code);
        Assert.Equal(
            """
            Float32 2x3: 60
            weights: Float32, 12 bytes
            3
            imported 3 elements
            1
            2
            3
            layers: 32
            words: one two
            7
            copied 0
            4, 3: 4 5 6 1 2 3
            True False True
            3 of 4 are not 0
            10
            VERSION_MISMATCH at byte 4

            """.ReplaceLineEndings(),
            output);
    }

    [Fact]
    public void Handoff_of_the_readme_does_what_it_says()
    {
        (int code, string output, string errors) = Run("HURRAY_HANDOFF_SAMPLE", []);
        Assert.Equal("", errors);
        Assert.Equal(0, code);
        Assert.Equal(
            """
            record event on producer
            stream 2 waits for event 7
            destroy event 7
            work on stream 2 at 4096
            free 4096
            stream consumer
            stream 2 waits for producer
            work on stream 2 at 4096
            free 4096
            producer released

            """.ReplaceLineEndings(),
            output);
    }

    // The whole output is compared: nothing is called back once the runtime ends, or the program would have said so.
    [Theory]
    [InlineData("lent", "called back: forgotten\nopen: 3 1 4, waiting: False\nwaiting: 1\n")]
    [InlineData("library", "open: 1000 4096 1000 True\n")]
    [InlineData("exit", "called back: forgotten\nopen: 3 1 4, waiting: False\nwaiting: 1\n")]
    [InlineData("busy", "busy\n")]
    [InlineData("late", "registered: 0 0 0 0 0\n")]
    [InlineData("handler", "closed\n")]
    public void Program_that_ends_with_open_tensors_ends_well_and_nothing_is_called_back(string how, string said)
    {
        (int code, string output, string errors) = Run("HURRAY_LEAVE_OPEN", [], how);
        Assert.Equal("", errors);
        Assert.Equal(0, code);
        Assert.Equal(said, output);
    }

    [Fact]
    public void Child_of_a_fork_ends_what_it_inherited_without_calling_back()
    {
        (int code, string output, string errors) = Run("HURRAY_FORK", []);
        Assert.Equal("", errors);
        Assert.Equal(0, code);
        Assert.Equal("child: 0 called back, 0 drained, 0 failed; ended with 0\nparent: 6 called back\n", output);
    }

    [Fact]
    public void Stranger_is_refused_by_the_first_call_of_all()
    {
        string stub = Path.GetFullPath(Environment.GetEnvironmentVariable("HURRAY_STUB5")!);
        (int code, string output, string errors) = Run("HURRAY_LEAVE_OPEN", new() { ["HURRAY_LIBRARY"] = stub });
        Assert.NotEqual(0, code);
        Assert.Equal("", output);
        Assert.Contains(nameof(HurrayVersionException), errors);
        Assert.Contains("version 5", errors);
        Assert.Contains("version 4", errors);
        Assert.Contains(stub, errors);
    }

    [Fact]
    public void Library_that_is_not_there_is_a_typed_error()
    {
        (int code, string _, string errors) = Run("HURRAY_LEAVE_OPEN", new() { ["HURRAY_LIBRARY"] = "/no/such/library.so" });
        Assert.NotEqual(0, code);
        Assert.Contains("Hurray.HurrayException", errors);
        Assert.Contains("/no/such/library.so", errors);
    }

    private static (int Code, string Output, string Errors) Run(
        string program, Dictionary<string, string> environment, params string[] arguments)
    {
        string path = Environment.GetEnvironmentVariable(program) ?? throw new InvalidOperationException($"{program} is not set");
        var start = new ProcessStartInfo(Path.GetFullPath(path), arguments) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach ((string name, string value) in environment)
        {
            start.Environment[name] = value;
        }

        using Process process = Process.Start(start)!;
        // Both at once: a process that fills one of them must not wait for ever.
        System.Threading.Tasks.Task<string> errors = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        Assert.True(process.WaitForExit(TimeSpan.FromSeconds(60)), "the program does not end");
        return (process.ExitCode, output, errors.GetAwaiter().GetResult());
    }
}
