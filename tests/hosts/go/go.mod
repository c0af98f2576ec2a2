module hurray.dev/go/hosts

go 1.23

require hurray.dev/go/hurray v0.0.0

replace hurray.dev/go/hurray => ../../../bindings/go
