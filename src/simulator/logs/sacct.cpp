// SPDX-License-Identifier: MIT
// All records are read before any becomes a job, because the records of a job that was resized may
// stand anywhere.
#include "simulator/logs/sacct.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_set>

#include "common/text.hpp"
#include "simulator/logs/name_book.hpp"
#include "simulator/logs/sacct_values.hpp"
#include "simulator/logs/swf.hpp"

namespace elastic::simulator {

namespace {

// Those from kUser on are in the order of TypeField.
enum Column {
    kJob,
    kCpus,
    kNodes,
    kSubmit,
    kStart,
    kEnd,
    kElapsed,
    kLimit,
    kState,
    kEligible,
    kPriority,
    kNodeList,
    kAccount,
    kReservation,
    kTres,
    kSubmitLine,
    kUser,
    kGroup,
    kName,
    kQos,
    kPartition
};

struct ColumnName {
    std::string_view name;
    Column column;
    Form form;
};

// Where a log has several names of one column, the one that stands first here counts, unless its
// cell is empty.
constexpr std::array<ColumnName, 28> kNames{{{"JobIDRaw", kJob, Form::text},
                                             {"JobID", kJob, Form::text},
                                             {"AllocCPUS", kCpus, Form::count},
                                             {"NCPUS", kCpus, Form::count},
                                             {"NNodes", kNodes, Form::count},
                                             {"AllocNodes", kNodes, Form::count},
                                             {"Submit", kSubmit, Form::time},
                                             {"Start", kStart, Form::time},
                                             {"End", kEnd, Form::time},
                                             {"ElapsedRaw", kElapsed, Form::seconds},
                                             {"Elapsed", kElapsed, Form::clock},
                                             {"Timelimit", kLimit, Form::clock},
                                             {"TimelimitRaw", kLimit, Form::minutes},
                                             {"State", kState, Form::text},
                                             {"Eligible", kEligible, Form::time},
                                             {"Priority", kPriority, Form::seconds},
                                             {"NodeList", kNodeList, Form::text},
                                             {"Account", kAccount, Form::text},
                                             {"Reservation", kReservation, Form::text},
                                             {"AllocTRES", kTres, Form::text},
                                             {"SubmitLine", kSubmitLine, Form::text},
                                             {"User", kUser, Form::text},
                                             {"UID", kUser, Form::text},
                                             {"Group", kGroup, Form::text},
                                             {"GID", kGroup, Form::text},
                                             {"JobName", kName, Form::text},
                                             {"QOS", kQos, Form::text},
                                             {"Partition", kPartition, Form::text}}};

Column column_of(TypeField field) {
    return static_cast<Column>(kUser + static_cast<int>(field));
}

// Of sacct --parsable2 and CSV, and of --delimiter and what spreadsheets write.
constexpr std::string_view kSeparators = "|,;\t";

// A column that the file has.
struct Present {
    ColumnName name;
    std::size_t index;

    bool is(Column column) const { return name.column == column; }
};

constexpr double kUnknown = -1;  // less than zero, as in SWF

// A line of the file: a job, or what a job was between two resizes.
struct Record {
    std::string_view name;              // of the job, as the file has it
    std::string_view whole, component;  // of "7+1" the 7 and the 1; empty if it is no component
    bool is_over = false;
    bool is_resized = false;  // another record of the same job follows
    bool is_joined = false;   // into an earlier one
    double limit = kUnknown;  // seconds
    LogJob job;               // without its estimate
    JobFacts facts;

    double size() const { return static_cast<double>(job.nodes > 0 ? job.nodes : job.processors); }
    bool is_usable() const { return is_over && job.submit >= 0 && job.run > 0 && size() > 0; }
};

// The job that the pieces, in the order of time, are of; it stands where the first one does.
void join(std::span<Record* const> pieces) {
    double work = 0, elapsed = 0;
    for (Record* piece : pieces) {
        const Duration run = std::max(piece->job.run, 0.0);
        work += piece->size() * run;
        elapsed += run;
        piece->is_joined = true;
    }
    Record& whole = *pieces.front();
    const Record& last = *pieces.back();
    whole.is_joined = false;
    whole.is_over = last.is_over;
    whole.job.run = whole.size() > 0 && elapsed > 0 ? work / whole.size() : kUnknown;
    whole.limit = last.limit * whole.job.run / elapsed;
}

class SacctReader {
  public:
    SacctReader(std::string_view text, std::string_view name, bool lenient, const TypeRule& rule)
        : text_(text), name_(name), lenient_(lenient), types_(rule) {
        log_.name = name;
    }

