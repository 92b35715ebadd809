// SPDX-License-Identifier: MIT
// HTTP over what is on the board: nothing is written, and no client costs more than its connection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/fd.hpp"
#include "common/result.hpp"
#include "selastic-serve/journal_ring.hpp"
#include "selastic-serve/publication.hpp"

namespace elastic::tools {

struct HttpOptions {
    std::vector<std::string> names;  // by which browsers may know it, besides addresses
    bool checks_host = true;
    unsigned most_connections = 1024;
};

class HttpServer {
  public:
    // In a thread of its own, until the process ends.
    static Result<std::unique_ptr<HttpServer>> start(HttpOptions, Fd listener, Board&,
                                                     const JournalRing&);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    // The board may have something new: streams go on, and requests that take too long are cut off.
    void tick();

  private:
    class Daemon;
    explicit HttpServer(std::unique_ptr<Daemon>);
    std::unique_ptr<Daemon> daemon_;
};

}  // namespace elastic::tools
