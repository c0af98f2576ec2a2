// Package include holds hurray.h for the C parts of this module.
package include
