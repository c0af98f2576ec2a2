package hurray

import (
	"io"
	"iter"
)

// items goes through what next gives, up to io.EOF or an error, and closes each.
func items[T io.Closer](next func() (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for yieldNext(next, yield) {
		}
	}
}

func yieldNext[T io.Closer](next func() (T, error), yield func(T, error) bool) bool {
	item, err := next()
	if err == io.EOF {
		return false
	}
	if err != nil {
		yield(*new(T), err)
		return false
	}
	// Deferred: the body may leave the loop by a panic.
	defer item.Close()
	return yield(item, nil)
}
