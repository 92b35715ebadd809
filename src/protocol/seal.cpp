// SPDX-License-Identifier: MIT
// Both ends must choose alike, so the choice hangs on what slurm.conf says and on nothing else.
#include "protocol/seal.hpp"

#include "common/text.hpp"

namespace elastic::protocol {

Authentication authentication_of(std::string_view auth_type, std::string_view auth_info,
                                 const std::string& kiosk) {
    if (auth_type == "auth/slurm" || auth_type == "slurm")
        return {Authentication::By::slurm, kiosk};
    constexpr std::string_view key = "socket=";
    for (const auto option : split(auth_info, ','))
        if (option.starts_with(key))
            return {Authentication::By::munge, std::string(option.substr(key.size()))};
    return {};
}

std::string kiosk_of_cluster(std::string_view cluster_name) {
    return fmt::format("/run/slurm-{}/sack.socket", lower_case(cluster_name));
}

Result<std::unique_ptr<Seal>> make_seal(const Authentication& authentication) {
    if (authentication.by == Authentication::By::slurm) return slurm_seal(authentication.socket);
    return munge_seal(authentication.socket);
}

}  // namespace elastic::protocol
