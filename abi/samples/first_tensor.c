/* Loads a model file and adds up the elements of its first float32 tensor, without copying a byte of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* sample: first-tensor */
#include <hurray.h>

static int print_sum(const char *path, const char *name) {
    HurrayError error = {0};
    HurrayFile *file = NULL;
    HurrayTensor *tensor = NULL;
    uint64_t index = 0;
    HurrayView view = {.struct_size = sizeof view};
    double sum = 0;

    if (hurray_file_open(path, NULL, &file, &error) != HURRAY_OK) goto failed;
    if (hurray_file_find(file, name, strlen(name), &index, &error) != HURRAY_OK) goto failed;
    if (hurray_file_tensor(file, index, &tensor, &error) != HURRAY_OK) goto failed;
    hurray_file_destroy(&file); /* the tensor keeps the mapping alive */
    if (hurray_tensor_view(tensor, &view, &error) != HURRAY_OK) goto failed;
    if (view.element_type != HURRAY_TYPE_FLOAT32 || !(view.flags & HURRAY_VIEW_CONTIGUOUS)) {
        hurray_tensor_destroy(&tensor);
        return 1;
    }
    for (uint64_t i = 0; i < view.element_count; ++i) {
        float element;
        memcpy(&element, (const char *)view.data + 4 * i, 4); /* file data may be unaligned */
        sum += element;
    }
    printf("%s: %" PRIu64 " elements, sum %.3f\n", name, view.element_count, sum);
    hurray_tensor_destroy(&tensor);
    return 0;

failed:
    fprintf(stderr, "%s: %s\n", hurray_status_name(error.code), error.message);
    hurray_file_destroy(&file); /* null is a no-op */
    return 1;
}
/* end sample */

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: first_tensor FILE.safetensors NAME\n");
        return 2;
    }
    return print_sum(arguments[1], arguments[2]);
}
