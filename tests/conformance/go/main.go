// Command driver shows what the Go binding makes of descriptors and streams, for comparison with other languages. It
// uses nothing but the binding's public API.
//
//	driver about                 one JSON line: which runtime and library this is
//	driver golden                decodes the files named on stdin, a JSON line each
//	driver pass NAMES            passes the tensors of one end to another, for each line on stdin
//	driver relay NAMES REPORT [--channel-in FD] [--channel-out FD]
//	                             passes a stream from stdin to stdout and reports what every tensor held; tensors come
//	                             from, or go to, a channel over the socket FD where one is named
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"hurray.dev/go/hurray"
)

const usage = "usage: driver about | driver golden | driver pass NAMES | driver relay NAMES REPORT [--channel-in FD] [--channel-out FD]"

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(arguments []string) int {
	var err error
	switch {
	case len(arguments) == 1 && arguments[0] == "about":
		err = about(os.Stdout)
	case len(arguments) == 1 && arguments[0] == "golden":
		err = golden(os.Stdin, os.Stdout)
	case len(arguments) == 2 && arguments[0] == "pass":
		err = passMany(arguments[1], os.Stdin, os.Stdout)
	case len(arguments) >= 3 && arguments[0] == "relay":
		var joined transport
		if joined, err = transportOf(arguments[3:]); err == nil {
			err = relay(joined, arguments[1], arguments[2])
		}
	default:
		fmt.Fprintln(os.Stderr, usage)
		return 2
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		if errors.Is(err, errArguments) {
			fmt.Fprintln(os.Stderr, usage)
			return 2
		}
		if errors.Is(err, errUsage) {
			return 2
		}
		return 1
	}
	return 0
}

// identity is what every report says about this runtime.
type identity struct {
	Runtime    string `json:"runtime"`
	Version    string `json:"version"`
	ABIVersion uint32 `json:"abi_version"`
	BuildID    string `json:"build_id"`
}

func whoAmI() (identity, hurray.RuntimeInfo, error) {
	info, err := hurray.Runtime()
	if err != nil {
		return identity{}, info, err
	}
	return identity{"go", strings.TrimPrefix(runtime.Version(), "go"), info.ABIVersion, info.BuildID}, info, nil
}

func about(out io.Writer) error {
	id, info, err := whoAmI()
	if err != nil {
		return err
	}
	return writeLine(out, struct {
		identity
		LibraryPath string `json:"library_path"`
		Channels    bool   `json:"channels"`
	}{id, info.LibraryPath, true})
}

// writeLine writes a value as one line of JSON, with characters as they are.
func writeLine(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
