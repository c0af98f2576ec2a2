#include "page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../shared/metadata.hpp"
#include "../shared/text.hpp"
#include "../version.hpp"
#include "assets.hpp"
#include "html.hpp"

namespace cli::report {
namespace {

// More rows than these are no longer a table that anybody reads.
constexpr std::size_t most_rows = 5000;
constexpr std::size_t most_metadata = 1000;
constexpr std::size_t most_orders = 48;
constexpr std::size_t most_groups = 20;
constexpr std::size_t open_details = 4;
constexpr std::size_t names_of_order = 3;

std::string bar(double share) {
    share = std::clamp(share, 0.0, 1.0);
    return fmt::format(
        "<svg class=\"share\" viewBox=\"0 0 110 10\" aria-hidden=\"true\"><rect class=\"track\" width=\"110\" "
        "height=\"10\" rx=\"3\"/>"
        "<rect class=\"fill\" width=\"{}\" height=\"10\" rx=\"3\"/></svg>",
        place(110 * share));
}

std::string swatch(std::uint32_t colour) {
    return fmt::format(
        "<svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"c{}\" width=\"10\" "
        "height=\"10\" rx=\"2\"/></svg>",
        colour);
}

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string fact(std::string_view name, const std::string& value, const std::string& more) {
    return fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n", name, value, more);
}

std::string size_cells(std::uint64_t bytes, std::uint64_t all) {
    return fmt::format(
        "<td class=\"number\" data-value=\"{}\">{}</td><td class=\"number\" data-value=\"{}\">{:.1f}%</td>", bytes,
        size_text(bytes), exact(share(bytes, all)), 100 * share(bytes, all));
}

std::string file_name(const std::string& path) {
    const std::size_t at = path.find_last_of('/');
    return at == std::string::npos ? path : path.substr(at + 1);
}

std::string tensors_text(std::uint64_t count) {
    return grouped(count) + (count == 1 ? " tensor" : " tensors");
}

}  // namespace

Page::Page(const Input& input, std::uint64_t detail_limit, bool in_order, bool filtered)
    : input_(input), detail_limit_(detail_limit), in_order_(in_order), filtered_(filtered), whole_(attempts().size()) {}

void Page::add(const Facts& facts, const std::string& name) {
    ++tensors_;
    bytes_ += facts.bytes;
    if (facts.elements == HURRAY_DIMENSION_DYNAMIC)
        elements_known_ = false;
    else
        elements_ += facts.elements;
    std::string kind = facts.type;
    if (facts.quantized) kind += ", " + facts.quantization.substr(0, facts.quantization.find(','));
    const auto [found, fresh] = kind_numbers_.emplace(kind, static_cast<std::uint32_t>(kinds_.size()));
    if (fresh) kinds_.push_back(Kind{.name = kind});
    Kind& one = kinds_[found->second];
    ++one.tensors;
    one.bytes += facts.bytes;
    if (facts.elements != HURRAY_DIMENSION_DYNAMIC) one.elements += facts.elements;
    tree_.add(name, facts.index, facts.bytes, found->second, fmt::format("{} {} {}", facts.name, kind, facts.shape));
    if (rows_.size() < most_rows) rows_.push_back(facts);
}

bool Page::wants_order(const Facts& facts) const {
    if (orders_.size() >= most_orders) return false;
    return std::ranges::none_of(orders_, [&](const Order& order) { return order.layout == facts.layout; });
}

void Page::add_order(const Facts& facts, const hurray::Tensor& tensor) {
    auto picture = order_picture(tensor);
    if (!picture) return;
    auto found = order_numbers_.find(facts.layout + picture->svg);
    if (found == order_numbers_.end()) {
        if (orders_.size() >= most_orders) return;
        found = order_numbers_.emplace(facts.layout + picture->svg, orders_.size()).first;
        orders_.push_back(Order{facts.layout, std::move(*picture), "", 0});
    }
    Order& order = orders_[found->second];
    if (++order.tensors <= names_of_order) {
        order.names += fmt::format("{}<bdi>{}</bdi>", order.tensors == 1 ? "" : ", ", facts.name);
    }
    order_of_[facts.index] = found->second;
}

void Page::add_detail(const Facts& facts, const Detail& detail) {
    detailed_.insert(facts.index);
    sparklines_[facts.index] = sparkline(detail.histogram);
    const auto order = order_of_.find(facts.index);
    detail_html_.push_back(detail_html(facts, detail, detail_html_.size() < open_details,
                                       order == order_of_.end() ? "" : fmt::format("order{}", order->second)));
    if (detail.costs.empty()) return;
    ++costed_;
    costed_elements_ += detail.total;
    costed_bytes_ += facts.bytes;
    // Samples stand for all elements.
    const double weight =
        static_cast<double>(detail.total) / static_cast<double>(std::max<std::uint64_t>(detail.sampled, 1));
    for (std::size_t i = 0; i < detail.costs.size(); ++i) {
        const Cost& cost = detail.costs[i];
        WholeCost& whole = whole_[i];
        if (!cost.refused.empty()) {
            // Stays as it is.
            whole.bits += 8 * static_cast<double>(facts.bytes);
            continue;
        }
        whole.bits += cost.bits * static_cast<double>(detail.total);
        whole.signal += cost.signal * weight;
        whole.noise += cost.noise * weight;
        whole.largest = std::max(whole.largest, cost.largest);
        whole.elements += detail.total;
        ++whole.tensors;
    }
}

std::string Page::summary() const {
    std::string html =
        "<section id=\"summary\" aria-labelledby=\"summary-name\"><h2 id=\"summary-name\">Summary</h2>\n<dl "
        "class=\"facts\">\n";
    html += fact("Format", input_.format(), input_.is_file() ? "file" : "read in sequence");
    if (input_.size() != 0) html += fact("Size", size_text(input_.size()), grouped(input_.size()) + " bytes");
    html += fact("Tensors", grouped(tensors_), filtered_ ? "that were asked for" : count_text(kinds_.size(), "type"));
    html += fact("Elements", elements_known_ ? grouped(elements_) : "more than " + grouped(elements_),
                 elements_known_ ? "in all tensors" : "some shapes are dynamic");
    html += fact("Data", size_text(bytes_), grouped(bytes_) + " bytes of tensors");
    if (input_.size() > bytes_ && !filtered_) {
        html +=
            fact("Everything else", size_text(input_.size() - bytes_),
                 fmt::format("{:.2g}%: headers, index, padding", 100 * share(input_.size() - bytes_, input_.size())));
    }
    return html + "</dl>\n" + kinds_table() + metadata() + "</section>\n";
}

std::string Page::kinds_table() const {
    std::vector<std::uint32_t> order(kinds_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t i) { return kinds_[i].bytes; });
    std::string html =
        "<h3 id=\"types\">Types</h3>\n<div class=\"scroll\"><table id=\"type-table\"><thead><tr><th scope=\"col\">Type "
        "and scheme</th>"
        "<th scope=\"col\" class=\"number\">Tensors</th><th scope=\"col\" class=\"number\">Elements</th><th "
        "scope=\"col\" class=\"number\">Size</th>"
        "<th scope=\"col\" class=\"number\">Share</th><th></th></tr></thead><tbody>\n";
    for (const std::uint32_t i : order) {
        const Kind& kind = kinds_[i];
        html += fmt::format(
            "<tr><th scope=\"row\">{}{}</th><td class=\"number\" data-value=\"{}\">{}</td><td class=\"number\" "
            "data-value=\"{}\">{}</td>{}<td>{}</td></tr>\n",
            swatch(colour_of_[i]), kind.name, kind.tensors, grouped(kind.tensors), kind.elements,
            grouped(kind.elements), size_cells(kind.bytes, bytes_), bar(share(kind.bytes, bytes_)));
    }
    return html + "</tbody></table></div>\n";
}

