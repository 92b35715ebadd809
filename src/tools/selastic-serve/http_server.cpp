// SPDX-License-Identifier: MIT
// By libmicrohttpd: one thread with epoll for all connections, in which a stream of events that has
// nothing to say is suspended.  cpp-httplib, the other library of Debian's that was looked at, has
// a thread for each connection, so a thousand idle streams would be a thousand threads; a stack of
// our own over libev would have to parse HTTP.
//
// Bounds: connections, streams among them, the memory of a request's head, the time without
// progress (the library's), and the time that a request may take in all (tick()), since a client
// that sends or reads a byte now and then makes progress for ever.  Bodies are shared by all who
// read them, so a slow reader holds a body and no copy.
//
// Always holds: a stream is suspended, or has text to send, or looks at the board next; who resumes
// it and who suspends it have the same mutex.
#include "selastic-serve/http_server.hpp"

#include <fmt/format.h>
#include <microhttpd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "common/text.hpp"
#include "libelastic/link.hpp"
#include "selastic-serve/documents.hpp"
#include "selastic-serve/listening.hpp"
#include "selastic-serve/open_metrics.hpp"
#include "selastic-serve/page.hpp"

namespace elastic::tools {
namespace {

constexpr unsigned kMostIdle = 15;     // seconds without progress
constexpr Duration kMostSeconds = 60;  // of a request, streams excepted
constexpr Duration kBeat = 15;         // a stream says something that often, to find who has gone
constexpr std::size_t kMostStreams = 256;  // of all clients
constexpr std::size_t kMostHead = 16u << 10;
constexpr std::size_t kMostEvents = 500;  // of an answer

constexpr const char* kJson = "application/json; charset=utf-8";
constexpr const char* kPlain = "text/plain; charset=utf-8";

struct Answer {
    unsigned status = MHD_HTTP_OK;
    const char* type = kPlain;
    Body body = {};
    std::string tag = {};
    std::string allowed = {};
};

Body body(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}

Answer refusal(unsigned status, std::string why) {
    return {status, kPlain, body(std::move(why) + "\n")};
}

void free_body(void* held) {
    delete static_cast<Body*>(held);
}

using Response = std::unique_ptr<MHD_Response, decltype(&MHD_destroy_response)>;

Response response_of(const Body& shared) {
    auto* held = new Body(shared);
    auto* data = const_cast<char*>(shared->data());
    return {MHD_create_response_from_buffer_with_free_callback_cls(shared->size(), data, free_body,
                                                                   held),
            MHD_destroy_response};
}

void add(const Response& response, const char* name, const std::string& value) {
    MHD_add_response_header(response.get(), name, value.c_str());
}

// What browsers are to keep to with anything from here.
void add_rules(const Response& response, const std::string& policy) {
    add(response, "Content-Security-Policy", policy);
    add(response, "X-Content-Type-Options", "nosniff");
    add(response, "Referrer-Policy", "no-referrer");
    add(response, "X-Frame-Options", "DENY");
    add(response, "Cross-Origin-Resource-Policy", "same-origin");
    add(response, "Cross-Origin-Opener-Policy", "same-origin");
}

std::string_view header(MHD_Connection* connection, const char* name) {
    return text(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name));
}

constexpr const char* kNothingAllowed = "default-src 'none'; frame-ancestors 'none'";

}  // namespace

class HttpServer::Daemon {
  public:
    Daemon(HttpOptions options, Board& board, const JournalRing& ring)
        : options_(std::move(options)),
          board_(board),
          ring_(ring),
          page_(body(std::string(page()))) {
        policy_ = page_policy();
    }
    ~Daemon();

    Result<void> start(Fd listener);
    void tick();

  private:
    // A client that follows what happens.
    struct Stream {
        Daemon& daemon;
        MHD_Connection* connection;
        bool suspended = false;
        Board::Shown told = {};
        std::string unsent = {};
        Time last_said = 0;
    };
    struct Peer {
        int fd = -1;
        Time busy_since = 0;  // kNever: a stream
    };