    Result<Log> read() {
        bool seen_header = false;
        for (line_ = 1; !text_.empty(); ++line_) {
            const bool is_whole = text_.find('\n') != std::string_view::npos;
            const std::string_view line = next_line();
            if (trim(line).empty()) continue;
            if (!is_whole) doubt_last_line();
            const auto done = seen_header ? job(line) : header(line);
            if (!done && !(lenient_ && seen_header)) {
                return error("{}:{}: {}", name_, line_, done.error().message);
            }
            log_.malformed += !done;
            seen_header = true;
        }
        if (!seen_header) return error("{}: is empty", name_);
        if (auto ok = check_steps(); !ok) return ok.error();
        note_rounding();
        note_deferred();
        join_pieces();
        take_jobs();
        start_at_zero();
        take_names();
        return std::move(log_);
    }

  private:
    std::string_view next_line() {
        const std::size_t end = std::min(text_.find('\n'), text_.size());
        const std::string_view line = text_.substr(0, end);
        text_.remove_prefix(std::min(end + 1, text_.size()));
        return line;
    }

    // What is left of a number or a state is often one, too; but some tools end no last line.
    void doubt_last_line() {
        log_.notes.push_back(
            fmt::format("{}:{}: the last line does not end; if the file was cut off, its last "
                        "value may be wrong",
                        name_, line_));
    }

    // Job 7 that a tool has made a floating point number of looks like its step 0.
    Result<void> check_steps() const {
        if (step_.empty() || !records_.empty() || log_.malformed > 0) return {};
        return error(
            "{}: has steps of jobs, such as '{}', but no job; where a tool has made '7.0' of job "
            "7, keep that column as text, else export with: {}",
            name_, printable(step_), kSacctCommand);
    }

    void note_rounding() {
        if (rounded_ == 0) return;
        log_.notes.push_back(
            fmt::format("{}: {} job(s) have a rounded size, such as 1.46K; export with --noconvert",
                        name_, rounded_));
    }

    void note_deferred() {
        if (deferred_ == 0) return;
        log_.notes.push_back(fmt::format(
            "{}: {} job(s) had to wait for something else than nodes first (a dependency, a begin "
            "time, a hold); they arrive when they were eligible",
            name_, deferred_));
    }

    void take_names() {
        log_.types = types_.take_names();
        log_.names = {partitions_.take_names(),   qos_.take_names(),
                      users_.take_names(),        accounts_.take_names(),
                      reservations_.take_names(), node_lists_.take_names()};
    }

    // Fills cells_ with views into the line.
    Result<void> cut(std::string_view line) {
        cells_.clear();
        if (line.size() > kMaxLogLine) {
            return error("the line is longer than {} bytes", kMaxLogLine);
        }
        while (line.ends_with('\r')) line.remove_suffix(1);
        for (;;) {
            std::size_t end;
            if (separator_ != '|' && line.starts_with('"')) {
                end = closing_quote(line);
                if (end == std::string_view::npos) return error("a quote is not closed");
                cells_.push_back(line.substr(1, end - 1));
                line.remove_prefix(end + 1);
                if (!line.empty() && line[0] != separator_) {
                    return error("column {}: something follows the closing quote", cells_.size());
                }
                end = line.empty() ? std::string_view::npos : 0;
            } else {
                end = line.find(separator_);
                cells_.push_back(trim(line.substr(0, end)));
            }
            if (end == std::string_view::npos) return {};
            line.remove_prefix(end + 1);
        }
    }

    // Two quotes within a quoted cell stand for one.
    static std::size_t closing_quote(std::string_view line) {
        for (std::size_t at = 1; (at = line.find('"', at)) != std::string_view::npos; at += 2) {
            if (at + 1 == line.size() || line[at + 1] != '"') return at;
        }
        return std::string_view::npos;
    }

