"""Every rule refuses what it is there for, with file, line and reason."""

import unittest

from sample import SampleTest

TYPES, BOX, MORE = "src/api/types.hpp", "src/box.cpp", "src/more.cpp"


class Functions(SampleTest):
    def test_undocumented_function(self):
        self.edit(BOX, "/// Ends a box.\n/// @thread any\n/// @since 1\n", "")
        self.refused("doc", "hurray_box_destroy: no documentation comment", at=(BOX, "hurray_box_destroy(HG_"))

    def test_tags_alone_are_no_documentation(self):
        self.edit(BOX, "/// Ends a box.\n", "")
        self.refused("doc", "hurray_box_destroy: no documentation comment")

    def test_unknown_tag(self):
        self.edit(BOX, "/// @spec Boxes", "/// @returns nothing")
        self.refused("doc", "unknown tag @returns")

    def test_documented_parameter_that_does_not_exist(self):
        self.edit(BOX, "@param width in bytes", "@param size in bytes")
        self.refused("doc", "@param size: there is no such parameter")

    def test_missing_noexcept(self):
        self.edit(BOX, "hurray_box_destroy(HG_DESTROYED_VAR HurrayBox** box) noexcept", "hurray_box_destroy(HG_DESTROYED_VAR HurrayBox** box)")
        self.refused("noexcept", "hurray_box_destroy: not noexcept", at=(BOX, "hurray_box_destroy(HG_"))

    def test_noexcept_false(self):
        self.edit(BOX, "hurray_box_destroy(HG_DESTROYED_VAR HurrayBox** box) noexcept",
                  "hurray_box_destroy(HG_DESTROYED_VAR HurrayBox** box) noexcept(false)")
        self.refused("noexcept", "hurray_box_destroy: not noexcept")

    def test_name_without_prefix(self):
        self.edit(MORE, "hurray_name()", "sample_name()")
        self.refused("name", "sample_name: expected a name that starts with hurray_", at=(MORE, "sample_name"))

    def test_missing_since(self):
        self.edit(MORE, "/// @owner static\n/// @thread any\n/// @since 2\n", "/// @owner static\n/// @thread any\n")
        self.refused("since", "hurray_name: @since is missing")

    def test_since_that_is_no_version(self):
        self.edit(MORE, "/// @owner static\n/// @thread any\n/// @since 2\n", "/// @owner static\n/// @thread any\n/// @since two\n")
        self.refused("since", "expected a version of the C ABI, got 'two'")

    def test_missing_thread(self):
        self.edit(BOX, "/// @thread one at a time\n", "")
        self.refused("thread", "hurray_box_info: @thread is missing")

    def test_missing_owner_of_a_new_handle(self):
        self.edit(BOX, "/// @owner the memory belongs to the box; the box to the caller\n", "")
        self.refused("owner", "hurray_box_from_memory: hands over or lends memory, but @owner is missing")

    def test_missing_owner_of_a_returned_pointer(self):
        self.edit(MORE, "/// @owner static\n", "")
        self.refused("owner", "hurray_name")

    def test_fallible_function_without_status(self):
        self.edit(BOX, "HG_INFALLIBLE uint32_t", "uint32_t")
        self.refused("fallible", "hurray_c_abi_version: a function that can fail returns HurrayStatus")

    def test_infallible_function_with_status(self):
        self.edit(BOX, "HURRAY_API HurrayStatus hurray_box_destroy", "HURRAY_API HG_INFALLIBLE HurrayStatus hurray_box_destroy")
        self.refused("fallible", "marked HG_INFALLIBLE")

    def test_infallible_function_with_a_required_pointer(self):
        self.edit(MORE, "hurray_name()", "hurray_name(HG_IN const HurrayBox* box)")
        self.refused("fallible", "has a required pointer")

    def test_fallible_function_without_error_report(self):
        self.edit(BOX, "HG_OUT HurrayBoxInfo* out_info,\n                                        HG_ERROR HurrayError* error)",
                  "HG_OUT HurrayBoxInfo* out_info)")
        self.edit(BOX, "(void)out_info, (void)error;", "(void)out_info;")
        self.refused("error", "hurray_box_info: its last parameter must be HG_ERROR HurrayError *")

    def test_error_report_that_is_not_last(self):
        self.edit(BOX, "HG_OUT HurrayBoxInfo* out_info,\n                                        HG_ERROR HurrayError* error)",
                  "HG_ERROR HurrayError* error, HG_OUT HurrayBoxInfo* out_info)")
        self.refused("error", "hurray_box_info: its last parameter")

    def test_error_report_in_a_verbatim_signature(self):
        self.edit("headergen.json", '["hurray_box_from_memory"]', '["hurray_box_from_memory", "hurray_box_info"]')
        self.refused("error", "the profile says its signature has no HurrayError")

    def test_verbatim_signature_of_a_function_that_does_not_exist(self):
        self.edit("headergen.json", '["hurray_box_from_memory"]', '["hurray_box_from_memory", "hurray_gone"]')
        self.refused("profile", "without_error names hurray_gone")

    def test_infallible_function_with_an_error_report(self):
        self.edit(MORE, "hurray_name()", "hurray_name(HG_ERROR HurrayError* error)")
        self.refused("error", "hurray_name: cannot fail, but takes a HurrayError")

    def test_two_error_reports(self):
        self.edit(BOX, "HG_IN const HurrayBox* box, HG_OUT HurrayBoxInfo*", "HG_ERROR HurrayError* first, HG_OUT HurrayBoxInfo*")
        self.edit(BOX, "(void)box, (void)out_info", "(void)first, (void)out_info")
        self.refused("error", "hurray_box_info: HG_ERROR must be the last parameter")

    def test_parameter_without_a_name(self):
        self.edit(MORE, "uint32_t count,\n", "uint32_t,\n")
        self.refused("name", "hurray_box_everything: a parameter has no name")

    def test_version_function_that_does_not_exist(self):
        self.edit("headergen.json", '"version_function": "hurray_c_abi_version"', '"version_function": "hurray_version"')
        self.refused("profile", "no function hurray_version")

    def test_version_constant_that_does_not_exist(self):
        self.edit("headergen.json", '"version_constant": "HURRAY_C_ABI_VERSION"', '"version_constant": "HURRAY_VERSION"')
        self.refused("profile", "no constant HURRAY_VERSION")

    def test_source_that_is_listed_twice(self):
        self.edit("headergen.json", '"sources": ["more.cpp"]', '"sources": ["more.cpp", "box.cpp"]')
        self.refused("profile", "box.cpp is listed twice")

    def test_exported_by_hand(self):
        self.edit(MORE, "/// Uses every", 'extern "C" uint32_t hurray_hidden() noexcept { return 1; }\n\n/// Uses every')
        self.refused("exported", "hurray_hidden: extern \"C\" without HURRAY_API")

    def test_source_that_no_header_takes(self):
        (self.root / "src/extra.cpp").write_text((self.root / MORE).read_text().replace("hurray_", "hurray_x_"))
        self.refused("profile", "defines public functions, but no header in headergen.json takes it")

    def test_listed_source_that_does_not_exist(self):
        (self.root / MORE).unlink()
        self.refused("profile", "src/more.cpp is listed but does not exist")

    def test_source_that_does_not_compile(self):
        self.edit(MORE, "HG_OPAQUE void* context,", "HG_OPAQUE Unknown* context,")
        self.refused("parse", "unknown type name 'Unknown'", at=(MORE, "Unknown*"))


