// SPDX-License-Identifier: MIT
// What the tests of the studies share.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "studies/report/plot.hpp"
#include "testing.hpp"

namespace elastic::testing {

// A folder that goes with the test.
class Folder {
  public:
    Folder() { check_that(::mkdtemp(path_.data()) != nullptr); }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string file(std::string_view name) const { return path_ + '/' + std::string(name); }

  private:
    std::string path_ = "/tmp/studies_test.XXXXXX";
};

// Whether gnuplot is there; says so if not.
inline bool can_draw() {
    const bool can = static_cast<bool>(studies::check_can_draw());
    if (!can) std::puts("skipped: gnuplot-nox is not installed");
    return can;
}

inline std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_to(const std::string& path, std::string_view content) {
    std::ofstream(path, std::ios::binary) << content;
}

// Name and content of all files.
inline std::map<std::string, std::string> files_in(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        files[entry.path().filename().string()] = content_of(entry.path().string());
    return files;
}

// Every element that begins ends, in order, and '&' and '<' stand for nothing else. Enough for
// documents without CDATA.
inline bool is_well_formed(std::string_view xml) {
    std::vector<std::string_view> open;
    std::size_t at = 0;
    while ((at = xml.find_first_of("<&", at)) != std::string_view::npos) {
        const bool entity = xml[at] == '&';
        const std::size_t end = xml.find_first_of(entity ? ";" : ">", at);
        if (end == std::string_view::npos) return false;
        const std::string_view inside = xml.substr(at + 1, end - at - 1);
        at = end + 1;
        if (entity) {
            if (inside != "amp" && inside != "lt" && inside != "gt" && inside != "quot")
                return false;
            continue;
        }
        if (inside.find('<') != std::string_view::npos) return false;
        if (inside.starts_with('?') || inside.starts_with('!') || inside.ends_with('/')) continue;
        const std::string_view name = inside.substr(0, inside.find_first_of(" \n"));
        if (!name.starts_with('/')) {
            open.push_back(name);
        } else if (open.empty() || open.back() != name.substr(1)) {
            return false;
        } else {
            open.pop_back();
        }
    }
    return open.empty();
}

}  // namespace elastic::testing
