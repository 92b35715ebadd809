// SPDX-License-Identifier: MIT
// Frames: whole however the stream is cut, refused before they cost memory.
#include "protocol/frame.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "testing.hpp"

namespace elastic::protocol {
namespace {

using namespace std::string_literals;

std::vector<std::string> drain(FrameReader& reader) {
    std::vector<std::string> frames;
    while (auto one = reader.next()) frames.push_back(*one);
    return frames;
}

TEST(a_frame_is_its_length_in_network_order_and_its_bytes) {
    check_eq(frame("abc"), "\0\0\0\3abc"s);
    check_eq(frame(std::string(0x010203, 'x')).substr(0, 4), "\0\1\2\3"s);
}

TEST(byte_by_byte) {
    const auto stream = frame("first") + frame("\0"s) + frame("third");
    FrameReader reader(16);
    std::vector<std::string> taken;
    for (const char byte : stream) {
        check_ok(reader.feed(&byte, 1));
        std::ranges::move(drain(reader), std::back_inserter(taken));
    }
    check_eq(taken, (std::vector{"first"s, "\0"s, "third"s}));
    check_that(!reader.partial());
}

TEST(any_cuts) {
    std::mt19937_64 random(testing::seed());
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n)(random);
    };
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> sent, taken;
        std::string stream;
        for (std::size_t i = below(20); i > 0; --i) {
            sent.push_back(std::string(1 + below(299), static_cast<char>('a' + below(25))));
            stream += frame(sent.back());
        }
        FrameReader reader(300);
        for (std::size_t at = 0; at < stream.size();) {
            const auto size = std::min(below(700), stream.size() - at);
            check_ok(reader.feed(stream.data() + at, size));
            at += size;
            if (below(2) > 0) std::ranges::move(drain(reader), std::back_inserter(taken));
        }
        std::ranges::move(drain(reader), std::back_inserter(taken));
        check_eq(taken, sent);
    }
}

TEST(the_limit_is_exact) {
    FrameReader reader(5);
    const auto fits = frame("12345");
    check_ok(reader.feed(fits.data(), fits.size()));
    const auto large = frame("123456");
    check_error(reader.feed(large.data(), 4), "a frame of 6 bytes; 1 to 5 are allowed");
    check_eq(drain(reader), std::vector{"12345"s});
    // It stays refused, whatever comes.
    check_error(reader.feed(fits.data(), fits.size()), "a frame of 6 bytes; 1 to 5 are allowed");
    check_eq(drain(reader).size(), 0u);
}

TEST(hostile_lengths_are_refused_with_their_fourth_byte) {
    for (const auto& length : {"\0\0\0\0"s, "\xff\xff\xff\xff"s, "\x80\0\0\0"s, "\0\1\0\1"s}) {
        FrameReader reader(kMaxClientFrame);
        check_ok(reader.feed(length.data(), 3));
        check_that(!reader.feed(length.data() + 3, 1));
    }
}

TEST(a_cut_frame_is_noticed) {
    FrameReader reader(100);
    const auto whole = frame("whole");
    check_ok(reader.feed(whole.data(), whole.size() - 1));
    check_that(!reader.next());
    check_that(reader.partial());
}

}  // namespace
}  // namespace elastic::protocol