class ParameterTypes(SampleTest):
    def with_parameter(self, declaration: str) -> None:
        self.edit(MORE, "uint32_t count,\n", f"{declaration} count,\n")

    def test_int(self):
        self.with_parameter("int")
        self.refused("fixed-width", "hurray_box_everything: parameter count: type `int`: no fixed width", at=(MORE, "int count"))

    def test_types_without_a_fixed_width(self):
        for name in ("long", "unsigned long", "short", "long long", "size_t", "intptr_t", "wchar_t", "long double", "char"):
            with self.subTest(name):
                self.setUp()
                self.with_parameter(name)
                self.refused("fixed-width", "parameter count", name)

    def test_mode_as_a_parameter(self):
        for declaration, name in (("uint8_t sync_mode", "sync_mode"), ("uint8_t mode", "mode"), ("uint8_t buffer_mode", "buffer_mode"),
                                  ("uint32_t sync_mode", "sync_mode"), ("HurrayMode mode", "mode")):
            with self.subTest(declaration):
                self.setUp()
                self.edit(TYPES, "/// A box. Nobody", "/// Mode.\ntypedef uint8_t HurrayMode;\n\n/// A box. Nobody")
                self.edit(MORE, "uint32_t count,\n", f"uint32_t count, {declaration},\n")
                self.refused("mode", f"hurray_box_everything: parameter {name}: the mode stands in the 16-byte buffer handle",
                             at=(MORE, declaration))

    def test_mode_that_a_function_gives_out(self):
        self.edit(MORE, "HG_OUT_OPT uint64_t* out_number", "HG_OUT_OPT uint8_t* out_sync_mode")
        self.edit(MORE, "(void)out_number,", "(void)out_sync_mode,")
        self.refused("mode", "hurray_box_everything: parameter out_sync_mode")

    def test_bool(self):
        self.with_parameter("bool")
        self.refused("fixed-width", "use uint8_t")

    def test_enum_parameter(self):
        self.edit(MORE, "/// Returns the", "enum class Colour : uint8_t { red };\n\n/// Returns the")
        self.with_parameter("Colour")
        self.refused("enum", "enums have no fixed form in C")

    def test_reference(self):
        self.edit(MORE, "HG_OUT_OPT uint64_t* out_number", "uint64_t& out_number")
        self.refused("fixed-width", "C has no references")

    def test_struct_by_value(self):
        self.edit(BOX, "HG_IN const HurrayBox* box, HG_OUT", "HurrayBoxInfo box, HG_OUT")
        self.refused("by-value", "structs are passed by pointer")

    def test_undeclared_public_type(self):
        self.edit(MORE, "HG_IN_OPT const HurrayBox* other", "HG_IN_OPT const struct HurrayDescriptorXxx* other")
        self.refused("undeclared", "HurrayDescriptorXxx", at=(MORE, "HurrayDescriptorXxx"))

    def test_type_of_the_core(self):
        self.edit(MORE, "/// Returns the", "namespace core { struct Inner {}; }\n\n/// Returns the")
        self.edit(MORE, "HG_IN_OPT const HurrayBox* other", "HG_IN_OPT const core::Inner* other")
        self.refused("undeclared", "core::Inner")

    def test_handle_by_value(self):
        self.edit(BOX, "HG_IN const HurrayBox* box, HG_OUT", "HurrayBox box, HG_OUT")
        self.refused("fixed-width", "an opaque handle can only be passed by pointer")

    def test_pointer_to_a_callback(self):
        self.edit(MORE, "HG_CALLBACK HurrayChooser chooser", "HG_IN const HurrayChooser* chooser")
        self.refused("callback", "pointers to callbacks are not supported")

    def test_inline_function_pointer(self):
        self.edit(MORE, "HG_CALLBACK HurrayChooser chooser", "HG_CALLBACK void (*chooser)(void* x)")
        self.refused("callback", "name the callback with a typedef")

    def test_return_type(self):
        self.edit(BOX, "HG_INFALLIBLE uint32_t hurray_c_abi_version", "HG_INFALLIBLE unsigned hurray_c_abi_version")
        self.refused("fixed-width", "hurray_c_abi_version: return")


