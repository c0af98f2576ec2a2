import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.FloatBuffer;
import java.nio.file.Path;

/** Two class loaders, each with the binding: the jars are the arguments. A tensor of the first is imported in the second. */
final class Loaders {
    private Loaders() {}

    private static Class<?> type(ClassLoader loader, String name) throws ReflectiveOperationException {
        return Class.forName("dev.hurray." + name, true, loader);
    }

    private static Object call(Object target, String name) throws ReflectiveOperationException {
        Method method = target.getClass().getMethod(name);
        return method.invoke(target);
    }

    private static Object path(ClassLoader loader) throws ReflectiveOperationException {
        return call(type(loader, "Hurray").getMethod("runtimeInfo").invoke(null), "libraryPath");
    }

    public static void main(String[] arguments) throws Exception {
        URL[] jars = new URL[arguments.length];
        for (int i = 0; i < jars.length; ++i) {
            jars[i] = Path.of(arguments[i]).toUri().toURL();
        }
        // No common parent but the platform's: what one has loaded the other does not see.
        try (URLClassLoader first = new URLClassLoader(jars, ClassLoader.getPlatformClassLoader());
                URLClassLoader second = new URLClassLoader(jars, ClassLoader.getPlatformClassLoader())) {
            System.out.println(path(first));
            System.out.println(path(second));
            Object tensor =
                    type(first, "Tensor").getMethod("copyOf", float[].class, long[].class).invoke(null, new float[] {1, 2, 7}, new long[] {3});
            Object pair = call(tensor, "export");
            long list = (long) call(call(pair, "list"), "releaseAddress");
            long context = (long) call(call(pair, "context"), "releaseAddress");
            call(tensor, "close");
            Class<?> lists = type(second, "BufferList");
            Class<?> contexts = type(second, "TensorContext");
            Object imported =
                    type(second, "Tensor")
                            .getMethod("importFrom", lists, contexts)
                            .invoke(
                                    null,
                                    lists.getMethod("fromAddress", long.class).invoke(null, list),
                                    contexts.getMethod("fromAddress", long.class).invoke(null, context));
            FloatBuffer values = (FloatBuffer) call(call(imported, "view"), "floats");
            System.out.println(values.get(2));
            call(imported, "close");
        }
    }
}
