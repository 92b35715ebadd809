// SPDX-License-Identifier: MIT
// A line of slurm.conf is a list of KEY=VALUE.  The first key of lines of nodes, sets of nodes and
// partitions says which of these it is; a name DEFAULT gives values to the lines behind it.  Node
// lists of partitions are resolved at the end, since nodes may stand behind them.
//
// Always holds: what this reads bounds its time, whatever node lists and includes say.
#include "simulator/site/slurm_conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/atomic_file.hpp"
#include "common/hostlist.hpp"
#include "common/text.hpp"

namespace elastic::simulator {

namespace {

constexpr std::size_t kMostText = 64 << 20;
constexpr int kMostIncludes = 8;  // one within the other

using Keys = std::map<std::string, std::string>;  // in lower case

struct Line {
    std::string file;
    int number = 0;
    std::vector<std::pair<std::string, std::string>> values;  // as they stand, keys in lower case

    Keys keys() const { return {values.begin(), values.end()}; }
    template <class... Args>
    Error wrong(fmt::format_string<Args...> format, Args&&... args) const {
        return error("{}:{}: {}", file, number, fmt::format(format, std::forward<Args>(args)...));
    }
};

// "#" begins a comment unless it is escaped or quoted.
std::string_view without_comment(std::string_view line) {
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') quoted = !quoted;
        if (line[i] == '#' && !quoted && (i == 0 || line[i - 1] != '\\')) return line.substr(0, i);
    }
    return line;
}

// Takes "KEY=VALUE" off the front.
std::pair<std::string, std::string> take_pair(std::string_view& text) {
    const std::size_t end = std::min(text.find_first_of("= \t"), text.size());
    std::pair<std::string, std::string> pair{lower_case(text.substr(0, end)), ""};
    text = trim(text.substr(end));
    if (!text.starts_with('=')) return pair;
    text = trim(text.substr(1));
    const bool quoted = text.starts_with('"');
    const std::size_t begin = quoted ? 1 : 0;
    const std::size_t close =
        std::min(quoted ? text.find('"', 1) : text.find_first_of(" \t"), text.size());
    pair.second = text.substr(begin, close - begin);
    text = trim(text.substr(std::min(close + begin, text.size())));
    return pair;
}

class Reader {
  public:
    Reader(std::string_view name, bool includes) : includes_(includes) {
        conf_.name = printable(name, 200);
    }

    Result<void> read(const std::string& path, int depth) {
        const Result<std::string> text = read_file(path, kMostText);
        if (!text) return text.error();
        return parse(*text, path, depth);
    }

    Result<void> parse(std::string_view text, const std::string& path, int depth) {
        Line line;
        line.file = printable(path, 200);
        std::string joined;
        for (const std::string_view part : split(text, '\n')) {
            ++line.number;
            std::string_view content = trim(without_comment(part));
            const bool goes_on = content.ends_with('\\');
            if (goes_on) content.remove_suffix(1);
            joined += content;
            if (goes_on) continue;
            const std::string whole = std::exchange(joined, {});
            if (auto ok = take_line(line, whole, path, depth); !ok) return ok;
        }
        return {};
    }

    Result<SlurmConf> finish() {
        if (nodes_.empty()) return error("{}: names no node (NodeName=)", conf_.name);
        for (const Line& line : partitions_)
            if (auto ok = add_partition(line); !ok) return ok.error();
        if (conf_.partitions.empty())
            return error("{}: names no partition (PartitionName=)", conf_.name);
        if (!multifactor_) conf_.weights = {};
        return std::move(conf_);
    }

  private:
    Result<void> take_line(Line& line, std::string_view content, const std::string& path,
                           int depth) {
        content = trim(content);
        line.values.clear();
        constexpr std::string_view kInclude = "include";
        if (lower_case(content.substr(0, kInclude.size() + 1)) == "include ")
            return include(line, std::string(trim(content.substr(kInclude.size()))), path, depth);
        while (!content.empty()) line.values.push_back(take_pair(content));
        if (line.values.empty()) return {};
        const std::string& kind = line.values.front().first;
        if (kind == "nodename") return add_nodes(line);
        if (kind == "nodeset") return add_set(line);
        if (kind == "partitionname") {
            partitions_.push_back(line);
            return {};
        }
        for (const auto& [key, value] : line.values)
            if (auto ok = set_option(line, key, value); !ok) return ok;
        return {};
    }

    Result<void> include(const Line& line, const std::string& file, const std::string& path,
                         int depth) {
        if (!includes_ || file.find('%') != file.npos) return {};
        if (depth == kMostIncludes)
            return line.wrong("Include: more than {} files one within the other", kMostIncludes);
        const auto folder = std::filesystem::path(path).parent_path();
        const Result<void> ok = read((folder / file).string(), depth + 1);
        return ok ? ok : Result<void>(line.wrong("Include: {}", ok.error().message));
    }

