// Package refused has no tests.
package refused
