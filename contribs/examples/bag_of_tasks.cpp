// SPDX-License-Identifier: MIT
// A bag of tasks that follows the size of its job up and down.
//
// The bag holds ranges of numbers; a task counts the primes of one.  One worker a node, started
// by srun inside Slurm and by fork outside, does one task and prints the count.  A node to be
// given up gets no more tasks and is given up when its worker has ended; a worker that is killed
// puts its range back.  The total is compared with the known number of primes.
//
//     bag_of_tasks [LIMIT [TASKS]]       the job's program
//     bag_of_tasks --worker FROM TO      prints the number of primes in [FROM, TO)
#include <elastic.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

volatile std::sig_atomic_t stopped = 0;

struct Task {
    std::uint64_t from = 0, to = 0;
};

struct Worker {
    pid_t pid = 0;
    int output = -1;
    Task task;
    std::string text;
};

bool in_slurm() {
    return std::getenv("SLURM_JOB_ID") != nullptr;
}

// Trial division, so that a task takes a while.
std::uint64_t count_primes(Task task) {
    std::uint64_t count = 0;
    for (auto n = task.from < 2 ? 2 : task.from; n < task.to; ++n) {
        bool prime = true;
        for (std::uint64_t d = 2; d * d <= n && prime; ++d) prime = n % d != 0;
        count += prime;
    }
    return count;
}

// The check's own way of counting: the sieve of Eratosthenes.
std::uint64_t sieve(std::uint64_t limit) {
    std::vector<bool> composite(limit, false);
    std::uint64_t count = 0;
    for (std::uint64_t n = 2; n < limit; ++n) {
        if (composite[n]) continue;
        ++count;
        for (auto multiple = n * n; multiple < limit; multiple += n) composite[multiple] = true;
    }
    return count;
}

// Slurm's own command knows its notation of node lists.
std::set<std::string> names_of(const std::string& list) {
    if (list.empty() || !in_slurm()) return {"localhost"};
    std::set<std::string> names;
    FILE* lines = popen(("scontrol show hostnames '" + list + "'").c_str(), "r");
    if (!lines) return names;
    char name[256];
    while (std::fscanf(lines, "%255s", name) == 1) names.insert(name);
    pclose(lines);
    return names;
}

class Bag {
  public:
    Bag(elastic_handle* elastic, std::string self, std::uint64_t limit, std::uint64_t tasks)
        : elastic_(elastic), self_(std::move(self)), nodes_(names_of(elastic_nodelist(elastic))) {
        for (std::uint64_t i = 0; i < tasks; ++i)
            bag_.push_back({limit * i / tasks, limit * (i + 1) / tasks});
    }

    // False if it was stopped, or srun fails again and again.
    bool run() {
        while (!bag_.empty() || !workers_.empty()) {
            if (stopped || failures_ > kMaxFailures) return give_up();
            serve();
            for (const auto& node : nodes_)
                if (!leaving_.contains(node) && !workers_.contains(node) && !bag_.empty())
                    start(node);
            leave_if_empty();
            wait();
        }
        return true;
    }
    std::uint64_t primes() const { return primes_; }

  private:
    static constexpr int kMaxFailures = 100;

    void serve() {
        elastic_event event;
        while (elastic_poll(elastic_, 0, &event) == 1) on(event);
    }

    void on(const elastic_event& event) {
        switch (event.type) {
            case ELASTIC_EVENT_OFFER_SHRINK:
            case ELASTIC_EVENT_OFFER_EXPAND:
                elastic_accept(elastic_, event.op);
                break;
            case ELASTIC_EVENT_ACCEPTED:
                if (event.kind != ELASTIC_SHRINK) break;
                leaving_ = names_of(event.node_list);
                leaving_op_ = event.op;
                break;
            case ELASTIC_EVENT_ENDED:
                if (event.op == leaving_op_) stay();
                break;
            case ELASTIC_EVENT_RESIZED:
                nodes_ = names_of(elastic_nodelist(elastic_));
                if (event.kind == ELASTIC_SHRINK) stay();
                if (event.kind == ELASTIC_EXPAND && event.op > 0) elastic_done(elastic_, event.op);
                std::printf("bag_of_tasks: %d nodes now, %zu tasks left\n", event.size,
                            bag_.size());
                break;
            default:
                break;
        }
    }

    void stay() {
        leaving_.clear();
        leaving_op_ = 0;
        told_ = false;
    }

