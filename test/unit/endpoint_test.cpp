// SPDX-License-Identifier: MIT
// Endpoints: the text form, and Slurm's own files.
#include "protocol/endpoint.hpp"

#include <stdlib.h>

#include <fstream>

#include "folder.hpp"
#include "testing.hpp"

namespace elastic::protocol {
namespace {

struct Folder : testing::Folder {
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(*this / name) << text;
        return *this / name;
    }
};

TEST(the_text_form_goes_both_ways) {
    const std::vector<Endpoint> endpoints = {
        {{{"ctl", 6821}}, 0, {}},
        {{{"ctl", 6821}}, 0, {Authentication::By::slurm, "/run/slurm-c/s"}},
        {{{"a.b-c", 1}, {"10.0.0.1", 65535}, {"fe80::1", 7}},
         4294967294u,
         {Authentication::By::munge, "/run/m;x=1/s"}},
    };
    check_eq(to_string(endpoints[0]), "ctl:6821;uid=0");
    for (const auto& endpoint : endpoints) {
        const auto parsed = parse_endpoint(to_string(endpoint));
        check_ok(parsed);
        check_that(*parsed == endpoint);
    }
}

TEST(wrong_texts_are_refused) {
    for (const char* text : {"",
                             ";",
                             "ctl",
                             "ctl:6821",
                             "ctl:6821;",
                             "ctl:0;uid=0",
                             "ctl:65536;uid=0",
                             "ctl:x;uid=0",
                             ":1;uid=0",
                             "ctl:1,;uid=0",
                             ",ctl:1;uid=0",
                             "ctl:1;uid=",
                             "ctl:1;uid=-1",
                             "ctl:1;uid=4294967295",
                             "ctl:1;uid=root",
                             "ctl:1;uid=0;",
                             "ctl:1;uid=0;munge=",
                             "ctl:1;uid=0;munge=relative",
                             "ctl:1;uid=0;other=/x",
                             "ctl:1;uid=0;slurm",
                             "ctl:1;uid=0;slurm=relative",
                             "a b:1;uid=0",
                             "fe80::1:7;uid=0",
                             "[]:7;uid=0",
                             "ctl:+1;uid=0"})
        ck_assert_msg(!parse_endpoint(text), "accepted: %s", text);
    std::string many = "c:1";
    for (std::size_t i = 0; i < kMaxControllers; ++i) many += ",c:1";
    check_error(parse_endpoint(many + ";uid=0"), "more than 16 controllers");
}

TEST(slurm_conf_names_controllers_user_and_socket) {
    const Folder folder;
    const auto conf = folder.write("slurm.conf",
                                   "# SlurmctldHost=commented\n"
                                   "ClusterName=c slurmctldhost=one(10.0.0.1)\n"
                                   "SlurmctldHost=two # backup\n"
                                   "include more.conf\n");
    folder.write("more.conf", "SlurmUser=12345\nAuthInfo=ttl=60,\\\nsocket=/run/m/s\n");
    const auto found = endpoint_from_files(conf);
    check_ok(found);
    check_eq(to_string(*found), "10.0.0.1:6821,two:6821;uid=12345;munge=/run/m/s");

    folder.write("elastic.conf", "Policy=lina-default\nlistenport=7000\n");
    check_eq(to_string(*endpoint_from_files(conf)),
             "10.0.0.1:7000,two:7000;uid=12345;munge=/run/m/s");
}

TEST(without_munge_the_cluster_s_own_kiosk_is_asked_first) {
    const Folder folder;
    const auto conf = folder.write(
        "slurm.conf", "ClusterName=Alps\nSlurmctldHost=c\nAuthType=auth/slurm\nAuthInfo=ttl=9\n");
    check_eq(to_string(*endpoint_from_files(conf)),
             "c:6821;uid=0;slurm=/run/slurm-alps/sack.socket");
}

TEST(the_socket_is_an_option_of_its_own) {
    check_eq(authentication_of("auth/munge", "ttl=60,socket=/run/m,cred_expire=5", "/k").socket,
             "/run/m");
    check_eq(authentication_of("", "websocket=/run/m", "/k").socket, "");
    check_eq(authentication_of("", "", "/k").socket, "");
}

TEST(slurm_user_defaults_to_root_and_is_looked_up) {
    const Folder folder;
    const auto conf = folder.write("slurm.conf", "SlurmctldHost=c\n");
    check_eq(endpoint_from_files(conf)->slurm_user, 0u);
    folder.write("slurm.conf", "SlurmctldHost=c\nSlurmUser=root(0)\n");
    check_eq(endpoint_from_files(conf)->slurm_user, 0u);
    folder.write("slurm.conf", "SlurmctldHost=c\nSlurmUser=no.such.user\n");
    check_eq(endpoint_from_files(conf).error().message,
             conf + ": SlurmUser=no.such.user: no such user");
}

TEST(files_that_do_not_help_are_errors) {
    const Folder folder;
    const auto conf = folder.write("slurm.conf", "ClusterName=c\n");
    check_eq(endpoint_from_files(conf).error().message,
             conf + ": no SlurmctldHost; SLURM_CONF can name another file");
    check_eq(endpoint_from_files(conf + ".absent").error().message,
             conf + ".absent: No such file or directory");
    folder.write("slurm.conf", "Include slurm.conf\n");
    check_eq(endpoint_from_files(conf).error().message, conf + ": includes too deep");
    folder.write("slurm.conf", "SlurmctldHost=c\n");
    folder.write("elastic.conf", "ListenPort=70000\n");
    check_that(!endpoint_from_files(conf));
}

TEST(the_environment_comes_first) {
    const Folder folder;
    setenv("SLURM_CONF", folder.write("slurm.conf", "SlurmctldHost=file\n").c_str(), 1);
    unsetenv("ELASTIC_CONTROLLER");
    const std::string conf = std::getenv("SLURM_CONF");
    setenv("SLURM_CONF", "/absent/slurm.conf", 1);
    check_eq(find_endpoint().error().message,
             "/absent/slurm.conf: No such file or directory; SLURM_CONF can name another file");
    setenv("SLURM_CONF", "/", 1);
    check_eq(find_endpoint().error().message,
             "/: Is a directory; SLURM_CONF can name another file");
    setenv("SLURM_CONF", conf.c_str(), 1);
    setenv("MUNGE_SOCKET", "/run/fallback", 1);
    check_eq(to_string(*find_endpoint()), "file:6821;uid=0;munge=/run/fallback");
    setenv("ELASTIC_CONTROLLER", "env:1;uid=5;munge=/run/env", 1);
    check_eq(to_string(*find_endpoint()), "env:1;uid=5;munge=/run/env");
    setenv("ELASTIC_CONTROLLER", "env:1;uid=0;munge=/run/env", 1);
    check_eq(to_string(*find_endpoint()), "env:1,file:6821;uid=0;munge=/run/env");
    setenv("ELASTIC_CONTROLLER", "file:6821;uid=0;munge=/run/env", 1);
    check_eq(to_string(*find_endpoint()), "file:6821;uid=0;munge=/run/env");
    setenv("ELASTIC_CONTROLLER", "env", 1);
    check_error(find_endpoint(), "ELASTIC_CONTROLLER: 'env': expected host:port");
}

}  // namespace
}  // namespace elastic::protocol