    Result<void> header(std::string_view line) {
        if (const std::size_t at = line.find_first_of(kSeparators); at != line.npos)
            separator_ = line[at];
        if (auto ok = cut(line); !ok) return ok;
        width_ = cells_.size();
        ends_in_free_text_ = equal_ignoring_case(cells_.back(), "JobName") ||
                             equal_ignoring_case(cells_.back(), "SubmitLine");
        for (const ColumnName& name : kNames) {
            const auto cell = std::ranges::find_if(
                cells_, [&](auto c) { return equal_ignoring_case(c, name.name); });
            if (cell == cells_.end()) continue;
            present_.push_back({name, static_cast<std::size_t>(cell - cells_.begin())});
        }
        return check_columns();
    }

    Result<void> check_columns() const {
        if (!has(kJob)) return missing("JobID");
        if (!has(kSubmit)) return missing("Submit");
        if (!has(kCpus) && !has(kNodes)) return missing("AllocCPUS or NNodes");
        if (!has(kElapsed) && !(has(kStart) && has(kEnd))) return missing("ElapsedRaw");
        return check_type_columns();
    }

    Result<void> check_type_columns() const {
        for (const TypeField field : types_.rule()) {
            if (has(column_of(field))) continue;
            const auto column = std::ranges::find(kNames, column_of(field), &ColumnName::column);
            return error(
                "no column {} among those the first line names, which the job type {} needs; add "
                "it to --format of sacct",
                column->name, to_string(field));
        }
        return {};
    }

    int type_of_line() {
        std::array<std::optional<std::string_view>, kTypeFields> fields;
        for (const TypeField field : types_.rule())
            if (const Present* present = find(column_of(field)))
                fields[static_cast<std::size_t>(field)] = cells_[present->index];
        return types_.type_of(fields);
    }

    static Error missing(const char* column) {
        return error("no column {} among those the first line names; export with: {}", column,
                     kSacctCommand);
    }

    bool has(Column column) const {
        return std::ranges::any_of(present_, [&](const Present& p) { return p.is(column); });
    }

    // The first column of those that say the same in which there is something.
    const Present* find(Column column) const {
        const auto found = std::ranges::find_if(present_, [&](const Present& p) {
            return p.is(column) && !is_unknown(cells_[p.index]);
        });
        return found == present_.end() ? nullptr : &*found;
    }
    std::string_view cell(Column column) const {
        const Present* present = find(column);
        return present ? cells_[present->index] : std::string_view();
    }

    Result<double> value(Column column, double limit) const {
        const Present* present = find(column);
        if (!present) return kUnknown;
        const auto [name, of, form] = present->name;
        const std::string_view text = cells_[present->index];
        const auto value = read_value(text, form);
        if (!value) return error("{}: '{}' {}", name, printable(text), what_is_wrong(form));
        if (*value > limit) return error("{}: '{}' is out of range", name, printable(text));
        return *value;
    }

    Result<void> job(std::string_view line) {
        if (auto ok = cut(line); !ok) return ok;
        if (cells_.size() > width_ && ends_in_free_text_) cells_.resize(width_);
        if (cells_.size() != width_) {
            return error("{} columns, where the first line names {}", cells_.size(), width_);
        }
        if (cell(kJob).find('.') == std::string_view::npos) return allocation();
        step_ = cell(kJob);
        return {};
    }

    Result<void> allocation() {
        const auto id = job_number();
        const auto cpus = value(kCpus, kMaxProcessors), nodes = value(kNodes, kMaxProcessors);
        const auto submit = value(kSubmit, kMaxLogTime), run = run_time();
        const auto start = value(kStart, kMaxLogTime), limit = time_limit();
        const auto eligible = value(kEligible, kMaxLogTime);
        const auto priority = value(kPriority, kMaxLogTime);
        for (const auto* read :
             {&id, &cpus, &nodes, &submit, &run, &start, &limit, &eligible, &priority}) {
            if (!*read) return read->error();
        }
        if (auto ok = check_offsets(); !ok) return ok;
        rounded_ += is_rounded(cell(kCpus)) || is_rounded(cell(kNodes));
        Record& record = records_.emplace_back();
        record.name = cell(kJob);
        std::tie(record.whole, record.component) = component();
        record.is_over = !is_going_on();
        record.is_resized = is_state("RESIZING");
        record.limit = *limit;
        LogJob& job = record.job;
        job.id = static_cast<std::int64_t>(*id);
        job.submit = arrival(*submit, *eligible, *start);
        job.run = *run;
        if (*start >= job.submit && *submit >= 0) job.wait = *start - job.submit;
        job.processors = static_cast<std::int64_t>(std::max(*cpus, 0.0));
        job.nodes = static_cast<std::int64_t>(std::max(*nodes, 0.0));
        job.type = type_of_line();
        record.facts = facts_of_line(*priority);
        if (const auto annotation = annotation_of(cell(kSubmitLine)); annotation && job.id >= 0)
            log_.annotations.insert_or_assign(job.id, Log::Annotation{*annotation, line_});
        return {};
    }

