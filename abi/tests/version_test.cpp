// Version, names and facts. (seed: C ABI Version, Error Handling)
#include "abi/tests/support.hpp"

namespace {

TEST(Version, ConstantAndAccessorAreFour) {
    EXPECT_EQ(HURRAY_C_ABI_VERSION, 4);
    EXPECT_EQ(hurray_c_abi_version(), 0u + HURRAY_C_ABI_VERSION);
}

TEST(Version, LibraryVouchesForAllThatOnlyAdded) {
    EXPECT_EQ(hurray_c_abi_supports(0), 0);
    for (std::uint32_t version = 1; version <= 4; ++version) EXPECT_EQ(hurray_c_abi_supports(version), 1) << version;
    EXPECT_EQ(hurray_c_abi_supports(5), 0);
    EXPECT_EQ(hurray_c_abi_supports(UINT32_MAX), 0);
}

TEST(Version, SeedStatusCodesHaveTheSeedsNumbers) {
    EXPECT_EQ(HURRAY_OK, 0);
    EXPECT_EQ(HURRAY_ERR_INVALID_MAGIC, -1);
    EXPECT_EQ(HURRAY_ERR_VERSION_MISMATCH, -2);
    EXPECT_EQ(HURRAY_ERR_INVALID_LAYOUT, -3);
    EXPECT_EQ(HURRAY_ERR_INVALID_TYPE, -4);
    EXPECT_EQ(HURRAY_ERR_BUFFER_TOO_SMALL, -5);
    EXPECT_EQ(HURRAY_ERR_NULL_POINTER, -6);
    EXPECT_EQ(HURRAY_ERR_INTERNAL_PANIC, -7);
    EXPECT_EQ(HURRAY_ERR_INVALID_SYNC_MODE, -8);
    EXPECT_EQ(HURRAY_ERR_SYNC_MODE_MISMATCH, -9);
    EXPECT_EQ(HURRAY_ERR_INTERNAL, -10);
    EXPECT_EQ(HURRAY_ERR_INDEX_OUT_OF_BOUNDS, -11);
}

TEST(Version, EveryStatusHasANameAndUnknownOnesSaySo) {
    EXPECT_STREQ(hurray_status_name(HURRAY_OK), "OK");
    for (HurrayStatus status = HURRAY_ERR_DISCONNECTED; status < 0; ++status) {
        EXPECT_STRNE(hurray_status_name(status), "UNKNOWN") << status;
    }
    EXPECT_STREQ(hurray_status_name(HURRAY_ERR_DISCONNECTED - 1), "UNKNOWN");
    EXPECT_STREQ(hurray_status_name(1), "UNKNOWN");
}

TEST(RuntimeInfo, NamesBuildVersionAndFile) {
    HurrayRuntimeInfo info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(hurray_runtime_info(&info, nullptr), HURRAY_OK);
    EXPECT_EQ(info.struct_size, sizeof info);
    EXPECT_EQ(info.c_abi_version, 4u);
    EXPECT_STREQ(info.build_id, hurray_build_id());
    EXPECT_NE(std::string(info.build_id).find(info.version), std::string::npos);
    EXPECT_NE(std::string(info.library_path), "");
}

TEST(SizedStruct, LargerStructOfANewerCallerIsZeroedBehindWhatIsKnown) {
    struct {
        HurrayRuntimeInfo info;
        std::uint64_t future[2];
    } newer{};
    newer.info.struct_size = sizeof newer;
    newer.future[0] = newer.future[1] = 77;
    ASSERT_EQ(hurray_runtime_info(&newer.info, nullptr), HURRAY_OK);
    EXPECT_EQ(newer.info.c_abi_version, 4u);
    EXPECT_EQ(newer.future[0], 0u);
    EXPECT_EQ(newer.future[1], 0u);
}

TEST(SizedStruct, TooSmallIsRefusedAndNothingBehindItIsTouched) {
    HurrayRuntimeInfo info{};
    info.struct_size = 8;
    info.c_abi_version = 9;
    info.build_id = "kept";
    HurrayError error{};
    EXPECT_EQ(hurray_runtime_info(&info, &error), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(error.code, HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.message).find("struct_size"), std::string::npos);
    EXPECT_STREQ(info.build_id, "kept");
    EXPECT_EQ(info.c_abi_version, 0u) << "zeroed up to struct_size";
}

TEST(SizedStruct, AbsurdSizeIsRefusedAndNothingIsTouched) {
    HurrayRuntimeInfo info{};
    info.struct_size = UINT32_MAX;
    info.c_abi_version = 9;
    EXPECT_EQ(hurray_runtime_info(&info, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(info.c_abi_version, 9u);
}

TEST(LiveHandles, UnknownKindIsRefused) {
    std::uint64_t handles = 1;
    std::uint64_t bytes = 1;
    EXPECT_EQ(hurray_live_handles(999, &handles, &bytes, nullptr), HURRAY_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(handles, 0u);
    EXPECT_EQ(bytes, 0u);
}

}  // namespace
