package native

const defaultName = "libhurray.so.1"
