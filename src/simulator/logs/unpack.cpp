// SPDX-License-Identifier: MIT
// gzip, in which public logs come, by libdeflate: it unpacks them in half of the time that
// libarchive takes, and compares the checksum, which libarchive does not.  All else by libarchive.
//
// libdeflate wants to know the size of its output: so the room is guessed from what gzip says, and
// grown when it was too little.
//
// Always: the room never exceeds the limits, which is what stops a file made to exhaust memory, and
// a file is unpacked once, not again and again while the result looks compressed.
#include "simulator/logs/unpack.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <memory>

#include "common/text.hpp"

namespace elastic::simulator {

namespace {

using namespace std::string_view_literals;

// The larger part of the room of a compressed log is never touched, so a generous guess costs
// nothing.
constexpr std::size_t kUsualRatio = 16;

enum class Reader { gzip, filter, zip, nobody };

struct Packing {
    std::string_view name, magic;
    Reader reader;
    int filter = ARCHIVE_FILTER_NONE;  // libarchive's
};

constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::array kPackings{
    Packing{"gzip", kGzip, Reader::gzip},
    Packing{"xz", "\xfd\x37zXZ\0"sv, Reader::filter, ARCHIVE_FILTER_XZ},
    Packing{"bzip2", "BZh"sv, Reader::filter, ARCHIVE_FILTER_BZIP2},
    Packing{"zstd", "\x28\xb5\x2f\xfd"sv, Reader::filter, ARCHIVE_FILTER_ZSTD},
    Packing{"zstd", "\x50\x2a\x4d\x18"sv, Reader::filter, ARCHIVE_FILTER_ZSTD},  // of pzstd
    Packing{"lz4", "\x04\x22\x4d\x18"sv, Reader::filter, ARCHIVE_FILTER_LZ4},
    Packing{"zip", "PK\x03\x04"sv, Reader::zip},
    Packing{"an empty zip", "PK\x05\x06"sv, Reader::nobody},
    Packing{"7z", "7z\xbc\xaf\x27\x1c"sv, Reader::nobody},
    Packing{"RAR", "Rar!\x1a"sv, Reader::nobody},
    Packing{"compress", "\x1f\x9d"sv, Reader::nobody},
    Packing{"lzip", "LZIP"sv, Reader::nobody}};

const Packing* packing_of(std::string_view bytes) {
    const auto found = std::ranges::find_if(
        kPackings, [&](const Packing& packing) { return bytes.starts_with(packing.magic); });
    return found == kPackings.end() ? nullptr : &*found;
}

// Where the text goes.
class Output {
  public:
    Output(std::string_view name, std::size_t packed, const TextLimits& limits)
        : name_(name),
          limit_(std::min(limits.bytes, std::max(limits.free_bytes, by_ratio(packed, limits)))) {}

    Result<void> start(std::size_t guess) {
        if (!text_.reserve(std::clamp(guess, std::min(Text::kFirstRoom, limit_), limit_)))
            return no_memory();
        return {};
    }

    // More room, where there is none left.
    Result<void> grow() {
        if (text_.view().size() + text_.free_bytes() >= limit_) {
            return error("{}: unpacks to more than {} bytes, which no log of its size does", name_,
                         limit_);
        }
        if (!text_.grow(limit_)) return no_memory();
        return {};
    }

    Text& text() { return text_; }
    std::string_view name() const { return name_; }
    Error no_memory() const { return error("{}: no memory left for it", name_); }

  private:
    static std::size_t by_ratio(std::size_t packed, const TextLimits& limits) {
        return packed > limits.bytes / limits.ratio ? limits.bytes : packed * limits.ratio;
    }

    std::string_view name_;
    std::size_t limit_;
    Text text_;
};

// ---- gzip

// What the end of a gzip file says of the size of its last member, modulo 2^32; it may lie, so it
// is a hint.
std::size_t said_size(std::string_view gzip) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4 && i < gzip.size(); ++i) {
        size = size << 8 | static_cast<unsigned char>(gzip[gzip.size() - 1 - i]);
    }
    return size;
}

using Decompressor =
    std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)>;

