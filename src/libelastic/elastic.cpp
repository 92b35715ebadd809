// SPDX-License-Identifier: MIT
// The C interface: wrappers around Client, each of which turns exceptions into codes.
//
// Always holds: no exception crosses into the application, and no string handed out is NULL.
#include "libelastic/elastic.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include "common/hostlist.hpp"
#include "elastic_config.h"
#include "libelastic/client.hpp"

using elastic::libelastic::Client;
using elastic::libelastic::Event;

struct elastic_handle {
    std::unique_ptr<Client> client;
    Event last{};  // owns the strings of the event given out
};

namespace {

template <class Call>
int guarded(Call call) noexcept {
    try {
        return call();
    } catch (const std::bad_alloc&) {
        return ELASTIC_ENOMEM;
    } catch (const std::system_error&) {
        return ELASTIC_ESYSTEM;
    } catch (...) {
        return ELASTIC_EINTERNAL;
    }
}

template <class Call>
int on_client(elastic_handle* handle, Call call) noexcept {
    if (!handle) return ELASTIC_EINVAL;
    return guarded([&] { return call(*handle->client); });
}

void fill(elastic_event& out, const Event& event) {
    out = {};
    out.type = event.type;
    out.kind = event.kind;
    out.outcome = event.outcome;
    out.nodes = event.nodes;
    out.size = event.size;
    out.op = event.op;
    out.deadline = event.deadline;
    out.node_list = event.node_list.c_str();
    out.reason = event.reason.c_str();
}

// The array and the names that it points to, in one block of malloc().
char** one_block(const std::vector<std::string>& names) {
    const std::size_t pointers = (names.size() + 1) * sizeof(char*);
    std::size_t size = pointers;
    for (const std::string& name : names) size += name.size() + 1;
    auto* const block = static_cast<char*>(std::malloc(size));
    if (!block) throw std::bad_alloc();
    auto** const array = reinterpret_cast<char**>(block);
    char* next = block + pointers;
    for (std::size_t i = 0; i < names.size(); ++i) {
        array[i] = next;
        next = stpcpy(next, names[i].c_str()) + 1;
    }
    array[names.size()] = nullptr;
    return array;
}

}  // namespace

int elastic_open(elastic_handle** handle, unsigned flags) {
    if (!handle) return ELASTIC_EINVAL;
    *handle = nullptr;
    if ((flags & ~static_cast<unsigned>(ELASTIC_OPEN_NOWAIT)) != 0) return ELASTIC_EINVAL;
    return guarded([&]() -> int {
        auto client = elastic::libelastic::open_client((flags & ELASTIC_OPEN_NOWAIT) == 0);
        const int code = client->elastic() ? ELASTIC_OK : ELASTIC_ENOTELASTIC;
        *handle = new elastic_handle{std::move(client)};
        return code;
    });
}

void elastic_close(elastic_handle* handle) {
    delete handle;
}

int elastic_poll(elastic_handle* handle, int timeout_ms, elastic_event* event) {
    if (!event) return ELASTIC_EINVAL;
    fill(*event, {});
    event->node_list = event->reason = "";
    return on_client(handle, [&](Client& client) {
        const int code = client.poll(timeout_ms, handle->last);
        fill(*event, handle->last);
        return code;
    });
}

int elastic_fd(const elastic_handle* handle) {
    return handle ? handle->client->fd() : ELASTIC_EINVAL;
}

int elastic_accept(elastic_handle* handle, int64_t op) {
    return on_client(handle, [&](Client& client) { return client.accept(op); });
}

int elastic_accept_size(elastic_handle* handle, int64_t op, int count) {
    return on_client(handle, [&](Client& client) { return client.accept_size(op, count); });
}

int elastic_decline(elastic_handle* handle, int64_t op, const char* reason) {
    return on_client(handle,
                     [&](Client& client) { return client.decline(op, reason ? reason : ""); });
}

int elastic_done(elastic_handle* handle, int64_t op) {
    return on_client(handle, [&](Client& client) { return client.done(op); });
}

int elastic_request(elastic_handle* handle, int nodes, int least, double timeout) {
    return on_client(handle, [&](Client& client) { return client.request(nodes, least, timeout); });
}

int elastic_release(elastic_handle* handle, int nodes, const char* node_list) {
    return on_client(handle, [&](Client& client) { return client.release(nodes, node_list); });
}

int elastic_cancel(elastic_handle* handle, int64_t op) {
    return on_client(handle, [&](Client& client) { return client.cancel(op); });
}

int elastic_step(elastic_handle* handle, int nodes, double in) {
    return on_client(handle, [&](Client& client) { return client.step(nodes, in); });
}

int elastic_progress(elastic_handle* handle, double remaining) {
    return on_client(handle, [&](Client& client) { return client.progress(remaining); });
}

int elastic_nodes(const elastic_handle* handle) {
    return handle ? handle->client->view().nodes : ELASTIC_EINVAL;
}

const char* elastic_nodelist(const elastic_handle* handle) {
    return handle ? handle->client->view().node_list.c_str() : "";
}

const char* elastic_batch_host(const elastic_handle* handle) {
    return handle ? handle->client->view().batch_host.c_str() : "";
}

int elastic_min(const elastic_handle* handle) {
    if (!handle) return ELASTIC_EINVAL;
    const auto& view = handle->client->view();
    return view.min > 0 ? view.min : view.nodes;
}

int elastic_max(const elastic_handle* handle) {
    if (!handle) return ELASTIC_EINVAL;
    const auto& view = handle->client->view();
    return view.max > 0 ? view.max : view.nodes;
}

const char* elastic_sizes(const elastic_handle* handle) {
    return handle ? handle->client->view().sizes.c_str() : "";
}

int elastic_allows(const elastic_handle* handle, int nodes) {
    return handle ? int{handle->client->view().allows(nodes)} : ELASTIC_EINVAL;
}

int elastic_malleable(const elastic_handle* handle) {
    return handle ? int{handle->client->view().malleable} : ELASTIC_EINVAL;
}

int elastic_evolving(const elastic_handle* handle) {
    return handle ? int{handle->client->view().evolving} : ELASTIC_EINVAL;
}

int elastic_connected(const elastic_handle* handle) {
    return handle ? int{handle->client->connected()} : ELASTIC_EINVAL;
}

int elastic_node_names(const char* node_list, char*** names) {
    if (!names) return ELASTIC_EINVAL;
    *names = nullptr;
    if (!node_list) return ELASTIC_EINVAL;
    return guarded([&]() -> int {
        const auto expanded = elastic::expand_hostlist(node_list);
        if (!expanded) return ELASTIC_EINVAL;
        *names = one_block(*expanded);
        return static_cast<int>(expanded->size());
    });
}

const char* elastic_detail(const elastic_handle* handle) {
    return handle ? handle->client->detail().c_str() : "";
}

const char* elastic_strerror(int code) {
    switch (code) {
        case ELASTIC_ENOTELASTIC:
            return "not inside an elastic job";
        case ELASTIC_EINVAL:
            return "an argument is outside its range";
        case ELASTIC_ESTATE:
            return "no such operation is in flight, or it is answered already";
        case ELASTIC_ENOMEM:
            return "out of memory";
        case ELASTIC_ESYSTEM:
            return "a system call failed";
        case ELASTIC_EINTERNAL:
            return "a fault of libelastic";
        default:
            return code >= 0 ? "success" : "an unknown error";
    }
}

const char* elastic_version() {
    return PACKAGE_VERSION;
}
