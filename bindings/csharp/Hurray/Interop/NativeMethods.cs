namespace Hurray.Interop;

internal static unsafe partial class NativeMethods
{
    // Not a field initializer: this runs before the first call of any of the functions, and only once.
    static NativeMethods()
    {
        Callbacks.WatchEnd();
        NativeLoader.Register();
    }
}
