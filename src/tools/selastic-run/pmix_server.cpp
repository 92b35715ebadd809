// SPDX-License-Identifier: MIT
// One server for all processes, on whichever node they are: they connect to it by TCP, so that it
// needs no part on other nodes, and every fence is within it.  Data are handed out by messages
// (gds/hash), since its shared memory reaches one node only.
//
// PMIx calls up in a thread of its own, in which a request is only put into a queue: the library's
// handle is one thread's.  All signals are blocked in that thread.
//
// Who may connect: a process that knows the name of the program's namespace, which nobody can
// guess, and says that it is this user.
#include "selastic-run/pmix_server.hpp"

#include <fmt/format.h>
#include <pmix.h>
#include <pmix_server.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <random>
#include <stdexcept>

#include "common/fd.hpp"
#include "common/text.hpp"

namespace elastic::tools {
namespace {

// PMIX_DVM_IS_READY of the newest PMIx, "a requested grow or shrink is complete", which older
// headers do not name: what programs written for PRRTE listen to.
constexpr pmix_status_t kResized = -195;

struct Queue {
    std::mutex mutex;
    std::vector<PmixRequest> requests;
    Fd news{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

    void put(PmixRequest request) {
        const std::lock_guard lock(mutex);
        requests.push_back(std::move(request));
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(news.get(), &one, sizeof one);
    }
    std::vector<PmixRequest> take() {
        const std::lock_guard lock(mutex);
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = ::read(news.get(), &count, sizeof count);
        return std::exchange(requests, {});
    }
};

// PMIx's functions have nowhere to keep a pointer, and there is one server in a process.
Queue& queue() {
    static Queue one;
    return one;
}

// Attributes for PMIx, which copies what it is given.
class Infos {
  public:
    Infos& add(const char* key, const char* value) { return load(key, value, PMIX_STRING); }
    Infos& add(const char* key, const std::string& value) { return add(key, value.c_str()); }
    Infos& add(const char* key, bool value) { return load(key, &value, PMIX_BOOL); }
    Infos& add(const char* key, std::uint32_t value) { return load(key, &value, PMIX_UINT32); }
    Infos& add(const char* key, std::uint64_t value) { return load(key, &value, PMIX_UINT64); }
    Infos& add_rank(const char* key, pmix_rank_t value) {
        return load(key, &value, PMIX_PROC_RANK);
    }
    // Nothing where there is nothing to say.
    Infos& add_if(const char* key, const std::string& value) {
        return value.empty() ? *this : add(key, value);
    }

    Infos() = default;
    ~Infos() {
        for (pmix_info_t& info : list_) PMIX_INFO_DESTRUCT(&info);
    }
    Infos(const Infos&) = delete;
    Infos& operator=(const Infos&) = delete;

    pmix_info_t* data() { return list_.data(); }
    std::size_t size() const { return list_.size(); }

  private:
    Infos& load(const char* key, const void* value, pmix_data_type_t type) {
        pmix_info_t& info = list_.emplace_back();
        PMIX_INFO_CONSTRUCT(&info);
        PMIX_INFO_LOAD(&info, key, value, type);
        return *this;
    }

