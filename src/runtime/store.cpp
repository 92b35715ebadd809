// SPDX-License-Identifier: MIT
// Arrays live in files of /dev/shm, so that they are a checkpoint at any time ([gupta] section
// III-C).  Memory is taken when a file is made, since a write to a page for which there is none
// would end the program by SIGBUS.
//
// Processes that are killed leave their folders, whose names begin with the job's id: root removes
// them when the job's last process on the node has ended.  A lock, which goes with its process,
// tells them from those of a job that is back on the node meanwhile.
//
// Always holds: nobody but the owner can read the folders, which are checked to be the owner's; a
// file that is made did not exist before.
#include "runtime/store.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "common/atomic_file.hpp"
#include "common/text.hpp"

namespace elastic::runtime {
namespace {

constexpr const char* kShm = "/dev/shm";
constexpr std::string_view kPrefix = "elastic-";  // of a folder's name, before the run's id
constexpr std::uint64_t kPartForOthers = 4;       // of /dev/shm one part in so many
constexpr std::size_t kLongestText = std::size_t{256} << 20;

Error failure(const std::string& what) {
    return error("{}: {}", what, std::generic_category().message(errno));
}

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;  // to open one

// Made if it is not there, and held.
Result<Fd> own_folder(const std::string& path) {
    for (;;) {
        if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failure(path);
        Fd folder(::open(path.c_str(), kFolder));
        struct stat found {};
        if (!folder && errno == ENOENT) continue;  // it has just been removed
        if (!folder || ::fstat(folder.get(), &found) != 0) return failure(path);
        if (found.st_uid != ::geteuid() || (found.st_mode & 077) != 0)
            return error("{}: not a folder of this user alone", path);
        while (::flock(folder.get(), LOCK_SH) != 0 && errno == EINTR) {
        }
        if (::fstat(folder.get(), &found) == 0 && found.st_nlink > 0) return folder;
    }
}

// Calls `use` with the name of each entry of a folder.
template <class Use>
void for_each_entry(const Fd& folder, Use use) {
    DIR* const entries = ::fdopendir(::openat(folder.get(), ".", kFolder));
    if (!entries) return;
    while (const dirent* entry = ::readdir(entries)) use(entry->d_name);
    ::closedir(entries);
}

// All that a Store has made is files.
void remove_leftover(const Fd& place, const char* name, uid_t user) {
    const Fd folder(::openat(place.get(), name, kFolder));
    struct stat found {};
    if (!folder || ::fstat(folder.get(), &found) != 0 || found.st_uid != user) return;
    if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return;
    for_each_entry(folder, [&](const char* file) { ::unlinkat(folder.get(), file, 0); });
    ::unlinkat(place.get(), name, AT_REMOVEDIR);
}

// MPI itself needs some of the shared memory, and does not start without.
bool leaves_room(const std::string& folder, std::uint64_t bytes) {
    struct statvfs found {};
    if (::statvfs(folder.c_str(), &found) != 0) return false;
    const std::uint64_t kept = found.f_blocks / kPartForOthers;
    return found.f_bavail > kept && (found.f_bavail - kept) * found.f_frsize >= bytes;
}

// 0, or an errno after which there is no such file.
int make_file(const std::string& path, std::uint64_t bytes, const Ranges& ranges) {
    const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return errno;
    int code = ::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    for (const auto& [begin, end] : ranges)
        if (code == 0 && begin < end)
            code = ::posix_fallocate(file.get(), static_cast<off_t>(begin),
                                     static_cast<off_t>(end - begin));
    if (code != 0) ::unlink(path.c_str());
    return code;
}

void free_others(int fd, std::uint64_t size, Ranges kept) {
    std::ranges::sort(kept);
    std::uint64_t free_from = 0;
    kept.emplace_back(size, size);
    for (const auto& [begin, end] : kept) {
        if (begin > free_from)
            (void)::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              static_cast<off_t>(free_from), static_cast<off_t>(begin - free_from));
        free_from = std::max(free_from, end);
    }
}

}  // namespace