std::string Page::metadata() const {
    const auto entries = metadata_texts(input_);
    if (entries.empty()) return "";
    std::string html = "<h3 id=\"metadata\">Metadata</h3>\n";
    if (entries.size() > most_metadata) {
        html += fmt::format("<p class=\"note\">The first {} of {} entries.</p>\n", grouped(most_metadata),
                            grouped(entries.size()));
    }
    html +=
        "<div class=\"scroll\"><table id=\"metadata-table\"><thead><tr><th scope=\"col\">Key</th>"
        "<th scope=\"col\">Value</th></tr></thead><tbody>\n";
    for (std::size_t i = 0; i < std::min(entries.size(), most_metadata); ++i) {
        html += fmt::format(
            "<tr><th scope=\"row\" class=\"name code\"><bdi>{}</bdi></th><td class=\"value\"><bdi>{}</bdi></td></tr>\n",
            shown(entries[i].first), shown_printable(entries[i].second, 2000));
    }
    return html + "</tbody></table></div>\n";
}

std::string Page::bytes_section() {
    tree_.finish();
    std::string html =
        "<section id=\"bytes\" aria-labelledby=\"bytes-name\"><h2 id=\"bytes-name\">Where the bytes are</h2>\n";
    if (bytes_ == 0) return html + "<p class=\"none\">No tensor has data.</p></section>\n";
    html +=
        "<p class=\"note\">Each rectangle is a tensor, its area the bytes of its data; names are grouped at dots and "
        "slashes. "
        "Colours are types. A click on a group shows it alone (Enter on the keyboard; Escape goes back).</p>\n";
    html += "<div id=\"crumbs\" role=\"group\" aria-label=\"Groups that the treemap shows\" hidden></div>\n";
    html += treemap_svg(tree_, colour_of_, detailed_);
    html += "<ul class=\"legend\">";
    for (std::uint32_t colour = 0; colour < colours; ++colour) {
        for (std::size_t i = 0; i < kinds_.size(); ++i) {
            if (colour_of_[i] == colour && kinds_[i].bytes != 0)
                html += fmt::format("<li>{}{}</li>", swatch(colour), kinds_[i].name);
        }
    }
    html += "</ul>\n";

    // The same for whoever does not see it: the groups, from where the names differ.
    const NameTree::Node* node = &tree_.root();
    std::string before;
    while (node->groups.size() == 1 && node->leaves.empty() && !node->groups.begin()->second->is_tensor) {
        node = node->groups.begin()->second.get();
        before += node->part;
    }
    std::vector<const NameTree::Node*> groups;
    for (const auto& [part, group] : node->groups) groups.push_back(group.get());
    for (const auto& leaf : node->leaves) groups.push_back(leaf.get());
    std::ranges::stable_sort(groups, std::ranges::greater{}, [](const NameTree::Node* group) { return group->bytes; });
    html += fmt::format(
        "<h3>Largest groups</h3>\n<div class=\"scroll\"><table id=\"group-table\"><thead><tr><th scope=\"col\">Names "
        "that start with</th>"
        "<th scope=\"col\" class=\"number\">Tensors</th><th scope=\"col\" class=\"number\">Size</th><th scope=\"col\" "
        "class=\"number\">Share</th><th></th></tr></thead><tbody>\n");
    const auto row = [&](const std::string& name, std::uint64_t tensors, std::uint64_t bytes) {
        html += fmt::format(
            "<tr><th scope=\"row\" class=\"name code\"><bdi>{}</bdi></th><td "
            "class=\"number\">{}</td>{}<td>{}</td></tr>\n",
            name, grouped(tensors), size_cells(bytes, bytes_), bar(share(bytes, bytes_)));
    };
    std::uint64_t rest_tensors = 0;
    std::uint64_t rest_bytes = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i < most_groups || groups.size() == most_groups + 1) {
            row(shown(before + groups[i]->part), groups[i]->tensors, groups[i]->bytes);
        } else {
            rest_tensors += groups[i]->tensors;
            rest_bytes += groups[i]->bytes;
        }
    }
    if (rest_tensors != 0)
        row(fmt::format("{} other groups", grouped(groups.size() - most_groups)), rest_tensors, rest_bytes);
    return html + "</tbody></table></div></section>\n";
}

