// SPDX-License-Identifier: MIT
// One style for all pages, inside the page, so that a page can be copied anywhere and read without
// a network.
#include "studies/report/html.hpp"

#include <fmt/format.h>

#include "common/text.hpp"

namespace elastic::studies {
namespace {

constexpr std::string_view kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;"
    "color:#24292f}table{border-collapse:collapse;margin:1rem 0;font-size:13px}"
    "th,td{border:1px solid #d8dee4;padding:.3rem .6rem;text-align:left;vertical-align:top}"
    "th{background:#f6f8fa}td.n{text-align:right}div.table{overflow-x:auto}"
    "summary{cursor:pointer;font-weight:600;margin:.6rem 0}"
    "@media(max-width:40rem){body{margin:1rem auto}h1{font-size:1.4rem;overflow-wrap:anywhere}}"
    "@media print{body{max-width:none;margin:0;font-size:11px}table{font-size:8px}"
    "details::details-content{content-visibility:visible;display:block}"
    "div.table{overflow:visible}th,td{padding:.1rem .2rem}}"
    "li,p{overflow-wrap:anywhere}img,svg{max-width:100%;height:auto}"
    "pre{background:#f6f8fa;padding:.6rem;white-space:pre-wrap;overflow-wrap:anywhere}"
    ".confirmed{color:#1a7f37}.partly{color:#9a6700}.not{color:#cf222e}.undecided{color:#57606a}";

std::string row_html(const std::vector<std::string>& cells, std::string_view element) {
    std::string html = "<tr>";
    for (const std::string& cell : cells) {
        const bool number = element == "td" && parse_number(cell).has_value();
        html += fmt::format("<{0}{1}>{2}</{0}>", element, number ? " class=\"n\"" : "",
                            escape_xml(cell));
    }
    return html + "</tr>\n";
}

}  // namespace

std::string html_page(std::string_view title, std::string_view body) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>"
        "<title>{0}</title>\n<style>{1}</style></head>\n<body>\n<h1>{0}</h1>\n{2}"
        "</body></html>\n",
        escape_xml(title), kStyle, body);
}

std::string html_folded(std::string_view title, std::string_view body) {
    return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escape_xml(title), body);
}

std::string html_table(const Table& table) {
    std::string html = "<div class=\"table\"><table>\n" + row_html(table.columns(), "th");
    for (const auto& row : table.rows()) html += row_html(row, "td");
    return html + "</table></div>\n";
}

}  // namespace elastic::studies
