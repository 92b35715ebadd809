// SPDX-License-Identifier: GPL-2.0-or-later
// Sets of nodes as Slurm has them: one bit a node record.
#pragma once

#include <string>

#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

// Calls function(node) in ascending order.
template <class Function>
void for_each_node(bitstr_t* bits, Function&& function) {
    const int last = static_cast<int>(bit_fls(bits));
    for (int node = static_cast<int>(bit_ffs(bits)); node >= 0 && node <= last; ++node)
        if (bit_test(bits, node)) function(node);
}

// Owns a bitstr_t over all node records.  Use only while the node lock is held: the number of nodes
// may change when it is not.
class NodeSet {
  public:
    NodeSet() : bits_(bit_alloc(node_record_count)) {}
    explicit NodeSet(const bitstr_t* bits)
        : bits_(bits ? bit_copy(const_cast<bitstr_t*>(bits)) : bit_alloc(node_record_count)) {}
    NodeSet(const NodeSet& other) : NodeSet(other.bits_) {}
    NodeSet(NodeSet&& other) noexcept : bits_(std::exchange(other.bits_, nullptr)) {}
    NodeSet& operator=(NodeSet other) noexcept {
        std::swap(bits_, other.bits_);
        return *this;
    }
    ~NodeSet() { FREE_NULL_BITMAP(bits_); }

    bitstr_t* get() const { return bits_; }
    bitstr_t* release() { return std::exchange(bits_, nullptr); }

    bool has(int node) const { return bit_test(bits_, node); }
    int count() const { return bit_set_count(bits_); }
    bool empty() const { return bit_ffs(bits_) < 0; }
    bool contains(const NodeSet& other) const { return bit_super_set(other.bits_, bits_); }
    bool overlaps(const NodeSet& other) const { return bit_overlap_any(bits_, other.bits_); }
    bool equals(const NodeSet& other) const { return bit_equal(bits_, other.bits_); }

    void add(int node) { bit_set(bits_, node); }
    void remove(int node) { bit_clear(bits_, node); }
    NodeSet& operator|=(const NodeSet& other) { return bit_or(bits_, other.bits_), *this; }
    NodeSet& operator&=(const NodeSet& other) { return bit_and(bits_, other.bits_), *this; }
    NodeSet& operator-=(const NodeSet& other) { return bit_and_not(bits_, other.bits_), *this; }
    NodeSet complement() const {
        NodeSet result(*this);
        bit_not(result.bits_);
        return result;
    }

    template <class Function>
    void for_each(Function&& function) const {
        for_each_node(bits_, function);
    }

    std::string text() const;  // Slurm's notation

    // The nodes of that list which exist.
    static NodeSet from_text(const std::string& list);

  private:
    bitstr_t* bits_;
};

// Calls function(config) for each sort of hardware.
template <class Function>
void for_each_hardware(Function&& function) {
    ListIterator iterator = list_iterator_create(config_list);
    while (auto* config = static_cast<config_record_t*>(list_next(iterator)))
        if (config->node_bitmap) function(config);
    list_iterator_destroy(iterator);
}

// The processors of the node that has fewest; 0 if there is no node.  Needs ControllerLock.
std::uint32_t processors_of_smallest(const NodeSet&);

}  // namespace elastic::slurm
