// SPDX-License-Identifier: MIT
// The input is a journal's file.  Reading forwards and reading backwards are written independently
// and must find the same events.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "fuzz.hpp"
#include "journal/gantt.hpp"
#include "journal/journal.hpp"
#include "journal/replay.hpp"

using namespace elastic;
using namespace elastic::journal;

namespace {

// A node list of a few characters can stand for 100,000 names, so more events than this tell
// nothing new and only take long.
constexpr std::size_t kMostReplayed = 6;

void read_both_ways(const std::string& path) {
    const Result<Journal> forwards = read_journal(path);
    const auto backwards = tail(path, 1'000'000);
    fuzz::require(forwards && backwards, "a file is read whatever it holds");
    fuzz::require(forwards->lines.size() == backwards->events.size(),
                  "both ways find as many events");
    for (std::size_t i = 0; i < backwards->events.size(); ++i) {
        const Event& event = forwards->lines[i].event;
        const std::string text = to_json(event).dump();
        fuzz::require(text == to_json(backwards->events[i]).dump(),
                      "both ways find the same event");
        const Result<Event> again = parse_line(text);
        fuzz::require(again && to_json(*again).dump() == text, "the round trip");
        for (const char c : describe(event))
            fuzz::require(c >= 0x20 && c <= 0x7e, "a description is printable");
    }
    const auto from_start = since(path, {}, 1'000'000);
    fuzz::require(from_start && from_start->events.size() == backwards->events.size() &&
                      from_start->next == backwards->next,
                  "both ways end at the same place");
    for (const Malformed& m : forwards->malformed) fuzz::require_clean(m.message);
    if (forwards->lines.size() > kMostReplayed) return;
    static_cast<void>(to_json(check(*forwards)).dump());
    const Timeline all = timeline(forwards->lines);
    if (all.rows.size() > 100) return;
    fuzz::require(!draw_text(all).empty(), "there is a chart");
    fuzz::require(draw_svg(all).ends_with("</svg>\n"), "the image is complete");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int fd = ::memfd_create("journal", MFD_CLOEXEC);
    fuzz::require(fd >= 0 && ::write(fd, data, size) == static_cast<ssize_t>(size),
                  "a file in memory");
    read_both_ways("/proc/self/fd/" + std::to_string(fd));
    ::close(fd);
    return 0;
}
