using System;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;
using Xunit;

namespace Hurray.Tests;

/// <summary>A second copy of the assembly in a context that is unloaded: it works, and handles come back to the base line.</summary>
public class UnloadTests : LeakChecked
{
    [Fact]
    public void Context_unloads_when_everything_was_closed()
    {
        int released = 0;
        WeakReference context = Load(copy => copy.Wrap(() => ++released).Dispose());
        Assert.Equal(1, released);
        Assert.True(IsGone(context));
    }

    [Fact]
    public void What_nobody_closed_is_released_once_by_the_unload()
    {
        int released = 0;
        WeakReference context = Load(copy => _ = copy.Wrap(() => Interlocked.Increment(ref released)));
        Assert.True(IsGone(context));
        Assert.Equal(1, released);
    }

    [Fact]
    public void What_waits_for_a_thread_is_released_by_the_unload_on_its_own()
    {
        int thread = 0;
        WeakReference context = Load(copy =>
        {
            Forget(copy, () => thread = Environment.CurrentManagedThreadId);
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Assert.Equal(0, thread);
        });
        Assert.Equal(Environment.CurrentManagedThreadId, thread);
        Assert.True(IsGone(context));
    }

    [Fact]
    public void Memory_that_is_still_lent_keeps_the_context_until_its_release()
    {
        int released = 0;
        nint pointer = 0;
        WeakReference context = Load(copy => pointer = copy.Detached(() => ++released));
        Assert.False(IsGone(context));
        Assert.Equal(0, released);
        // This copy ends what that one lent.
        TensorBuffer.Adopt(pointer).Dispose();
        Assert.Equal(1, released);
        Assert.True(IsGone(context));
    }

    [Fact]
    public void Log_callback_goes_with_the_context()
    {
        WeakReference context = Load(copy => copy.Listen());
        Assert.True(IsGone(context));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference Load(Action<Copy> use)
    {
        var context = new AssemblyLoadContext("hurray", isCollectible: true);
        use(new Copy(context.LoadFromAssemblyPath(typeof(Tensor).Assembly.Location)));
        context.Unload();
        return new WeakReference(context);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Forget(Copy copy, Action released) => _ = copy.Wrap(released);

    private static bool IsGone(WeakReference context)
    {
        for (int i = 0; i < 20 && context.IsAlive; ++i)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        return !context.IsAlive;
    }

    /// <summary>The assembly's copy, which shares no types with this one.</summary>
    private sealed class Copy(Assembly assembly)
    {
        private readonly Type _buffer = assembly.GetType("Hurray.TensorBuffer", throwOnError: true)!;

        public IDisposable Wrap(Action released)
        {
            MethodInfo wrap = _buffer.GetMethods().Single(method =>
                method.Name == "FromMemory" && method.GetParameters()[0].ParameterType.GetGenericTypeDefinition() == typeof(Memory<>));
            return (IDisposable)wrap.MakeGenericMethod(typeof(byte)).Invoke(null, [new Memory<byte>(new byte[64]), released])!;
        }

        public nint Detached(Action released) => (nint)_buffer.GetMethod("Detach")!.Invoke(Wrap(released), null)!;

        public void Listen()
        {
            EventInfo logged = assembly.GetType("Hurray.HurrayRuntime", throwOnError: true)!.GetEvent("Logged")!;
            MethodInfo ignore = typeof(Copy).GetMethod(nameof(Ignore), BindingFlags.NonPublic | BindingFlags.Static)!;
            Type status = assembly.GetType("Hurray.HurrayStatus", throwOnError: true)!;
            logged.AddEventHandler(null, Delegate.CreateDelegate(logged.EventHandlerType!, ignore.MakeGenericMethod(status)));
        }

        private static void Ignore<T>(T code, string message)
        {
        }
    }
}
