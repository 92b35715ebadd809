// SPDX-License-Identifier: MIT
// What a release leaves behind is taken by this one: its state file, its journal, and what its
// libelastic and its controller say to each other.
//
// A folder of test/data/released has of one release what it wrote of the same play: everything that
// an application and the controller can say, with an agreement in flight at the end. With
// ELASTIC_RECORD=FOLDER this program writes one; the folder is there already.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "controller/session.hpp"
#include "folder.hpp"
#include "protocol/codec.hpp"
#include "theatre.hpp"

namespace elastic::libelastic {
namespace {

using namespace elastic::testing;
using Lines = std::vector<std::string>;
namespace files = std::filesystem;

constexpr const char* kNodes = "n[1-6]";  // at the end of the play
constexpr int kNodeCount = 6;

// The application's seal, which all that it says and is told passes.
class Tap : public PlainSeal {
  public:
    Tap(Lines& said, Lines& heard) : PlainSeal(kOwner), said_(said), heard_(heard) {}
    Result<std::string> seal(std::string_view payload, uid_t reader) override {
        said_.emplace_back(payload);
        return PlainSeal::seal(payload, reader);
    }
    Result<protocol::Opened> open(std::string_view credential) override {
        auto opened = PlainSeal::open(credential);
        heard_.push_back(opened->payload);
        return opened;
    }

  private:
    Lines &said_, &heard_;
};

void decline_a_shrink(Theatre& s) {
    const OpId op = s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    s.client->decline(op, "busy");
    s.expect(ELASTIC_EVENT_ENDED);
}

void take_half_of_an_expansion(Theatre& s) {
    const OpId op = s.offer_expand(4);
    s.expect(ELASTIC_EVENT_OFFER_EXPAND);
    s.client->accept_size(op, 3);  // a failure
    s.expect(ELASTIC_EVENT_OFFER_EXPAND);
    s.client->accept_size(op, 2);
    s.expect(ELASTIC_EVENT_ACCEPTED);
    s.apply("n[5-6]", "n[1-6]", 6);
    s.expect(ELASTIC_EVENT_RESIZED);
    s.client->done(op);
    s.until([&] { return !s.agreement(); });
}

void ask_for_nodes(Theatre& s) {
    s.client->request(2, 1, 100);
    s.expect(ELASTIC_EVENT_QUEUED);
    s.client->cancel(s.agreement()->op);
    s.expect(ELASTIC_EVENT_ENDED);
    s.client->request(2, 1, 100);
    const OpId op = s.expect(ELASTIC_EVENT_QUEUED).op;
    s.apply("n[7-8]", "n[1-8]", 8);
    s.expect(ELASTIC_EVENT_RESIZED);
    s.client->done(op);
    s.until([&] { return !s.agreement(); });
}

void give_them_back(Theatre& s) {
    s.client->release(2, nullptr);
    s.expect(ELASTIC_EVENT_QUEUED);
    s.apply("n[7-8]", kNodes, kNodeCount);
    s.expect(ELASTIC_EVENT_RESIZED);
}

void look_ahead(Theatre& s) {
    s.client->progress(1000);
    s.job().annotation.malleable = false;  // as who says its steps has to be
    s.client->step(6, 900);
    s.expect(ELASTIC_EVENT_PLANNED);
    s.job().annotation.malleable = true;
}

void accept_a_shrink(Theatre& s) {
    const OpId op = s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    s.client->accept(op);
    s.expect(ELASTIC_EVENT_ACCEPTED);
}

void write_lines(const files::path& path, const Lines& lines) {
    std::ofstream file(path);
    for (const std::string& line : lines) file << line << "\n";
}

void record(const files::path& folder) {
    Lines said, heard;
    Theatre s;
    s.job().annotation.sizes = *core::parse_size_rule("step:2");
    s.job().evolution.begin(s.now, {{4, 600}, {6, 60}, {4, 60}});
    s.client = Theatre::new_client(Theatre::endpoint({s.port->number()}), kJob, nullptr,
                                   std::make_unique<Tap>(said, heard));
    s.until([&] { return s.client->connected(); });
    decline_a_shrink(s);
    take_half_of_an_expansion(s);
    ask_for_nodes(s);
    give_them_back(s);
    look_ahead(s);
    accept_a_shrink(s);
    write_lines(folder / "to-controller", said);
    write_lines(folder / "to-application", heard);
    write_lines(folder / "state", {s.controller->saved});
    Lines journal;
    for (const auto& event : s.controller->told) journal.push_back(to_json(event).dump());
    write_lines(folder / "journal", journal);
}

Lines read_lines(const files::path& path) {
    std::ifstream file(path);
    Lines lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    ck_assert_msg(!lines.empty(), "%s is empty", path.c_str());
    return lines;
}

// The theatre's own checker reads the old journal and what is told behind it.
void check_agreement_goes_on(const files::path& folder) {
    Theatre s;
    s.stop();
    s.journal.clear();
    for (const std::string& line : read_lines(folder / "journal")) {
        const auto event = journal::parse_line(line);
        check_ok(event);
        s.journal.push_back(*event);
    }
    s.saved = read_lines(folder / "state").front();
    s.records = {kNodes, kNodeCount};
    s.start();
    auto& client = s.open();
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).size, kNodeCount);
    const auto accepted = s.expect(ELASTIC_EVENT_ACCEPTED);
    check_eq(accepted.node_list, "n4");
    check_eq(s.job().evolution.next_nodes(), 6);
    client.done(accepted.op);
    s.until([&] { return s.agreement_is(controller::AgreementState::released); });
    s.apply("n4", "n[1-3,5-6]", 5);
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, accepted.op);
}

