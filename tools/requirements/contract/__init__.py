"""What the contract of the C ABI demands, and which test proves it."""