std::string Page::orders() const {
    if (orders_.empty()) return "";
    std::string html =
        "<section id=\"order\" aria-labelledby=\"order-name\"><h2 id=\"order-name\">Memory order</h2>\n"
        "<p class=\"note\">How each layout puts elements into memory. Rows are the last dimension but one, columns the "
        "last; the line goes "
        "from the first address (ring) to the last (arrow), and cells get stronger on the way. Dashes are steps over "
        "other "
        "memory. Places are those that the library gives for these tensors.</p>\n<div class=\"orders\">\n";
    for (std::size_t i = 0; i < orders_.size(); ++i) {
        const Order& order = orders_[i];
        const std::string more =
            order.tensors > names_of_order ? fmt::format(" and {} more", grouped(order.tensors - names_of_order)) : "";
        html += fmt::format(
            "<figure id=\"order{0}\"{1}><svg class=\"order\" role=\"img\" aria-label=\"Memory order of layout {2}. "
            "{3}\" {4}\n"
            "<figcaption><strong>{2}</strong><span>{3}</span>{5}{6}</figcaption></figure>\n",
            i, order.picture.wide ? " class=\"wide\"" : "", order.layout, order.picture.words, order.picture.svg,
            order.names, more);
    }
    return html + "</div></section>\n";
}

