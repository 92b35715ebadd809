// SPDX-License-Identifier: MIT
// The socket on which the controller accepts connections, of IPv6 and IPv4 where the host has both.
#pragma once

#include <string>

#include "common/fd.hpp"
#include "common/result.hpp"

namespace elastic::controller {

// A socket that listens on the port of an interface, which its numeric address names, or with "" of
// all; not blocking.  An error names the port and the reason.
Result<Fd> listen_on(int port, const std::string& interface);

// The port on which a socket listens.
int port_of(int listener);

// The next connection, not blocking and kept alive, which the caller closes; -1 with errno if there
// is none.
int accept_connection(int listener);

}  // namespace elastic::controller