    std::vector<pmix_info_t> list_;
};

void check(pmix_status_t status, const char* what) {
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        throw std::runtime_error(fmt::format("{}: {}", what, PMIx_Error_string(status)));
}

std::string text_of(const pmix_value_t& value) {
    return value.type == PMIX_STRING && value.data.string ? value.data.string : "";
}

// A whole number of any of the types that programs use for one.
std::optional<std::int64_t> number_of(const pmix_value_t& value) {
    switch (value.type) {
        case PMIX_INT:
            return value.data.integer;
        case PMIX_INT32:
            return value.data.int32;
        case PMIX_INT64:
            return value.data.int64;
        case PMIX_UINT:
            return value.data.uint;
        case PMIX_UINT32:
            return value.data.uint32;
        case PMIX_UINT64:
            return static_cast<std::int64_t>(std::min<std::uint64_t>(value.data.uint64, INT64_MAX));
        case PMIX_SIZE:
            return static_cast<std::int64_t>(std::min<std::size_t>(value.data.size, INT64_MAX));
        default:
            return parse_integer(text_of(value));
    }
}

// Whether the attribute is understood, or need not be.
pmix_status_t read_attribute(const pmix_info_t& info, PmixRequest& request) {
    if (PMIX_CHECK_KEY(&info, PMIX_ALLOC_NUM_NODES)) {
        request.nodes = number_of(info.value).value_or(0);
        return request.nodes > 0 ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }
    if (PMIX_CHECK_KEY(&info, PMIX_ALLOC_NODE_LIST)) {
        request.node_list = text_of(info.value);
        return request.node_list.empty() ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
    }
    if (PMIX_CHECK_KEY(&info, PMIX_ALLOC_REQ_ID)) {
        request.id = text_of(info.value);
        return PMIX_SUCCESS;
    }
    if (PMIX_CHECK_KEY(&info, PMIX_TIMEOUT)) {
        if (const auto seconds = number_of(info.value); seconds && *seconds > 0)
            request.timeout = static_cast<Duration>(*seconds);
        return PMIX_SUCCESS;
    }
    return PMIX_INFO_IS_REQUIRED(&info) ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
}

std::optional<PmixRequest::What> directive_of(pmix_alloc_directive_t directive) {
    switch (directive) {
        case PMIX_ALLOC_EXTEND:
            return PmixRequest::What::kMore;
        case PMIX_ALLOC_RELEASE:
            return PmixRequest::What::kFewer;
        case PMIX_ALLOC_REAQUIRE:
            return PmixRequest::What::kAgain;
        default:
            return std::nullopt;
    }
}

// A job grows by whole nodes, and Slurm chooses which.
bool can_be_served(const PmixRequest& request) {
    if (request.what == PmixRequest::What::kFewer)
        return request.nodes > 0 || !request.node_list.empty();
    return request.node_list.empty() &&
           (request.nodes > 0 || request.what == PmixRequest::What::kAgain);
}

pmix_status_t allocate(const pmix_proc_t*, pmix_alloc_directive_t directive,
                       const pmix_info_t data[], std::size_t count, pmix_info_cbfunc_t callback,
                       void* callback_data) {
    const auto what = directive_of(directive);
    if (!what) return PMIX_ERR_NOT_SUPPORTED;
    PmixRequest request;
    request.what = *what;
    for (std::size_t i = 0; i < count; ++i)
        if (const auto status = read_attribute(data[i], request); status != PMIX_SUCCESS)
            return status;
    if (!can_be_served(request)) return PMIX_ERR_NOT_SUPPORTED;
    request.callback = reinterpret_cast<void*>(callback);
    request.data = callback_data;
    queue().put(std::move(request));
    return PMIX_SUCCESS;
}

// Processes come and go; srun tells us of their ends.
pmix_status_t client_connected(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t client_finalized(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_server_module_t* server_module() {
    static pmix_server_module_t functions = [] {
        pmix_server_module_t wanted{};
        wanted.client_connected = client_connected;
        wanted.client_finalized = client_finalized;
        wanted.allocate = allocate;
        return wanted;
    }();
    return &functions;
}

pmix_status_t status_of(PmixAnswer answer) {
    switch (answer) {
        case PmixAnswer::kDone:
            return PMIX_SUCCESS;
        case PmixAnswer::kRefused:
            return PMIX_ERR_OUT_OF_RESOURCE;
        case PmixAnswer::kTooLate:
            return PMIX_ERR_TIMEOUT;
        case PmixAnswer::kWithdrawn:
            return PMIX_ERR_JOB_ALLOC_FAILED;
        case PmixAnswer::kNotNow:
            return PMIX_ERR_RESOURCE_BUSY;
        case PmixAnswer::kBad:
            return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_ERROR;
}

void say(Infos& infos, const std::string& job, const PmixChange& change) {
    infos.add(PMIX_ALLOC_ID, job).add_if(PMIX_ALLOC_REQ_ID, change.id);
    infos.add_if(PMIX_ALLOC_NODE_LIST, change.node_list);
    if (change.nodes > 0) infos.add(PMIX_ALLOC_NUM_NODES, static_cast<std::uint64_t>(change.nodes));
}

std::string unguessable() {
    std::random_device random;
    return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

// While there is one of these no signal reaches this thread, nor those that it makes.
class NoSignals {
  public:
    NoSignals() {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;

  private:
    sigset_t before_{};
};

std::string regular_expression(const std::string& list,
                               pmix_status_t (*generate)(const char*, char**)) {
    char* made = nullptr;
    check(generate(list.c_str(), &made), "PMIx: node list");
    std::string text = made;
    std::free(made);
    return text;
}

// "0,1;2,3": the ranks node by node.
std::string ranks_by_node(const PmixJob& job) {
    std::string list;
    for (std::size_t node = 0; node < job.nodes.size(); ++node)
        for (int task = 0; task < job.tasks_per_node; ++task)
            list += fmt::format("{}{}",
                                list.empty() ? ""
                                : task == 0  ? ";"
                                             : ",",
                                node * job.tasks_per_node + task);
    return list;
}

}  // namespace

PmixServer::PmixServer(const PmixJob& job)
    : job_(job.id), name_space_(fmt::format("selastic.{}.{}", job.id, unguessable())) {
    ::setenv("PMIX_MCA_gds", "hash", 1);
    Infos infos;
    infos.add(PMIX_SERVER_NSPACE, name_space_ + ".server").add_rank(PMIX_SERVER_RANK, 0);
    infos.add(PMIX_SERVER_REMOTE_CONNECTIONS, job.nodes.size() > 1);
    const NoSignals blocked;
    check(PMIx_server_init(server_module(), infos.data(), infos.size()), "PMIx_server_init");
    register_job(job);
}

PmixServer::~PmixServer() {
    PMIx_server_finalize();
}

void PmixServer::register_job(const PmixJob& job) {
    const auto size = static_cast<std::uint32_t>(job.nodes.size() * job.tasks_per_node);
    Infos infos;
    infos.add(PMIX_JOBID, name_space_).add(PMIX_SESSION_ID, std::uint32_t{0});
    infos.add(PMIX_UNIV_SIZE, size).add(PMIX_JOB_SIZE, size).add(PMIX_MAX_PROCS, size);
    infos.add(PMIX_JOB_NUM_APPS, std::uint32_t{1});
    infos.add(PMIX_LOCAL_SIZE, static_cast<std::uint32_t>(job.tasks_per_node));
    infos.add(PMIX_NODE_MAP, regular_expression(fmt::format("{}", fmt::join(job.nodes, ",")),
                                                PMIx_generate_regex));
    infos.add(PMIX_PROC_MAP, regular_expression(ranks_by_node(job), PMIx_generate_ppn));
    check(PMIx_server_register_nspace(name_space_.c_str(), static_cast<int>(size), infos.data(),
                                      infos.size(), nullptr, nullptr),
          "PMIx_server_register_nspace");
    pmix_proc_t process;
    for (pmix_rank_t rank = 0; rank < size; ++rank) {
        PMIX_LOAD_PROCID(&process, name_space_.c_str(), rank);
        check(PMIx_server_register_client(&process, ::geteuid(), ::getegid(), nullptr, nullptr,
                                          nullptr),
              "PMIx_server_register_client");
    }
    char** variables = nullptr;
    check(PMIx_server_setup_fork(&process, &variables), "PMIx_server_setup_fork");
    for (char** one = variables; one && *one; ++one) {
        const std::string text = *one;
        const auto equals = text.find('=');
        environment_.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        std::free(*one);
    }
    std::free(variables);
    std::erase_if(environment_, [](const auto& entry) { return entry.first == "PMIX_RANK"; });
}

int PmixServer::descriptor() const {
    return queue().news.get();
}

std::vector<PmixRequest> PmixServer::take_requests() {
    return queue().take();
}

void PmixServer::answer(const PmixRequest& request, PmixAnswer answer, const PmixChange& change) {
    auto* infos = new Infos;
    if (answer == PmixAnswer::kDone) say(*infos, job_, change);
    reinterpret_cast<pmix_info_cbfunc_t>(request.callback)(
        status_of(answer), infos->data(), infos->size(), request.data,
        [](void* made) { delete static_cast<Infos*>(made); }, infos);
}

// Not to handlers that take whatever comes: MPI's would end the program.
void PmixServer::tell(const PmixChange& change) {
    Infos infos;
    say(infos, job_, change);
    infos.add(PMIX_EVENT_NON_DEFAULT, true);
    pmix_proc_t source;
    PMIX_LOAD_PROCID(&source, (name_space_ + ".server").c_str(), 0);
    PMIx_Notify_event(kResized, &source, PMIX_RANGE_LOCAL, infos.data(), infos.size(), nullptr,
                      nullptr);
}

}  // namespace elastic::tools