    // A whole number of the line; `otherwise` without the key.
    static Result<std::int64_t> number(const Line& line, const Keys& keys, const char* key,
                                       std::int64_t otherwise) {
        const auto found = keys.find(lower_case(key));
        if (found == keys.end()) return otherwise;
        const std::string& text = found->second;
        if (equal_ignoring_case(text, "UNLIMITED") || equal_ignoring_case(text, "INFINITE"))
            return kMaxNodes;
        const auto value = parse_integer(text);
        if (!value || *value < 0)
            return line.wrong("{}: '{}' is no whole number", key, printable(text));
        return std::min<std::int64_t>(*value, std::int64_t{1} << 40);
    }

    static Result<double> real(const Line& line, const char* key, const std::string& text) {
        const auto value = parse_number(text);
        if (!value) return line.wrong("{}: '{}' is no number", key, printable(text));
        return *value;
    }

    // The line's own keys, and those of the DEFAULT line before it.
    static Keys with_defaults(const Line& line, Keys& defaults) {
        Keys keys = line.keys();
        if (equal_ignoring_case(line.values.front().second, "DEFAULT")) {
            keys.erase(line.values.front().first);
            for (const auto& [key, value] : keys) defaults[key] = value;
            return {};
        }
        keys.insert(defaults.begin(), defaults.end());
        return keys;
    }

    static Result<std::int64_t> processors(const Line& line, const Keys& keys) {
        if (keys.contains("cpus")) return number(line, keys, "CPUs", 1);
        std::int64_t product = 1;
        const char* sockets = keys.contains("sockets") ? "Sockets" : "SocketsPerBoard";
        for (const char* key : {"Boards", sockets, "CoresPerSocket", "ThreadsPerCore"}) {
            const auto factor = number(line, keys, key, 1);
            if (!factor) return factor;
            product =
                std::min<std::int64_t>(product * std::max<std::int64_t>(*factor, 1), kMaxNodes);
        }
        return product;
    }

    // "gpu:a100:4(S:0-1),nvme:1": 4.
    static int gpus(std::string_view gres) {
        std::int64_t count = 0;
        for (std::string_view part : split(gres, ',')) {
            part = part.substr(0, part.find('('));
            const auto fields = split(part, ':');
            if (fields.front() != "gpu") continue;
            const auto number = fields.size() > 1 ? parse_integer(fields.back()) : std::nullopt;
            count += number.value_or(1);
        }
        return static_cast<int>(std::clamp<std::int64_t>(count, 0, kMaxNodes));
    }

    Result<void> add_nodes(const Line& line) {
        const Keys keys = with_defaults(line, node_defaults_);
        if (keys.empty()) return {};
        const auto names = expand_hostlist(keys.at("nodename"));
        if (!names) return line.wrong("NodeName: {}", names.error().message);
        const auto cpus = processors(line, keys);
        const auto memory = number(line, keys, "RealMemory", 1);
        const auto weight = number(line, keys, "Weight", 1);
        for (const auto* read : {&cpus, &memory, &weight})
            if (!*read) return read->error();
        SlurmConf::Node node;
        node.processors = static_cast<int>(std::clamp<std::int64_t>(*cpus, 1, kMaxNodes));
        node.memory = static_cast<double>(std::max<std::int64_t>(*memory, 1));
        node.weight = static_cast<std::uint32_t>(*weight);
        if (keys.contains("gres")) node.gpus = gpus(keys.at("gres"));
        for (const char* key : {"feature", "features"})
            if (keys.contains(key))
                for (const auto feature : split(keys.at(key), ','))
                    node.features.emplace_back(trim(feature));
        for (const std::string& name : *names) {
            if (!nodes_.emplace(name, static_cast<int>(nodes_.size())).second)
                return line.wrong("NodeName: {} stands twice", printable(name));
            if (nodes_.size() > kMaxHosts)
                return line.wrong("NodeName: more than {} nodes", kMaxHosts);
            node.name = name;
            conf_.nodes.push_back(node);
        }
        return {};
    }

    Result<void> add_set(const Line& line) {
        const Keys keys = line.keys();
        Set& set = sets_[keys.at("nodeset")];
        set.line = line;
        if (keys.contains("nodes")) set.nodes += ',' + keys.at("nodes");
        if (keys.contains("feature")) set.features.insert(keys.at("feature"));
        return {};
    }

    // `list` names nodes, sets of them, or ALL.
    Result<void> find_nodes(const Line& line, std::string_view list, bool sets,
                            std::set<int>& found) const {
        if (equal_ignoring_case(list, "ALL")) {
            for (std::size_t i = 0; i < conf_.nodes.size(); ++i) found.insert(static_cast<int>(i));
            return {};
        }
        const auto names = expand_hostlist(list);
        if (!names) return line.wrong("Nodes: {}", names.error().message);
        for (const std::string& name : *names) {
            if (const auto node = nodes_.find(name); node != nodes_.end()) {
                found.insert(node->second);
                continue;
            }
            const auto set = sets_.find(name);
            if (!sets || set == sets_.end())
                return line.wrong("Nodes: {} is no node of NodeName", printable(name));
            if (auto ok = find_nodes_of(set->second, found); !ok) return ok;
        }
        return {};
    }

