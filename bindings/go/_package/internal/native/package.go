package native

// #cgo CFLAGS: -I${SRCDIR}/../include -DHURRAY_GO_LINKED
// #cgo !hurray_pkgconfig CFLAGS: -DHURRAY_GO_EMBEDDED
import "C"

// The library itself.
import _ "hurray.dev/go/hurray/internal/archive"
