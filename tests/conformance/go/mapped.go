package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// mappedAt is device and inode, "DEVICE:INODE", of what is mapped at an address; nil for memory that is no file's.
func mappedAt(address uintptr) (*string, error) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		// ADDRESS-ADDRESS MODE OFFSET DEVICE INODE NAME
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		first, err := strconv.ParseUint(from, 16, 64)
		if err != nil {
			return nil, err
		}
		end, err := strconv.ParseUint(to, 16, 64)
		if err != nil {
			return nil, err
		}
		if uint64(address) < first || uint64(address) >= end {
			continue
		}
		if fields[4] == "0" {
			return nil, nil
		}
		mapped := fields[3] + ":" + fields[4]
		return &mapped, nil
	}
	return nil, nil
}
