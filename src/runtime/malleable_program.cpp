// SPDX-License-Identifier: MIT
// A resize as [gupta] section III-C has it.  Processes that leave move the data on their nodes to
// nodes that stay (evacuation), and write what the next world has to know beside the arrays
// (checkpoint).  The next world, which may have been started meanwhile, connects, takes the arrays
// over and moves the data that belong on nodes that have come (rebalance).
//
// Always holds: the data that a world computes with are neither written to nor freed by the next
// world until that has confirmed that it has everything; until then the old world can go on.  All
// processes take the same decisions, from what process 0 has shared.
#include "runtime/malleable_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <utility>

#include "common/environment.hpp"
#include "common/hostlist.hpp"
#include "common/text.hpp"

namespace elastic::runtime {
namespace {

constexpr Duration kNow = 0;
constexpr Duration kPause = 1;  // before a program that asks in every step may ask again in vain

// Seconds since the last call, or the making.
class Clock {
  public:
    Duration lap() {
        const double before = last_;
        last_ = MPI_Wtime();
        return last_ - before;
    }

  private:
    double last_ = MPI_Wtime();
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

// Each process of another MPI than srun was told of is a world of its own.
std::optional<Error> check_world(int size) {
    const auto tasks = parse_integer(variable("SLURM_STEP_NUM_TASKS", "1"));
    if (!tasks || size != 1 || *tasks <= 1) return std::nullopt;
    return error(
        "each of the step's {} tasks is an MPI world of its own: srun --mpi=pmix is for"
        " Open MPI, --mpi=pmi2 for MPICH",
        *tasks);
}

}  // namespace

Result<std::unique_ptr<MalleableProgram>> MalleableProgram::open(MPI_Comm comm, unsigned flags,
                                                                 int& code) {
    std::unique_ptr<MalleableProgram> program(new MalleableProgram(comm, flags));
    const auto stray = check_world(program->communicator_.size());
    code = ELASTIC_MPI_ESYSTEM;
    if (const auto met = program->meet(); !met) return met.error();
    if (stray) {
        code = ELASTIC_MPI_EWORLD;
        return *stray;
    }
    if (program->meeting_ && program->meeting_->generation > 0)
        if (const auto born = program->be_reborn(); !born) return born.error();
    return program;
}

// TMPDIR may be a folder that there is on some nodes only.
std::string MalleableProgram::temporary_folder() {
    const std::string named = variable("TMPDIR", "/tmp");
    return communicator_.highest(::access(named.c_str(), W_OK | X_OK) == 0 ? 0 : 1) == 0 ? named
                                                                                         : "/tmp";
}

Result<void> MalleableProgram::meet() {
    spill_ = variable("ELASTIC_MPI_SPILL", temporary_folder().c_str());
    meeting_ = parse_meeting(variable(kMeetingVariable));
    if (!meeting_) return {};
    std::string why;
    if (communicator_.rank() == 0) {
        auto connected = connect_to(*meeting_, variable("SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1"));
        if (connected) {
            channel_ = *std::move(connected);
            Message hello{.word = Verb::hello, .secret = meeting_->secret};
            hello.generation = meeting_->generation;
            hello.attempt = meeting_->attempt;
            hello.size = communicator_.size();
            hello.spill = spill_;
            channel_->send(hello);
            const auto answer = channel_->receive(kNever);
            if (!answer || answer->word != Verb::go)
                why = "selastic-run wants none of this program";
        } else {
            why = connected.error().message;
        }
    }
    why = communicator_.share(why);
    spill_ = communicator_.share(spill_);
    if (why.empty()) return {};
    if (meeting_->generation > 0) return Error{why};
    detail = why;
    meeting_.reset();
    channel_.reset();
    return {};
}

std::string MalleableProgram::stem() const {
    return meeting_ ? fmt::format("{}.{}", meeting_->generation, meeting_->attempt) : "0.0";
}

Result<void> MalleableProgram::be_reborn() {
    Phases phases;
    const Result<void> restored = communicator_.all(restore(phases));
    if (communicator_.rank() == 0) {
        Message message{.word = restored ? Verb::confirmed : Verb::refused};
        message.phases = phases;
        if (!restored) message.reason = restored.error().message;
        channel_->send(message);
    }
    if (!restored) return restored;
    bool goes_on = true;
    if (communicator_.rank() == 0) {
        const auto answer = channel_->receive(kNever);
        goes_on = answer && answer->word == Verb::ok;
    }
    if (communicator_.share(goes_on ? "" : "no").size())
        return error("selastic-run has ended, or has started another world");
    if (communicator_.leads_node()) store_->keep_only(checkpoint_.arrays, communicator_.node(), {});
    return {};
}

Result<void> MalleableProgram::restore(Phases& phases) {
    Clock clock;
    auto store = Store::open(meeting_->id, spill_);
    if (const auto opened = communicator_.all(store ? Result<void>() : store.error()); !opened)
        return opened;
    store_ = *std::move(store);
    const std::string name = checkpoint_name(meeting_->generation);
    const int root =
        -communicator_.highest(store_->has(name) ? -communicator_.rank() : INT_MIN + 1);
    if (root == INT_MAX) return error("no node has the checkpoint");
    std::string text;
    if (communicator_.rank() == root)
        if (auto read = store_->read_text(name); read) text = *read;
    auto read = read_checkpoint(communicator_.share(text, root));
    if (!read) return read.error();
    checkpoint_ = *std::move(read);
    objects_.inherit(checkpoint_.objects.owners);
    phases.reconnect = clock.lap();
    if (const auto moved = move_all(checkpoint_, communicator_.nodes(), stem()); !moved)
        return moved;
    phases.rebalance = clock.lap();
    const auto mapped = communicator_.all(map_all());
    phases.restore = clock.lap();
    return mapped;
}

// Before anything is confirmed, so that what fails here costs nothing.
Result<void> MalleableProgram::map_all() {
    for (const Array& array : checkpoint_.arrays)
        if (array.name != kObjectArray)
            if (const auto done = map(array); !done) return done;
    return {};
}

Result<void> MalleableProgram::map(const Array& array) {
    const Bounds bounds = bounds_of(array, static_cast<std::size_t>(communicator_.size()));
    const auto rank = static_cast<std::size_t>(communicator_.rank());
    auto made = store_->map(array, bounds[rank], bounds[rank + 1], communicator_.node());
    if (!made) return made.error();
    mapped_[array.name] = *std::move(made);
    return {};
}

Bounds MalleableProgram::bounds_of(const Array& array, std::size_t blocks) const {
    return even_bounds(array.count, array.element, blocks, page_size());
}

Result<void> MalleableProgram::move_all(Checkpoint& checkpoint,
                                        const std::vector<std::string>& nodes,
                                        const std::string& stem) {
    for (std::size_t i = 0; i < checkpoint.arrays.size(); ++i) {
        Array& array = checkpoint.arrays[i];
        const bool of_objects = array.name == kObjectArray;
        const Bounds bounds =
            of_objects ? checkpoint.objects.bounds : bounds_of(array, nodes.size());
        if (bounds.size() != nodes.size() + 1)
            return error("the checkpoint is for {} processes", bounds.size() - 1);
        auto moved =
            communicator_.move(*store_, array, bounds, nodes, fmt::format("{}.{}", stem, i));
        if (!moved) return moved.error();
        array = *std::move(moved);
    }
    return {};
}

Result<Array> MalleableProgram::make_array(const std::string& name, std::uint64_t element,
                                           std::uint64_t count) {
    // Without a launcher there is no other world to find the files, so they have no names for long.
    auto store = Store::open(meeting_ ? meeting_->id : new_run_id(), spill_);
    if (store && (!store_ || !meeting_)) store_ = *store;
    const auto ranks = static_cast<std::size_t>(communicator_.size());
    const auto rank = static_cast<std::size_t>(communicator_.rank());
    Array array{name, element, count, {}};
    const Bounds bounds = bounds_of(array, ranks);
    const std::uint64_t bytes = (bounds[rank + 1] - bounds[rank]) * element;
    const std::string base = fmt::format("{}.new.{}", stem(), checkpoint_.arrays.size());
    const auto made = store ? store_->create(fmt::format("{}.{}", base, rank), bytes, {{0, bytes}})
                            : Result<std::string>(store.error());
    if (const auto all = communicator_.all(made ? Result<void>() : made.error()); !all) {
        if (store && !meeting_) store->remove();
        return all.error();
    }
    const int mine = made->starts_with("spill/") ? 1 : 0;
    std::vector<int> spilled(ranks);
    MPI_Allgather(&mine, 1, MPI_INT, spilled.data(), 1, MPI_INT, communicator_.comm());
    for (std::size_t r = 0; r < ranks; ++r)
        if (bounds[r] < bounds[r + 1])
            array.extents.push_back({bounds[r], bounds[r + 1], communicator_.nodes()[r],
                                     fmt::format("{}/{}.{}", spilled[r] ? "spill" : "shm", base, r),
                                     0});
    return array;
}

Result<MalleableProgram::Block> MalleableProgram::array(const std::string& name,
                                                        std::uint64_t element, std::uint64_t count,
                                                        int& code) {
    code = ELASTIC_MPI_ESYSTEM;
    auto known = std::ranges::find(checkpoint_.arrays, name, &Array::name);
    if (known == checkpoint_.arrays.end()) {
        auto made = make_array(name, element, count);
        if (!made) return made.error();
        checkpoint_.arrays.push_back(*std::move(made));
        known = std::prev(checkpoint_.arrays.end());
    }
    if (known->element != element || known->count != count) {
        code = ELASTIC_MPI_EINVAL;
        return error("{}: it has {} elements of {} bytes", name, known->count, known->element);
    }
    const Bounds bounds = bounds_of(*known, static_cast<std::size_t>(communicator_.size()));
    const auto rank = static_cast<std::size_t>(communicator_.rank());
    const bool is_mapped = mapped_.contains(name);
    const auto mapped = communicator_.all(is_mapped ? Result<void>() : map(*known));
    if (!mapped) return mapped.error();
    if (!meeting_ && !is_mapped) store_->remove();
    return Block{mapped_[name].data(), bounds[rank], bounds[rank + 1]};
}

Result<void> MalleableProgram::value(const std::string& name, void* data, std::size_t size) {
    const auto known = std::ranges::find(checkpoint_.values, name, &Value::name);
    if (known != checkpoint_.values.end() && !values_.contains(name) &&
        !from_hexadecimal(known->hexadecimal, data, size))
        return error("{}: it has {} bytes", name, known->hexadecimal.size() / 2);
    values_[name] = {data, size};
    return {};
}

Result<void> MalleableProgram::objects(const ObjectCalls& calls) {
    const auto packed = std::ranges::find(checkpoint_.arrays, kObjectArray, &Array::name);
    if (packed == checkpoint_.arrays.end()) {
        objects_.deal(communicator_, calls);
        return {};
    }
    const auto unpacked =
        objects_.unpack(communicator_, *store_, *packed, checkpoint_.objects, calls);
    if (!unpacked) return unpacked;
    checkpoint_.arrays.erase(packed);
    communicator_.barrier();
    if (communicator_.leads_node()) store_->keep_only(checkpoint_.arrays, communicator_.node(), {});
    return {};
}

// Process 0: takes what the launcher has said; false if that has ended.  over: why nothing comes of
// a request.
bool MalleableProgram::hear(std::string& over) {
    while (!due_) {
        const auto message = channel_->receive(kNow);
        if (!message) break;
        if (message->word == Verb::resize) due_ = message;
        if (message->word != Verb::answered || !requested_) continue;
        answer_ = message;
        answered_ = MPI_Wtime();
    }
    if (answer_ && MPI_Wtime() >= answered_ + kPause) {
        over = answer_->reason.empty() ? "nothing came of the request" : answer_->reason;
        answer_.reset();
    }
    return channel_->open();
}

bool MalleableProgram::due() {
    if (!meeting_ || due_) return due_.has_value();
    std::string over;
    enum News { kNothing, kResize, kOver, kAlone };
    int news = kNothing;
    if (channel_) {
        const bool heard = hear(over);
        news = due_ ? kResize : !heard ? kAlone : !over.empty() ? kOver : kNothing;
    }
    MPI_Bcast(&news, 1, MPI_INT, 0, communicator_.comm());
    if (news == kAlone) {  // nobody will ask any more; the files go at the end
        detail = "selastic-run has ended";
        requested_ = false;
    }
    if (news == kOver) {
        detail = communicator_.share(over);
        requested_ = false;
    }
    if (news != kResize) return false;
    Message shared{.word = Verb::resize};
    shared.generation = std::strtoll(
        communicator_.share(due_ ? std::to_string(due_->generation) : "").c_str(), nullptr, 10);
    shared.node_list = communicator_.share(due_ ? due_->node_list : "");
    shared.tasks_per_node = communicator_.highest(due_ ? due_->tasks_per_node : 0);
    due_ = shared;
    return true;
}

void MalleableProgram::sync() {
    if (!due()) return;
    const Message request = *std::exchange(due_, std::nullopt);
    resize(request);
}

Result<void> MalleableProgram::request(int change) {
    if (!meeting_) return error("there is no selastic-run in an elastic job to ask");
    if (change == 0 && !requested_) return {};
    if (change != 0 && requested_) return error("a request is under way already");
    requested_ = true;
    if (!channel_) return {};
    Message message{.word = Verb::request};
    message.change = change;
    channel_->send(message);
    return {};
}

void MalleableProgram::resize(const Message& request) {
    Phases phases;
    const auto nodes = expand_hostlist(request.node_list);
    const auto saved = nodes ? save(request, *nodes, phases) : Result<void>(nodes.error());
    const std::string why = communicator_.share(channel_ ? hand_over(saved, phases) : "");
    if (why.empty()) leave(*nodes);
    detail = why;
    forget_resize();
}

// Everything for the next world is on nodes that stay, and each has the checkpoint.
Result<void> MalleableProgram::save(const Message& request, const std::vector<std::string>& staying,
                                    Phases& phases) {
    Clock clock;
    const auto next = evacuate(request, staying, phases);
    phases.evacuation = clock.lap() - phases.checkpoint;
    Result<void> written = next ? Result<void>() : next.error();
    if (next && communicator_.leads_node() && contains(staying, communicator_.node()))
        written = store_->write_text(checkpoint_name(request.generation), write_checkpoint(*next));
    const auto saved = communicator_.all(written);
    phases.checkpoint += clock.lap();
    return saved;
}

// Process 0: why the next world does not take over; nothing: it does.
std::string MalleableProgram::hand_over(const Result<void>& saved, const Phases& phases) {
    Message message{.word = saved ? Verb::checkpointed : Verb::refused};
    message.phases = phases;
    if (!saved) message.reason = saved.error().message;
    channel_->send(message);
    if (!saved) return saved.error().message;
    const auto answer = channel_->receive(kNever);
    if (!answer) return "selastic-run has ended";
    if (answer->word == Verb::leave) return "";
    return answer->reason.empty() ? "there is no other world" : answer->reason;
}

// The checkpoint as the next world is to find it, in memory.
Result<Checkpoint> MalleableProgram::evacuate(const Message& request,
                                              const std::vector<std::string>& staying,
                                              Phases& phases) {
    std::vector<std::string> refuges;
    bool leaving = false;
    for (const std::string& node : communicator_.nodes()) {
        if (!contains(staying, node))
            leaving = true;
        else if (!contains(refuges, node))
            refuges.push_back(node);
    }
    if (refuges.empty()) return error("none of the program's nodes stays");
    if (!store_) {  // there are no arrays
        auto store = Store::open(meeting_->id, spill_);
        if (const auto all = communicator_.all(store ? Result<void>() : store.error()); !all)
            return all.error();
        store_ = *std::move(store);
    }
    Checkpoint next;
    next.generation = request.generation;
    next.arrays = checkpoint_.arrays;
    for (const auto& [name, value] : values_)
        next.values.push_back(
            {name, communicator_.share(to_hexadecimal(value.first, value.second))});
    std::vector<std::string> nodes = block_nodes(staying, request.tasks_per_node);
    Clock clock;
    const auto balancing = flags_ & ELASTIC_MPI_GREEDY ? Balancing::greedy : Balancing::refine;
    const auto packed = objects_.pack(communicator_, *store_, balancing, nodes, next);
    if (!packed) return packed.error();
    phases.checkpoint = clock.lap();
    if (!leaving) return next;
    for (std::size_t r = 0; r < nodes.size(); ++r)
        if (!contains(refuges, nodes[r])) nodes[r] = refuges[r % refuges.size()];
    const auto moved = move_all(next, nodes, fmt::format("{}.0", request.generation));
    if (!moved) return moved.error();
    return next;
}

void MalleableProgram::leave(const std::vector<std::string>& staying) {
    if (!contains(staying, communicator_.node()) && communicator_.leads_node()) store_->remove();
    MPI_Finalize();
    std::exit(EXIT_SUCCESS);
}

void MalleableProgram::forget_resize() {
    requested_ = false;
    answer_.reset();
    communicator_.barrier();
    if (store_ && communicator_.leads_node())
        store_->keep_only(checkpoint_.arrays, communicator_.node(), {});
}

void MalleableProgram::close() {
    if (flags_ & ELASTIC_MPI_KEEP)
        for (auto& [name, mapping] : mapped_) mapping.keep();
    mapped_.clear();
    communicator_.barrier();
    if (store_ && communicator_.leads_node()) store_->remove();
    communicator_.barrier();
    if (channel_) channel_->send({.word = Verb::closed});
}

}  // namespace elastic::runtime