    // Of "sbatch --elastic=malleable,min=2 job.sh" what --elastic says.
    static std::optional<std::string> annotation_of(std::string_view command) {
        constexpr std::string_view kOption = "--elastic";
        for (std::size_t at = 0; (at = command.find(kOption, at)) != command.npos; ++at) {
            const bool begins = at == 0 || command[at - 1] == ' ';
            std::string_view value = command.substr(at + kOption.size());
            if (!begins || value.empty() || (value[0] != '=' && value[0] != ' ')) continue;
            value = trim(value.substr(1));
            return std::string(value.substr(0, value.find(' ')));
        }
        return std::nullopt;
    }

    // A job that waits for another one, for a time or for its release does not wait for nodes.
    double arrival(double submit, double eligible, double start) {
        if (submit < 0 || eligible <= submit) return submit;
        if (start >= submit) eligible = std::min(eligible, start);
        deferred_ += eligible > submit;
        return eligible;
    }

    JobFacts facts_of_line(double priority) {
        JobFacts facts;
        facts.partition = partitions_.number(cell(kPartition));
        facts.qos = qos_.number(cell(kQos));
        facts.user = users_.number(cell(kUser));
        facts.account = accounts_.number(cell(kAccount));
        facts.reservation = reservations_.number(cell(kReservation));
        if (const std::string_view nodes = cell(kNodeList); nodes != "None assigned")
            facts.node_list = node_lists_.number(nodes);
        facts.priority = priority;
        const Tres tres = parse_tres(cell(kTres));
        facts.memory = tres.memory;
        facts.gpus = tres.gpus;
        return facts;
    }

    // Local times and those of a known place cannot be compared.
    Result<void> check_offsets() {
        for (const Column column : {kSubmit, kStart, kEnd, kEligible}) {
            const Present* present = find(column);
            if (!present) continue;
            const std::string_view time = cells_[present->index];
            const std::optional<bool> given = has_offset(time);
            if (!given) continue;
            if (!have_offsets_) have_offsets_ = given;
            if (have_offsets_ != given)
                return error("{}: '{}' has {} offset from UTC, unlike the times before it",
                             present->name.name, printable(time), *given ? "an" : "no");
        }
        return {};
    }

    // Of "7_3", "7_[1-9]" and "7+1" the job's own number is not known: the one in front may be that
    // of another task.
    Result<double> job_number() {
        constexpr std::uint64_t kMaxJobNumber = 1'000'000'000'000'000;
        const std::string_view text = cell(kJob);
        const std::size_t end = text.find_first_of("_+");
        const auto number = parse_unsigned(text.substr(0, end));
        if (!number || *number > kMaxJobNumber) {
            return error("{}: '{}' is no job", find(kJob) ? find(kJob)->name.name : "JobID",
                         printable(text));
        }
        log_.last_id = std::max(log_.last_id, static_cast<std::int64_t>(*number));
        return end == std::string_view::npos ? static_cast<double>(*number) : kUnknown;
    }

    // JobIDRaw does not have it.
    std::pair<std::string_view, std::string_view> component() const {
        for (const Present& present : present_) {
            const std::string_view text = cells_[present.index];
            const std::size_t plus = present.is(kJob) ? text.find('+') : text.npos;
            if (plus == text.npos) continue;
            const std::string_view whole = text.substr(0, plus), number = text.substr(plus + 1);
            if (parse_unsigned(whole) && parse_unsigned(number)) return {whole, number};
        }
        return {};
    }

    // A year is what the plugin plans with where there is no limit.
    Result<double> time_limit() const {
        return is_unlimited(cell(kLimit)) ? kYear : value(kLimit, kMaxLogTime);
    }

