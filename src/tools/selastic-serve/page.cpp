// SPDX-License-Identifier: MIT
// The page is in the program, so that there is no file to install and none to find.  Browsers run
// its script and no other: they compare a digest, which is made here of what is really sent.
#include "selastic-serve/page.hpp"

#include <nettle/base64.h>
#include <nettle/sha2.h>

#include <array>
#include <cstdint>

namespace elastic::tools {
namespace {

constexpr std::string_view kPage =
#include "selastic-serve/page.inc"
    ;

// As Content-Security-Policy has it.
std::string digest_of(std::string_view text) {
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest;
    sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
    sha256_digest(&context, digest.size(), digest.data());
    std::array<char, BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE)> encoded;
    base64_encode_raw(encoded.data(), digest.size(), digest.data());
    return "'sha256-" + std::string(encoded.data(), encoded.size()) + "'";
}

// What stands between two tags.
std::string_view between(std::string_view begin, std::string_view end) {
    const auto from = kPage.find(begin) + begin.size();
    return kPage.substr(from, kPage.find(end, from) - from);
}

}  // namespace

std::string_view page() {
    return kPage;
}

std::string page_policy() {
    return "default-src 'none'; connect-src 'self'; style-src " +
           digest_of(between("<style>", "</style>")) + "; script-src " +
           digest_of(between("<script>", "</script>")) +
           "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

}  // namespace elastic::tools
