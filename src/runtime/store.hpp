// SPDX-License-Identifier: MIT
// Files in shared memory that outlive the processes which made them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/fd.hpp"
#include "common/result.hpp"
#include "runtime/layout.hpp"

namespace elastic::runtime {

// A name that nobody can guess: 128 bits in hexadecimal.
std::string random_name();

// What a run of a program is known by: a name that nobody can guess, in a job after "JOB-".
std::string new_run_id();
bool is_run_id(std::string_view text);

// The folder of a run of a program in /dev/shm (or in `place`).
std::string store_folder(const std::string& place, const std::string& id);

std::uint64_t page_size();  // bytes

// Memory that is mapped; unmapped at the end.
class Mapping {
  public:
    Mapping() = default;
    Mapping(void* address, std::size_t bytes) : address_(address), bytes_(bytes) {}
    ~Mapping();
    Mapping(Mapping&& other) noexcept { *this = std::move(other); }
    Mapping& operator=(Mapping&& other) noexcept;
    void keep() { address_ = nullptr; }  // mapped until the process ends
    std::byte* data() const { return static_cast<std::byte*>(address_); }

  private:
    void* address_ = nullptr;
    std::size_t bytes_ = 0;
};

// Ranges of bytes: [first, second).
using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// The files of this node.  A name begins with the folder that the file is in: "shm/" or "spill/".
class Store {
  public:
    // Makes the folders, or takes those of this user that are there.
    static Result<Store> open(const std::string& id, const std::string& spill_place);

    // A file of that size whose ranges have memory: in /dev/shm, or on the disk if that is too
    // small.  `stem`: the name without the folder.  The file's name.
    Result<std::string> create(const std::string& stem, std::uint64_t bytes,
                               const Ranges& ranges) const;
    Result<Fd> open_file(const std::string& name) const;

    // What extents of this node have of block [begin, end), one behind the other.
    Result<Mapping> map(const Array& array, std::uint64_t begin, std::uint64_t end,
                        const std::string& node) const;

    Result<void> write_text(const std::string& stem, std::string_view text) const;
    Result<std::string> read_text(const std::string& stem) const;
    bool has(const std::string& stem) const;

    // Frees all memory of this node but the extents' and the texts named.
    void keep_only(const std::vector<Array>& arrays, const std::string& node,
                   const std::vector<std::string>& texts) const;
    void remove() const;  // all of it

  private:
    std::string path(const std::string& name) const;
    std::string place_of(const std::string& stem) const;  // of a text

    std::map<std::string, std::string> folders_;  // "shm", "spill"
    std::vector<std::shared_ptr<Fd>> held_;       // so that remove_leftovers() spares them
};

// Removes what programs of a job that has ended, or has left this node, have left in `place`: of
// this user's alone, following no link.  A folder that a Store holds is of a program that is back.
// For root.
void remove_leftovers(const std::string& place, std::uint32_t job, uid_t user);

}  // namespace elastic::runtime
