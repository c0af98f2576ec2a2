// The barrier between C++ and C. (seed: Panic Safety, Error Handling)
//
// Linked to the shim: it throws from where a public function's body would.
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>

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

struct Strange {
    double value = 0.5;
};

/// Knows no text; its object counts itself, to see that it ends.
struct Silent : std::exception {
    static inline int alive = 0;
    Silent() { ++alive; }
    Silent(const Silent& other) : std::exception(other) { ++alive; }
    ~Silent() override { --alive; }
    const char* what() const noexcept override { return nullptr; }
};

/// Whatever is thrown: the status, the caller's report and the message that is kept agree, with a report and without.
void expect_panic(const std::function<Result<void>()>& body, const std::string& text) {
    HurrayError error{HURRAY_OK, "noise"};
    for (HurrayError* report : {&error, static_cast<HurrayError*>(nullptr)}) {
        keep_diagnostic(HURRAY_ERR_INTERNAL, "before");
        EXPECT_EQ(guarded(report, body), HURRAY_ERR_INTERNAL_PANIC) << text;
        HurrayStatus code = 0;
        EXPECT_EQ(last_diagnostic(code), text);
        EXPECT_EQ(code, HURRAY_ERR_INTERNAL_PANIC) << "-7 is a caught exception, -10 a broken invariant";
    }
    EXPECT_EQ(error.code, HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_EQ(error.message, text);
}

TEST(Barrier, ExceptionOfAnyTypeIsCaught) {
    const char* const unknown = "an exception of an unknown type";
    expect_panic([]() -> Result<void> { throw 42; }, unknown);
    expect_panic([]() -> Result<void> { throw nullptr; }, "an exception without a text");
    expect_panic([]() -> Result<void> { throw Strange{}; }, unknown);
    expect_panic([]() -> Result<void> { throw Status::internal; }, unknown);
    expect_panic([]() -> Result<void> { throw "a text"; }, "a text");
    expect_panic([]() -> Result<void> { throw static_cast<const char*>(nullptr); }, "an exception without a text");
    expect_panic([]() -> Result<void> { throw std::string("a string"); }, "a string");
    expect_panic([]() -> Result<void> { throw std::exception(); }, std::exception().what());
    expect_panic([]() -> Result<void> { throw std::out_of_range("beyond"); }, "beyond");
    expect_panic([]() -> Result<void> { throw std::system_error(std::make_error_code(std::errc::io_error), "disk"); },
                 std::system_error(std::make_error_code(std::errc::io_error), "disk").what());
}

TEST(Barrier, ExceptionWithoutATextEndsInTheBarrier) {
    expect_panic([]() -> Result<void> { throw Silent(); }, "an exception without a text");
    EXPECT_EQ(Silent::alive, 0);
}

TEST(Barrier, NestedExceptionKeepsTheOuterText) {
    expect_panic(
        []() -> Result<void> {
            try {
                throw std::runtime_error("inner");
            } catch (...) {
                std::throw_with_nested(std::logic_error("outer"));
            }
        },
        "outer");
    // Thrown while another one is being handled.
    expect_panic(
        []() -> Result<void> {
            try {
                throw 1;
            } catch (int) {
                throw std::runtime_error("second");
            }
        },
        "second");
}

TEST(Barrier, BarrierInsideABarrierKeepsBoth) {
    HurrayError inner{};
    HurrayError outer{};
    EXPECT_EQ(guarded(&outer,
                      [&]() -> Result<void> {
                          try {
                              throw std::runtime_error("being handled");
                          } catch (...) {
                              EXPECT_EQ(guarded(&inner, []() -> Result<void> { throw "inner"; }), HURRAY_ERR_INTERNAL_PANIC);
                              throw;
                          }
                      }),
              HURRAY_ERR_INTERNAL_PANIC);
    EXPECT_STREQ(inner.message, "inner");
    EXPECT_STREQ(outer.message, "being handled");
}

TEST(Barrier, BadAllocIsOutOfMemory) {
    const auto expect_out_of_memory = [](const std::function<Result<void>()>& body) {
        keep_diagnostic(HURRAY_ERR_INTERNAL, "before");
        HurrayError error{};
        EXPECT_EQ(guarded(&error, body), HURRAY_ERR_OUT_OF_MEMORY);
        EXPECT_EQ(error.code, HURRAY_ERR_OUT_OF_MEMORY);
        EXPECT_STRNE(error.message, "");
        EXPECT_EQ(guarded(nullptr, body), HURRAY_ERR_OUT_OF_MEMORY);
        HurrayStatus code = 0;
        EXPECT_EQ(last_diagnostic(code), "before") << "no defect: it is not kept";
    };
    struct Derived : std::bad_alloc {
        const char* what() const noexcept override { return "no arena"; }
    };
    expect_out_of_memory([]() -> Result<void> { throw std::bad_alloc(); });
    expect_out_of_memory([]() -> Result<void> { throw std::bad_array_new_length(); });
    expect_out_of_memory([]() -> Result<void> { throw Derived(); });
    expect_out_of_memory([]() -> Result<void> {
        try {
            throw std::runtime_error("inner");
        } catch (...) {
            std::throw_with_nested(std::bad_alloc());
        }
    });
}

TEST(Barrier, LongTextOfAnExceptionIsCutAtACharacter) {
    std::string text;
    while (text.size() < 400) text += "\xF0\x9F\x8E\x89";  // four bytes
    for (const char* before : {"", "x", "xx", "xxx"}) {
        const std::string thrown = before + text;
        HurrayError error{};
        EXPECT_EQ(guarded(&error, [&]() -> Result<void> { throw std::runtime_error(thrown); }), HURRAY_ERR_INTERNAL_PANIC);
        const std::string message = error.message;
        HurrayStatus code = 0;
        for (const std::string& each : {message, last_diagnostic(code)}) {
            EXPECT_GT(each.size(), 200u);
            EXPECT_EQ((each.size() - std::strlen(before)) % 4, 0u) << "cut within a character";
            EXPECT_EQ(each, thrown.substr(0, each.size()));
        }
    }
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
