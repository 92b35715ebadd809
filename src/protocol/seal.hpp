// SPDX-License-Identifier: MIT
// Who sent a message: a payload in a credential that only its sender could have made.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "common/result.hpp"

namespace elastic::protocol {

// For `reader`: anyone who shares the key may open the credential.
inline constexpr uid_t kAnyReader = static_cast<uid_t>(-1);

struct Opened {
    std::string payload;
    uid_t uid = kAnyReader;  // the effective user who sealed it
};

// One thread at a time.
class Seal {
  public:
    virtual ~Seal() = default;

    // The payload in a credential of this process's effective user that only `reader` can open.
    virtual Result<std::string> seal(std::string_view payload, uid_t reader) = 0;

    // Refuses what is forged, expired, meant for someone else, or was opened before.
    virtual Result<Opened> open(std::string_view credential) = 0;
};

// Seconds a credential stays valid.  Short, since it is opened as it arrives, but long enough for
// clocks that differ a little between nodes.
inline constexpr int kSealLifetime = 300;

// How users of a cluster prove who they are.
struct Authentication {
    enum class By { munge, slurm };
    By by = By::munge;
    // Of munged, "" for the default one; of the kiosk of auth/slurm to ask first.
    std::string socket;
    friend bool operator==(const Authentication&, const Authentication&) = default;
};

// As AuthType and AuthInfo of slurm.conf say.  `kiosk`: the one to ask first with auth/slurm.
Authentication authentication_of(std::string_view auth_type, std::string_view auth_info,
                                 const std::string& kiosk);

inline constexpr char kControllerKiosk[] = "/run/slurmctld/sack.socket";

// Where several clusters share a login node (Slurm 25.05 and later).
std::string kiosk_of_cluster(std::string_view cluster_name);

Result<std::unique_ptr<Seal>> make_seal(const Authentication&);

// MUNGE credentials (munge(7)), restricted to the reader with MUNGE_OPT_UID_RESTRICTION.
// `socket_path`: munged's, "" for the default one.  An error is munge's own text.  Blocks for one
// exchange with the local munged, about 0.2 ms; below two seconds when munged is restarting.
Result<std::unique_ptr<Seal>> munge_seal(const std::string& socket_path = "",
                                         int lifetime = kSealLifetime);

// Tokens of auth/slurm (Slurm 23.11 and later), signed by the cluster's key: who sealed, for whom,
// and the payload's digest.  Others can read the payload, as they can what Slurm's daemons say.
// Valid for as long as AuthInfo's ttl says.  `socket_path`: of Slurm's kiosk for credentials, tried
// before the places where Slurm looks; $SLURM_SACK_SOCKET is in the place of all of them.  Blocks
// for one exchange with it, below two seconds.
Result<std::unique_ptr<Seal>> slurm_seal(const std::string& socket_path = "");

}  // namespace elastic::protocol
