// SPDX-License-Identifier: MIT
// The journal as a file: append, read, follow, and read its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/result.hpp"
#include "journal/event.hpp"

namespace elastic::journal {

inline constexpr std::size_t kMaxLine = 2u << 20;  // bytes; a longer line is malformed

// Lines for one file, and where they begin in it.
struct Batch {
    std::uint64_t file = 0;  // its inode
    std::int64_t at = 0;
    std::size_t events = 0;
    std::string text;
    bool resumes = false;  // begins with what there is, so that nothing before it is needed
    bool gap = false;      // events are missing before it, and it does not resume
};

// Appends to a file, one write(2) an event or a batch, so that what was written survives the death
// of this process and lines of two writers never mix.  Not synchronised: one thread at a time.
class Writer {
  public:
    Writer() = default;
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // Creates the file (mode 0640) if need be; one that is neither empty nor a journal is refused
    // and left as it is.  Where the last line is incomplete (a full disk, a power failure), the
    // next event begins a new one.
    Result<void> open(const std::string& path);
    // Opens the same path again, for logrotate; the old file stays in use if that fails.
    Result<void> reopen();
    // Notices what others have done to the file since the last write.  Where it was cut off
    // (copytruncate) there is a gap; where it was deleted, reopen(); an error of that is returned
    // once.  One that was renamed stays in use.
    Result<void> look();

    // When writing begins to fail, the error is returned once; until it succeeds again events are
    // lost silently and lost() counts them.  Without an open file nothing is written, nothing is
    // wrong, and the file that is opened then has a gap.
    Result<void> write(const Event&);

    // For a writer that saves its own state first: the events as they will be written next, to be
    // kept with that state; then they are written at once.
    Batch prepare(const std::vector<Event>&) const;
    Result<void> write(const Batch&);
    // After a restart, before all else: writes what is missing of the last batch that was kept.  A
    // file that does not end with that batch then is another one, was cut off, or has more than was
    // kept: that is a gap, and nothing is written.
    Result<void> complete(const Batch&);

    // Whether the file lacks events, since they were lost or went to another file, and nothing has
    // been written since that resumes.
    bool has_gap() const { return gap_; }

    bool is_open() const { return fd_ >= 0; }
    const std::string& path() const { return path_; }
    std::uint64_t lost() const { return lost_; }

  private:
    Result<void> append(std::string_view lines, std::size_t events);
    Result<void> failed(std::string_view what, std::size_t events);
    Result<std::string> behind(std::int64_t at) const;

    std::string path_;
    int fd_ = -1;
    std::int64_t end_ = 0;  // of the file, as this writer left it
    bool torn_ = false;     // the file does not end with a newline
    bool failing_ = false;  // the last write failed
    bool deleted_ = false;  // the file was deleted, and no other could be opened
    bool gap_ = false;
    std::uint64_t lost_ = 0;
};

struct Line {
    std::size_t number = 0;  // from 1
    Event event;
};

struct Malformed {
    std::size_t number = 0;
    std::string message;
};

// Reads forward, a bounded buffer at a time.  An incomplete last line is no error: next() says
// AtEnd, and yields the line once the rest of it is there.
class Reader {
  public:
    struct AtEnd {};
    using Item = std::variant<Line, Malformed, AtEnd>;

    Reader() = default;
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    Result<void> open(const std::string& path);
    Item next();

    // At the end: is there part of a line?
    bool truncated() const { return begin_ < buffer_.size() || skipping_; }
    // Has another file taken the path's place (logrotate), or is this one shorter than what was
    // read?
    bool replaced() const;

  private:
    bool fill();

    std::string path_;
    int fd_ = -1;
    std::string buffer_;
    std::size_t begin_ = 0;    // of what is not consumed yet in buffer_
    std::size_t scanned_ = 0;  // no newline before here
    std::size_t number_ = 0;   // lines seen
    bool skipping_ = false;    // inside a line that is too long
};

struct Journal {
    std::vector<Line> lines;
    std::vector<Malformed> malformed;
    bool truncated = false;  // the last line is incomplete and was left out
};

// An error only if the file cannot be opened or read.
Result<Journal> read_journal(const std::string& path);
// One line without its newline.
Result<Event> parse_line(std::string_view line);

// A place behind a complete line of a journal's file.
struct Position {
    std::uint64_t file = 0;  // its inode
    std::int64_t at = 0;     // bytes
    friend bool operator==(const Position&, const Position&) = default;
};
std::string to_string(const Position&);  // "1234:5678"
std::optional<Position> position_from_string(std::string_view);

// Some events, oldest first, and where those behind them begin.
struct Excerpt {
    std::vector<Event> events;
    Position next;
    bool cut = false;  // there was one more, beyond Limits::text
};

// In bytes: what is read of a file, and the lines of the events that are returned.
struct Limits {
    std::size_t read = 64u << 20;
    std::size_t text = 64u << 20;
};

// Both may be called on a large file by a busy process: see Limits.  Events are of `job` alone
// unless that is 0; malformed lines are passed over, and so are those longer than Limits::text.
//
// The last `n` events, read from the end.
Result<Excerpt> tail(const std::string& path, std::size_t n, JobId job = 0, Limits limits = {});
// The first `n` events behind `from`; if another file has taken the path's place (logrotate), or
// this one is shorter, from its beginning.  There is nothing more if `next` is `from`.
Result<Excerpt> since(const std::string& path, const Position& from, std::size_t n, JobId job = 0,
                      Limits limits = {});

}  // namespace elastic::journal
