/* How the library gets into the process: loaded at run time or, where HURRAY_GO_LINKED is defined, linked with the program,
 * as the released module has it. */
#include "native.h"

#ifdef HURRAY_GO_LINKED

/* What stands for a library that is always open. */
static char linked;

void *hurray_go_open(const char *path, char **message) {
    (void)path;
    *message = NULL;
    return &linked;
}

void hurray_go_close(void *library) { (void)library; }

/* Never asked: hurray_go_resolve takes what is linked. */
void *hurray_go_find(void *library, const char *name) {
    (void)library;
    (void)name;
    return NULL;
}

uint32_t hurray_go_version(void *library) {
    (void)library;
    return hurray_c_abi_version();
}

uint8_t hurray_go_supports(void *library, uint32_t wanted) {
    (void)library;
    return hurray_c_abi_supports(wanted);
}

int hurray_go_linked(void) { return 1; }

#else

#include <dlfcn.h>
#include <string.h>

void *hurray_go_open(const char *path, char **message) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *message = NULL;
    if (library == NULL) {
        /* Copied at once: the text belongs to the dynamic loader and lasts until its next call on this thread. */
        const char *text = dlerror();
        *message = strdup(text != NULL ? text : "the dynamic loader gave no reason");
    }
    return library;
}

void hurray_go_close(void *library) { dlclose(library); }

void *hurray_go_find(void *library, const char *name) { return dlsym(library, name); }

uint32_t hurray_go_version(void *library) {
    uint32_t (*version)(void);
    void *address = dlsym(library, "hurray_c_abi_version");
    if (address == NULL) return 0;
    memcpy(&version, &address, sizeof address);
    return version();
}

uint8_t hurray_go_supports(void *library, uint32_t wanted) {
    uint8_t (*supports)(uint32_t);
    void *address = dlsym(library, "hurray_c_abi_supports");
    if (address == NULL) return 0;
    memcpy(&supports, &address, sizeof address);
    return supports(wanted);
}

int hurray_go_linked(void) { return 0; }

#endif
