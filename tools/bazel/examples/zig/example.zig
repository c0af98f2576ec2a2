//! Calls the C library of the examples.
const c = @cImport(@cInclude("example.h"));

/// Sum of the numbers.
pub fn sum(values: []const i32) i64 {
    return c.example_sum(values.ptr, values.len);
}
