package dev.hurray;

import dev.hurray.spi.NativeLibrary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ServiceLoader;

/**
 * The native code of the platform's jar. A virtual machine loads one file for one class loader only: the first that asks gets the file of the
 * cache, every other one a copy of its own, with state of its own.
 */
final class PackagedLibrary {
    private PackagedLibrary() {}

    /** The one for this platform; null without. */
    static NativeLibrary find() {
        // Not the thread's class loader: the jar with the native code lies beside this one.
        for (NativeLibrary library : ServiceLoader.load(NativeLibrary.class, PackagedLibrary.class.getClassLoader())) {
            if (library.platform().equals(NativePlatform.NAME)) {
                return library;
            }
        }
        return null;
    }

    /** Lays its file where it can be loaded from, and loads it. */
    static void load(NativeLibrary library) throws IOException {
        // Properties belong to the whole virtual machine, as does what was loaded; the class loaders share nothing else.
        boolean first = System.getProperties().putIfAbsent("dev.hurray.loaded." + library.sha256(), "1") == null;
        Path folder;
        try {
            folder = NativeCache.folder();
        } catch (IOException unusable) {
            folder = null;
        }
        if (folder != null && first) {
            System.load(NativeCache.install(folder, library).toString());
            return;
        }
        Path copy = NativeCache.copy(folder != null ? folder : NativeCache.temporary(), library);
        try {
            System.load(copy.toString());
        } finally {
            // The system keeps a file that is mapped, whatever becomes of its name. Windows keeps the name, too, until the end.
            if (!NativeCache.delete(copy)) {
                copy.toFile().deleteOnExit();
            }
        }
    }

    static String advice() {
        return "it was unpacked from the jar for "
                + NativePlatform.NAME
                + ": where its folder is mounted noexec or cannot be written, -D"
                + NativeCache.PROPERTY
                + "=FOLDER names another, and -D"
                + Library.JNI_PROPERTY
                + "=FILE the unpacked library itself";
    }
}
