package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"hurray.dev/go/hurray"
)

type bufferFields struct {
	ByteSize    uint64 `json:"byte_size"`
	Alignment   uint32 `json:"alignment"`
	DeviceTag   uint8  `json:"device_tag"`
	SyncMode    uint8  `json:"sync_mode"`
	MemoryClass uint8  `json:"memory_class"`
}

type layoutFields struct {
	Strides []int64 `json:"strides,omitempty"`
}

type shardFields struct {
	ParentShape []uint64 `json:"parent_shape"`
	ShardOffset []uint64 `json:"shard_offset"`
}

// descriptorFields is the JSON of a descriptor; sections that this binding does not know yet are null.
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
	LayoutFields     layoutFields   `json:"layout_fields"`
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

func golden(paths io.Reader, out io.Writer) error {
	buffered := bufio.NewWriter(out)
	lines := bufio.NewScanner(paths)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if lines.Text() == "" {
			continue
		}
		if err := goldenFile(buffered, lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return buffered.Flush()
}

func goldenFile(out io.Writer, path string) error {
	encoded, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	line, err := decode(path, encoded)
	var failed *hurray.Error
	switch {
	case err == nil:
		return writeLine(out, line)
	case !errors.As(err, &failed):
		return err
	}
	fields := errorFields{int32(failed.Code), failed.Code.String(), failed.Message, nil}
	if failed.Offset >= 0 {
		fields.Offset = &failed.Offset
	}
	return writeLine(out, errorLine{path, fields})
}

func decode(path string, encoded []byte) (goldenLine, error) {
	descriptor, err := hurray.DecodeDescriptor(encoded)
	if err != nil {
		return goldenLine{}, err
	}
	defer descriptor.Close()
	fields, err := descriptor.Fields()
	if err != nil {
		return goldenLine{}, err
	}
	reencoded, err := reencode(descriptor, fields)
	if err != nil {
		return goldenLine{}, err
	}
	line := goldenLine{path, descriptorFields{
		VersionMajor:     fields.VersionMajor,
		VersionMinor:     fields.VersionMinor,
		DescriptorLength: fields.Length,
		TrailingBytes:    uint64(len(encoded)) - fields.Length,
		Flags:            fields.Flags,
		Type:             fields.ElementType.String(),
		TypeTag:          uint8(fields.ElementType),
		Layout:           fields.Layout.String(),
		LayoutTag:        uint8(fields.Layout),
		Rank:             len(fields.Shape),
		Shape:            append([]uint64{}, fields.Shape...),
		ByteOffset:       fields.ByteOffset,
		LayoutFields:     layoutFields{fields.Strides},
		Buffers:          []bufferFields{},
	}, hex.EncodeToString(reencoded)}
	for _, b := range fields.Buffers {
		line.Descriptor.Buffers = append(line.Descriptor.Buffers,
			bufferFields{b.ByteSize, b.Alignment, uint8(b.Device), uint8(b.SyncMode), uint8(b.MemoryClass)})
	}
	if fields.Shard != nil {
		line.Descriptor.Shard = &shardFields{
			append([]uint64{}, fields.Shard.ParentShape...), append([]uint64{}, fields.Shard.Offset...)}
	}
	return line, nil
}

// reencode makes the descriptor anew from its fields. Bytes of a later minor version are not among them: such a
// descriptor is encoded as it was decoded.
func reencode(descriptor *hurray.Descriptor, fields hurray.DescriptorFields) ([]byte, error) {
	if fields.VersionMinor > 0 {
		return descriptor.Encode()
	}
	rebuilt, err := hurray.NewDescriptor(fields.DescriptorSpec)
	if err != nil {
		return nil, err
	}
	defer rebuilt.Close()
	return rebuilt.Encode()
}
