/** What the jars with native code provide to the binding. Programs need nothing of it. */
package dev.hurray.spi;
