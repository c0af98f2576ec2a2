// Package archive links the Hurray library with the program: the static archive of the platform, which this folder holds, or,
// with the build tag hurray_pkgconfig, the shared library that pkg-config finds. With the build tag musl the archive is the
// one for musl, such as Alpine Linux has: Go itself does not tell the C libraries of Linux apart.
package archive
