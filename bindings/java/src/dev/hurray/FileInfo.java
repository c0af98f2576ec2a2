package dev.hurray;

/**
 * Facts about an open model file.
 *
 * @param format its format
 * @param tensorCount number of tensors
 * @param metadataCount number of metadata entries
 * @param fileSize its size in bytes
 * @param copiedBytes bytes of tensor data copied so far (packing, alignment); 0 as long as all is mapped
 */
public record FileInfo(FileFormat format, long tensorCount, long metadataCount, long fileSize, long copiedBytes) {}
