// SPDX-License-Identifier: MIT
// Both models in the same three steps: size, run time and gap of each job; gaps stretched to the
// wanted load; gaps put on the clock.  The stretching comes before the clock, so that a daily cycle
// stays one.
//
// Times are whole seconds, so that the last digit of a logarithm, in which mathematical libraries
// differ, does not show.
#include "simulator/generators.hpp"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "simulator/check_option.hpp"
#include "simulator/logs/swf.hpp"
#include "simulator/random.hpp"

namespace elastic::simulator {

namespace {

constexpr double kDay = 86400;
constexpr std::int64_t kMostJobs = 100'000'000;

// ---- what the models have in common

struct Draft {
    double gap = 0;  // since the arrival before, at the mean rate
    double run = 0;
    double size = 0;
    double estimate = 0;
    bool rigid = false;
    bool is_component = false;  // of the job before it
};

Result<void> check_common(const GeneratorOptions& o, bool needs_load) {
    const bool load = (o.load == 0 && !needs_load) || (o.load >= 1e-6 && o.load <= 1000);
    return first_error(
        {check_option(o.jobs >= 1 && o.jobs <= kMostJobs, "--jobs", "within 1 to 100000000"),
         check_option(o.processors >= 1 && o.processors <= kMaxProcessors, "--procs",
                      "within 1 to 1000000000"),
         check_option(load, "--load", "within 0.000001 to 1000"),
         check_option(o.heterogeneous_share >= 0 && o.heterogeneous_share <= 1,
                      "--heterogeneous-share", "within 0 to 1"),
         check_option(o.estimate_factor >= 1 && o.estimate_factor <= 1e6, "--estimate-factor",
                      "within 1 to 1000000")});
}

// A limit as people write it.
double rounded_up(double seconds) {
    constexpr std::array<double, 11> kUsual{300,   600,   900,   1800,  3600, 7200,
                                            14400, 21600, 28800, 43200, 64800};
    const auto usual = std::ranges::lower_bound(kUsual, seconds);
    return usual != kUsual.end() ? *usual : kDay * std::ceil(seconds / kDay);
}

double estimate(double run, const GeneratorOptions& options, Random& random) {
    const double wanted = std::ceil(run * random.uniform(1, options.estimate_factor));
    return options.round_estimates ? rounded_up(wanted) : wanted;
}

// Takes a second component from some jobs.  It draws from a stream of its own, so that all others
// are as they would be without.
void split(std::vector<Draft>& jobs, std::uint64_t place, const GeneratorOptions& options) {
    constexpr Range kRun{0.1, 1};
    Draft& first = jobs.back();
    if (options.heterogeneous_share == 0 || first.rigid || first.size < 2) return;
    Random random(~options.seed, place);
    if (!random.chance(options.heterogeneous_share)) return;
    Draft second;
    second.is_component = true;
    second.size = static_cast<double>(random.integer(1, static_cast<std::int64_t>(first.size) - 1));
    second.run = std::max(1.0, std::round(first.run * random.uniform(kRun.low, kRun.high)));
    second.estimate = estimate(second.run, options, random);
    first.size -= second.size;
    jobs.push_back(second);
}

// `draw(random)` makes the gap, the size and the run time of one job.
template <class Draw>
std::vector<Draft> draw_jobs(const GeneratorOptions& options, Draw draw) {
    std::vector<Draft> jobs;
    jobs.reserve(static_cast<std::size_t>(options.jobs));
    for (std::uint64_t i = 0; std::cmp_less(i, options.jobs); ++i) {
        Random random(options.seed, i);
        Draft& job = jobs.emplace_back(draw(random));
        job.run = std::max(1.0, std::round(job.run));
        job.estimate = estimate(job.run, options, random);
        split(jobs, i, options);
    }
    return jobs;
}

void stretch_to_load(std::vector<Draft>& jobs, const GeneratorOptions& options) {
    if (options.load == 0) return;
    double work = 0, span = 0;
    for (const Draft& job : jobs) {
        work += job.run * job.size;
        span += job.gap;
    }
    const double factor = work / (static_cast<double>(options.processors) * options.load) / span;
    for (Draft& job : jobs) job.gap *= factor;
}

// `clock(gap)` advances by a gap and says what time it is then.
template <class Clock>
Result<Log> make_log(const std::vector<Draft>& jobs, const GeneratorOptions& options, Clock clock) {
    Log log;
    log.processors = log.nodes = options.processors;
    log.jobs.reserve(jobs.size());
    for (const Draft& job : jobs) {
        LogJob& to = log.jobs.emplace_back();
        to.id = static_cast<std::int64_t>(log.jobs.size());
        to.submit =
            job.is_component ? log.jobs[log.jobs.size() - 2].submit : std::floor(clock(job.gap));
        to.run = job.run;
        to.estimate = job.estimate;
        to.processors = static_cast<std::int64_t>(job.size);
        if (job.rigid) log.rigid.insert(to.id);
        if (job.is_component)
            log.heterogeneous.push_back({log.jobs.size() - 2, log.jobs.size() - 1});
    }
    if (!(log.jobs.back().submit <= kMaxLogTime)) {
        return error(
            "the last job arrives after more than {} seconds; ask for fewer jobs or a "
            "higher load",
            kMaxLogTime);
    }
    return log;
}

// ---- Downey

Result<void> check_downey(const DowneyOptions& o) {
    const auto is_log = [](const Range& r) {
        return 0 <= r.low && r.low <= r.high && r.high <= 25;
    };
    return first_error(
        {check_common(o.common, true),
         check_option(is_log(o.log_run), "--log-run", "within 0 to 25"),
         check_option(is_log(o.log_size), "--log-size", "within 0 to 25"),
         check_option(std::exp(o.log_size.low) < static_cast<double>(o.common.processors) + 0.5,
                      "--procs", "at least the smallest size")});
}

// ---- Lublin and Feitelson

Result<void> check_lublin(const LublinOptions& o) {
    const auto is_share = [](double x) { return x >= 0 && x <= 1; };
    const auto is_gamma = [](double shape, double scale) {
        return shape >= 1 && shape <= 1e6 && scale > 0 && scale <= 1e3;
    };
    // Beyond, what is drawn again and again would hardly ever be short enough.
    const auto is_log_time = [&](double shape, double scale) {
        return is_gamma(shape, scale) && shape * scale <= 12;
    };
    return first_error(
        {check_common(o.common, false),
         check_option(is_share(o.serial_share) && is_share(o.power_of_two_share) &&
                          o.serial_share + o.power_of_two_share <= 1,
                      "--serial-share, --pow2-share", "within 0 to 1, together at most 1"),
         check_option(is_share(o.small_share), "small share", "within 0 to 1"),
         check_option(is_share(o.wide_share), "--wide-share", "within 0 to 1"),
         check_option(
             o.log2_low >= 0 && o.log2_low <= 30 && o.log2_break >= 0 && o.log2_break <= 30,
             "log2 of sizes", "within 0 to 30"),
         check_option(
             is_log_time(o.short_shape, o.short_scale) && is_log_time(o.long_shape, o.long_scale),
             "gammas of run times", "of a shape from 1 and a mean of at most 12"),
         check_option(std::abs(o.p_slope) <= 1e3 && std::abs(o.p_start) <= 1e3,
                      "share of short runs", "within -1000 to 1000"),
         check_option(is_log_time(o.gap_shape, o.gap_scale), "gamma of gaps",
                      "of a shape from 1 and a mean of at most 12"),
         check_option(is_gamma(o.cycle_shape, o.cycle_scale), "gamma of the daily cycle",
                      "of a shape from 1"),
         check_option(o.start_hour >= 0 && o.start_hour < 24, "--start-hour", "within 0 to 24")});
}

double lublin_size(const LublinOptions& o, Random& random) {
    const double kind = random.unit();
    const double most = static_cast<double>(o.common.processors);
    const double high = std::log2(most), low = std::min(o.log2_low, high);
    const double middle = std::max(low, high - o.log2_break);
    double log2 =
        random.chance(o.small_share) ? random.uniform(low, middle) : random.uniform(middle, high);
    if (kind < o.serial_share) return 1;
    if (kind < o.serial_share + o.power_of_two_share) log2 = std::round(log2);
    return std::clamp(std::round(std::exp2(log2)), 1.0, most);
}

// exp of a gamma, drawn again above its limit: of run times two days, of gaps five.
double exp_gamma(double shape, double scale, double limit, Random& random) {
    for (;;) {
        const double value = random.gamma(shape, scale);
        if (value <= limit) return std::exp(value);
    }
}

double lublin_run(const LublinOptions& o, double size, Random& random) {
    constexpr double kLimit = 12;
    const bool is_short = random.chance(o.p_slope * size + o.p_start);
    return is_short ? exp_gamma(o.short_shape, o.short_scale, kLimit, random)
                    : exp_gamma(o.long_shape, o.long_scale, kLimit, random);
}

double wide_size(std::int64_t processors, Random& random) {
    const double least = std::ceil(kWidest * static_cast<double>(processors));
    return static_cast<double>(random.integer(static_cast<std::int64_t>(least), processors));
}

Draft lublin_job(const LublinOptions& o, Random& random) {
    constexpr double kLimit = 13;
    Draft job;
    job.gap = exp_gamma(o.gap_shape, o.gap_scale, kLimit, random);
    // Nothing is drawn where there are none, so that the log is the model's.
    job.rigid = o.wide_share > 0 && random.chance(o.wide_share);
    job.size = job.rigid ? wide_size(o.common.processors, random) : lublin_size(o, random);
    job.run = lublin_run(o, job.size, random);
    return job;
}

// Half hours of a day in which time passes for the arrivals at different speed, on average the
// clock's.
class DailyCycle {
  public:
    explicit DailyCycle(const LublinOptions& o) : start_(o.start_hour * 3600), now_(start_) {
        double sum = 0;
        for (int i = 0; i < kSlots; ++i) {
            const double at = kFirstSlot + i;
            const double share = boost::math::gamma_p(o.cycle_shape, (at + 0.5) / o.cycle_scale) -
                                 boost::math::gamma_p(o.cycle_shape, (at - 0.5) / o.cycle_scale);
            speed_[(kFirstSlot + i) % kSlots] = share;
            sum += share;
        }
        for (double& speed : speed_) speed *= kSlots / sum;
    }