std::string Page::whole_costs() const {
    if (costed_ == 0) return "";
    std::string html = fmt::format(
        "<section id=\"quantization\" aria-labelledby=\"quantization-name\"><h2 id=\"quantization-name\">If it were "
        "quantized</h2>\n"
        "<p class=\"note\">What the library's own quantization would cost the {} of floating-point numbers looked at "
        "below ({}, "
        "{}). Each is taken as a matrix: dimension 0 are its rows, or channels, and blocks follow one another along "
        "them. "
        "SQNR is the ratio of the squares of numbers and errors: 6 dB are one bit. Tensors that a scheme does not take "
        "stay as "
        "they are, and count with their size.</p>\n<div class=\"scroll\"><table id=\"cost-table\"><thead><tr><th "
        "scope=\"col\">Scheme</th>"
        "<th scope=\"col\" class=\"number\">Tensors</th><th scope=\"col\" class=\"number\">Size</th><th scope=\"col\" "
        "class=\"number\">of now</th><th></th>"
        "<th scope=\"col\" class=\"number\">RMS error</th><th scope=\"col\" class=\"number\">Largest error</th><th "
        "scope=\"col\" class=\"number\">SQNR, dB</th></tr></thead><tbody>\n",
        tensors_text(costed_), size_text(costed_bytes_), grouped(costed_elements_) + " elements");
    for (std::size_t i = 0; i < whole_.size(); ++i) {
        const WholeCost& whole = whole_[i];
        const auto bytes = static_cast<std::uint64_t>(whole.bits / 8 + 0.5);
        html += fmt::format(
            "<tr><th scope=\"row\">{}<br><span class=\"note\">{}</span></th><td class=\"number\">{}</td><td "
            "class=\"number\" data-value=\"{}\">{}</td>"
            "<td class=\"number\">{:.0f}%</td><td>{}</td>",
            attempts()[i].name, attempts()[i].words, grouped(whole.tensors), bytes, size_text(bytes),
            100 * share(bytes, costed_bytes_), bar(share(bytes, costed_bytes_)));
        if (whole.tensors == 0) {
            html += "<td colspan=\"3\" class=\"none\">no tensor</td></tr>\n";
            continue;
        }
        const double rms = std::sqrt(whole.noise / static_cast<double>(std::max<std::uint64_t>(whole.elements, 1)));
        html += fmt::format(
            "<td class=\"number\" data-value=\"{}\">{:.3g}</td><td class=\"number\" data-value=\"{}\">{:.3g}</td>"
            "<td class=\"number\">{}</td></tr>\n",
            exact(rms), rms, exact(whole.largest), whole.largest,
            whole.noise == 0 ? "exact" : fmt::format("{:.1f}", 10 * std::log10(whole.signal / whole.noise)));
    }
    return html + "</tbody></table></div></section>\n";
}

