/** A program that has the binding as a module. */
module app {
    requires dev.hurray;
}
