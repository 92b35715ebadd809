// SPDX-License-Identifier: MIT
//
// libelastic for C++17 and later: elastic.h, whose functions are members of elastic::job, whose
// codes are the exception elastic::error and whose strings are owned.  elastic.h and libelastic(3)
// say what the events mean and what may be called when.  Times are in seconds.
//
//     elastic::job job;
//     while (const auto event = job.wait()) ...
//
// Header only: nothing but libelastic is linked.
#ifndef ELASTIC_HPP
#define ELASTIC_HPP

#include <elastic.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace elastic {

// A call was refused: code() is one of enum elastic_error.
class error : public std::runtime_error {
  public:
    error(int code, const std::string& detail)
        : std::runtime_error(detail.empty() ? elastic_strerror(code) : detail), code_(code) {}
    int code() const noexcept { return code_; }

  private:
    int code_;
};

// An elastic_event that owns its strings.
struct event {
    int type = ELASTIC_EVENT_NONE;  // enum elastic_event_type
    int kind = 0;                   // enum elastic_kind
    int outcome = 0;                // enum elastic_outcome
    int nodes = 0;                  // how many come or go
    int size = 0;                   // the job's nodes afterwards
    std::int64_t op = 0;            // the operation
    double deadline = 0;            // seconds from when the message arrived
    std::string node_list;          // which come or go
    std::string reason;
};

// The names in a node list; throws error.
inline std::vector<std::string> node_names(const std::string& node_list) {
    char** names = nullptr;
    const int count = elastic_node_names(node_list.c_str(), &names);
    if (count < 0) throw error(count, "not a node list: " + node_list);
    const std::unique_ptr<char*, decltype(&std::free)> owner(names, std::free);
    return {names, names + count};
}

// The job in whose environment the process runs.  Outside an elastic job is_elastic() is false and
// everything else is harmless.  Members that may fail throw error; a moved-from job may only be
// assigned to or destroyed.
class job {
  public:
    // flags: 0 or of enum elastic_open_flags.
    explicit job(unsigned flags = 0) {
        elastic_handle* handle = nullptr;
        const int code = elastic_open(&handle, flags);
        if (!handle) throw error(code, "");
        handle_.reset(handle);
        is_elastic_ = code == ELASTIC_OK;
    }

    // False also once the controller wants no more of this job.
    bool is_elastic() const { return is_elastic_; }

    // The next event, if there is one now or within `timeout`.
    std::optional<event> poll(double timeout = 0) {
        constexpr double most = std::numeric_limits<int>::max();
        return poll_ms(static_cast<int>(std::clamp(timeout * 1000, 0.0, most)));
    }
    // The next event, however long it takes, or nothing if there never is one, or a signal came.
    std::optional<event> wait() { return is_elastic_ ? poll_ms(-1) : std::nullopt; }
    // Readable when poll() has something to do.
    int fd() const { return elastic_fd(get()); }

    void accept(std::int64_t op) { check(elastic_accept(get(), op)); }
    void accept(std::int64_t op, int count) { check(elastic_accept_size(get(), op, count)); }
    void decline(std::int64_t op, const std::string& reason = "") {
        check(elastic_decline(get(), op, reason.c_str()));
    }
    void done(std::int64_t op) { check(elastic_done(get(), op)); }

    void request(int nodes, int least, double timeout = 0) {
        check(elastic_request(get(), nodes, least, timeout));
    }
    void release(int nodes) { check(elastic_release(get(), nodes, nullptr)); }
    void release(const std::string& node_list) {
        check(elastic_release(get(), 0, node_list.c_str()));
    }
    void cancel(std::int64_t op = 0) { check(elastic_cancel(get(), op)); }
    void step(int nodes = 0, double in = 0) { check(elastic_step(get(), nodes, in)); }
    void progress(double remaining) { check(elastic_progress(get(), remaining)); }

    int nodes() const { return elastic_nodes(get()); }
    int min() const { return elastic_min(get()); }
    int max() const { return elastic_max(get()); }
    std::string sizes() const { return elastic_sizes(get()); }
    bool allows(int nodes) const { return elastic_allows(get(), nodes) == 1; }
    std::string node_list() const { return elastic_nodelist(get()); }
    std::string batch_host() const { return elastic_batch_host(get()); }
    bool malleable() const { return elastic_malleable(get()) == 1; }
    bool evolving() const { return elastic_evolving(get()) == 1; }
    bool connected() const { return elastic_connected(get()) == 1; }

    // For functions of elastic.h that have no member here; stays the job's.
    elastic_handle* get() const { return handle_.get(); }

  private:
    struct closer {
        void operator()(elastic_handle* handle) const { elastic_close(handle); }
    };

    std::optional<event> poll_ms(int timeout) {
        elastic_event filled{};
        const int code = elastic_poll(get(), timeout, &filled);
        if (filled.type == ELASTIC_EVENT_CLOSED || (code == ELASTIC_ENOTELASTIC && timeout < 0))
            is_elastic_ = false;
        else
            check(code);
        if (code != 1) return std::nullopt;
        return event{filled.type, filled.kind,     filled.outcome,   filled.nodes, filled.size,
                     filled.op,   filled.deadline, filled.node_list, filled.reason};
    }

    // Outside an elastic job nobody hears what is said, which is no error.
    void check(int code) const {
        if (code < 0 && (is_elastic_ || code != ELASTIC_ENOTELASTIC))
            throw error(code, elastic_detail(get()));
    }

    std::unique_ptr<elastic_handle, closer> handle_;
    bool is_elastic_ = false;
};

}  // namespace elastic

#endif
