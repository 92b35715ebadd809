// SPDX-License-Identifier: MIT
// The checkpoint's small part, as JSON in a file beside the arrays' files.
#include "runtime/checkpoint.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace elastic::runtime {
namespace {

constexpr Text kName{1024}, kBytes{std::size_t{4} << 20};
constexpr Whole kCount{0};

}  // namespace

template <class F>
void fields(F& f, Extent& extent) {
    f.required("begin", extent.begin, kCount);
    f.required("end", extent.end, kCount);
    f.required("node", extent.node, kName);
    f.required("file", extent.file, kName);
    f.optional("offset", extent.offset, kCount);
}

template <class F>
void fields(F& f, Array& array) {
    f.required("name", array.name, kName);
    f.required("element", array.element, kCount);
    f.required("count", array.count, kCount);
    f.required("extents", array.extents, List());
}

template <class F>
void fields(F& f, Value& value) {
    f.required("name", value.name, kName);
    f.required("value", value.hexadecimal, kBytes);
}

template <class F>
void fields(F& f, ObjectSet& set) {
    f.required("owners", set.owners, List{Whole{0}});
    f.required("sizes", set.sizes, List{kCount});
    f.required("bounds", set.bounds, List{kCount});
}

template <class F>
void fields(F& f, Checkpoint& checkpoint) {
    f.required("generation", checkpoint.generation, Whole{0});
    f.required("arrays", checkpoint.arrays, List());
    f.required("values", checkpoint.values, List());
    f.required("objects", checkpoint.objects);
}

std::string checkpoint_name(std::int64_t generation) {
    return fmt::format("checkpoint.{}", generation);
}

std::string write_checkpoint(const Checkpoint& checkpoint) {
    return write_record(checkpoint).dump();
}

Result<Checkpoint> read_checkpoint(const std::string& text) {
    const auto json = Json::parse(text);
    if (!json) return error("checkpoint: {}", json.error().message);
    Checkpoint checkpoint;
    if (const auto done = read_record(*json, checkpoint); !done)
        return error("checkpoint: {}", done.error().message);
    return checkpoint;
}

std::string to_hexadecimal(const void* bytes, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i)
        text += fmt::format("{:02x}", static_cast<const unsigned char*>(bytes)[i]);
    return text;
}

bool from_hexadecimal(const std::string& text, void* bytes, std::size_t size) {
    if (text.size() != 2 * size) return false;
    for (std::size_t i = 0; i < size; ++i)
        static_cast<unsigned char*>(bytes)[i] =
            static_cast<unsigned char>(std::strtoul(text.substr(2 * i, 2).c_str(), nullptr, 16));
    return true;
}

}  // namespace elastic::runtime
