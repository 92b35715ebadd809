// SPDX-License-Identifier: MIT
// A folder of a test's own, removed with all that is in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "testing.hpp"

namespace elastic::testing {

class Folder {
  public:
    Folder() {
        std::string name = std::filesystem::temp_directory_path() / "elastic-test.XXXXXX";
        ck_assert_ptr_nonnull(mkdtemp(name.data()));
        path_ = name;
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string operator/(const std::string& name) const { return path_ / name; }
    auto entries() const {
        return std::distance(std::filesystem::directory_iterator(path_),
                             std::filesystem::directory_iterator());
    }

  private:
    std::filesystem::path path_;
};

}  // namespace elastic::testing
