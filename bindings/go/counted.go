package hurray

import "sync/atomic"

// counted counts the references to something that ends with the last of them. It begins with one.
type counted struct{ more atomic.Int64 }

// retain adds a reference, unless the last one has gone.
func (c *counted) retain() bool {
	for {
		more := c.more.Load()
		if more < 0 {
			return false
		}
		if c.more.CompareAndSwap(more, more+1) {
			return true
		}
	}
}

// dropped takes a reference back and reports whether it was the last one.
func (c *counted) dropped() bool { return c.more.Add(-1) < 0 }
