// SPDX-License-Identifier: MIT
// Files of events.
//
// The format needs no header and no index: a line is an event, O_APPEND and one write(2) for whole
// lines keep writers apart, and a newline is the only thing that makes a line valid.  So each end
// can recover alone: the writer begins a new line behind a torn one, the reader reports the torn
// one and goes on.
//
// Always holds: no reader keeps more than kMaxLine and one block of a file in memory besides the
// events it returns.
#include "journal/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/text.hpp"

namespace elastic::journal {
namespace {

constexpr std::size_t kBlock = 64 * 1024;

Error system_error(std::string_view what, const std::string& path) {
    return error("{} {}: {}", what, path, std::strerror(errno));
}

ssize_t read_retrying(int fd, char* to, std::size_t size) {
    ssize_t n;
    do n = ::read(fd, to, size);
    while (n < 0 && errno == EINTR);
    return n;
}

ssize_t pread_retrying(int fd, char* to, std::size_t size, off_t at) {
    ssize_t n;
    do n = ::pread(fd, to, size, at);
    while (n < 0 && errno == EINTR);
    return n;
}

bool ends_inside_a_line(int fd) {
    const off_t size = ::lseek(fd, 0, SEEK_END);
    char last = '\n';
    return size > 0 && pread_retrying(fd, &last, 1, size - 1) == 1 && last != '\n';
}

// A file that is no journal must not be written to, whatever a configuration says.
Result<void> check_is_journal(int fd, const std::string& path) {
    constexpr std::string_view kBeginning = "{\"time\":";  // of each event
    std::array<char, kBeginning.size()> there{};
    struct stat about {};
    if (::fstat(fd, &about) != 0) return system_error("cannot look at the journal", path);
    if (!S_ISREG(about.st_mode)) return error("{} is no regular file: no journal", path);
    const ssize_t size = pread_retrying(fd, there.data(), there.size(), 0);
    if (size < 0) return system_error("cannot read the journal", path);
    if (kBeginning.starts_with({there.data(), static_cast<std::size_t>(size)})) return {};
    return error(
        "{} holds something other than a journal and is left alone; name another file or move "
        "it away",
        path);
}

bool is_same_file(const struct stat& one, const struct stat& other) {
    return one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

// Closes at the end of a scope.
class File {
  public:
    explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd() const { return fd_; }
    std::uint64_t inode() const {
        struct stat about {};
        return ::fstat(fd_, &about) == 0 ? about.st_ino : 0;
    }

  private:
    int fd_;
};

// How to read a file that begins like this; "" if it is not compressed.
std::string_view unpacker_of(std::string_view beginning) {
    if (beginning.starts_with("\x1f\x8b")) return "zcat";
    if (beginning.starts_with("\x28\xb5\x2f\xfd")) return "zstdcat";
    if (beginning.starts_with("\xfd\x37\x7a\x58\x5a")) return "xzcat";
    if (beginning.starts_with("BZh")) return "bzcat";
    return {};
}

// A cheap test on the text spares parsing the lines of all other jobs.
bool may_concern(std::string_view line, const std::string& job_key) {
    return job_key.empty() || line.find(job_key) != std::string_view::npos;
}

// Collects the events of some lines, up to a number and a length of them.
class Collector {
  public:
    Collector(std::size_t n, JobId job, std::size_t longest)
        : wanted_(n),
          longest_(longest),
          room_(longest),
          job_(job),
          job_key_(job ? fmt::format("\"job\":{}", job) : "") {}

    bool full() const { return cut_ || events_.size() >= wanted_; }
    bool cut() const { return cut_; }

    // An event that has no room any more is left out, and so is whatever comes after it.
    void add(std::string_view line) {
        if (full() || line.empty() || line.size() > longest_ || !may_concern(line, job_key_))
            return;
        Result<Event> event = parse_line(line);
        if (!event || (job_ != 0 && job_of(*event) != job_)) return;
        cut_ = line.size() > room_;
        if (cut_) return;
        room_ -= line.size();
        events_.push_back(std::move(*event));
    }

    std::vector<Event> take() { return std::move(events_); }

  private:
    std::size_t wanted_;
    std::size_t longest_;
    std::size_t room_;
    bool cut_ = false;
    JobId job_;
    std::string job_key_;
    std::vector<Event> events_;
};

// Gives `to` the complete lines of `text`, last first, and leaves in `text` what stands before the
// first newline: the end of a line that begins further up.
void take_lines_backwards(std::string& text, Collector& to) {
    for (;;) {
        const std::size_t newline = text.rfind('\n');
        if (newline == std::string::npos) return;
        to.add(std::string_view(text).substr(newline + 1));
        text.resize(newline);
    }
}

}  // namespace

Writer::~Writer() {
    if (fd_ >= 0) ::close(fd_);
}

Result<void> Writer::open(const std::string& path) {
    // Not only to write: whether the last line is complete must be read.
    const int fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0) return system_error("cannot open the journal", path);
    if (auto is_ours = check_is_journal(fd, path); !is_ours) {
        ::close(fd);
        return is_ours;
    }
    struct stat before {
    }, about{};
    if (::fstat(fd, &about) != 0) about = {};
    const bool is_known = fd_ >= 0 && ::fstat(fd_, &before) == 0;
    gap_ |= is_known && (!is_same_file(before, about) || about.st_size < end_);
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
    path_ = path;
    end_ = about.st_size;
    torn_ = ends_inside_a_line(fd);
    gap_ |= torn_;
    failing_ = deleted_ = false;
    return {};
}

Result<void> Writer::reopen() {
    if (path_.empty()) return {};
    return open(std::string(path_));
}

Result<void> Writer::look() {
    struct stat about {};
    if (fd_ < 0 || ::fstat(fd_, &about) != 0) return {};
    if (about.st_nlink == 0) {
        auto opened = reopen();
        gap_ = true;
        const bool is_known = std::exchange(deleted_, !opened);
        return is_known ? Result<void>{} : opened;
    }
    gap_ |= about.st_size < end_;
    if (about.st_size != std::exchange(end_, about.st_size)) torn_ = ends_inside_a_line(fd_);
    return {};
}

Result<void> Writer::write(const Event& event) {
    return write(prepare({event}));
}

Batch Writer::prepare(const std::vector<Event>& events) const {
    Batch batch;
    struct stat about {};
    if (fd_ >= 0 && ::fstat(fd_, &about) == 0) {
        batch.file = about.st_ino;
        batch.at = about.st_size;
    }
    batch.events = events.size();
    batch.resumes = !events.empty() && is_resume(events.front());
    batch.gap = gap_ && !batch.resumes;
    if (torn_ && !events.empty()) batch.text = "\n";
    for (const Event& event : events) batch.text += to_json(event).dump() + '\n';
    return batch;
}

Result<void> Writer::write(const Batch& batch) {
    if (batch.events == 0) return {};
    if (fd_ < 0) {
        gap_ = true;
        return {};
    }
    auto written = append(batch.text, batch.events);
    if (batch.resumes && !failing_) gap_ = false;
    return written;
}

Result<void> Writer::complete(const Batch& batch) {
    struct stat about {};
    if (fd_ < 0 || ::fstat(fd_, &about) != 0) return {};
    if (batch.file == 0 && end_ == 0) return {};  // both are new
    gap_ = true;
    const std::int64_t written = end_ - batch.at;
    if (about.st_ino != batch.file || written < 0 || written > std::ssize(batch.text)) return {};
    const auto there = behind(batch.at);
    if (!there) return there.error();
    if (!batch.text.starts_with(*there)) return {};
    const std::string_view missing = std::string_view(batch.text).substr(there->size());
    auto appended = append(missing, static_cast<std::size_t>(std::ranges::count(missing, '\n')));
    if (!failing_) gap_ = batch.gap;
    return appended;
}

// The file from there on.
Result<std::string> Writer::behind(std::int64_t at) const {
    std::string text(static_cast<std::size_t>(end_ - at), '\0');
    if (pread_retrying(fd_, text.data(), text.size(), at) != std::ssize(text))
        return error("cannot read {}: {}", path_, std::strerror(errno));
    return text;
}

Result<void> Writer::append(std::string_view lines, std::size_t events) {
    if (fd_ < 0 || lines.empty()) return {};
    ssize_t n;
    do n = ::write(fd_, lines.data(), lines.size());
    while (n < 0 && errno == EINTR);
    if (n < 0) return failed(std::strerror(errno), events);
    end_ += n;
    if (static_cast<std::size_t>(n) < lines.size()) {
        torn_ = n > 0 ? lines[static_cast<std::size_t>(n) - 1] != '\n' : torn_;
        const auto rest = lines.substr(static_cast<std::size_t>(n));
        return failed("only a part could be written",
                      static_cast<std::size_t>(std::ranges::count(rest, '\n')));
    }
    torn_ = failing_ = false;
    return {};
}

Result<void> Writer::failed(std::string_view what, std::size_t events) {
    lost_ += events;
    gap_ = true;
    if (std::exchange(failing_, true)) return {};
    return error("cannot write to the journal {}: {}; events are lost until that works again",
                 path_, what);
}

Reader::~Reader() {
    if (fd_ >= 0) ::close(fd_);
}

Result<void> Reader::open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return system_error("cannot open", path);
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
    path_ = path;
    buffer_.clear();
    begin_ = scanned_ = number_ = 0;
    skipping_ = false;
    struct stat about {};
    if (::fstat(fd, &about) == 0 && S_ISDIR(about.st_mode))
        return error("cannot read {}: it is a directory", path);
    std::array<char, 8> there{};
    const ssize_t size = pread_retrying(fd, there.data(), there.size(), 0);
    const auto unpacker =
        unpacker_of({there.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
    if (!unpacker.empty())
        return error("{0} is compressed; in place of its name: <({1} {0})", path, unpacker);
    return {};
}

// Appends a block; false at the end of the file.
bool Reader::fill() {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
    const std::size_t old = buffer_.size();
    buffer_.resize(old + kBlock);
    const ssize_t n = fd_ < 0 ? 0 : read_retrying(fd_, buffer_.data() + old, kBlock);
    buffer_.resize(old + (n > 0 ? static_cast<std::size_t>(n) : 0));
    return n > 0;
}

Reader::Item Reader::next() {
    for (;;) {
        const std::size_t newline = buffer_.find('\n', scanned_);
        if (newline == std::string::npos) {
            scanned_ = buffer_.size();
            if (skipping_ || buffer_.size() - begin_ > kMaxLine) {
                skipping_ = true;
                begin_ = scanned_;
            }
            if (!fill()) return AtEnd{};
            continue;
        }
        const std::string_view line(buffer_.data() + begin_, newline - begin_);
        begin_ = scanned_ = newline + 1;
        ++number_;
        if (std::exchange(skipping_, false) || line.size() > kMaxLine)
            return Malformed{number_, fmt::format("longer than {} bytes", kMaxLine)};
        if (line.empty()) continue;
        Result<Event> event = parse_line(line);
        if (!event) return Malformed{number_, event.error().message};
        return Line{number_, std::move(*event)};
    }
}

bool Reader::replaced() const {
    struct stat ours {
    }, theirs{};
    if (fd_ < 0 || ::fstat(fd_, &ours) != 0 || ::stat(path_.c_str(), &theirs) != 0) return false;
    return !is_same_file(ours, theirs) || ::lseek(fd_, 0, SEEK_CUR) > ours.st_size;
}

Result<Journal> read_journal(const std::string& path) {
    Reader reader;
    if (const Result<void> opened = reader.open(path); !opened) return opened.error();
    Journal journal;
    for (;;) {
        Reader::Item item = reader.next();
        if (auto* line = std::get_if<Line>(&item))
            journal.lines.push_back(std::move(*line));
        else if (auto* malformed = std::get_if<Malformed>(&item))
            journal.malformed.push_back(std::move(*malformed));
        else
            break;
    }
    journal.truncated = reader.truncated();
    return journal;
}

Result<Event> parse_line(std::string_view line) {
    const Result<Json> json = Json::parse(line);
    if (!json) return json.error();
    return event_from_json(*json);
}

std::string to_string(const Position& position) {
    return fmt::format("{}:{}", position.file, position.at);
}

std::optional<Position> position_from_string(std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto file = parse_unsigned(text.substr(0, colon));
    const auto at = parse_integer(text.substr(std::min(colon + 1, text.size())));
    if (!file || !at || *at < 0) return std::nullopt;
    return Position{*file, *at};
}

Result<Excerpt> tail(const std::string& path, std::size_t n, JobId job, Limits limits) {
    const File file(path);
    if (file.fd() < 0) return system_error("cannot open", path);
    const off_t size = ::lseek(file.fd(), 0, SEEK_END);
    if (size < 0) return system_error("cannot read", path);
    const off_t stop = std::max<off_t>(0, size - static_cast<off_t>(limits.read));

    Position next{file.inode(), 0};
    Collector collector(n, job, limits.text);
    std::string text;
    bool last_line_seen = false;  // what stands behind the last newline is incomplete
    for (off_t at = size;
         at > stop && !(last_line_seen && collector.full()) && text.size() <= kMaxLine;) {
        const std::size_t want = static_cast<std::size_t>(std::min<off_t>(kBlock, at - stop));
        at -= static_cast<off_t>(want);
        std::string block(want, '\0');
        if (pread_retrying(file.fd(), block.data(), want, at) != static_cast<ssize_t>(want))
            return error("cannot read {}: it changed its length", path);
        text.insert(0, block);
        if (!last_line_seen) {
            const std::size_t newline = text.rfind('\n');
            if (newline == std::string::npos) continue;
            next.at = at + static_cast<off_t>(newline) + 1;
            text.resize(newline);
            last_line_seen = true;
        }
        take_lines_backwards(text, collector);
        if (at == 0) collector.add(text);
    }
    Excerpt excerpt{collector.take(), next, collector.cut()};
    std::reverse(excerpt.events.begin(), excerpt.events.end());
    return excerpt;
}

Result<Excerpt> since(const std::string& path, const Position& from, std::size_t n, JobId job,
                      Limits limits) {
    const File file(path);
    if (file.fd() < 0) return system_error("cannot open", path);
    const off_t size = ::lseek(file.fd(), 0, SEEK_END);
    if (size < 0) return system_error("cannot read", path);
    const bool same_file = from.file == file.inode() && from.at <= size;
    Excerpt excerpt{{}, {file.inode(), same_file ? from.at : 0}, false};

    std::string text(std::min<std::size_t>(size - excerpt.next.at, limits.read), '\0');
    if (pread_retrying(file.fd(), text.data(), text.size(), excerpt.next.at) !=
        static_cast<ssize_t>(text.size()))
        return error("cannot read {}: it changed its length", path);
    Collector collector(n, job, limits.text);
    std::string_view rest = text;
    for (std::size_t newline; !collector.full() && (newline = rest.find('\n')) != rest.npos;) {
        collector.add(rest.substr(0, newline));
        if (!collector.cut()) rest.remove_prefix(newline + 1);
    }
    // A line as long as all that may be read is no event.
    const std::size_t taken = text.size() - rest.size();
    excerpt.next.at +=
        static_cast<std::int64_t>(taken == 0 && text.size() == limits.read ? text.size() : taken);
    excerpt.events = collector.take();
    excerpt.cut = collector.cut();
    return excerpt;
}

}  // namespace elastic::journal