    bool is_usable() const {
        return std::ranges::all_of(speed_, [](double s) { return s >= 0; });
    }

    double advance(double gap) {
        const double days = std::floor(gap / kDay);
        now_ += days * kDay;
        gap -= days * kDay;
        for (;;) {
            const double in_slot = std::fmod(now_, kSlot);
            const auto slot = static_cast<std::size_t>(std::fmod(now_, kDay) / kSlot);
            const double speed = speed_[slot];
            const double left = kSlot - in_slot;
            if (gap <= speed * left) {
                now_ += speed > 0 ? gap / speed : 0;
                return now_ - start_;
            }
            gap -= speed * left;
            now_ = std::round((now_ + left) / kSlot) * kSlot;
        }
    }

  private:
    static constexpr int kSlots = 48, kFirstSlot = 11;
    static constexpr double kSlot = kDay / kSlots;
    std::array<double, kSlots> speed_{};
    double start_, now_;
};

}  // namespace

Result<Log> generate_downey(const DowneyOptions& options) {
    if (auto ok = check_downey(options); !ok) return ok.error();
    const double most = static_cast<double>(options.common.processors);
    const double log_most = std::clamp(std::log(most), options.log_size.low, options.log_size.high);
    auto jobs = draw_jobs(options.common, [&](Random& random) {
        Draft job;
        job.gap = random.exponential(1);
        job.size = std::round(std::exp(random.uniform(options.log_size.low, log_most)));
        job.size = std::clamp(job.size, 1.0, most);
        job.run = std::exp(random.uniform(options.log_run.low, options.log_run.high));
        return job;
    });
    stretch_to_load(jobs, options.common);
    return make_log(jobs, options.common, [now = 0.0](double gap) mutable { return now += gap; });
}

Result<Log> generate_lublin(const LublinOptions& options) {
    if (auto ok = check_lublin(options); !ok) return ok.error();
    DailyCycle cycle(options);
    if (!cycle.is_usable()) return error("gamma of the daily cycle: leaves no arrivals in a day");
    auto jobs =
        draw_jobs(options.common, [&](Random& random) { return lublin_job(options, random); });
    stretch_to_load(jobs, options.common);
    return make_log(jobs, options.common, [&](double gap) { return cycle.advance(gap); });
}

std::vector<core::EvolutionProfile> evolving_applications(const EvolvingOptions& o) {
    Random random(o.seed, static_cast<std::uint64_t>(o.test));
    std::vector<core::EvolutionProfile> applications(
        static_cast<std::size_t>(random.integer(o.least_applications, o.most_applications)));
    for (core::EvolutionProfile& profile : applications) {
        profile.resize(static_cast<std::size_t>(random.integer(o.least_steps, o.most_steps)));
        for (core::EvolutionStep& step : profile) {
            step.duration =
                static_cast<Duration>(random.integer(o.least_duration, o.most_duration));
            const std::int64_t nodes = random.integer(o.least_nodes, o.most_nodes);
            step.nodes = static_cast<int>(std::min(nodes, o.nodes));
        }
    }
    return applications;
}

Result<Log> generate_evolving(const EvolvingOptions& o) {
    if (auto ok = first_error(
            {check_option(o.nodes >= 1 && o.nodes <= kMaxNodes, "--nodes", "from 1 to 1000000"),
             check_option(o.test >= 1, "--test", "from 1")});
        !ok)
        return ok.error();
    Log log;
    log.nodes = log.processors = o.nodes;
    for (const core::EvolutionProfile& profile : evolving_applications(o)) {
        LogJob& job = log.jobs.emplace_back();
        job.id = log.last_id = static_cast<std::int64_t>(log.jobs.size());
        job.run = job.estimate = core::length(profile);
        job.processors = profile.front().nodes;
        std::string text = "evolving,profile=";
        for (const core::EvolutionStep& step : profile)
            text += fmt::format("{}{}@{}", &step == &profile.front() ? "" : "+", step.nodes,
                                step.duration);
        log.annotations[job.id].text = std::move(text);
    }
    return log;
}

namespace {

// By place: the first component of the job that it is another component of.
std::map<std::size_t, std::size_t> first_components(const Log& log) {
    std::map<std::size_t, std::size_t> first;
    for (const std::vector<std::size_t>& components : log.heterogeneous)
        for (const std::size_t place : components)
            if (place != components.front()) first[place] = components.front();
    return first;
}

}  // namespace

void write_swf(const Log& log, std::string_view model,
               const std::function<void(std::string_view)>& out) {
    constexpr std::size_t kPiece = 1 << 16;
    std::string piece = fmt::format(
        "; Version: 2.2\n; Computer: {}\n; MaxJobs: {}\n; MaxRecords: {}\n; MaxNodes: {}\n"
        "; MaxProcs: {}\n",
        model, log.jobs.size(), log.jobs.size(), log.nodes, log.processors);
    const auto first = first_components(log);
    for (std::size_t place = 0; place < log.jobs.size(); ++place) {
        const LogJob& job = log.jobs[place];
        fmt::format_to(std::back_inserter(piece),
                       "{} {:.0f} -1 {:.0f} {} -1 -1 {} {:.0f} -1 1 -1 -1 -1 -1 -1 -1 -1\n", job.id,
                       job.submit, job.run, job.processors, job.processors, job.estimate);
        if (const auto annotation = log.annotations.find(job.id);
            annotation != log.annotations.end())
            fmt::format_to(std::back_inserter(piece), "; elastic: {} {}\n", job.id,
                           annotation->second.text);
        if (log.rigid.contains(job.id))
            fmt::format_to(std::back_inserter(piece), "; elastic: {} rigid\n", job.id);
        if (const auto with = first.find(place); with != first.end())
            fmt::format_to(std::back_inserter(piece), "; elastic: {} with {}\n", job.id,
                           log.jobs[with->second].id);
        if (piece.size() < kPiece) continue;
        out(piece);
        piece.clear();
    }
    out(piece);
}

}  // namespace elastic::simulator
