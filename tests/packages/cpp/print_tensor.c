/* Prints the numbers of a tensor of a model file, one a line, in C99: print_tensor MODEL TENSOR. */
#include <hurray.h>
#include <stdio.h>
#include <string.h>

static int report(const HurrayError *error) {
    fprintf(stderr, "%s: %s\n", hurray_status_name(error->code), error->message);
    return 1;
}

int main(int argc, char **argv) {
    HurrayError error;
    HurrayFile *file = NULL;
    HurrayTensor *tensor = NULL;
    HurrayView view;
    uint64_t index = 0, i;
    int result = 0;
    if (argc != 3) return 2;
    if (hurray_file_open(argv[1], NULL, &file, &error) != HURRAY_OK) return report(&error);
    memset(&view, 0, sizeof view);
    view.struct_size = sizeof view;
    if (hurray_file_find(file, argv[2], strlen(argv[2]), &index, &error) != HURRAY_OK ||
        hurray_file_tensor(file, index, &tensor, &error) != HURRAY_OK ||
        hurray_tensor_view(tensor, &view, &error) != HURRAY_OK) {
        result = report(&error);
    } else {
        for (i = 0; i < view.element_count && view.rank == 1; ++i) {
            double value = 0;
            if (hurray_tensor_element_float64(tensor, &i, 1, &value, &error) != HURRAY_OK) {
                result = report(&error);
                break;
            }
            printf("%.9g\n", value);
        }
    }
    hurray_tensor_destroy(&tensor);
    hurray_file_destroy(&file);
    return result;
}
