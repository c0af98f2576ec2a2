using System;
using System.Runtime.Loader;
using System.Threading;

namespace Hurray.Interop;

/// <summary>What everything has in common that the library calls back: exceptions stay here, and the end of the runtime ends
/// it.</summary>
internal static class Callbacks
{
    private static int s_ended;

    /// <summary>A callback threw, or a handle could not be ended: there is no caller to tell, so this is where it is heard
    /// of.</summary>
    public static event Action<Exception>? Failed;

    /// <summary>Whether the runtime is at its end. Native code may outlive it (exit handlers, threads that it does not wait
    /// for): what that releases then is leaked, and the process ends soon anyway.</summary>
    public static bool Ended => Volatile.Read(ref s_ended) != 0;

    /// <summary>Makes the end of the runtime known; called once, before any function of the library.</summary>
    public static void WatchEnd()
    {
        AppDomain.CurrentDomain.ProcessExit += OnProcessExit;
        if (AssemblyLoadContext.GetLoadContext(typeof(Callbacks).Assembly) is { IsCollectible: true } context)
        {
            context.Unloading += OnUnloading;
        }
    }

    private static void OnProcessExit(object? sender, EventArgs e)
    {
        Volatile.Write(ref s_ended, 1);
        Log.End();
    }

    // What stays known to others would keep the context for ever. What is lent meanwhile keeps it until its release.
    private static void OnUnloading(AssemblyLoadContext context)
    {
        AppDomain.CurrentDomain.ProcessExit -= OnProcessExit;
        Log.End();
        Releases.StartUnload();
    }

    /// <summary>Tells the listeners.</summary>
    public static void Report(Exception e)
    {
        try
        {
            Failed?.Invoke(e);
        }
        catch (Exception)
        {
            // A listener that throws has nobody left to tell.
        }
    }
}
