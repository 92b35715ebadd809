// SPDX-License-Identifier: MIT
// An application's side of the agreements: what is in flight, what was said, what is to be told.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/time.hpp"
#include "libelastic/elastic.h"
#include "libelastic/link.hpp"
#include "protocol/endpoint.hpp"
#include "protocol/message.hpp"
#include "protocol/seal.hpp"

namespace elastic::libelastic {

// The job as somebody sees it.
struct JobView {
    int nodes = 1;
    std::string node_list;
    std::string batch_host;
    int min = 0, max = 0;  // 0: unknown
    bool malleable = false, evolving = false;
    std::string sizes = {};  // "": unknown

    bool allows(int size) const;  // as far as it is known
};

// An elastic_event that owns its texts, with the job as it is once the event is given out.
struct Event {
    int type = ELASTIC_EVENT_NONE;
    int kind = 0, outcome = 0, nodes = 0, size = 0;
    OpId op = 0;
    double deadline = 0;
    std::string node_list = {}, reason = {};
    std::optional<JobView> view = {};
};

// What the environment says.
struct Surroundings {
    JobId job = 0;  // 0: in no job
    JobView view;
};
Surroundings read_surroundings();

// Functions return ELASTIC_OK or an elastic_error; they throw std::bad_alloc and std::system_error
// only.  elastic.h describes each of them.
class Client : private LinkUser {
  public:
    // Outside an elastic job: does nothing, and says why.
    Client(JobView view, std::string why);
    Client(Surroundings surroundings, protocol::Endpoint endpoint,
           std::unique_ptr<protocol::Seal> seal, LinkTimes times = {}, Locate locate = nullptr);
    ~Client() override;
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // Waits for the controller's first answer, at most so long.  Afterwards the job is as the
    // controller says, without an event about it.
    void settle(Duration most);
    bool elastic() const { return link_ && !link_->off(); }

    // 1 and the event, 0, or ELASTIC_ENOTELASTIC.
    int poll(int timeout_ms, Event& event);
    int fd() const { return link_ ? link_->fd() : idle_.get(); }

    int accept(OpId op);
    int accept_size(OpId op, int count);
    int decline(OpId op, std::string_view reason);
    int done(OpId op);
    int request(int nodes, int least, Duration timeout);
    int release(int nodes, const char* node_list);
    int cancel(OpId op);
    int step(int nodes, Duration in);
    int progress(Duration remaining);

    const JobView& view() const { return shown_; }
    bool connected() const { return link_ && link_->up(); }
    const std::string& detail() const {
        return detail_.empty() && link_ ? link_->trouble() : detail_;
    }

  private:
    // The agreement in flight and what the application said of it.  Said things are repeated after
    // a reconnection as long as the controller has the agreement.
    struct Agreement {
        OpId op = 0;
        ResizeKind kind = ResizeKind::shrink;
        protocol::Stage stage = protocol::Stage::offered;  // as far as the controller confirmed
        int nodes = 0, size_after = 0;
        std::string node_list = {};
        bool accepted = false, declined = false, done = false, cancelled = false;  // said
        int count = 0;  // accepted: so many nodes; 0: all
        Time answer_by = 0;
        bool told = false;  // the application knows that it is accepted, or applied
        std::string reason = {};
    };
    // A request or release on its way to being an agreement.
    struct Wish {
        protocol::Message message = {};  // Request or Release
        std::int64_t token = 0;          // 0: made by an earlier process
        OpId op = 0;                     // 0: not known yet
        Time expires = kNever;
        bool sent = false, cancelled = false;
        int content_with = 0;  // said of a request; 0: all that it asks for
    };

    // A word about the next step that has not been answered.
    struct Correction {
        protocol::Step message = {};
        Time begins = 0;
        bool sent = false;
    };

    protocol::Hello hello() override;
    void welcomed(const protocol::Welcome& welcome) override;
    void received(const protocol::Message& message) override;
    void refused(const protocol::Failure& failure) override;

    void on(const protocol::Offer& offer);
    void on(const protocol::Accepted& accepted);
    void on(const protocol::Applied& applied);
    void on(const protocol::Ended& ended);
    void on(const protocol::Queued& queued);
    void on(const protocol::Planned& planned);
    void size_refused(const protocol::Failure& failure);
    void tell_offer(Duration deadline, const std::string& reason);
    void on(const protocol::Failure& failure);
    template <class Other>
    void on(const Other&) {}  // nothing a controller says to an application

    void catch_up(const protocol::Welcome& welcome, const JobView& before);
    OpId catch_up_wish(std::optional<Wish>& wish, const protocol::Welcome& welcome, bool effect);
    OpId catch_up_agreement(const protocol::Welcome& welcome, bool effect);
    void repeat_said();
    void send_wish(Wish& wish);
    void send_correction();
    void resized(const std::string& before, OpId shrink, OpId expand);
    void ended(OpId op, ResizeKind kind, protocol::Outcome outcome, std::string reason);
    void end_wish(std::optional<Wish>& wish, protocol::Outcome outcome, std::string reason);
    void push(Event event);
    void keep_house();
    int fail(int code, std::string detail);
    int answerable(OpId op);
    int say_accept(int count);
    int lower_request(int count);
    std::string last_nodes(int count) const;

    JobId job_ = 0;
    JobView known_;  // by the newest message
    JobView shown_;  // by the last event given out
    std::optional<Agreement> agreement_;
    std::optional<Wish> request_, release_;
    std::optional<Correction> correction_;
    std::int64_t last_token_ = 0;
    OpId resuming_ = 0;  // Welcome's agreement, until its Offer has come
    protocol::Stage resuming_stage_ = protocol::Stage::offered;
    std::optional<Duration> remaining_;  // progress not sent yet
    Time next_progress_ = 0;
    std::deque<Event> events_;
    std::string detail_;
    bool settling_ = false;
    Fd idle_;                     // fd() without a link
    std::unique_ptr<Link> link_;  // null outside an elastic job
};

// The client for this process's job, talking to the cluster's controller by MUNGE.
std::unique_ptr<Client> open_client(bool wait);

}  // namespace elastic::libelastic
