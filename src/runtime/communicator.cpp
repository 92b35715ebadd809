// SPDX-License-Identifier: MIT
// Data go from a file on one node to a file on another in small messages, so that counts never
// exceed an int and what is received goes through memory that is warm: writing it to a file is
// twice as fast as touching fresh pages of one.
//
// Always holds: all processes see the messages in the same order and have a few of their own under
// way, the earliest first; so the earliest of all that is not done has both ends ready.
#include "runtime/communicator.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <map>
#include <system_error>

namespace elastic::runtime {
namespace {

constexpr std::uint64_t kPart = std::uint64_t{1} << 20;  // bytes of a message
constexpr std::size_t kUnderWay = 4;                     // messages of a process in a direction
constexpr int kTag = 1;
constexpr unsigned kTries = 100;  // before a process sleeps
constexpr unsigned kNap = 100;    // microseconds, of one that has messages under way
constexpr unsigned kPause = 300;  // microseconds, of one that waits for others

// Processes that spin take the processors from those who compute or copy.
void wait_quietly(MPI_Request request) {
    int done = 0;
    for (unsigned tries = 0; !done; ++tries) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done && tries >= kTries) ::usleep(kPause);
    }
}

std::string own_node() {
    if (const char* name = std::getenv("SLURMD_NODENAME")) return name;
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    return host.data();
}

// Bytes that go from a file to the file of a block.
struct Part {
    int from, to;
    std::size_t extent, block;
    std::uint64_t source, target, bytes;  // offsets
};

class Transfer {
  public:
    Transfer(const Communicator& communicator, const Store& store, const Array& array,
             const std::vector<std::string>& files)
        : communicator_(communicator),
          store_(store),
          array_(array),
          files_(files),
          buffers_(kUnderWay) {}

    Result<void> run(const std::vector<Part>& parts) {
        for (const Part& part : parts) {
            if (part.from == communicator_.rank() && part.to == communicator_.rank()) copy(part);
            if (part.from == part.to) continue;
            if (part.from == communicator_.rank()) sends_.push_back(part);
            if (part.to == communicator_.rank()) receives_.push_back(part);
        }
        std::array<MPI_Request, 2 * kUnderWay> requests;
        requests.fill(MPI_REQUEST_NULL);
        std::size_t next_send = 0, next_receive = 0, left = sends_.size() + receives_.size();
        std::array<const Part*, kUnderWay> arriving{};
        for (unsigned idle = 0; left > 0;) {
            for (std::size_t i = 0; i < kUnderWay; ++i) {
                if (requests[i] == MPI_REQUEST_NULL && next_receive < receives_.size())
                    receive(receives_[next_receive++], i, arriving[i], requests[i]);
                MPI_Request& sending = requests[kUnderWay + i];
                if (sending == MPI_REQUEST_NULL && next_send < sends_.size())
                    send(sends_[next_send++], sending);
            }
            int which = 0, done = 0;
            MPI_Testany(static_cast<int>(requests.size()), requests.data(), &which, &done,
                        MPI_STATUS_IGNORE);
            if (!done) {
                if (++idle > kTries) ::usleep(kNap);
                continue;
            }
            idle = 0;
            --left;
            if (which < static_cast<int>(kUnderWay)) {
                const auto slot = static_cast<std::size_t>(which);
                write(*arriving[slot], buffers_[slot].data());
            }
        }
        return result_;
    }

  private:
    void fail(const Error& why) {
        if (result_) result_ = why;
    }

    // All of an extent, mapped from the page on in which it begins: packed objects begin anywhere.
    const std::byte* source(const Part& part) {
        const Extent& extent = array_.extents[part.extent];
        const std::uint64_t page_begin = extent.offset - extent.offset % page_size();
        auto found = mapped_.find(part.extent);
        if (found == mapped_.end()) {
            const std::uint64_t bytes =
                extent.offset - page_begin + (extent.end - extent.begin) * array_.element;
            const Array pages{"", 1, bytes, {{0, bytes, extent.node, extent.file, page_begin}}};
            auto mapping = store_.map(pages, 0, bytes, extent.node);
            if (!mapping) fail(mapping.error());
            found = mapped_.emplace(part.extent, mapping ? *std::move(mapping) : Mapping()).first;
        }
        const std::byte* data = found->second.data();
        // The other side waits for so many bytes whatever has happened here.
        return data ? data + (part.source - page_begin) : buffers_[0].room();
    }

    void send(const Part& part, MPI_Request& request) {
        MPI_Isend(source(part), static_cast<int>(part.bytes), MPI_BYTE, part.to, kTag,
                  communicator_.comm(), &request);
    }

    void receive(const Part& part, std::size_t slot, const Part*& arriving, MPI_Request& request) {
        arriving = &part;
        MPI_Irecv(buffers_[slot].room(), static_cast<int>(part.bytes), MPI_BYTE, part.from, kTag,
                  communicator_.comm(), &request);
    }

    void copy(const Part& part) { write(part, source(part)); }

    void write(const Part& part, const std::byte* data) {
        auto found = targets_.find(part.block);
        if (found == targets_.end()) {
            auto file = store_.open_file(files_[part.block]);
            if (!file) fail(file.error());
            found = targets_.emplace(part.block, file ? *std::move(file) : Fd()).first;
        }
        for (std::uint64_t done = 0; found->second && done < part.bytes;) {
            const ssize_t count = ::pwrite(found->second.get(), data + done, part.bytes - done,
                                           static_cast<off_t>(part.target + done));
            if (count > 0) {
                done += static_cast<std::uint64_t>(count);
            } else if (errno != EINTR) {
                fail(error("{}: {}", files_[part.block], std::generic_category().message(errno)));
                return;
            }
        }
    }

