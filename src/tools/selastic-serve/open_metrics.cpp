// SPDX-License-Identifier: MIT
// Both formats are written by one writer: they differ in the name of a counter's family and in the
// end, which is the caller's.  Prometheus asks for OpenMetrics, its promtool takes the older one
// only.
//
// Always holds: samples of a family stand together, and labels have few values: none is a job, a
// user or a node, but the sets of nodes that the site itself has given a price.
#include "selastic-serve/open_metrics.hpp"

#include <fmt/format.h>

#include <cmath>

namespace elastic::tools {
namespace {

using Type = MetricsWriter::Type;

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '\n') {
            result += "\\n";
            continue;
        }
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

const char* name_of(Type type) {
    switch (type) {
        case Type::counter:
            return "counter";
        case Type::histogram:
            return "histogram";
        case Type::gauge:
            break;
    }
    return "gauge";
}

// A bound as OpenMetrics has it: never without a point.
std::string bound_text(double bound) {
    std::string text = fmt::format("{}", bound);
    return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

std::string number_text(double value) {
    return value == std::floor(value) && std::abs(value) < 1e15
               ? fmt::format("{}", static_cast<std::int64_t>(value))
               : fmt::format("{}", value);
}

class Controller {
  public:
    Controller(const Json& reply, MetricsFormat format) : reply_(reply), writer_(format) {}

    std::string text() {
        state();
        resizes();
        jobs();
        work();
        supply();
        return writer_.text();
    }

  private:
    void one(const char* name, Type type, const char* help, double value) {
        writer_.family(name, type, help);
        writer_.value({}, value);
    }

    // A sample for each of a list, whose labels and value are members.
    void each(const char* list, const char* name, Type type, const char* help,
              std::initializer_list<const char*> labels, const char* value) {
        writer_.family(name, type, help);
        const Json items = reply_.get(list);
        for (std::size_t i = 0; i < items.size(); ++i)
            writer_.value(labels_of(items.at(i), labels), items.at(i).get_number(value));
    }

    static MetricsWriter::Labels labels_of(const Json& item,
                                           std::initializer_list<const char*> names) {
        MetricsWriter::Labels labels;
        for (const char* name : names)
            labels.emplace_back(name == std::string_view("what") ? "event" : name,
                                item.get_string(name));
        return labels;
    }

    void histograms(const char* list, const char* name, const char* help, const char* label) {
        writer_.family(name, Type::histogram, help);
        const Json items = reply_.get(list);
        for (std::size_t i = 0; i < items.size(); ++i)
            writer_.histogram(labels_of(items.at(i), {label}), items.at(i).get("times"));
    }

    void state() {
        writer_.family("slurm_elastic_policy", Type::gauge, "The policy in force, always 1.");
        writer_.value({{"policy", reply_.get_string("policy")}}, 1);
        one("slurm_elastic_controller_start_time_seconds", Type::gauge,
            "When the controller began, and all counters with it, since the epoch.",
            reply_.get_number("since"));
        writer_.family("slurm_elastic_nodes", Type::gauge, "Nodes, each in one state.");
        const Json nodes = reply_.get("nodes");
        for (const std::string& state : nodes.keys())
            writer_.value({{"state", state}}, nodes.get_number(state));
        each("agreements", "slurm_elastic_agreements", Type::gauge,
             "Resizes and requests in flight, by how far they are.", {"kind", "state"}, "count");
        one("slurm_elastic_errors", Type::counter,
            "Lines that the plugin has written to slurmctld's log as errors.",
            reply_.get_number("errors"));
        one("slurm_elastic_journal_events_lost", Type::counter,
            "Events that could not be written to the journal.", reply_.get_number("lost_events"));
    }

    void resizes() {
        each("resizes", "slurm_elastic_resizes", Type::counter,
             "What has become of resizes: asked, accepted, declined, expired, cancelled, denied, "
             "applied.",
             {"what", "kind", "reason"}, "count");
        histograms("resize_seconds", "slurm_elastic_resize_duration_seconds",
                   "From the acceptance to the end: of a shrink until the nodes are free, of an "
                   "expansion until they are in use.",
                   "kind");
        one("slurm_elastic_grown_node_seconds", Type::counter,
            "Seconds of nodes that running jobs have had beyond those they started with.",
            reply_.get_number("grown_node_seconds"));
        one("slurm_elastic_given_node_seconds", Type::counter,
            "Seconds of nodes that running jobs have left to others of those they started with.",
            reply_.get_number("given_node_seconds"));
    }

    void jobs() {
        each("jobs", "slurm_elastic_jobs", Type::gauge, "Jobs that the controller knows.",
             {"class", "state"}, "jobs");
        each("jobs", "slurm_elastic_held_nodes", Type::gauge,
             "Nodes of jobs; those of several jobs are counted for each.", {"class", "state"},
             "nodes");
        each("jobs", "slurm_elastic_connected_jobs", Type::gauge,
             "Jobs whose application is connected.", {"class", "state"}, "connected");
        each("started", "slurm_elastic_jobs_started", Type::counter, "Starts of jobs.", {"class"},
             "count");
        each("ended", "slurm_elastic_jobs_ended", Type::counter, "Ends of jobs, by Slurm's state.",
             {"state"}, "count");
        histograms("waits", "slurm_elastic_job_wait_seconds",
                   "For how long started jobs could have started before.", "class");
    }

    void work() {
        for (const auto& [key, name, help] :
             {std::tuple{"passes", "slurm_elastic_pass_duration_seconds", "Planning passes."},
              std::tuple{"locks", "slurm_elastic_lock_hold_seconds",
                         "For how long slurmctld's locks were held at a time."},
              std::tuple{"saves", "slurm_elastic_save_duration_seconds",
                         "Savings of Slurm's job state before a resize is told."}}) {
            writer_.family(name, Type::histogram, help);
            writer_.histogram({}, reply_.get(key));
        }
    }

    void supply() {
        writer_.family("slurm_elastic_supply_price", Type::gauge,
                       "Of a node and hour of a set that has a price, in the site's unit.");
        const Json sets = reply_.get("supply");
        for (std::size_t i = 0; i < sets.size(); ++i)
            writer_.value({{"set", sets.at(i).get_string("name")}}, sets.at(i).get_number("price"));
        writer_.family("slurm_elastic_supply_cap_nodes", Type::gauge,
                       "How many nodes of a set may be in use.");
        for (std::size_t i = 0; i < sets.size(); ++i)
            if (sets.at(i).has("cap"))
                writer_.value({{"set", sets.at(i).get_string("name")}},
                              sets.at(i).get_number("cap"));
        one("slurm_elastic_supply_errors", Type::gauge,
            "What of the supply is not in force, as `selastic jobs` says.",
            reply_.get_number("supply_errors"));
    }

    const Json& reply_;
    MetricsWriter writer_;
};

}  // namespace

void MetricsWriter::family(std::string_view name, Type type, std::string_view help) {
    name_ = name;
    type_ = type;
    const bool says_total = type == Type::counter && format_ == MetricsFormat::text;
    const std::string shown = name_ + (says_total ? "_total" : "");
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", shown, escaped(help), name_of(type));
}

void MetricsWriter::value(const Labels& labels, double value) {
    sample(type_ == Type::counter ? "_total" : "", labels, value);
}

void MetricsWriter::histogram(const Labels& labels, const Json& given) {
    const Json buckets = given.get("buckets");
    Labels with_bound = labels;
    with_bound.emplace_back("le", "");
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        with_bound.back().second = bound_text(buckets.at(i).at(0).number().value_or(0));
        sample("_bucket", with_bound, buckets.at(i).at(1).number().value_or(0));
    }
    with_bound.back().second = "+Inf";
    sample("_bucket", with_bound, given.get_number("count"));
    sample("_sum", labels, given.get_number("sum"));
    sample("_count", labels, given.get_number("count"));
}

void MetricsWriter::sample(std::string_view suffix, const Labels& labels, double value) {
    std::string inside;
    for (const auto& [name, text] : labels)
        inside += fmt::format("{}{}=\"{}\"", inside.empty() ? "" : ",", name, escaped(text));
    text_ += fmt::format("{}{}{} {}\n", name_, suffix, inside.empty() ? "" : '{' + inside + '}',
                         number_text(value));
}

std::string controller_metrics(const Json& reply, MetricsFormat format) {
    return Controller(reply, format).text();
}

}  // namespace elastic::tools
