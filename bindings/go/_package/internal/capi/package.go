package capi

// #cgo CFLAGS: -I${SRCDIR}/../include -DHURRAY_GO_LINKED
// #cgo !hurray_pkgconfig CFLAGS: -DHURRAY_GO_EMBEDDED
import "C"

import (
	// go mod vendor keeps folders only that hold packages which somebody imports.
	_ "hurray.dev/go/hurray/internal/include"
	_ "hurray.dev/go/hurray/internal/include/hurray"
)
