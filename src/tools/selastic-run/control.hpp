// SPDX-License-Identifier: MIT
// What selastic-run and the program that has started it say to each other about the workers' nodes:
// texts, one a line, over a socket that the program hands down.
//
//     program: expand N LEAST  so many more nodes are wanted, or at least so many, however long
//     that takes
//              withdraw        not any more
//              shrink NODES    these are given back, once their workers have ended
//              left            there is nothing left to save on the nodes of the last leave
//     selastic-run: nodes NODES     that the job has, at the start and after each change
//                   leave NODES     their workers are ended after left, or when time is short
//                   denied REASON   nothing comes of an expand or a shrink
#pragma once

#include <string>
#include <vector>

#include "common/fd.hpp"

namespace elastic::tools {

class Control {
  public:
    // A descriptor that is the program's gift; -1: there is no such program.
    explicit Control(int fd);

    int fd() const { return socket_.get(); }
    // Whether somebody is there.
    bool open() const { return static_cast<bool>(socket_); }
    // The lines that have come since; after the last one of a program that has ended it is not open
    // any more.
    std::vector<std::string> lines();
    void tell(const std::string& line);

  private:
    Fd socket_;
    std::string text_;
};

}  // namespace elastic::tools
