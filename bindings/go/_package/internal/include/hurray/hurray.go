// Package hurray holds what hurray.h includes.
package hurray