    MHD_Result answer(MHD_Connection*, std::string_view url, std::string_view method);
    Answer route(MHD_Connection*, std::string_view url) const;
    Answer document(MHD_Connection*, const Document&) const;
    Answer journal(MHD_Connection*) const;
    Answer metrics(MHD_Connection*) const;
    std::string own_metrics(MetricsFormat) const;
    MHD_Result send(MHD_Connection*, const Answer&, bool is_page);
    MHD_Result open_stream(MHD_Connection*);
    ssize_t read_stream(Stream&, char* buffer, std::size_t room);
    bool next_message(Stream&);
    void on_connection(MHD_Connection*, bool is_new);
    void on_end_of_request(MHD_Connection*);

    HttpOptions options_;
    Board& board_;
    const JournalRing& ring_;
    Body page_;
    std::string policy_;
    MHD_Daemon* mhd_ = nullptr;

    mutable std::mutex mutex_;  // of all that follows
    std::set<Stream*> streams_;
    std::unordered_map<MHD_Connection*, Peer> peers_;
    std::map<unsigned, std::uint64_t> answers_;  // by status
    std::uint64_t cut_off_ = 0;
};

Result<void> HttpServer::Daemon::start(Fd listener) {
    const MHD_AccessHandlerCallback on_request =
        [](void* self, MHD_Connection* connection, const char* url, const char* method, const char*,
           const char*, std::size_t* upload, void** seen) {
            // What is answered at the first call is the last on its connection: right for whoever
            // sends a body, which nobody here reads.
            static char mark;
            const bool has_body =
                MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length") ||
                MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding");
            if (!*seen && !has_body) {
                *seen = &mark;
                return MHD_YES;
            }
            *upload = 0;
            return static_cast<Daemon*>(self)->answer(connection, url, method);
        };
    const MHD_NotifyConnectionCallback on_connection =
        [](void* self, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode code) {
            static_cast<Daemon*>(self)->on_connection(connection,
                                                      code == MHD_CONNECTION_NOTIFY_STARTED);
        };
    const MHD_RequestCompletedCallback on_completed = [](void* self, MHD_Connection* connection,
                                                         void**, MHD_RequestTerminationCode) {
        static_cast<Daemon*>(self)->on_end_of_request(connection);
    };
    mhd_ = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME,
        0, nullptr, nullptr, on_request, this, MHD_OPTION_LISTEN_SOCKET, listener.get(),
        MHD_OPTION_CONNECTION_LIMIT, options_.most_connections, MHD_OPTION_CONNECTION_TIMEOUT,
        kMostIdle, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kMostHead, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, this, MHD_OPTION_NOTIFY_COMPLETED, on_completed, this, MHD_OPTION_END);
    if (!mhd_) return error("cannot start the HTTP server: {}", std::strerror(errno));
    listener.release();  // closed by the library
    return {};
}

HttpServer::Daemon::~Daemon() {
    if (!mhd_) return;
    tick();
    MHD_stop_daemon(mhd_);
}

// ---- requests

MHD_Result HttpServer::Daemon::answer(MHD_Connection* connection, std::string_view url,
                                      std::string_view method) {
    board_.note_request(libelastic::monotonic_now());
    if (options_.checks_host && !may_be_host(header(connection, "Host"), options_.names))
        return send(connection,
                    refusal(MHD_HTTP_MISDIRECTED_REQUEST,
                            "this name is not known here; selastic serve --name NAME allows it"),
                    false);
    if (method != "GET" && method != "HEAD") {
        Answer no = refusal(MHD_HTTP_METHOD_NOT_ALLOWED, "this server is only read");
        no.allowed = "GET, HEAD";
        return send(connection, no, false);
    }
    if (url == "/api/events" && method == "GET") return open_stream(connection);
    return send(connection, route(connection, url), url == "/");
}

Answer HttpServer::Daemon::route(MHD_Connection* connection, std::string_view url) const {
    const Board::Shown shown = board_.shown();
    if (url == "/") return {MHD_HTTP_OK, "text/html; charset=utf-8", page_};
    if (url == "/metrics") return metrics(connection);
    if (url == "/api/jobs.json") return document(connection, shown->jobs);
    if (url == "/api/nodes.json") return document(connection, shown->nodes);
    if (url == "/api/journal.json") return journal(connection);
    if (url == "/favicon.ico") return {MHD_HTTP_NO_CONTENT, kPlain, body("")};
    return refusal(MHD_HTTP_NOT_FOUND, "there is nothing here");
}

