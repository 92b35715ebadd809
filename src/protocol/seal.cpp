// SPDX-License-Identifier: MIT
// Both ends must choose alike, so the choice hangs on what slurm.conf says and on nothing else.
#include "protocol/seal.hpp"

#include "common/text.hpp"

namespace elastic::protocol {

Authentication authentication_of(std::string_view auth_type, std::string_view auth_info) {
    if (auth_type == "auth/slurm") return {Authentication::By::slurm, ""};
    constexpr std::string_view key = "socket=";
    for (const auto option : split(auth_info, ','))
        if (option.starts_with(key))
            return {Authentication::By::munge, std::string(option.substr(key.size()))};
    return {};
}

Result<std::unique_ptr<Seal>> make_seal(const Authentication& authentication) {
    if (authentication.by == Authentication::By::slurm) return slurm_seal(authentication.socket);
    return munge_seal(authentication.socket);
}

}  // namespace elastic::protocol
