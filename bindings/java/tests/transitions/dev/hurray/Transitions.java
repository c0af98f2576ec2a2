package dev.hurray;

/** Counts native methods of the binding: see native/transitions.cpp, which the virtual machine has as an agent. */
final class Transitions {
    private Transitions() {}

    static native void begin();

    static native long end();
}