// Of a file in which one of each of these is.
std::vector<protocol::Envelope> read_messages(const files::path& path,
                                              std::set<std::string_view> missing) {
    std::vector<protocol::Envelope> messages;
    for (const std::string& line : read_lines(path)) {
        const auto envelope = protocol::decode(line);
        check_ok(envelope);
        std::visit([&](const auto& m) { missing.erase(m.kName); }, envelope->message);
        messages.push_back(*envelope);
    }
    ck_assert_msg(missing.empty(), "%s: no %s", path.c_str(), show(missing).c_str());
    return messages;
}

void check_library_may_speak(const files::path& folder) {
    const auto said = read_messages(
        folder / "to-controller",
        {"hello", "accept", "decline", "done", "request", "release", "cancel", "step", "progress"});
    controller::Session session(said.at(1).session);
    for (const auto& envelope : said) {
        const auto refusal = session.check(kOwner, envelope);
        ck_assert_msg(!refusal, "%s: %s", folder.c_str(), refusal ? refusal->message.c_str() : "");
    }
}

void check_controller_is_understood(const files::path& folder) {
    (void)read_messages(folder / "to-application", {"welcome", "offer", "accepted", "applied",
                                                    "ended", "queued", "planned", "failure"});
}

// Those of test/data, and what this program writes now.
std::vector<files::path> releases(const Folder& scratch) {
    std::vector<files::path> found;
    const char* data = std::getenv("ELASTIC_TEST_DATA");
    ck_assert_msg(data, "ELASTIC_TEST_DATA names no folder, as it does in make check");
    for (const auto& entry : files::directory_iterator(files::path(data) / "released"))
        found.push_back(entry);
    check_that(!found.empty());
    const char* wanted = std::getenv("ELASTIC_RECORD");
    found.emplace_back(wanted ? wanted : scratch / ".");
    record(found.back());
    return found;
}

}  // namespace

TEST(agreements_of_released_controllers_go_on) {
    const Folder scratch;
    for (const auto& folder : releases(scratch)) check_agreement_goes_on(folder);
}

TEST(released_libraries_may_speak) {
    const Folder scratch;
    for (const auto& folder : releases(scratch)) check_library_may_speak(folder);
}

TEST(released_controllers_are_understood) {
    const Folder scratch;
    for (const auto& folder : releases(scratch)) check_controller_is_understood(folder);
}

}  // namespace elastic::libelastic
