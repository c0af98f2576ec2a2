using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Hurray.Interop;
using Xunit;

namespace Hurray.Tests;

public class LibraryTests : LeakChecked
{
    private static string Stub => Path.GetFullPath(
        Environment.GetEnvironmentVariable("HURRAY_STUB5") ?? throw new InvalidOperationException("HURRAY_STUB5 is not set"));

    [Fact]
    public void Library_that_answers_another_version_is_refused_and_both_numbers_named()
    {
        HurrayVersionException e = Assert.Throws<HurrayVersionException>(() => NativeLoader.Open(Stub, 4));
        Assert.Equal(HurrayStatus.VersionMismatch, e.Code);
        Assert.Equal(4U, e.Expected);
        Assert.Equal(5U, e.Found);
        Assert.Contains("version 5", e.Message);
        Assert.Contains("version 4", e.Message);
        Assert.Contains(Stub, e.Message);
    }

    [Fact]
    public void Library_that_vouches_for_the_version_is_accepted()
    {
        // Built for 3, which this library, of version 4, supports; nobody supports 5.
        Assert.NotEqual(0, NativeLoader.Open(HurrayRuntime.LibraryPath, 3));
        HurrayVersionException e =
            Assert.Throws<HurrayVersionException>(() => NativeLoader.Open(HurrayRuntime.LibraryPath, 5));
        Assert.Equal(4U, e.Found);
        Assert.Equal(5U, e.Expected);
    }

    [Fact]
    public void What_is_no_library_is_refused_with_its_path()
    {
        string nowhere = Path.Combine(Path.GetTempPath(), "no-such-folder", "libhurray.so.1");
        Assert.Contains(nowhere, Refused(HurrayStatus.NotFound, () => NativeLoader.Open(nowhere, 4)).Message);
        string text = Path.GetTempFileName();
        File.WriteAllText(text, "no library");
        Assert.Contains(text, Refused(HurrayStatus.NotFound, () => NativeLoader.Open(text, 4)).Message);
        File.Delete(text);
        // A library, but a stranger.
        Assert.Contains("hurray_c_abi_version", Refused(HurrayStatus.Unsupported, () => NativeLoader.Open("libc.so.6", 4)).Message);
    }

    [Fact]
    public void Reports_path_version_and_build()
    {
        Assert.Equal(HurrayVersion.CAbiVersion, HurrayRuntime.AbiVersion);
        Assert.True(File.Exists(HurrayRuntime.LibraryPath), HurrayRuntime.LibraryPath);
        Assert.NotEmpty(HurrayRuntime.BuildId);
        Assert.Matches(@"^\d+\.\d+\.\d+", HurrayRuntime.Version);
        Assert.True(HurrayRuntime.Supports(4));
        Assert.False(HurrayRuntime.Supports(5));
    }

    [Fact]
    public void Package_has_the_version_of_the_library() =>
        Assert.Equal(HurrayRuntime.Version, typeof(Tensor).Assembly.GetName().Version!.ToString(3));

    [Fact]
    public void Structs_lie_as_the_abi_says()
    {
        var all = NativeLayouts.All();
        Assert.True(all.Count > 50);
        Assert.All(all, field => Assert.Equal((field.Name, field.Expected), (field.Name, field.Actual)));
    }

    [Fact]
    public unsafe void Status_names_are_those_of_the_library()
    {
        foreach (HurrayStatus status in Enum.GetValues<HurrayStatus>())
        {
            string name = System.Runtime.InteropServices.Marshal.PtrToStringUTF8((nint)NativeMethods.StatusName(status))!;
            Assert.Equal(name, StatusNames.Of(status));
        }

        Assert.Equal("UNKNOWN", StatusNames.Of((HurrayStatus)(-7777)));
    }

    [Theory]
    [InlineData("shape[1]: too large [byte 28]", 28UL)]
    [InlineData("[byte 18446744073709551615]", null)]
    [InlineData("x [byte 18446744073709551615]", ulong.MaxValue)]
    [InlineData("x [byte 18446744073709551616]", null)]
    [InlineData("x [byte -1]", null)]
    [InlineData("x [byte 12] y", null)]
    [InlineData("x [byte ]", null)]
    [InlineData("]", null)]
    [InlineData("", null)]
    public void Byte_offset_comes_from_the_end_of_the_message(string message, ulong? offset) =>
        Assert.Equal(offset, new HurrayException(HurrayStatus.InvalidLayout, message).ByteOffset);

    [Fact]
    public void Codes_that_are_not_known_make_the_same_exception()
    {
        var e = new HurrayException((HurrayStatus)(-12345), "something new [byte 7]");
        Assert.Equal(-12345, (int)e.Code);
        Assert.Equal("UNKNOWN", e.CodeName);
        Assert.Equal(7UL, e.ByteOffset);
        Assert.Equal("UNKNOWN", new HurrayException((HurrayStatus)int.MinValue, "").CodeName);
    }

    [Fact]
    public void Handle_kinds_are_counted_apart()
    {
        ulong tensors = HurrayRuntime.LiveHandles(HandleKind.Tensor).Handles;
        (ulong handles, ulong bytes) buffers = HurrayRuntime.LiveHandles(HandleKind.Buffer);
        using (Tensor.FromArray(new float[100]))
        {
            Assert.Equal(tensors + 1, HurrayRuntime.LiveHandles(HandleKind.Tensor).Handles);
            Assert.Equal(buffers.handles + 1, HurrayRuntime.LiveHandles(HandleKind.Buffer).Handles);
            Assert.True(HurrayRuntime.LiveHandles(HandleKind.Buffer).Bytes >= buffers.bytes + 400);
        }

        Refused(HurrayStatus.InvalidArgument, () => HurrayRuntime.LiveHandles((HandleKind)999));
    }

    [Fact]
    public void Destroyed_handles_are_refused_while_they_are_checked()
    {
        bool before = HurrayRuntime.HandleChecks;
        HurrayRuntime.HandleChecks = true;
        Assert.True(HurrayRuntime.HandleChecks);
        try
        {
            // Two owners of one pointer, as a mistaken exchange makes them: the second meets a destroyed handle, typed.
            nint pointer = TensorBuffer.Allocate(64).Detach();
            var first = TensorBuffer.Adopt(pointer);
            var second = TensorBuffer.Adopt(pointer);
            first.Dispose();
            Refused(HurrayStatus.InvalidHandle, () => second.Share());
            Refused(HurrayStatus.InvalidHandle, () => _ = second.ByteSize);
            second.Dispose();
        }
        finally
        {
            HurrayRuntime.HandleChecks = before;
        }
    }

    [Fact]
    public void Diagnostics_can_be_read() => Assert.True(HurrayRuntime.Diagnostics().Count <= 32);

    [Fact]
    public async Task Everything_of_the_runtime_may_be_asked_by_many_threads()
    {
        Task[] tasks = Enumerable.Range(0, 4).Select(_ => Task.Run(() =>
        {
            for (int i = 0; i < 200; ++i)
            {
                HurrayRuntime.LiveHandles();
                Assert.NotEmpty(HurrayRuntime.BuildId);
                HurrayRuntime.Drain();
            }
        })).ToArray();
        await Task.WhenAll(tasks);
    }
}
