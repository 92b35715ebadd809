// SPDX-License-Identifier: MIT
// Objects are moved whole, to where their measured loads balance, and only in a resize: the old
// owners pack them into memory which the next world maps, and the new owners unpack them.
//
// Always holds: all processes know the owner of each object, and the program's own objects stay as
// they are until the next world has confirmed.
#include "runtime/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/balance.hpp"
#include "runtime/packing.hpp"

namespace elastic::runtime {

void Objects::deal(const Communicator& communicator, const ObjectCalls& calls) {
    calls_ = calls;
    owners_.clear();
    const auto processes = static_cast<std::size_t>(communicator.size());
    const Bounds bounds = even_bounds(calls.count, 1, processes, 1);
    for (std::size_t r = 0; r < processes; ++r)
        owners_.insert(owners_.end(), bounds[r + 1] - bounds[r], static_cast<int>(r));
}

Result<void> Objects::unpack(Communicator& communicator, const Store& store, const Array& packed,
                             const ObjectSet& set, const ObjectCalls& calls) {
    calls_ = calls;
    if (owners_.size() != calls.count) return error("there are {} objects", owners_.size());
    const auto rank = static_cast<std::size_t>(communicator.rank());
    const auto mapping =
        store.map(packed, set.bounds[rank], set.bounds[rank + 1], communicator.node());
    if (const auto all = communicator.all(mapping ? Result<void>() : mapping.error()); !all)
        return all;
    const std::byte* at = mapping->data();
    for (std::size_t i = 0; i < owners_.size(); ++i) {
        if (!is_mine(communicator, i)) continue;
        calls.unpack(i, at, set.sizes[i], calls.arg);
        at += packed_size(set.sizes[i]);
    }
    return {};
}

int Objects::owner(std::uint64_t object) const {
    return object < owners_.size() ? owners_[object] : -1;
}

std::vector<double> Objects::loads(Communicator& communicator) const {
    std::vector<double> loads(owners_.size(), 0);
    for (std::size_t i = 0; i < loads.size(); ++i)
        if (is_mine(communicator, i)) loads[i] = calls_.load ? calls_.load(i, calls_.arg) : 1;
    MPI_Allreduce(MPI_IN_PLACE, loads.data(), static_cast<int>(loads.size()), MPI_DOUBLE, MPI_SUM,
                  communicator.comm());
    return loads;
}

std::vector<std::uint64_t> Objects::sizes(Communicator& communicator) const {
    std::vector<std::uint64_t> sizes(owners_.size(), 0);
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (is_mine(communicator, i)) sizes[i] = calls_.pack(i, nullptr, calls_.arg);
    MPI_Allreduce(MPI_IN_PLACE, sizes.data(), static_cast<int>(sizes.size()), MPI_UINT64_T, MPI_SUM,
                  communicator.comm());
    return sizes;
}

std::vector<int> Objects::next_owners(Communicator& communicator, Balancing balancing,
                                      const std::vector<std::string>& nodes) const {
    const auto processes = static_cast<int>(nodes.size());
    if (balancing == Balancing::greedy) return balance_greedily(loads(communicator), processes);
    const std::vector<int> heir = heirs(communicator.nodes(), nodes);
    std::vector<int> owners(owners_.size());
    std::ranges::transform(owners_, owners.begin(),
                           [&](int owner) { return heir[static_cast<std::size_t>(owner)]; });
    return balance_by_refining(loads(communicator), std::move(owners), processes);
}

// This process's objects, into its file.
Result<void> Objects::write(const Communicator& communicator, const Store& store,
                            const std::string& stem, std::uint64_t bytes,
                            const std::vector<std::uint64_t>& offsets) const {
    const auto file = store.create(stem, bytes, {{0, bytes}});
    if (!file) return file.error();
    if (*file != "shm/" + stem) return error("/dev/shm is too small for the objects");
    if (bytes == 0) return {};
    const Array own{"", 1, bytes, {{0, bytes, communicator.node(), *file, 0}}};
    const auto mapping = store.map(own, 0, bytes, communicator.node());
    if (!mapping) return mapping.error();
    for (std::size_t i = 0; i < owners_.size(); ++i)
        if (is_mine(communicator, i)) calls_.pack(i, mapping->data() + offsets[i], calls_.arg);
    return {};
}

Result<void> Objects::pack(Communicator& communicator, const Store& store, Balancing balancing,
                           const std::vector<std::string>& nodes, Checkpoint& next) const {
    if (calls_.count == 0) return {};
    next.objects.owners = next_owners(communicator, balancing, nodes);
    next.objects.sizes = sizes(communicator);
    const std::string stem = fmt::format("{}.objects", next.generation);
    Packing packing =
        lay_out_objects(owners_, communicator.nodes(), next.objects, nodes.size(), stem);
    const auto rank = static_cast<std::size_t>(communicator.rank());
    const auto written =
        communicator.all(write(communicator, store, fmt::format("{}.{}", stem, rank),
                               packing.files[rank], packing.offsets));
    if (!written) return written;
    next.objects.bounds = std::move(packing.bounds);
    next.arrays.push_back(std::move(packing.array));
    return {};
}

}  // namespace elastic::runtime
