package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"hurray.dev/go/hurray"
)

type bufferFields struct {
	ByteSize    uint64 `json:"byte_size"`
	Alignment   uint32 `json:"alignment"`
	DeviceTag   uint8  `json:"device_tag"`
	SyncMode    uint8  `json:"sync_mode"`
	MemoryClass uint8  `json:"memory_class"`
}

type shardFields struct {
	ParentShape []uint64 `json:"parent_shape"`
	ShardOffset []uint64 `json:"shard_offset"`
}

// descriptorFields is the JSON of a descriptor.
type descriptorFields struct {
	VersionMajor     uint8          `json:"version_major"`
	VersionMinor     uint8          `json:"version_minor"`
	DescriptorLength uint64         `json:"descriptor_length"`
	TrailingBytes    uint64         `json:"trailing_bytes"`
	Flags            uint32         `json:"flags"`
	Type             string         `json:"type"`
	TypeTag          uint8          `json:"type_tag"`
	Layout           string         `json:"layout"`
	LayoutTag        uint8          `json:"layout_tag"`
	Rank             int            `json:"rank"`
	Shape            []uint64       `json:"shape"`
	ByteOffset       uint64         `json:"byte_offset"`
	LayoutFields     any            `json:"layout_fields"`
	Buffers          []bufferFields `json:"buffers"`
	Quantization     any            `json:"quantization"`
	Shard            *shardFields   `json:"shard"`
	Statistics       any            `json:"statistics"`
	ExtensionType    any            `json:"extension_type"`
	CompositeMember  any            `json:"composite_member"`
}

type goldenLine struct {
	Path       string           `json:"path"`
	Descriptor descriptorFields `json:"descriptor"`
	Reencoded  string           `json:"reencoded"`
	// Rebuilt is the hex text of the descriptor that was built from the fields, the error that it was refused with, or
	// nil for one with tags that nobody knows.
	Rebuilt any `json:"rebuilt"`
}

type errorFields struct {
	Code    int32  `json:"code"`
	Name    string `json:"name"`
	Message string `json:"message"`
	Offset  *int64 `json:"offset"`
}

type errorLine struct {
	Path  string      `json:"path"`
	Error errorFields `json:"error"`
}

type refusal struct {
	Error errorFields `json:"error"`
}

// errUsage is the error of input that no user of the driver writes.
var errUsage = errors.New("unknown option of a vector")

func golden(paths io.Reader, out io.Writer) error {
	buffered := bufio.NewWriter(out)
	lines := bufio.NewScanner(paths)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if lines.Text() == "" {
			continue
		}
		path, names, _ := strings.Cut(lines.Text(), "\t")
		options, err := decodeOptions(names)
		if err != nil {
			return err
		}
		if err := goldenFile(buffered, path, options); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return buffered.Flush()
}

func decodeOptions(names string) (*hurray.DecodeOptions, error) {
	options := &hurray.DecodeOptions{}
	for _, name := range strings.Split(names, ",") {
		switch name {
		case "":
		case "private_tags":
			options.PrivateTags = true
		case "permissive":
			options.Permissive = true
		default:
			return nil, fmt.Errorf("%w: %q", errUsage, name)
		}
	}
	return options, nil
}

func goldenFile(out io.Writer, path string, options *hurray.DecodeOptions) error {
	encoded, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	line, err := decode(path, encoded, options)
	var failed *hurray.Error
	switch {
	case err == nil:
		return writeLine(out, line)
	case !errors.As(err, &failed):
		return err
	}
	return writeLine(out, errorLine{path, errorOf(failed)})
}

func errorOf(failed *hurray.Error) errorFields {
	fields := errorFields{int32(failed.Code), failed.Code.String(), failed.Message, nil}
	if failed.Offset >= 0 {
		fields.Offset = &failed.Offset
	}
	return fields
}

func decode(path string, encoded []byte, options *hurray.DecodeOptions) (goldenLine, error) {
	descriptor, err := hurray.DecodeDescriptorOptions(encoded, options)
	if err != nil {
		return goldenLine{}, err
	}
	defer descriptor.Close()
	fields, err := descriptor.Fields()
	if err != nil {
		return goldenLine{}, err
	}
	reencoded, err := descriptor.Encode()
	if err != nil {
		return goldenLine{}, err
	}
	rebuilt, err := rebuild(fields, options.PrivateTags)
	var refused *hurray.Error
	if errors.As(err, &refused) {
		rebuilt = refusal{errorOf(refused)}
	} else if err != nil {
		return goldenLine{}, err
	}
	return goldenLine{path, describe(fields, uint64(len(encoded))), hex.EncodeToString(reencoded), rebuilt}, nil
}

// rebuild makes the descriptor anew from its fields, as hex text; nil for one with tags that nobody knows.
func rebuild(fields hurray.DescriptorFields, privateTags bool) (any, error) {
	if fields.Opaque {
		return nil, nil
	}
	build := hurray.NewDescriptor
	if privateTags {
		build = hurray.NewPrivateDescriptor
	}
	rebuilt, err := build(fields.DescriptorSpec)
	if err != nil {
		return nil, err
	}
	defer rebuilt.Close()
	encoded, err := rebuilt.Encode()
	return hex.EncodeToString(encoded), err
}