class Types(SampleTest):
    def test_c_enum(self):
        self.edit(TYPES, "/// What a box is.", "/// Sizes.\nenum HurraySize { HURRAY_SMALL };\n\n/// What a box is.")
        self.refused("enum", "HurraySize: enums have no fixed form in C", at=(TYPES, "enum HurraySize"))

    def test_class(self):
        self.edit(TYPES, "/// What a box is.", "/// C.\nclass HurrayC { int32_t x; };\n\n/// What a box is.")
        self.refused("public-type", "HurrayC: a class", at=(TYPES, "class HurrayC"))

    def test_struct_without_fields(self):
        self.edit(TYPES, "/// What a box is.", "/// Empty.\nstruct HurrayEmpty {};\n\n/// What a box is.")
        self.refused("public-type", "HurrayEmpty: a public struct needs a field")

    def test_struct_with_a_base(self):
        self.edit(TYPES, "/// What a box is.", "/// D.\nstruct HurrayD : HurrayError {\n    /// X.\n    int32_t x;\n};\n\n/// What a box is.")
        self.refused("public-type", "a public struct has plain fields only")

    def test_alignment_of_its_own(self):
        self.edit(TYPES, "struct HurrayError {", "struct alignas(8) HurrayError {")
        self.refused("public-type", "HurrayError: ALIGNED_ATTR")

    def test_typedef_of_a_pointer(self):
        self.edit(TYPES, "/// Chooses.", "/// P.\ntypedef const HurrayBox* HurrayBoxPointer;\n\n/// Chooses.")
        self.refused("public-type", "HurrayBoxPointer: a typedef names a fixed-width number or a callback")

    def test_typedef_without_a_width(self):
        self.edit(TYPES, "typedef int32_t HurrayStatus;", "typedef int HurrayStatus;")
        self.refused("fixed-width", "HurrayStatus: type `int`")

    def test_callback_parameter_without_a_name(self):
        self.edit(TYPES, "(void* memory, void* context)", "(void* memory, void*)")
        self.refused("callback", "HurrayReleaseCallback: a parameter has no name")

    def test_callback_with_a_type_without_a_width(self):
        self.edit(TYPES, "(void* memory, void* context)", "(void* memory, long context)")
        self.refused("fixed-width", "HurrayReleaseCallback: parameter context")

    def test_constant_without_a_value(self):
        self.edit(TYPES, "constexpr double HURRAY_RATIO = 0.5;", "extern const double HURRAY_RATIO;")
        self.refused("constant", "HURRAY_RATIO: its value cannot be determined")

    def test_group_that_is_opened_twice(self):
        self.edit(TYPES, "/// @group HurrayLimits Limits.", "/// @group HurrayColour Limits.")
        self.refused("doc", "the group HurrayColour is opened twice")

    def test_enum_field(self):
        (self.root / "src/inner.hpp").write_text("#pragma once\nnamespace x { enum E { a, b }; }\n")
        self.edit(TYPES, "#include <cstdint>", '#include <cstdint>\n#include "src/inner.hpp"')
        self.edit(TYPES, "double temperature;", "x::E temperature;")
        self.refused("enum", "HurrayBoxInfo.temperature")

    def test_undocumented_struct_field_constant_typedef_handle(self):
        for old, name in (("/// What a box is.\n", "HurrayBoxInfo"), ("    /// Width in bytes.\n", "HurrayBoxInfo.width"),
                          ("/// The widest box.\n", "HURRAY_WIDTH_MAX"), ("/// Outcome of a call.\n/// @since 1\n", "HurrayStatus"),
                          ("/// A box. Nobody looks into it.\n/// @since 1\n", "HurrayBox"), ("/// Chooses.\n", "HurrayChooser")):
            with self.subTest(name):
                self.setUp()
                self.edit(TYPES, old, "\n" if name == "HURRAY_WIDTH_MAX" else "")
                self.refused("doc", f"{name}: no documentation comment")

    def test_sync_mode_field(self):
        self.edit(TYPES, "    uint8_t reserved[3];", "    uint8_t sync_mode;\n    /// 0.\n    uint8_t reserved[2];")
        self.refused("mode", "HurrayBoxInfo.sync_mode", "never duplicated", at=(TYPES, "sync_mode"))

    def test_mode_field_of_one_byte(self):
        self.edit(TYPES, "uint8_t colour;", "uint8_t mode;")
        self.refused("mode", "HurrayBoxInfo.mode")

    def test_mode_behind_a_pointer_or_in_an_array(self):
        self.edit(TYPES, "uint8_t reserved[3];", "uint8_t sync_modes[3];")
        self.refused("mode", "HurrayBoxInfo.sync_modes")

    def test_mode_of_another_word(self):
        """The rule looks at bytes: what is no byte is no copy of the mode."""
        self.edit(TYPES, "double temperature;", "uint64_t mode;")
        self.assertEqual(self.headergen("--freeze")[0], 0)

    def test_mode_of_a_callback(self):
        self.edit(TYPES, "(void* memory, void* context)", "(void* memory, uint8_t sync_mode, void* context)")
        self.refused("mode", "HurrayReleaseCallback: parameter sync_mode", at=(TYPES, "HurrayReleaseCallback)"))

    def test_hole(self):
        self.edit(TYPES, "    /// 0.\n    uint8_t reserved[3];\n", "")
        self.refused("padding", "HurrayBoxInfo.width: 3 bytes of padding before it", at=(TYPES, "uint64_t width"))

    def test_hole_at_the_end(self):
        self.edit(TYPES, "double temperature;", "float temperature;")
        self.refused("padding", "HurrayBoxInfo: 4 bytes of padding at its end")

    def test_holes_of_a_verbatim_struct(self):
        self.edit(TYPES, "    /// 0.\n    uint8_t reserved[3];\n", "")
        self.edit("headergen.json", '"without_error"', '"verbatim_structs": ["HurrayBoxInfo"], "without_error"')
        self.assertEqual(self.headergen("--freeze")[0], 0)

    def test_verbatim_struct_without_a_hole(self):
        self.edit("headergen.json", '"without_error"', '"verbatim_structs": ["HurrayBoxInfo", "HurrayGone"], "without_error"')
        self.refused("profile", "verbatim_structs names HurrayBoxInfo, which is no struct with a hole")
        self.refused("profile", "verbatim_structs names HurrayGone, which is no struct with a hole")

    def test_field_of_no_fixed_width(self):
        self.edit(TYPES, "uint64_t width;", "unsigned long width;")
        self.refused("fixed-width", "HurrayBoxInfo.width: type `unsigned long`")

    def test_bit_field(self):
        self.edit(TYPES, "uint8_t colour;", "uint8_t colour : 4;")
        self.refused("public-type", "bit fields")

    def test_method_and_base(self):
        self.edit(TYPES, "    double temperature;\n", "    double temperature;\n    void warm();\n")
        self.refused("public-type", "plain fields only")

    def test_names(self):
        for old, new in (("HurrayBoxInfo {", "BoxInfo {"), ("HURRAY_NAME[]", "NAME[]"), ("HurrayReleaseCallback)", "ReleaseCallback)")):
            with self.subTest(new):
                self.setUp()
                for file in (BOX, MORE):
                    path = self.root / file
                    word = old.strip(" {[])")
                    path.write_text(path.read_text().replace(word, new.strip(" {[])")))
                self.edit(TYPES, old, new)
                self.refused("name", f"{new.strip(' {[])')}: expected a name that starts with")

    def test_constant_in_no_group(self):
        self.edit(TYPES, "/// @endgroup", "/// @endgroup\n\n/// Lost.\nconstexpr uint32_t HURRAY_LOST = 1;")
        self.refused("group", "HURRAY_LOST: stands in no group")

    def test_group_without_a_title(self):
        self.edit(TYPES, "/// @group HurrayColour Colours of a box.", "/// @group HurrayColour")
        self.refused("doc", "@group needs a name and a title")

    def test_function_among_the_types(self):
        self.edit(TYPES, "/// What a box is.", "/// Adds.\ninline uint32_t hurray_add(uint32_t a) { return a; }\n\n/// What a box is.")
        self.refused("public-type", "hurray_add")

    def test_declared_twice(self):
        self.edit(TYPES, "/// What a box is.", "/// Again.\nstruct HurrayBox;\n\n/// What a box is.")
        self.refused("twice", "HurrayBox is declared twice")


if __name__ == "__main__":
    unittest.main()
