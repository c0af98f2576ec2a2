//! No tests here.
