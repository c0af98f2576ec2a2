package native

const defaultName = "libhurray.1.dylib"
