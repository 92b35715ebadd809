// SPDX-License-Identifier: MIT
// One style for all pages, inside the page, so that a page can be copied anywhere and read without
// a network.
#include "studies/report/html.hpp"

#include <fmt/format.h>

#include "common/text.hpp"

namespace elastic::studies {
namespace {

// Colours are named once, for a light screen and paper, and for a dark screen; those that stand for
// policies are Okabe and Ito's, which colour-blind readers can tell apart.
constexpr std::string_view kStyle =
    ":root{color-scheme:light dark;--ink:#24292f;--paper:#fff;--line:#d8dee4;--soft:#f6f8fa;"
    "--weak:#57606a;--good:#1a7f37;--fair:#9a6700;--bad:#cf222e;"
    "--c0:#24292f;--c1:#7f7f7f;--c2:#0072b2;--c3:#d55e00;--c4:#009e73;--c5:#cc79a7;--c6:#b58900}"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;"
    "--line:#3d444d;--soft:#161b22;--weak:#9198a1;--good:#3fb950;--fair:#d29922;--bad:#f85149;"
    "--c0:#e6edf3;--c1:#9a9a9a;--c2:#56b4e9;--c3:#ff8c42;--c4:#2ec49a;--c5:#e39ac6;--c6:#e6c229}}"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:1.2rem auto;padding:0 1rem;"
    "color:var(--ink);background:var(--paper)}"
    "h1{font-size:1.5rem;margin:.5rem 0;overflow-wrap:anywhere}h2{font-size:1.2rem}"
    "table{border-collapse:collapse;margin:1rem 0;font-size:13px}"
    "th,td{border:1px solid var(--line);padding:.3rem .6rem;text-align:left;vertical-align:top}"
    "th{background:var(--soft)}td.n{text-align:right}div.table{overflow-x:auto}"
    "summary{cursor:pointer;font-weight:600;margin:.6rem 0}"
    "li,p{overflow-wrap:anywhere}img,svg{max-width:100%;height:auto}"
    "pre{background:var(--soft);padding:.6rem;white-space:pre-wrap;overflow-wrap:anywhere}"
    ".note{border-left:.3rem solid var(--fair);padding-left:.6rem}"
    "figure{margin:.6rem 0;max-width:36rem}figcaption{font-size:13px}"
    "figure svg{display:block;width:100%}.legend span{margin-right:1em;white-space:nowrap}"
    ".legend "
    "i{print-color-adjust:exact;display:inline-block;width:.8em;height:.8em;margin-right:.3em}"
    ".confirmed{color:var(--good)}.partly{color:var(--fair)}.not{color:var(--bad)}"
    ".undecided{color:var(--weak)}"
    "@media screen and (min-width:60rem){.first{display:grid;grid-template-columns:1fr 1fr;"
    "gap:0 2rem;align-items:start}.first>h2{grid-column:1/3;margin:.5rem 0}}"
    "@media(max-width:40rem){body{margin:.5rem auto}h1{font-size:1.2rem}}"
    "@media print{body{max-width:none;margin:0;font-size:11px}table{font-size:8px}"
    "details::details-content{content-visibility:visible;display:block}"
    "figure,tr,pre{break-inside:avoid}h2{break-after:avoid}"
    "div.table{overflow:visible}th,td{padding:.1rem .2rem;overflow-wrap:anywhere}}";

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

std::string html_page(std::string_view title, std::string_view body, std::string_view head) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>"
        "{3}<title>{0}</title>\n<style>{1}</style></head>\n<body>\n<h1>{0}</h1>\n{2}"
        "</body></html>\n",
        escape_xml(title), kStyle, body, head);
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
