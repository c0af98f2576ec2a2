// SHA-256 against the vectors of FIPS 180-4 and NIST's byte-oriented tests.
#include "../src/shared/sha256.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../src/shared/text.hpp"

namespace {

using cli::as_bytes;
using cli::sha256;

TEST(Sha256, KnownVectors) {
    EXPECT_EQ(sha256({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256(as_bytes("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256(as_bytes("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmno"
                              "pqrsmnopqrstnopqrstu")),
              "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    EXPECT_EQ(sha256(as_bytes(std::string(1'000'000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfAnyLengthGiveTheSame) {
    std::string text;
    for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
    const std::string whole = sha256(as_bytes(text));
    for (std::size_t step = 1; step < 130; ++step) {
        cli::Sha256 digest;
        for (std::size_t at = 0; at < text.size(); at += step) digest.update(as_bytes(text.substr(at, step)));
        EXPECT_EQ(digest.finish(), whole) << step;
    }
}

}  // namespace