Answer HttpServer::Daemon::document(MHD_Connection* connection, const Document& document) const {
    if (!document.body) {
        const std::string trouble = board_.shown()->trouble;
        return refusal(MHD_HTTP_SERVICE_UNAVAILABLE, "the controller has not answered yet" +
                                                         (trouble.empty() ? "" : ": " + trouble));
    }
    if (header(connection, "If-None-Match") == document.tag)
        return {MHD_HTTP_NOT_MODIFIED, kJson, body(""), document.tag};
    return {MHD_HTTP_OK, kJson, document.body, document.tag};
}

Answer HttpServer::Daemon::journal(MHD_Connection* connection) const {
    const auto since =
        text(MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "since"));
    return {MHD_HTTP_OK, kJson, body(journal_document(ring_.since(since, kMostEvents)))};
}

Answer HttpServer::Daemon::metrics(MHD_Connection* connection) const {
    const bool is_open =
        header(connection, "Accept").find("application/openmetrics-text") != std::string_view::npos;
    const auto format = is_open ? MetricsFormat::open_metrics : MetricsFormat::text;
    const Board::Shown shown = board_.shown();
    const Body& controller = is_open ? shown->metrics : shown->metrics_as_text;
    std::string text = own_metrics(format);
    if (shown->up && controller) text += *controller;
    if (is_open) text += "# EOF\n";
    return {MHD_HTTP_OK,
            is_open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                    : "text/plain; version=0.0.4; charset=utf-8",
            body(std::move(text))};
}

std::string HttpServer::Daemon::own_metrics(MetricsFormat format) const {
    using Type = MetricsWriter::Type;
    MetricsWriter writer(format);
    writer.family("slurm_elastic_up", Type::gauge, "1 if the controller answers, 0 if not.");
    writer.value({}, board_.shown()->up ? 1 : 0);
    const std::scoped_lock lock(mutex_);
    writer.family("slurm_elastic_serve_connections", Type::gauge,
                  "Open connections to this server.");
    writer.value({}, static_cast<double>(peers_.size()));
    writer.family("slurm_elastic_serve_streams", Type::gauge, "Clients that follow its events.");
    writer.value({}, static_cast<double>(streams_.size()));
    writer.family("slurm_elastic_serve_answers", Type::counter, "Answers of this server.");
    for (const auto& [status, count] : answers_)
        writer.value({{"status", std::to_string(status)}}, static_cast<double>(count));
    writer.family("slurm_elastic_serve_cut_off", Type::counter, "Requests that took too long.");
    writer.value({}, static_cast<double>(cut_off_));
    return writer.text();
}

MHD_Result HttpServer::Daemon::send(MHD_Connection* connection, const Answer& answer,
                                    bool is_page) {
    const Response response = response_of(answer.body);
    if (!response) return MHD_NO;
    add_rules(response, is_page ? policy_ : kNothingAllowed);
    add(response, "Content-Type", answer.type);
    add(response, "Cache-Control", "no-cache");
    if (!answer.tag.empty()) add(response, "ETag", answer.tag);
    if (!answer.allowed.empty()) add(response, "Allow", answer.allowed);
    {
        const std::scoped_lock lock(mutex_);
        ++answers_[answer.status];
    }
    return MHD_queue_response(connection, answer.status, response.get());
}

// ---- streams

