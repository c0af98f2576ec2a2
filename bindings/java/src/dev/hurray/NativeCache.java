package dev.hurray;

import dev.hurray.spi.NativeLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;

/**
 * A folder of the user's in which native code lies under the hash of its bytes. Nobody else may write there, and what lies there is compared
 * with its hash each time before it is used.
 */
final class NativeCache {
    /** Overrides where native code of packages is unpacked to. */
    static final String PROPERTY = "dev.hurray.cache";

    private static final boolean POSIX = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    private static final FileAttribute<?>[] PRIVATE =
            POSIX
                    ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))}
                    : new FileAttribute<?>[0];
    private static final Set<PosixFilePermission> OTHERS =
            Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

    private NativeCache() {}

    /**
     * The folder, made when it is not there.
     *
     * @throws IOException it cannot be made or written, or somebody else may write there
     */
    static Path folder() throws IOException {
        String chosen = System.getProperty(PROPERTY);
        Path folder = (chosen != null && !chosen.isEmpty() ? Path.of(chosen) : usual().resolve("hurray")).toAbsolutePath();
        if (!Files.isDirectory(folder)) {
            Files.createDirectories(folder.getParent());
            create(folder);
        }
        requireOwn(folder);
        return folder;
    }

    /** A new folder that goes with its one file. */
    static Path temporary() throws IOException {
        return Files.createTempDirectory("hurray-", PRIVATE);
    }

    private static Path usual() {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        Path home = Path.of(System.getProperty("user.home", ""));
        if (system.startsWith("windows")) {
            String local = System.getenv("LOCALAPPDATA");
            return local == null || local.isEmpty() ? home.resolve("AppData").resolve("Local") : Path.of(local);
        }
        if (system.startsWith("mac")) {
            return home.resolve("Library").resolve("Caches");
        }
        String cache = System.getenv("XDG_CACHE_HOME");
        return cache == null || !Path.of(cache).isAbsolute() ? home.resolve(".cache") : Path.of(cache);
    }

    private static void create(Path folder) throws IOException {
        try {
            Files.createDirectory(folder, PRIVATE);
        } catch (java.nio.file.FileAlreadyExistsException another) {
            // Another program was faster; whether it is usable is looked at next.
        }
    }

    private static void requireOwn(Path folder) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException(folder + ": is no folder");
        }
        if (!POSIX) {
            return;
        }
        for (PosixFilePermission permission : Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS)) {
            if (OTHERS.contains(permission)) {
                throw new IOException(folder + ": others may write there");
            }
        }
        // Java does not tell who the user is; what it makes belongs to the user.
        Path probe = Files.createTempFile(folder, ".probe", null);
        try {
            if (!Files.getOwner(probe).equals(Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS))) {
                throw new IOException(folder + ": belongs to somebody else");
            }
        } finally {
            Files.delete(probe);
        }
    }

    /** The file under its hash, written when it is not there or is not what it should be. */
    static Path install(Path cache, NativeLibrary library) throws IOException {
        Path folder = cache.resolve(checked(library));
        create(folder);
        requireOwn(folder);
        Path file = folder.resolve(library.fileName());
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            try (InputStream bytes = Files.newInputStream(file)) {
                if (hashOf(bytes, OutputStream.nullOutputStream()).equals(library.sha256())) {
                    return file;
                }
            }
        }
        Path written = copy(folder, library);
        try {
            return Files.move(written, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException | RuntimeException failure) {
            delete(written);
            throw failure;
        }
    }

    /** A new file with a name that no other has. */
    static Path copy(Path folder, NativeLibrary library) throws IOException {
        Path file = folder.resolve(Long.toHexString(System.nanoTime()) + "-" + ProcessHandle.current().pid() + "-" + checkedName(library));
        try (InputStream bytes = library.open();
                OutputStream out = newFile(file)) {
            String hash = hashOf(bytes, out);
            if (!hash.equals(library.sha256())) {
                throw new IOException("the jar is damaged: SHA-256 of its native library is " + hash + ", expected " + library.sha256());
            }
        } catch (IOException | RuntimeException failure) {
            delete(file);
            throw failure;
        }
        return file;
    }

    private static OutputStream newFile(Path file) throws IOException {
        // Nobody's file, and through nobody's link (O_EXCL).
        Set<StandardOpenOption> options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        return java.nio.channels.Channels.newOutputStream(Files.newByteChannel(file, options, PRIVATE));
    }

    /** Whether the file is gone; a temporary folder goes with it. */
    static boolean delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException inUse) {
            return false;
        }
        if (file.getParent().getFileName().toString().startsWith("hurray-")) {
            file.getParent().toFile().delete();
        }
        return true;
    }

    private static String checked(NativeLibrary library) throws IOException {
        if (!library.sha256().matches("[0-9a-f]{64}")) {
            throw new IOException("sha256: expected 64 small hexadecimal digits, got " + library.sha256());
        }
        return library.sha256();
    }

    private static String checkedName(NativeLibrary library) throws IOException {
        if (!library.fileName().matches("[A-Za-z0-9_.]+")) {
            throw new IOException("fileName: expected a plain name, got " + library.fileName());
        }
        return library.fileName();
    }

    private static String hashOf(InputStream bytes, OutputStream to) throws IOException {
        try {
            DigestInputStream digested = new DigestInputStream(bytes, MessageDigest.getInstance("SHA-256"));
            digested.transferTo(to);
            return HexFormat.of().formatHex(digested.getMessageDigest().digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
