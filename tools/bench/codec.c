/* What tools/bench counts the instructions of: COUNT times decode and destroy, or encode, of one descriptor. */
#include <hurray.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { largest = 4096 };

static int failed(const HurrayError *error) {
    fprintf(stderr, "%s: %s\n", hurray_status_name(error->code), error->message);
    return 3;
}

/* Reads hexadecimal digits; returns the number of bytes, 0 for what is none. */
static size_t read_hex(const char *text, uint8_t *bytes) {
    const size_t length = strlen(text) / 2;
    if (length > largest || strlen(text) % 2 != 0) return 0;
    for (size_t i = 0; i < length; ++i) {
        unsigned value;
        if (sscanf(text + 2 * i, "%2x", &value) != 1) return 0;
        bytes[i] = (uint8_t)value;
    }
    return length;
}

static int decode(const uint8_t *bytes, size_t length, long count) {
    HurrayError error;
    for (long i = 0; i < count; ++i) {
        HurrayDescriptor *descriptor = NULL;
        if (hurray_descriptor_decode(bytes, length, &descriptor, &error) != HURRAY_OK) return failed(&error);
        hurray_descriptor_destroy(&descriptor);
    }
    return 0;
}

static int encode(const uint8_t *bytes, size_t length, long count) {
    static uint8_t out[largest];
    uint64_t written = 0;
    HurrayError error;
    HurrayDescriptor *descriptor = NULL;
    if (hurray_descriptor_decode(bytes, length, &descriptor, &error) != HURRAY_OK) return failed(&error);
    int status = 0;
    for (long i = 0; i < count && status == 0; ++i) {
        if (hurray_descriptor_encode(descriptor, out, sizeof out, &written, &error) != HURRAY_OK) status = failed(&error);
    }
    hurray_descriptor_destroy(&descriptor);
    if (status == 0 && count > 0 && (written != length || memcmp(out, bytes, length) != 0)) {
        fprintf(stderr, "the encoded descriptor differs\n");
        return 1;
    }
    return status;
}

int main(int argc, char **argv) {
    static uint8_t bytes[largest];
    if (argc != 4) {
        fprintf(stderr, "usage: codec decode|encode HEX COUNT\n");
        return 2;
    }
    const size_t length = read_hex(argv[2], bytes);
    const long count = strtol(argv[3], NULL, 10);
    if (strcmp(argv[1], "decode") == 0) return decode(bytes, length, count);
    if (strcmp(argv[1], "encode") == 0) return encode(bytes, length, count);
    fprintf(stderr, "no such action: %s\n", argv[1]);
    return 2;
}