MHD_Result HttpServer::Daemon::open_stream(MHD_Connection* connection) {
    constexpr std::size_t kBlock = 512;
    auto* stream = new Stream{*this, connection};
    bool is_admitted = false;
    {
        const std::scoped_lock lock(mutex_);
        is_admitted = streams_.size() < kMostStreams;
        if (is_admitted) {
            streams_.insert(stream);
            peers_[connection].busy_since = kNever;
            ++answers_[MHD_HTTP_OK];
        }
    }
    if (!is_admitted) {
        delete stream;
        return send(connection, refusal(MHD_HTTP_SERVICE_UNAVAILABLE, "too many follow already"),
                    false);
    }
    const MHD_ContentReaderCallback read = [](void* self, std::uint64_t, char* buffer,
                                              std::size_t room) {
        auto& stream = *static_cast<Stream*>(self);
        return stream.daemon.read_stream(stream, buffer, room);
    };
    const MHD_ContentReaderFreeCallback forget = [](void* self) {
        const std::unique_ptr<Stream> stream(static_cast<Stream*>(self));
        const std::scoped_lock lock(stream->daemon.mutex_);
        stream->daemon.streams_.erase(stream.get());
    };
    const Response response(
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kBlock, read, stream, forget),
        MHD_destroy_response);
    if (!response) {
        forget(stream);
        return MHD_NO;
    }
    add_rules(response, kNothingAllowed);
    add(response, "Content-Type", "text/event-stream");
    add(response, "Cache-Control", "no-store");
    return MHD_queue_response(connection, MHD_HTTP_OK, response.get());
}

ssize_t HttpServer::Daemon::read_stream(Stream& stream, char* buffer, std::size_t room) {
    const std::scoped_lock lock(mutex_);
    if (stream.unsent.empty() && !next_message(stream)) {
        stream.suspended = true;
        MHD_suspend_connection(stream.connection);
        return 0;
    }
    const std::size_t size = stream.unsent.copy(buffer, room);
    stream.unsent.erase(0, size);
    return static_cast<ssize_t>(size);
}

// However late the client is, it gets what is on the board now and nothing in between.
bool HttpServer::Daemon::next_message(Stream& stream) {
    const Board::Shown shown = board_.shown();
    const Time now = libelastic::monotonic_now();
    const Publication* told = stream.told.get();
    const bool is_new = !told || told->up != shown->up || told->jobs.tag != shown->jobs.tag ||
                        told->nodes.tag != shown->nodes.tag || told->journal != shown->journal;
    if (!is_new && now - stream.last_said < kBeat) return false;
    stream.last_said = now;
    stream.told = shown;
    if (!is_new) {
        stream.unsent = ": still here\n\n";
        return true;
    }
    const Json state = Json::object()
                           .set("version", kApiVersion)
                           .set("up", shown->up)
                           .set("trouble", shown->trouble)
                           .set("jobs", shown->jobs.tag)
                           .set("nodes", shown->nodes.tag)
                           .set("journal", shown->journal);
    stream.unsent = "event: state\ndata: " + state.dump() + "\n\n";
    return true;
}

// ---- connections

void HttpServer::Daemon::on_connection(MHD_Connection* connection, bool is_new) {
    const std::scoped_lock lock(mutex_);
    if (!is_new) {
        peers_.erase(connection);
        return;
    }
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    peers_[connection] = {info ? info->connect_fd : -1, libelastic::monotonic_now()};
}

void HttpServer::Daemon::on_end_of_request(MHD_Connection* connection) {
    const std::scoped_lock lock(mutex_);
    if (const auto peer = peers_.find(connection); peer != peers_.end())
        peer->second.busy_since = libelastic::monotonic_now();
}

void HttpServer::Daemon::tick() {
    const std::scoped_lock lock(mutex_);
    for (Stream* stream : streams_)
        if (std::exchange(stream->suspended, false)) MHD_resume_connection(stream->connection);
    const Time now = libelastic::monotonic_now();
    for (auto& [connection, peer] : peers_) {
        if (peer.fd < 0 || now - peer.busy_since < kMostSeconds) continue;
        ::shutdown(peer.fd, SHUT_RDWR);  // the library closes it then
        peer.busy_since = now;
        ++cut_off_;
    }
}

// ---- the server

HttpServer::HttpServer(std::unique_ptr<Daemon> daemon) : daemon_(std::move(daemon)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpOptions options, Fd listener,
                                                      Board& board, const JournalRing& ring) {
    auto daemon = std::make_unique<Daemon>(std::move(options), board, ring);
    if (auto started = daemon->start(std::move(listener)); !started) return started.error();
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(daemon)));
}

void HttpServer::tick() {
    daemon_->tick();
}

}  // namespace elastic::tools