std::string random_name() {
    std::uint64_t bits[2];
    if (::getrandom(bits, sizeof bits, 0) != sizeof bits)
        throw std::system_error(errno, std::generic_category(), "getrandom");
    return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

std::string new_run_id() {
    const char* const job = std::getenv("SLURM_JOB_ID");
    return job && parse_integer(job) ? fmt::format("{}-{}", job, random_name()) : random_name();
}

bool is_run_id(std::string_view text) {
    constexpr std::string_view digits = "0123456789", hexadecimal = "0123456789abcdef";
    const std::size_t name = text.rfind('-') + 1;  // 0 without a job
    return text.size() - name == 32 && text.find_first_not_of(hexadecimal, name) == text.npos &&
           (name == 0 || text.find_first_not_of(digits) == name - 1) && name != 1;
}

std::string store_folder(const std::string& place, const std::string& id) {
    return fmt::format("{}/{}{}", place.empty() ? kShm : place, kPrefix, id);
}

std::uint64_t page_size() {
    return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

Mapping::~Mapping() {
    if (address_) ::munmap(address_, bytes_);
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

Result<Store> Store::open(const std::string& id, const std::string& spill_place) {
    Store store;
    store.folders_ = {{"shm", store_folder("", id)}, {"spill", store_folder(spill_place, id)}};
    for (const auto& [name, path] : store.folders_) {
        auto made = own_folder(path);
        if (!made) return made.error();
        store.held_.push_back(std::make_shared<Fd>(*std::move(made)));
    }
    return store;
}

std::string Store::path(const std::string& name) const {
    const std::size_t slash = name.find('/');
    return folders_.at(name.substr(0, slash)) + name.substr(slash);
}

Result<std::string> Store::create(const std::string& stem, std::uint64_t bytes,
                                  const Ranges& ranges) const {
    std::string name = "shm/" + stem;
    int code =
        leaves_room(folders_.at("shm"), bytes) ? make_file(path(name), bytes, ranges) : ENOSPC;
    if (code == ENOSPC) {
        name = "spill/" + stem;
        code = make_file(path(name), bytes, ranges);
    }
    if (code != 0) return error("{}: {}", path(name), std::generic_category().message(code));
    return name;
}

Result<Fd> Store::open_file(const std::string& name) const {
    Fd file(::open(path(name).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (!file) return failure(path(name));
    return file;
}

Result<Mapping> Store::map(const Array& array, std::uint64_t begin, std::uint64_t end,
                           const std::string& node) const {
    const std::size_t bytes = (end - begin) * array.element;
    if (bytes == 0) return Mapping();
    void* const base =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return failure(array.name);
    Mapping mapping(base, bytes);
    for (const Extent& extent : array.extents) {
        const std::uint64_t from = std::max(begin, extent.begin), to = std::min(end, extent.end);
        if (from >= to) continue;
        if (extent.node != node) return error("{}: [{}, {}) is elsewhere", array.name, from, to);
        const auto file = open_file(extent.file);
        if (!file) return file.error();
        const std::uint64_t offset = extent.offset + (from - extent.begin) * array.element;
        if (::mmap(mapping.data() + (from - begin) * array.element, (to - from) * array.element,
                   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file->get(),
                   static_cast<off_t>(offset)) == MAP_FAILED)
            return failure(path(extent.file));
    }
    return mapping;
}

Result<void> Store::write_text(const std::string& stem, std::string_view text) const {
    if (write_file(path("shm/" + stem), text, Durability::survives_process)) return {};
    return write_file(path("spill/" + stem), text, Durability::survives_process);
}

Result<std::string> Store::read_text(const std::string& stem) const {
    return read_file(path(place_of(stem) + stem), kLongestText);
}

bool Store::has(const std::string& stem) const {
    return ::access(path(place_of(stem) + stem).c_str(), R_OK) == 0;
}

std::string Store::place_of(const std::string& stem) const {
    return ::access(path("shm/" + stem).c_str(), R_OK) == 0 ? "shm/" : "spill/";
}

void Store::keep_only(const std::vector<Array>& arrays, const std::string& node,
                      const std::vector<std::string>& texts) const {
    std::map<std::string, Ranges> kept;
    for (const std::string& text : texts)
        for (const char* place : {"shm/", "spill/"}) kept[place + text] = {{0, UINT64_MAX}};
    for (const Array& array : arrays)
        for (const Extent& extent : array.extents)
            if (extent.node == node)
                kept[extent.file].emplace_back(
                    extent.offset, extent.offset + (extent.end - extent.begin) * array.element);
    for (const auto& [folder, place] : folders_) {
        std::error_code ignored;
        for (const auto& entry : std::filesystem::directory_iterator(place, ignored)) {
            const auto found = kept.find(folder + '/' + entry.path().filename().string());
            if (found == kept.end()) {
                ::unlink(entry.path().c_str());
            } else if (const auto file = open_file(found->first); file) {
                struct stat state {};
                if (::fstat(file->get(), &state) == 0)
                    free_others(file->get(), static_cast<std::uint64_t>(state.st_size),
                                found->second);
            }
        }
    }
}

void Store::remove() const {
    std::error_code ignored;
    for (const auto& [name, path] : folders_) std::filesystem::remove_all(path, ignored);
}

void remove_leftovers(const std::string& place, std::uint32_t job, uid_t user) {
    const Fd folder(::open(place.empty() ? kShm : place.c_str(), kFolder));
    const std::string prefix = fmt::format("{}{}-", kPrefix, job);
    for_each_entry(folder, [&](std::string_view name) {
        if (name.starts_with(prefix) && is_run_id(name.substr(kPrefix.size())))
            remove_leftover(folder, name.data(), user);
    });
}

}  // namespace elastic::runtime
