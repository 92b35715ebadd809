// SPDX-License-Identifier: MIT
// main() of a fuzzer in the ordinary build: runs it over its corpus, so that what was found once is
// tested by `make check` with any compiler.
//
//     NAME_fuzz [FILE...]     without files, all of $ELASTIC_TEST_DATA/corpus/NAME
#include <errno.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz.hpp"

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> corpus() {
    constexpr std::string_view kSuffix = "_fuzz";
    std::string_view name = program_invocation_short_name;
    const char* data = std::getenv("ELASTIC_TEST_DATA");
    if (!data || !name.ends_with(kSuffix)) return {};
    name.remove_suffix(kSuffix.size());
    std::error_code none;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path(data) / "corpus" / name, none)) {
        files.push_back(entry.path());
    }
    return files;
}

bool replay(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) return false;
    // Exactly as long as the input, for AddressSanitizer.
    bytes.shrink_to_fit();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<fs::path> files(argv + 1, argv + argc);
    if (files.empty()) files = corpus();
    for (const fs::path& file : files) {
        // Named before it is run, so that it is the last line if it crashes.
        std::printf("%s\n", file.filename().c_str());
        std::fflush(stdout);
        if (!replay(file)) {
            std::fprintf(stderr, "cannot read %s\n", file.c_str());
            return EXIT_FAILURE;
        }
    }
    std::printf("%zu inputs replayed\n", files.size());
    // A fuzzer without a corpus tests nothing.
    return files.empty() ? EXIT_FAILURE : EXIT_SUCCESS;
}
