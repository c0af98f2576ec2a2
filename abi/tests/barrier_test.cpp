// The barrier between C++ and C. (seed: Panic Safety, Error Handling)
//
// Linked to the shim: it throws from where a public function's body would.
#include <stdexcept>

#include "abi/src/internal/barrier.hpp"
#include "abi/src/internal/diagnostics.hpp"
#include "abi/src/api/version.hpp"
#include "gtest/gtest.h"

namespace {

using hurray::Error;
using hurray::Result;
using hurray::Status;
using namespace hurray::abi;

std::string last_diagnostic(HurrayStatus& code) {
    HurrayError entry{};
    std::string message;
    for (std::uint32_t i = 0; read_diagnostic(i, entry); ++i) {
        message = entry.message;
        code = entry.code;
    }
    return message;
}

TEST(Barrier, ExceptionOfTheStandardLibraryBecomesInternalPanicAndItsMessageIsKept) {
    HurrayError error{};
    EXPECT_EQ(guarded(&error, []() -> Result<void> { throw std::runtime_error("what went wrong"); }), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_EQ(error.code, HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_STREQ(error.message, "what went wrong");
    HurrayStatus code = 0;
    EXPECT_EQ(last_diagnostic(code), "what went wrong");
    EXPECT_EQ(code, HURRAY_ERR_INTERNAL_PANIC);
}

TEST(Barrier, ExceptionOfAnyTypeIsCaught) {
    HurrayError error{};
    EXPECT_EQ(guarded(&error, []() -> Result<void> { throw 42; }), HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_STREQ(error.message, "exception of an unknown type");
}

TEST(Barrier, BadAllocIsOutOfMemory) {
    HurrayError error{};
    EXPECT_EQ(guarded(&error, []() -> Result<void> { throw std::bad_alloc(); }), HURRAY_ERR_OUT_OF_MEMORY);
    EXPECT_EQ(error.code, HURRAY_ERR_OUT_OF_MEMORY);
}

TEST(Barrier, BrokenInvariantIsInternalAndKept) {
    EXPECT_EQ(guarded(nullptr, []() -> Result<void> { return hurray::fail(Status::internal, Error::no_offset, "impossible"); }),
              HURRAY_ERR_INTERNAL);
    HurrayStatus code = 0;
    EXPECT_EQ(last_diagnostic(code), "impossible");
    EXPECT_EQ(code, HURRAY_ERR_INTERNAL);
}

TEST(Barrier, OrdinaryErrorsAreNotKept) {
    HurrayStatus code = 0;
    const std::string before = last_diagnostic(code);
    EXPECT_EQ(guarded(nullptr, []() -> Result<void> { return hurray::fail(Status::not_found, Error::no_offset, "a name"); }),
              HURRAY_ERR_NOT_FOUND);
    EXPECT_EQ(last_diagnostic(code), before);
}

TEST(Barrier, OffsetStandsBehindTheMessageHoweverLongThatIs) {
    HurrayError error{};
    const std::string text(1000, 'x');
    EXPECT_EQ(guarded(&error, [&]() -> Result<void> { return hurray::fail(Status::io, UINT64_MAX - 1, "%s", text.c_str()); }),
              HURRAY_ERR_IO);
    const std::string message = error.message;
    EXPECT_TRUE(message.ends_with(" [byte 18446744073709551614]")) << message;
}

TEST(Barrier, LongMessagesAreCutAtACharacter) {
    HurrayError error{};
    std::string text;
    while (text.size() < 400) text += "\xE2\x86\x92";  // an arrow of three bytes
    EXPECT_EQ(guarded(&error, [&]() -> Result<void> { return hurray::fail(Status::io, Error::no_offset, "%s", text.c_str()); }),
              HURRAY_ERR_IO);
    const std::string message = error.message;
    EXPECT_EQ(message.size() % 3, 0u);
    EXPECT_EQ(message, text.substr(0, message.size()));
}

TEST(Barrier, SuccessClearsTheReport) {
    HurrayError error{HURRAY_ERR_IO, "an earlier failure"};
    EXPECT_EQ(guarded(&error, []() -> Result<void> { return {}; }), HURRAY_OK);
    EXPECT_EQ(error.code, HURRAY_OK);
    EXPECT_STREQ(error.message, "");
}

TEST(Diagnostics, RingKeepsTheLast32) {
    for (int i = 0; i < 40; ++i) keep_diagnostic(HURRAY_ERR_INTERNAL, std::to_string(i).c_str());
    HurrayError entry{};
    ASSERT_TRUE(read_diagnostic(0, entry));
    EXPECT_STREQ(entry.message, "8");
    ASSERT_TRUE(read_diagnostic(31, entry));
    EXPECT_STREQ(entry.message, "39");
    EXPECT_FALSE(read_diagnostic(32, entry));
}

}  // namespace
