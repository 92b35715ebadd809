// SPDX-License-Identifier: MIT
// Where the controller listens and whom to believe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/limits.hpp"
#include "common/result.hpp"
#include "protocol/seal.hpp"

namespace elastic::protocol {

inline constexpr std::size_t kMaxControllers = 16;

struct HostPort {
    std::string host;  // name or address; IPv6 without brackets
    std::uint16_t port = kDefaultPort;
    friend bool operator==(const HostPort&, const HostPort&) = default;
};

struct Endpoint {
    std::vector<HostPort> controllers;  // primary first
    uid_t slurm_user = 0;               // the only sender besides root that clients believe
    Authentication authentication;
    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// "host:port[,host:port]...;uid=N[;munge=PATH|;slurm=PATH]", as in the environment variable
// ELASTIC_CONTROLLER; "[address]:port" for IPv6.  PATH is absolute and reaches to the end.
Result<Endpoint> parse_endpoint(std::string_view text);
std::string to_string(const Endpoint&);

// From slurm.conf and the elastic.conf beside it, which may be absent: SlurmctldHost (in order),
// SlurmUser (default root), AuthType, AuthInfo, ClusterName; ListenPort.
Result<Endpoint> endpoint_from_files(const std::string& slurm_conf);

// ELASTIC_CONTROLLER if it is set, else the files, slurm.conf being $SLURM_CONF or
// /etc/slurm/slurm.conf.  Controllers that only the files name come behind those of the variable,
// which was set when the job was submitted: ListenPort may have changed.  Files of another
// SlurmUser add nothing.  A socket that neither names is MUNGE_SOCKET's, if that is set.
//
// A job's environment is its owner's, so this is right for clients only: nobody but the owner is
// deceived by what it says.
Result<Endpoint> find_endpoint();

}  // namespace elastic::protocol