    struct Buffer {
        std::vector<std::byte> bytes;
        std::byte* room() {
            bytes.resize(kPart);
            return bytes.data();
        }
        const std::byte* data() const { return bytes.data(); }
    };

    const Communicator& communicator_;
    const Store& store_;
    const Array& array_;
    const std::vector<std::string>& files_;
    std::vector<Part> sends_, receives_;
    std::map<std::size_t, Mapping> mapped_;
    std::map<std::size_t, Fd> targets_;
    std::vector<Buffer> buffers_;
    Result<void> result_;
};

}  // namespace

Communicator::Communicator(MPI_Comm comm) {
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    constexpr int kLongest = 256;
    std::string mine = own_node();
    mine.resize(kLongest);
    std::vector<char> names(static_cast<std::size_t>(kLongest) * static_cast<std::size_t>(size_));
    MPI_Allgather(mine.data(), kLongest, MPI_CHAR, names.data(), kLongest, MPI_CHAR, comm_);
    for (int r = 0; r < size_; ++r) {
        names[static_cast<std::size_t>((r + 1) * kLongest - 1)] = 0;
        nodes_.emplace_back(&names[static_cast<std::size_t>(r * kLongest)]);
    }
}

Communicator::~Communicator() {
    int ended = 0;
    MPI_Finalized(&ended);
    if (!ended) MPI_Comm_free(&comm_);
}

std::vector<int> Communicator::on(const std::string& node) const {
    std::vector<int> ranks;
    for (int r = 0; r < size_; ++r)
        if (nodes_[static_cast<std::size_t>(r)] == node) ranks.push_back(r);
    return ranks;
}

std::string Communicator::share(std::string text, int root) {
    MPI_Request request = MPI_REQUEST_NULL;
    std::uint64_t size = text.size();
    MPI_Ibcast(&size, 1, MPI_UINT64_T, root, comm_, &request);
    wait_quietly(request);
    text.resize(size);
    for (std::uint64_t at = 0; at < size; at += kPart) {
        MPI_Ibcast(text.data() + at, static_cast<int>(std::min(kPart, size - at)), MPI_BYTE, root,
                   comm_, &request);
        wait_quietly(request);
    }
    return text;
}

int Communicator::highest(int value) {
    int result = value;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&value, &result, 1, MPI_INT, MPI_MAX, comm_, &request);
    wait_quietly(request);
    return result;
}

void Communicator::barrier() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(comm_, &request);
    wait_quietly(request);
}

Result<void> Communicator::all(const Result<void>& mine) {
    const int first = -highest(mine ? INT_MIN + 1 : -rank_);
    if (first == INT_MAX) return {};
    return Error{share(mine ? "" : mine.error().message, first)};
}

Result<Array> Communicator::move(Store& store, const Array& array, const Bounds& bounds,
                                 const std::vector<std::string>& nodes, const std::string& stem) {
    const std::vector<BlockPlan> plan = plan_blocks(array, bounds, nodes, page_size());
    std::vector<std::string> files(plan.size());
    std::vector<int> spilled(plan.size(), 0);
    std::vector<Part> parts;
    std::map<std::string, std::size_t> dealt;  // blocks of a node, to its processes in turn
    Result<void> result;
    for (std::size_t r = 0; r < plan.size(); ++r) {
        const std::vector<int> there = on(plan[r].node);
        if (there.empty()) return error("no process is on node {}", plan[r].node);
        const int owner = there[dealt[plan[r].node]++ % there.size()];
        if (!plan[r].needs_file()) continue;
        Ranges ranges;
        for (const Piece& piece : plan[r].pieces) {
            if (piece.kept) continue;
            const Extent& extent = array.extents[piece.extent];
            const std::vector<int> senders = on(extent.node);
            if (senders.empty()) return error("{} was on node {}", array.name, extent.node);
            const int sender =
                extent.node == plan[r].node ? owner : senders[piece.extent % senders.size()];
            const std::uint64_t bytes = (piece.end - piece.begin) * array.element;
            const std::uint64_t source =
                extent.offset + (piece.begin - extent.begin) * array.element;
            const std::uint64_t target = (piece.begin - plan[r].begin) * array.element;
            ranges.emplace_back(target, target + bytes);
            for (std::uint64_t at = 0; at < bytes; at += kPart)
                parts.push_back({sender, owner, piece.extent, r, source + at, target + at,
                                 std::min(kPart, bytes - at)});
        }
        const std::string name = fmt::format("{}.{}", stem, r);
        files[r] = "shm/" + name;
        if (owner != rank_) continue;
        const auto made = store.create(name, (plan[r].end - plan[r].begin) * array.element, ranges);
        if (!made && result) result = made.error();
        spilled[r] = made && *made != files[r];
    }
    if (const auto made = all(result); !made) return made.error();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, spilled.data(), static_cast<int>(spilled.size()), MPI_INT, MPI_MAX,
                   comm_, &request);
    wait_quietly(request);
    for (std::size_t r = 0; r < plan.size(); ++r)
        if (spilled[r]) files[r] = fmt::format("spill/{}.{}", stem, r);
    if (const auto done = all(Transfer(*this, store, array, files).run(parts)); !done)
        return done.error();
    return after(array, plan, files);
}

}  // namespace elastic::runtime