// Appends the member that `gzip` begins with; how many bytes of it that took.
Result<std::size_t> gzip_member(const Decompressor& decompressor, std::string_view gzip,
                                Output& out) {
    for (;;) {
        Text& text = out.text();
        std::size_t taken = 0, made = 0;
        switch (libdeflate_gzip_decompress_ex(decompressor.get(), gzip.data(), gzip.size(),
                                              text.free_space(), text.free_bytes(), &taken,
                                              &made)) {
            case LIBDEFLATE_SUCCESS:
                text.add(made);
                return taken;
            case LIBDEFLATE_INSUFFICIENT_SPACE:
                if (auto grown = out.grow(); !grown) return grown.error();
                break;
            default:
                return error("{}: the compressed file is cut off or damaged", out.name());
        }
    }
}

// Behind the last member: nothing, or what pads a tape's block.
bool is_padding(std::string_view rest) {
    return rest.find_first_not_of('\0') == std::string_view::npos;
}

Result<void> unpack_gzip(std::string_view gzip, Output& out) {
    const Decompressor decompressor(libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
    if (!decompressor) return out.no_memory();
    if (auto ok = out.start(std::max(said_size(gzip), gzip.size() * kUsualRatio)); !ok) return ok;
    do {
        const auto taken = gzip_member(decompressor, gzip, out);
        if (!taken) return taken.error();
        gzip.remove_prefix(*taken);
    } while (gzip.starts_with(kGzip));
    if (!is_padding(gzip)) return error("{}: something follows the compressed data", out.name());
    return {};
}

// ---- libarchive

class Archive {
  public:
    explicit Archive(Output& out) : out_(out), archive_(archive_read_new(), archive_read_free) {}

    Result<void> unpack(std::string_view packed, const Packing& packing) {
        if (!archive_) return out_.no_memory();
        if (auto ok = open(packed, packing); !ok) return ok;
        for (int files = 0;;) {
            archive_entry* entry = nullptr;
            const int next = archive_read_next_header(archive_.get(), &entry);
            if (next == ARCHIVE_EOF && files == 0 && packing.reader == Reader::zip)
                return error("{}: has no file in it", out_.name());
            if (next == ARCHIVE_EOF) return {};
            if (next < ARCHIVE_OK) return failure();
            if (packing.reader == Reader::zip && archive_entry_filetype(entry) != AE_IFREG)
                continue;
            if (++files > 1)
                return error("{}: has several files in it; unpack the log out of it", out_.name());
            if (auto ok = content(); !ok) return ok;
        }
    }

  private:
    // One filter, and not by what libarchive thinks of the bytes: it would go on with the result.
    Result<void> open(std::string_view packed, const Packing& packing) {
        archive* const a = archive_.get();
        const bool known = packing.reader == Reader::zip
                               ? archive_read_support_format_zip(a) == ARCHIVE_OK
                               : archive_read_append_filter(a, packing.filter) == ARCHIVE_OK &&
                                     archive_read_support_format_raw(a) == ARCHIVE_OK;
        if (!known || archive_read_open_memory(a, packed.data(), packed.size()) != ARCHIVE_OK)
            return failure();
        return out_.start(packed.size() * kUsualRatio);
    }

    Result<void> content() {
        for (Text& text = out_.text();;) {
            if (text.free_bytes() == 0)
                if (auto ok = out_.grow(); !ok) return ok;
            const la_ssize_t got =
                archive_read_data(archive_.get(), text.free_space(), text.free_bytes());
            if (got < 0) return failure();
            if (got == 0) return {};
            text.add(static_cast<std::size_t>(got));
        }
    }

    Error failure() const {
        const char* why = archive_error_string(archive_.get());
        return error(
            "{}: the compressed file is cut off or damaged, or of a kind that is not read{}",
            out_.name(), why ? fmt::format(" ({})", printable(why)) : "");
    }

    Output& out_;
    std::unique_ptr<archive, decltype(&archive_read_free)> archive_;
};

}  // namespace

bool is_packed(std::string_view bytes) {
    return packing_of(bytes) != nullptr;
}

Result<Text> unpack(std::string_view packed, std::string_view name, const TextLimits& limits) {
    const Packing* packing = packing_of(packed);
    if (!packing || packing->reader == Reader::nobody)
        return error("{}: is {}, which is not read; unpack it, or hand its text to standard input",
                     name, packing ? packing->name : "not compressed");
    Output out(name, packed.size(), limits);
    const Result<void> done = packing->reader == Reader::gzip
                                  ? unpack_gzip(packed, out)
                                  : Archive(out).unpack(packed, *packing);
    if (!done) return done.error();
    return std::move(out.text());
}

}  // namespace elastic::simulator
