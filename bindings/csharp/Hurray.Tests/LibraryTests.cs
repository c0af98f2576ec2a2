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

    // Two owners of one pointer, as a mistaken exchange makes them: the second meets a destroyed handle.
    [Theory]
    [InlineData(HandleKind.Buffer)]
    [InlineData(HandleKind.BufferList)]
    [InlineData(HandleKind.TensorContext)]
    [InlineData(HandleKind.Tensor)]
    [InlineData(HandleKind.Descriptor)]
    [InlineData(HandleKind.Reader)]
    [InlineData(HandleKind.Writer)]
    public void Double_destroy_and_use_after_destroy_are_typed_errors_while_handles_are_checked(HandleKind kind)
    {
        bool before = HurrayRuntime.HandleChecks;
        HurrayRuntime.HandleChecks = true;
        Assert.True(HurrayRuntime.HandleChecks);
        try
        {
            (IDisposable first, IDisposable second, Action use) = TwoOwners(kind);
            first.Dispose();
            Refused(HurrayStatus.InvalidHandle, use);
            Assert.Null(TakeFailure());
            // Dispose does not throw; it is told.
            second.Dispose();
            var told = Assert.IsType<HurrayException>(TakeFailure());
            Assert.Equal(HurrayStatus.InvalidHandle, told.Code);
            Assert.Contains(kind.ToString(), told.Message);
            // Closed, and no third destroy.
            Assert.Throws<ObjectDisposedException>(use);
            second.Dispose();
            Assert.Null(TakeFailure());
        }
        finally
        {
            HurrayRuntime.HandleChecks = before;
        }
    }

    private static unsafe (IDisposable First, IDisposable Second, Action Use) TwoOwners(HandleKind kind)
    {
        using Tensor tensor = Tensor.Allocate(ElementType.Int8, [64]);
        tensor.Export(out BufferList list, out TensorContext context);
        using (list)
        using (context)
        {
            NativeError error;
            switch (kind)
            {
                case HandleKind.Buffer:
                    nint pointer = TensorBuffer.Allocate(64).Detach();
                    var buffer = TensorBuffer.Adopt(pointer);
                    return (TensorBuffer.Adopt(pointer), buffer, () => buffer.Share());
                case HandleKind.BufferList:
                    pointer = list.Detach();
                    var secondList = BufferList.Adopt(pointer);
                    return (BufferList.Adopt(pointer), secondList, () => _ = secondList.Count);
                case HandleKind.TensorContext:
                    pointer = context.Detach();
                    var secondContext = TensorContext.Adopt(pointer);
                    return (TensorContext.Adopt(pointer), secondContext, () => _ = secondContext.AbiVersion);
                case HandleKind.Tensor:
                    Native.Check(NativeMethods.TensorShare(tensor.Handle, out TensorHandle share, &error), &error);
                    var secondTensor = new Tensor(HurrayHandle.Adopt<TensorHandle>(share.DangerousGetHandle()));
                    return (share, secondTensor, () => secondTensor.Share());
                case HandleKind.Descriptor:
                    DescriptorHandle descriptor = tensor.Descriptor.ToHandle();
                    var secondDescriptor = HurrayHandle.Adopt<DescriptorHandle>(descriptor.DangerousGetHandle());
                    return (descriptor, secondDescriptor, () => _ = new Descriptor(secondDescriptor));
                case HandleKind.Reader:
                    Native.Check(NativeMethods.ReaderFromMemory(null, 0, null, out ReaderHandle reader, &error), &error);
                    var secondReader = HurrayHandle.Adopt<ReaderHandle>(reader.DangerousGetHandle());
                    return (reader, secondReader, () =>
                    {
                        NativeError problem;
                        Native.Check(NativeMethods.ReaderNext(secondReader, out _, &problem), &problem);
                    });
                case HandleKind.Writer:
                    Native.Check(NativeMethods.WriterToMemory(out WriterHandle writer, &error), &error);
                    var secondWriter = HurrayHandle.Adopt<WriterHandle>(writer.DangerousGetHandle());
                    return (writer, secondWriter, () =>
                    {
                        NativeError problem;
                        Native.Check(NativeMethods.WriterTake(secondWriter, out _, &problem), &problem);
                    });
                default:
                    throw new ArgumentOutOfRangeException(nameof(kind));
            }
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