    Result<double> run_time() const {
        auto elapsed = value(kElapsed, kMaxLogTime);
        auto start = value(kStart, kMaxLogTime), end = value(kEnd, kMaxLogTime);
        if (!start || !end) return start ? end : start;
        if (!elapsed || *elapsed >= 0) return elapsed;
        return *start >= 0 && *end >= 0 ? *end - *start : kUnknown;
    }

    bool is_going_on() const {
        constexpr std::array<std::string_view, 5> kStates{"PENDING", "RUNNING", "SUSPENDED",
                                                          "CONFIGURING", "RESIZING"};
        if (has(kEnd) && !find(kEnd)) return true;
        return std::ranges::any_of(kStates, [&](auto state) { return is_state(state); });
    }

    bool is_state(std::string_view state) const { return equal_ignoring_case(cell(kState), state); }

    // Slurm has a record for each size of a job: all but the last are in state RESIZING, and each
    // was submitted when the one before it ended.
    void join_pieces() {
        std::unordered_set<std::string_view> resized;
        for (const Record& record : records_)
            if (record.is_resized) resized.insert(record.name);
        if (resized.empty()) return;
        std::vector<Record*> pieces;
        for (Record& record : records_)
            if (resized.contains(record.name)) pieces.push_back(&record);
        std::ranges::stable_sort(pieces, {}, [](const Record* record) {
            return std::tuple(record->name, record->job.submit, !record->is_resized);
        });
        for (auto first = pieces.begin(); first != pieces.end();) {
            auto last = first;
            while ((*last)->is_resized && last + 1 != pieces.end() &&
                   (*last)->name == (*(last + 1))->name)
                ++last;
            join({first, ++last});
            first = last;
        }
        log_.notes.push_back(fmt::format("{}: {} records of {} resized job(s) are joined", name_,
                                         pieces.size(), resized.size()));
    }

    // A job that was requeued may be there several times: the first records of its components are
    // one job, the second ones another.
    void take_jobs() {
        std::map<std::pair<std::string_view, std::string_view>, int> seen;
        std::map<std::pair<std::string_view, int>, std::vector<std::size_t>> jobs;
        for (Record& record : records_) {
            if (record.is_joined) continue;
            const bool is_component = !record.whole.empty();
            const int run = is_component ? seen[{record.whole, record.component}]++ : 0;
            if (!record.is_usable()) {
                log_.skipped.push_back(log_.jobs.size());
                continue;
            }
            record.job.limited = record.limit > 0;
            record.job.estimate = record.limit > 0 ? record.limit : record.job.run;
            if (is_component) jobs[{record.whole, run}].push_back(log_.jobs.size());
            log_.jobs.push_back(record.job);
            log_.facts.push_back(record.facts);
        }
        for (auto& [name, components] : jobs)
            if (components.size() > 1) log_.heterogeneous.push_back(std::move(components));
        std::ranges::sort(log_.heterogeneous);
    }

    void start_at_zero() {
        if (log_.jobs.empty()) return;
        log_.zero = std::ranges::min_element(log_.jobs, {}, &LogJob::submit)->submit;
        for (LogJob& job : log_.jobs) job.submit -= log_.zero;
    }

    std::string_view text_;
    std::string name_;
    bool lenient_;
    std::int64_t line_ = 0;
    char separator_ = '|';
    std::string_view step_;             // the last line of a step, which is of no use
    std::optional<bool> have_offsets_;  // whether times have an offset from UTC
    std::int64_t rounded_ = 0;          // jobs of a size that is rounded
    std::size_t width_ = 0;
    bool ends_in_free_text_ = false;
    std::vector<std::string_view> cells_;  // of the line at hand
    std::vector<Present> present_;         // in the order of kNames
    std::vector<Record> records_;
    std::int64_t deferred_ = 0;  // jobs that were eligible later than they were submitted
    TypeBook types_;
    NameBook partitions_, qos_, users_, accounts_, reservations_, node_lists_;
    Log log_;
};

}  // namespace

Result<Log> read_sacct(std::string_view text, std::string_view name, bool lenient,
                       const TypeRule& rule) {
    return SacctReader(text, name, lenient, rule).read();
}

}  // namespace elastic::simulator
