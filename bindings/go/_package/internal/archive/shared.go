//go:build hurray_pkgconfig

package archive

// #cgo pkg-config: hurray
import "C"
