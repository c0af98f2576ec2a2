package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class Example22Test {
    @Test
    void usesNativeMemory() throws Exception {
        // By name: javac looks at the versions of a jar only from its own release on.
        Object sum = Class.forName("example.Example22").getMethod("sum", int[].class).invoke(null, (Object) new int[] {40, 2});
        assertEquals(42L, sum);
    }
}
