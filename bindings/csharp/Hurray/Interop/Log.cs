using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Hurray.Interop;

/// <summary>The process's log callback, installed as long as there is a listener.</summary>
internal static unsafe class Log
{
    private static readonly object Gate = new();
    private static volatile Action<HurrayStatus, string>? s_listeners;

    public static void Add(Action<HurrayStatus, string>? listener)
    {
        if (listener is null)
        {
            return;
        }

        lock (Gate)
        {
            if (s_listeners is null)
            {
                Install(&Write);
            }

            s_listeners += listener;
        }
    }

    public static void Remove(Action<HurrayStatus, string>? listener)
    {
        lock (Gate)
        {
            Action<HurrayStatus, string>? left = s_listeners - listener;
            if (s_listeners is not null && left is null)
            {
                Install(null);
            }

            s_listeners = left;
        }
    }

    /// <summary>The runtime ends: nothing is called back any more.</summary>
    public static void End()
    {
        if (s_listeners is null)
        {
            return;
        }

        try
        {
            Install(null);
        }
        catch (HurrayException)
        {
            // The process ends within the callback itself.
        }
    }

    private static void Install(delegate* unmanaged[Cdecl]<void*, int, byte*, void> callback)
    {
        NativeError error;
        Native.Check(NativeMethods.LogCallbackSet(callback, null, &error), &error);
    }

    [UnmanagedCallersOnly(CallConvs = [typeof(CallConvCdecl)])]
    private static void Write(void* context, int code, byte* message)
    {
        if (Callbacks.Ended)
        {
            return;
        }

        // Nothing may pass into native frames.
        try
        {
            s_listeners?.Invoke((HurrayStatus)code, Marshal.PtrToStringUTF8((nint)message) ?? "");
        }
        catch (Exception e)
        {
            Callbacks.Report(e);
        }
    }
}