std::string Page::table() const {
    std::string html =
        "<section id=\"tensors\" aria-labelledby=\"tensors-name\"><h2 id=\"tensors-name\">Tensors</h2>\n";
    if (rows_.empty()) return html + "<p class=\"none\">There are no tensors.</p></section>\n";
    if (tensors_ > rows_.size()) {
        html += fmt::format(
            "<p class=\"note\" id=\"row-limit\">The first {} of {} tensors; <code>hurray ls</code> lists all.</p>\n",
            grouped(rows_.size()), grouped(tensors_));
    }
    html +=
        "<div class=\"scroll\"><table id=\"tensor-table\"><thead><tr><th scope=\"col\" class=\"number\" "
        "data-sort=\"number\">Place</th>"
        "<th scope=\"col\" data-sort=\"text\">Name</th><th scope=\"col\" data-sort=\"text\">Type</th><th scope=\"col\" "
        "data-sort=\"text\">Shape</th>"
        "<th scope=\"col\" data-sort=\"text\">Layout</th><th scope=\"col\" data-sort=\"text\">Quantization</th>"
        "<th scope=\"col\" class=\"number\" data-sort=\"number\">Size</th><th scope=\"col\" class=\"number\" "
        "data-sort=\"number\">Share</th><th scope=\"col\">Values</th></tr></thead><tbody>\n";
    for (const Facts& row : rows_) {
        const auto spark = sparklines_.find(row.index);
        const bool linked = detailed_.contains(row.index);
        html += fmt::format(
            "<tr><td class=\"number\" data-value=\"{0}\">{0}</td><th scope=\"row\" class=\"name "
            "code\">{1}<bdi>{2}</bdi>{3}</th>"
            "<td>{4}</td><td>{5}</td><td>{6}</td><td>{7}</td>{8}<td>{9}</td></tr>\n",
            row.index, linked ? fmt::format("<a href=\"#t{}\">", row.index) : "", row.name, linked ? "</a>" : "",
            row.type, row.shape, row.layout, row.quantization, size_cells(row.bytes, bytes_),
            spark == sparklines_.end() ? "" : spark->second);
    }
    return html + "</tbody></table></div></section>\n";
}

std::string Page::details() const {
    if (tensors_ == 0) return "";
    std::string html =
        "<section id=\"details\" aria-labelledby=\"details-name\"><h2 id=\"details-name\">Tensors one by one</h2>\n";
    if (detail_html_.size() < tensors_) {
        html += fmt::format(
            "<p class=\"note\" id=\"detail-limit\">{} {} of {} tensors; <code>--limit N</code> shows more of them, "
            "<code>--tensors PATTERN</code> others.</p>\n",
            in_order_ ? "The first" : "The largest", grouped(detail_html_.size()), grouped(tensors_));
    } else {
        html += "<p class=\"note\">All tensors, largest first.</p>\n";
    }
    html += "<div class=\"tools\" id=\"detail-tools\"></div>\n";
    for (const std::string& one : detail_html_) html += one;
    return html + "</section>\n";
}

std::string Page::finish() {
    // Colours go to the types with the most bytes; the last one is for all others.
    std::vector<std::uint32_t> order(kinds_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t i) { return kinds_[i].bytes; });
    colour_of_.assign(kinds_.size(), 0);
    for (std::uint32_t i = 0; i < order.size(); ++i) colour_of_[order[i]] = std::min(i, colours - 1);

    const std::string name = shown(file_name(input_.path()), 200);
    const std::string bytes = bytes_section();
    const std::string pictures = orders();
    const std::string costs = whole_costs();
    std::string html = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; script-src "
        "'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
        "content=\"light dark\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"generator\" content=\"hurray {}\">\n<title>{}: "
        "report</title>\n<style>",
        policy_hash(style), policy_hash(script), program_version, name);
    html += style;
    html += fmt::format(
        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header "
        "class=\"top\"><div class=\"wrap\"><h1><bdi>{}</bdi></h1>\n"
        "<p>{}{} of data in {}</p></div></header>\n<nav class=\"sections\" aria-label=\"Sections\"><div "
        "class=\"wrap\"><ul>"
        "<li><a href=\"#summary\">Summary</a></li><li><a href=\"#bytes\">Bytes</a></li>",
        name, input_.is_file() ? input_.format() + " file, " : input_.format() + ", ", size_text(bytes_),
        tensors_text(tensors_));
    if (!pictures.empty()) html += "<li><a href=\"#order\">Memory order</a></li>";
    if (!costs.empty()) html += "<li><a href=\"#quantization\">Quantization</a></li>";
    html += "<li><a href=\"#tensors\">Tensors</a></li>";
    if (!detail_html_.empty()) html += "<li><a href=\"#details\">One by one</a></li>";
    html += "</ul></div></nav>\n<main id=\"main\"><div class=\"wrap\">\n";
    html += summary() + bytes + pictures + costs + table() + details();
    html += fmt::format(
        "</div></main>\n<footer><div class=\"wrap\">Made by hurray {}. This page needs no "
        "network.</div></footer>\n<script>",
        program_version);
    html += script;
    return html + "</script>\n</body>\n</html>\n";
}

}  // namespace cli::report
