"""Every rule about what a pointer means refuses what it is there for."""

import unittest

from sample import SampleTest

TYPES, BOX, MORE = "src/api/types.hpp", "src/box.cpp", "src/more.cpp"


class Annotations(SampleTest):
    def test_missing(self):
        self.edit(BOX, "HG_IN const HurrayBox* box", "const HurrayBox* box")
        self.refused("annotation", "hurray_box_info: parameter box: no annotation", at=(BOX, "(const HurrayBox* box"))

    def test_two(self):
        self.edit(BOX, "HG_IN const HurrayBox* box", "HG_IN HG_IN_OPT const HurrayBox* box")
        self.refused("annotation", "2 annotations")

    def test_on_a_number(self):
        self.edit(BOX, "uint64_t width,", "HG_IN uint64_t width,")
        self.refused("annotation", "only pointers carry an annotation")

    def test_length_that_is_no_parameter(self):
        self.edit(MORE, "HG_IN_ARRAY(count)", "HG_IN_ARRAY(counts)")
        self.refused("annotation", "names `counts`, which is no parameter")

    def test_length_that_is_no_integer(self):
        self.edit(MORE, "HG_IN_ARRAY(count)", "HG_IN_ARRAY(name)")
        self.refused("annotation", "its length `name` is no integer")

    def test_owner_that_is_no_parameter(self):
        self.edit(MORE, "HG_OUT_BORROWED(box)", "HG_OUT_BORROWED(boxes)")
        self.refused("annotation", "names `boxes`, which is no parameter")

    def test_destroy_that_is_no_function(self):
        self.edit(BOX, "HG_OUT_OWNED(hurray_box_destroy)", "HG_OUT_OWNED(hurray_box_free)")
        self.refused("annotation", "names `hurray_box_free`, which is no public function")

    def test_destroy_that_ends_something_else(self):
        self.edit(BOX, "HG_OUT_OWNED(hurray_box_destroy)", "HG_OUT_OWNED(hurray_box_info)")
        self.refused("annotation", "`hurray_box_info` does not end a HurrayBox")

    def test_input_that_is_not_const(self):
        self.edit(BOX, "HG_IN const HurrayBox* box", "HG_IN HurrayBox* box")
        self.refused("annotation", "`in` expects a pointer to const")

    def test_output_that_is_const(self):
        self.edit(BOX, "HG_OUT HurrayBoxInfo*", "HG_OUT const HurrayBoxInfo*")
        self.refused("annotation", "`out` expects a pointer to what is not const")

    def test_callback_with_an_annotation_of_pointers(self):
        self.edit(MORE, "HG_CALLBACK HurrayChooser", "HG_IN HurrayChooser")
        self.refused("annotation", "a callback carries HG_CALLBACK")

    def test_handle_that_nothing_destroys(self):
        self.edit(BOX, "HG_DESTROYED_VAR HurrayBox** box", "HG_CONSUMED_VAR HurrayBox** box")
        self.refused("annotation", "does not end a HurrayBox")

    def test_unknown(self):
        (self.root / "src/api/annotations.hpp").write_text(
            (self.root / "src/api/annotations.hpp").read_text() + '\n#define HG_ODD HG_ANNOTATE("odd")\n')
        self.edit(BOX, "HG_IN const HurrayBox* box", "HG_ODD const HurrayBox* box")
        self.refused("annotation", "unknown annotation 'odd'")

    def test_shapes(self):
        """Each annotation fits one shape of parameter only: (file, what stands there, another one, the reason)."""
        for file, old, new, reason in (
                (MORE, "HG_IN_OPT const HurrayBox* other", "HG_CALLBACK const HurrayBox* other", "`callback` expects a callback type"),
                (MORE, "HG_OPAQUE void* context", "HG_OPAQUE HurrayBox* context", "`opaque` expects void *"),
                (BOX, "HG_OUT_OWNED(hurray_box_destroy) HurrayBox** out_box", "HG_OUT_OWNED(hurray_box_destroy) HurrayBox* out_box",
                 "`out_owned` expects a pointer to a pointer"),
                (MORE, "HG_OUT_BORROWED(box) const uint8_t** out_bytes", "HG_OUT_BORROWED(box) uint8_t* out_bytes",
                 "`out_borrowed` expects a pointer to a pointer"),
                (MORE, "HG_IN_STRING const char* name", "HG_IN_STRING const uint8_t* name", "`in_string` expects const char *"),
                (BOX, "HG_ERROR HurrayError* error", "HG_ERROR HurrayBoxInfo* error", "`error` expects HurrayError *"),
                (MORE, "HG_CONSUMED HurrayBox* taken", "HG_CONSUMED uint64_t* taken", "`consumed` expects a handle or a struct"),
                (MORE, "HG_CONSUMED_VAR HurrayBox** variable", "HG_CONSUMED_VAR uint8_t** variable",
                 "`consumed_var` expects the address of a handle variable"),
                (MORE, "HG_IN_OPT const HurrayBox* other", "HG_IN_OPT const void* other", "`in_opt` expects a pointer to a public type"),
                (MORE, "HG_IN_ARRAY(count) const uint64_t* values", "HG_IN_ARRAY(count) uint64_t* values", "`in_array` expects a pointer to const"),
                (MORE, "HG_OUT_ARRAY(capacity) uint8_t* bytes", "HG_OUT_ARRAY(capacity) const uint8_t* bytes",
                 "`out_array` expects a pointer to what is not const"),
                (MORE, "HG_INOUT HurrayBox* box", "HG_INOUT const HurrayBox* box", "`inout` expects a pointer to what is not const")):
            with self.subTest(new):
                self.setUp()
                self.edit(file, old, new)
                self.refused("annotation", reason)

    def test_handle_that_two_functions_destroy(self):
        self.edit(BOX, "/// Ends a box.", "/// Ends it, too.\n/// @thread any\n/// @since 2\n"
                  "HURRAY_API HurrayStatus hurray_box_end(HG_DESTROYED_VAR HurrayBox** box, HG_ERROR HurrayError* error) noexcept {\n"
                  "    (void)box, (void)error;\n    return HURRAY_OK;\n}\n\n/// Ends a box.")
        self.refused("handle", "HurrayBox already ends with hurray_box_end")

    def test_handle_that_nobody_ends(self):
        self.edit(TYPES, "/// Gets its memory back.", "/// A lid.\n/// @since 2\nstruct HurrayLid;\n\n/// Gets its memory back.")
        self.edit(MORE, "HG_OUT_BORROWED(box) const uint8_t** out_bytes", "HG_OUT_OWNED(hurray_box_destroy) HurrayLid** out_lid")
        self.edit(MORE, "(void)out_bytes,", "(void)out_lid,")
        self.refused("handle", "HurrayLid: no function destroys it")
        self.refused("annotation", "`hurray_box_destroy` does not end a HurrayLid")


if __name__ == "__main__":
    unittest.main()
