// SPDX-License-Identifier: MIT
// Where the server listens, and by which names browsers may know it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/fd.hpp"
#include "common/result.hpp"

namespace elastic::tools {

struct Listener {
    Fd socket;
    std::string url;   // for people
    std::string path;  // of a socket of the file system, "" of another
};

// "ADDRESS:PORT", an address in numbers, "[::1]:9821"; port 0 is any that is free.
Result<Listener> listen_at(const std::string& address);
// A socket that nobody listens at any more is replaced, any other file is not.
Result<Listener> listen_at_path(const std::string& path);

// Whether a request's Host may be answered: an address in numbers, localhost, or one of the names.
// Any other may be a stranger's name that was made to point here, by which that stranger's page
// could read what this server says (DNS rebinding).
bool may_be_host(std::string_view host, const std::vector<std::string>& names);

}  // namespace elastic::tools