    void leave_if_empty() {
        if (leaving_op_ == 0 || told_) return;
        for (const auto& node : leaving_)
            if (workers_.contains(node)) return;
        elastic_done(elastic_, leaving_op_);
        told_ = true;
    }

    void start(const std::string& node) {
        int ends[2];
        if (pipe(ends) != 0) return;
        Worker worker{.output = ends[0], .task = bag_.front(), .text = {}};
        worker.pid = fork();
        if (worker.pid == 0) {
            dup2(ends[1], STDOUT_FILENO);
            close(ends[0]);
            close(ends[1]);
            work(node, worker.task);
        }
        close(ends[1]);
        if (worker.pid < 0) {
            close(ends[0]);
            return;
        }
        bag_.pop_front();
        workers_[node] = worker;
    }

    [[noreturn]] void work(const std::string& node, Task task) {
        const auto from = std::to_string(task.from), to = std::to_string(task.to);
        const auto nodelist = "--nodelist=" + node;
        if (in_slurm()) {
            // The batch script's variables tell the size that the job began with.
            for (const char* stale : {"SLURM_JOB_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NUM_NODES",
                                      "SLURM_NNODES", "SLURM_NTASKS", "SLURM_NPROCS",
                                      "SLURM_JOB_CPUS_PER_NODE", "SLURM_TASKS_PER_NODE"})
                unsetenv(stale);
            execlp("srun", "srun", "-Q", "-N1", "-n1", nodelist.c_str(), self_.c_str(), "--worker",
                   from.c_str(), to.c_str(), nullptr);
        } else {
            execl(self_.c_str(), self_.c_str(), "--worker", from.c_str(), to.c_str(), nullptr);
        }
        _exit(127);
    }

    // Until a worker says something or ends, or the library has something to do.
    void wait() {
        std::vector<pollfd> ready{{elastic_fd(elastic_), POLLIN, 0}};
        std::vector<std::string> names;
        for (const auto& [node, worker] : workers_) {
            ready.push_back({worker.output, POLLIN, 0});
            names.push_back(node);
        }
        if (poll(ready.data(), ready.size(), 1000) <= 0) return;
        for (std::size_t i = 0; i < names.size(); ++i)
            if (ready[i + 1].revents) read_from(names[i]);
    }

    void read_from(const std::string& node) {
        auto& worker = workers_[node];
        char data[256];
        const ssize_t size = read(worker.output, data, sizeof data);
        if (size > 0) {
            worker.text.append(data, static_cast<std::size_t>(size));
            return;
        }
        close(worker.output);
        int status = -1;
        waitpid(worker.pid, &status, 0);
        std::uint64_t count = 0;
        if (status == 0 && std::sscanf(worker.text.c_str(), "%lu", &count) == 1) {
            primes_ += count;
            failures_ = 0;
        } else {
            bag_.push_back(worker.task);
            ++failures_;
        }
        workers_.erase(node);
    }

    bool give_up() {
        for (const auto& [node, worker] : workers_) {
            kill(worker.pid, SIGTERM);
            close(worker.output);
            waitpid(worker.pid, nullptr, 0);
        }
        return false;
    }

    elastic_handle* elastic_;
    std::string self_;
    std::set<std::string> nodes_, leaving_;
    std::int64_t leaving_op_ = 0;
    bool told_ = false;
    std::deque<Task> bag_;
    std::map<std::string, Worker> workers_;
    std::uint64_t primes_ = 0;
    int failures_ = 0;  // in a row
};

}  // namespace

int main(int argc, char** argv) {
    if (argc == 4 && std::strcmp(argv[1], "--worker") == 0) {
        std::printf("%lu\n", count_primes({std::strtoull(argv[2], nullptr, 10),
                                           std::strtoull(argv[3], nullptr, 10)}));
        return 0;
    }
    const std::uint64_t limit = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4000000;
    const std::uint64_t tasks = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 64;
    char self[4096] = {};
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return EXIT_FAILURE;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::signal(SIGTERM, [](int) { stopped = 1; });

    elastic_handle* elastic = nullptr;
    const int code = elastic_open(&elastic, 0);
    if (!elastic) {
        std::fprintf(stderr, "bag_of_tasks: %s\n", elastic_strerror(code));
        return EXIT_FAILURE;
    }
    Bag bag(elastic, self, limit, tasks);
    const bool finished = bag.run();
    elastic_close(elastic);
    const bool right = finished && bag.primes() == sieve(limit);
    std::printf("bag_of_tasks: %lu primes below %lu, %s\n", bag.primes(), limit,
                right      ? "correct"
                : finished ? "WRONG"
                           : "stopped");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
