// SPDX-License-Identifier: MIT
// Sites write into admin comments, too: their job_submit scripts, epilogs and operators.  An
// elastic job's is its annotation, so their text becomes a member of that, and sacct has both.
//
// Always holds: what was an annotation is the same one after.
#include "core/model/annotation/remarks.hpp"

#include "core/model/annotation/annotation.hpp"
#include "core/model/annotation/annotation_values.hpp"

namespace elastic::core {

namespace {

constexpr std::size_t kMaxSiteComment = 16384;  // as JSON; leaves room for all that is kept beside

Json without(const Json& object, std::string_view name) {
    Json rest = Json::object();
    for (const std::string& key : object.keys())
        if (key != name) rest.set(key, object.get(key));
    return rest;
}

bool is_meant_as_annotation(std::string_view text) {
    const auto json = Json::parse(text);
    return json && json->is_object() && json->has("elastic");
}

}  // namespace

Result<std::string> with_site_comment(std::string_view stored, std::string_view text) {
    const auto kept = Json::parse(stored);
    if (!kept || !kept->is_object()) return refuse("not an annotation");
    if (is_meant_as_annotation(text)) {
        const auto other = annotation_from_text(text);
        if (!other) return other.error();
        return refuse("the admin comment has an annotation of its own: leave it out");
    }
    Json with_text = without(*kept, kSiteComment);
    if (text.empty()) return with_text.dump();
    const Json comment(text);
    if (const std::size_t size = comment.dump().size(); size > kMaxSiteComment)
        return refuse("the admin comment takes {} bytes, {} are possible", size, kMaxSiteComment);
    return with_text.set(kSiteComment, comment).dump();
}

std::string without_sizes_had(std::string_view stored) {
    const auto kept = Json::parse(stored);
    if (!kept || !kept->is_object() || !kept->has(kSizesHad)) return std::string(stored);
    return without(*kept, kSizesHad).dump();
}

}  // namespace elastic::core