    struct Set {
        Line line;
        std::string nodes;
        std::set<std::string> features;
    };

    Result<void> find_nodes_of(const Set& set, std::set<int>& found) const {
        for (std::size_t i = 0; i < conf_.nodes.size(); ++i)
            if (std::ranges::any_of(conf_.nodes[i].features, [&](const std::string& feature) {
                    return set.features.contains(feature);
                }))
                found.insert(static_cast<int>(i));
        if (set.nodes.empty()) return {};
        return find_nodes(set.line, std::string_view(set.nodes).substr(1), false, found);
    }

    Result<void> add_partition(const Line& line) {
        const Keys keys = with_defaults(line, partition_defaults_);
        if (keys.empty()) return {};
        SlurmConf::Partition partition;
        partition.name = keys.at("partitionname");
        std::set<int> nodes;
        if (keys.contains("nodes"))
            if (auto ok = find_nodes(line, keys.at("nodes"), true, nodes); !ok) return ok;
        partition.nodes.assign(nodes.begin(), nodes.end());
        const auto most = number(line, keys, "MaxNodes", kMaxNodes);
        const auto tier = number(line, keys, "PriorityTier", number_or(keys, "priority", 1));
        const auto factor = number(line, keys, "PriorityJobFactor", number_or(keys, "priority", 1));
        for (const auto* read : {&most, &tier, &factor})
            if (!*read) return read->error();
        partition.most_nodes = static_cast<int>(std::min<std::int64_t>(*most, kMaxNodes));
        partition.tier = static_cast<int>(std::min<std::int64_t>(*tier, UINT16_MAX));
        partition.job_factor = static_cast<int>(std::min<std::int64_t>(*factor, UINT16_MAX));
        if (keys.contains("qos")) partition.qos = keys.at("qos");
        for (const char* key : {"oversubscribe", "shared"})
            if (keys.contains(key))
                partition.exclusive = equal_ignoring_case(keys.at(key), "EXCLUSIVE");
        conf_.partitions.push_back(std::move(partition));
        return {};
    }

    // The old name of both priorities of a partition.
    static std::int64_t number_or(const Keys& keys, const char* key, std::int64_t otherwise) {
        const auto found = keys.find(key);
        return found == keys.end() ? otherwise : parse_integer(found->second).value_or(otherwise);
    }

    Result<void> set_option(const Line& line, const std::string& key, const std::string& value) {
        const std::pair<const char*, double*> weights[] = {
            {"PriorityWeightAge", &conf_.weights.age},
            {"PriorityWeightPartition", &conf_.weights.partition},
            {"PriorityWeightQOS", &conf_.weights.qos},
            {"PriorityWeightJobSize", &conf_.weights.size},
            {"PriorityWeightFairshare", &conf_.weights.fair_share}};
        for (const auto& [name, weight] : weights)
            if (key == lower_case(name)) {
                const auto number = real(line, name, value);
                if (!number) return number.error();
                *weight = *number;
            }
        if (key == "prioritymaxage") {
            const auto time = parse_slurm_time(value);
            if (!time || *time <= 0)
                return line.wrong("PriorityMaxAge: '{}' is no time", printable(value));
            conf_.weights.most_age = *time;
        }
        if (key == "prioritytype") multifactor_ = lower_case(value) == "priority/multifactor";
        if (key == "priorityfavorsmall")
            conf_.weights.favours_small = equal_ignoring_case(value, "YES");
        if (key == "selecttype") conf_.whole_nodes = lower_case(value) == "select/linear";
        if (key == "selecttypeparameters")
            conf_.counts_memory = lower_case(value).find("memory") != std::string::npos;
        if (key == "accountingstorageenforce") conf_.enforces_limits = enforces(value);
        return {};
    }

    static bool enforces(std::string_view value) {
        return std::ranges::any_of(split(value, ','), [](std::string_view word) {
            const std::string name = lower_case(trim(word));
            const auto number = parse_integer(name);
            return name == "limits" || name == "safe" || name == "all" ||
                   (number && *number & 2);  // ACCOUNTING_ENFORCE_LIMITS
        });
    }

    bool includes_;
    bool multifactor_ = true;  // Slurm's own choice since 23.02
    SlurmConf conf_;
    Keys node_defaults_, partition_defaults_;
    std::unordered_map<std::string, int> nodes_;  // by name
    std::map<std::string, Set> sets_;
    std::vector<Line> partitions_;
};

}  // namespace

const SlurmConf::Partition* SlurmConf::partition(std::string_view name) const {
    const auto found = std::ranges::find(partitions, name, &Partition::name);
    return found == partitions.end() ? nullptr : &*found;
}

Result<SlurmConf> read_slurm_conf(const std::string& path) {
    Reader reader(path, true);
    if (auto ok = reader.read(path, 0); !ok) return ok.error();
    return reader.finish();
}

Result<SlurmConf> parse_slurm_conf(std::string_view text, std::string_view name) {
    Reader reader(name, false);
    if (auto ok = reader.parse(text, std::string(name), 0); !ok) return ok.error();
    return reader.finish();
}

}  // namespace elastic::simulator
