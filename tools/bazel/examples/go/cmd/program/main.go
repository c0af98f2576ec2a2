// Command program prints the sum of its arguments.
package main

import (
	"fmt"
	"os"
	"strconv"

	"example.test/example"
)

func main() {
	var values []int32
	for _, argument := range os.Args[1:] {
		value, err := strconv.ParseInt(argument, 10, 32)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		values = append(values, int32(value))
	}
	fmt.Println(example.Sum(values))
}
