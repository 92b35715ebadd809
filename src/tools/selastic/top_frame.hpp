// SPDX-License-Identifier: MIT
// A frame of `selastic top` as lines of styled text, made of what the controller has answered.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "common/time.hpp"

namespace elastic::tools {

// What is known of the cluster.
struct TopData {
    bool answered = false;           // once at least
    Json jobs;                       // the last answer to `jobs`
    std::deque<std::string> events;  // of the journal, as text, the last one last
    std::string no_events;           // why the controller shows none, "" if it does
    Duration silent = 0;             // for how long the controller has not answered
    std::string trouble;             // why, "" if not known
    std::string clock;               // of this frame: "12:34:56"
};

enum class TopPart { running, asked, queue };

// What the user wants to see of it.
struct TopView {
    int width = 80;
    int height = 0;  // 0: as many lines as there are
    std::string sort = "job";
    bool reverse = false;
    std::string filter;  // in a job's number, user, name or class; any case
    TopPart focus = TopPart::running;
    int scroll = 0;      // lines of the part in focus that are passed over
    std::string bottom;  // the last line; none if ""
};

// What `sort` can be: keys of the jobs that run.
const std::vector<std::string>& top_sort_keys();

enum class TopStyle { plain, dim, strong, heading, kept, held, coming, leaving, trouble };

struct TopSpan {
    TopStyle style = TopStyle::plain;
    std::string text;  // printable ASCII
};
using TopLine = std::vector<TopSpan>;

// At most view.height lines, none longer than view.width.  Whatever an answer lacks is shown as
// empty.
std::vector<TopLine> top_frame(const TopData&, const TopView&);

// The same without styles.
std::string plain_text(const std::vector<TopLine>&);

// The nodes of a job of `max`, to `width` characters: `=` up to its minimum, `#` beyond, `+` those
// that it is offered, `-` those that it is to give up, `.` up to its maximum.
TopLine top_bar(const Json& job, int scale, int width);

}  // namespace elastic::tools
