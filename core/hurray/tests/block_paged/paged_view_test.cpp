// Requirements: format, block-paged layout: element lookup, safe whatever the tables hold.
#include "core/hurray/layout/paged_view.hpp"

#include <gtest/gtest.h>

#include "core/hurray/tests/block_paged/paged_tensors.hpp"
#include "core/hurray/tests/support.hpp"

namespace hurray {
namespace {

using test::fault;
using test::fault_of;
using test::Paged;

constexpr std::uint64_t none = Error::no_offset;

// The formula of the format, word by word.
std::uint64_t flat(const Paged& t, std::uint64_t s, std::uint64_t token, std::uint64_t h, std::uint64_t d) {
    const std::uint64_t page = t.table[t.seq_ptr[s] + token / t.page_size];
    return ((page * t.page_size + token % t.page_size) * t.heads + h) * t.size + d;
}

TEST(PagedView, FindsEveryElementOfEverySequence) {
    for (const bool wide : {false, true}) {
        Paged paged;
        paged.wide = wide;
        const Tensor tensor = paged.make();
        const auto view = PagedView::make(tensor);
        ASSERT_TRUE(view.has_value()) << view.error().message;
        EXPECT_EQ(view->pool().size(), paged.pool_bytes);
        EXPECT_EQ(view->slot_elements(), 6U);
        EXPECT_EQ(view->slot_count(), 20U);
        EXPECT_EQ(view->logical_page_count(), 3U);
        const std::uint64_t rooms[] = {8, 4};
        for (std::uint64_t s = 0; s < 2; ++s) {
            for (std::uint64_t token = 0; token < rooms[s]; ++token) {
                for (std::uint64_t h = 0; h < 2; ++h) {
                    for (std::uint64_t d = 0; d < 3; ++d) {
                        EXPECT_EQ(view->find(s, token, h, d).value(), flat(paged, s, token, h, d));
                    }
                }
            }
            EXPECT_EQ(fault(view->slot(s, rooms[s])), fault_of(Status::index_out_of_bounds, none));
        }
        EXPECT_EQ(fault(view->slot(2, 0)), fault_of(Status::index_out_of_bounds, none));
        EXPECT_EQ(fault(view->slot(~std::uint64_t{0}, 0)), fault_of(Status::index_out_of_bounds, none));
        EXPECT_EQ(fault(view->slot(0, ~std::uint64_t{0})), fault_of(Status::index_out_of_bounds, none));
        EXPECT_EQ(fault(view->find(0, 0, 2, 0)), fault_of(Status::index_out_of_bounds, none));
        EXPECT_EQ(fault(view->find(0, 0, 0, 3)), fault_of(Status::index_out_of_bounds, none));
        EXPECT_EQ(fault(view->find(std::array<std::uint64_t, 2>{0, 0})), fault_of(Status::invalid_argument, none));
        EXPECT_EQ(fault(view->page(3)), fault_of(Status::index_out_of_bounds, none));
    }
}

TEST(PagedView, CountsOfTokensAreTheCallersWhereTheTensorDoesNotTell) {
    const Tensor tensor = Paged{}.make();
    const auto unknown = PagedView::make(tensor);
    EXPECT_FALSE(unknown->knows_tokens());
    EXPECT_EQ(unknown->token_count(0).value(), std::nullopt);
    EXPECT_EQ(fault(unknown->slot_of_token(0)), fault_of(Status::unsupported, none));
    EXPECT_EQ(fault(unknown->for_each_run(0, [](std::uint64_t, std::uint64_t) { return true; })),
              fault_of(Status::unsupported, none));

    const std::uint64_t counts[] = {6, 3};
    const auto view = PagedView::make(tensor, counts);
    ASSERT_TRUE(view.has_value()) << view.error().message;
    EXPECT_TRUE(view->knows_tokens());
    EXPECT_EQ(view->token_count(0).value(), 6U);
    EXPECT_EQ(view->token_count(1).value(), 3U);
    EXPECT_EQ(fault(view->slot(0, 6)), fault_of(Status::index_out_of_bounds, none));
    const Paged paged;
    for (std::uint64_t token = 0; token < 9; ++token) {
        const std::uint64_t s = token < 6 ? 0 : 1;
        const std::uint64_t index[] = {token, 1, 2};
        EXPECT_EQ(view->find(index).value(), flat(paged, s, token - (s == 0 ? 0 : 6), 1, 2)) << token;
    }
    EXPECT_EQ(fault(view->slot_of_token(9)), fault_of(Status::index_out_of_bounds, none));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
    const auto note = [&](std::uint64_t first, std::uint64_t count) {
        runs.emplace_back(first, count);
        return runs.size() < 3;
    };
    EXPECT_TRUE(view->for_each_run(0, note).has_value());
    EXPECT_TRUE(view->for_each_run(1, note).has_value());
    EXPECT_EQ(runs, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{12, 4}, {4, 2}, {12, 3}}));
}

TEST(PagedView, CountsThatDoNotFitAreRefused) {
    const Tensor tensor = Paged{}.make();
    using Counts = std::vector<std::uint64_t>;
    for (const Counts& counts : {Counts{9}, Counts{6, 3, 0}, Counts{4, 5}, Counts{8, 0}, Counts{8, 4},
                                 Counts{~std::uint64_t{0}, 10}, Counts{9, 0}}) {
        EXPECT_EQ(fault(PagedView::make(tensor, counts)), fault_of(Status::invalid_argument, none));
    }
}

TEST(PagedView, FullPagesTellTheTokens) {
    Paged paged;
    paged.tokens = 12;
    const Tensor tensor = paged.make();
    const auto view = PagedView::make(tensor);
    ASSERT_TRUE(view->knows_tokens());
    EXPECT_EQ(view->token_count(0).value(), 8U);
    EXPECT_EQ(view->token_count(1).value(), 4U);
    for (std::uint64_t token = 0; token < 12; ++token) {
        const std::uint64_t index[] = {token, 0, 1};
        EXPECT_EQ(view->find(index).value(), flat(paged, token / 8, token % 8, 0, 1));
    }
}

TEST(PagedView, OneSequenceHasAllTokens) {
    for (const std::vector<std::uint64_t>& seq_ptr :
         std::vector<std::vector<std::uint64_t>>{{0, 3}, {0, 0, 0, 3}, {0, 3, 3}, {0, 0, 3, 3, 3}}) {
        Paged paged;
        paged.seq_ptr = seq_ptr;
        const Tensor tensor = paged.make();
        const auto view = PagedView::make(tensor);
        ASSERT_TRUE(view->knows_tokens());
        std::uint64_t seen = 0;
        for (std::uint64_t s = 0; s + 1 < seq_ptr.size(); ++s) {
            const std::uint64_t expected = seq_ptr[s + 1] - seq_ptr[s] == 3 ? 9 : 0;
            EXPECT_EQ(view->token_count(s).value(), expected);
            EXPECT_TRUE(view->for_each_run(s, [&](std::uint64_t, std::uint64_t count) {
                                seen += count;
                                return true;
                            }).has_value());
        }
        EXPECT_EQ(seen, 9U);
        EXPECT_EQ(view->slot_of_token(8).value(), 12U);
    }
}

TEST(PagedView, EmptyBatchesAndEmptyElements) {
    const Paged empty = {.tokens = 0, .num_pages = 0, .table = {}, .seq_ptr = {0}, .pool_bytes = 0};
    const Tensor nothing = empty.make();
    const auto view = PagedView::make(nothing);
    ASSERT_TRUE(view.has_value()) << view.error().message;
    EXPECT_TRUE(view->knows_tokens());
    EXPECT_EQ(fault(view->slot_of_token(0)), fault_of(Status::index_out_of_bounds, none));
    EXPECT_EQ(fault(view->pages(0)), fault_of(Status::index_out_of_bounds, none));
    // Too many slots to count, none with an element.
    const Paged huge = {.tokens = 12, .size = 0, .num_pages = ~std::uint64_t{0}, .table = {3, 1, ~std::uint64_t{0} - 1}, .wide = true, .pool_bytes = 0};
    const Tensor flat_tensor = huge.make();
    const auto wide = PagedView::make(flat_tensor);
    ASSERT_TRUE(wide.has_value()) << wide.error().message;
    EXPECT_TRUE(wide->slot(1, 0).has_value());
    EXPECT_EQ(fault(wide->find(1, 0, 0, 0)), fault_of(Status::index_out_of_bounds, none));
}

TEST(PagedView, WrongTablesAreRefusedWhereTheyAreUsed) {
    const auto with = [](std::vector<std::uint64_t> table, std::vector<std::uint64_t> seq_ptr) {
        Paged paged;
        paged.table = std::move(table);
        paged.seq_ptr = std::move(seq_ptr);
        return paged.make();
    };
    // The last pointer, beyond the table and short of the tokens.
    EXPECT_EQ(fault(PagedView::make(with({3, 1, 3}, {0, 2, 4}))), fault_of(Status::invalid_layout, 8));
    EXPECT_EQ(fault(PagedView::make(with({3, 1, 3}, {0, 2, 2}))), fault_of(Status::invalid_layout, 8));
    const Tensor start = with({3, 1, 3}, {1, 2, 3});
    EXPECT_EQ(fault(PagedView::make(start)->slot(0, 0)), fault_of(Status::invalid_layout, 0));
    const Tensor falls = with({3, 1, 3, 0}, {0, 3, 2, 4});
    EXPECT_EQ(fault(PagedView::make(falls)->slot(1, 0)), fault_of(Status::invalid_layout, 8));
    EXPECT_EQ(fault(PagedView::make(falls)->token_count(1)), fault_of(Status::invalid_layout, 8));
    const Tensor far = with({3, 1, 3}, {0, 0xFFFFFFFF, 3});
    EXPECT_EQ(fault(PagedView::make(far)->slot(0, 0)), fault_of(Status::invalid_layout, 4));
    EXPECT_EQ(fault(PagedView::make(far)->slot(1, 0)), fault_of(Status::invalid_layout, 4));
    const Tensor page = with({3, 5, 0xFFFFFFFF}, {0, 2, 3});
    EXPECT_TRUE(PagedView::make(page)->slot(0, 3).has_value());
    EXPECT_EQ(fault(PagedView::make(page)->slot(0, 4)), fault_of(Status::invalid_layout, 4));
    EXPECT_EQ(fault(PagedView::make(page)->slot(1, 0)), fault_of(Status::invalid_layout, 8));
}

// Whatever is in the tables: an error, or a place within the pool. The address sanitizer sees the rest.
TEST(PagedView, AnyTablesAreSafe) {
    test::Random random(7);
    for (int round = 0; round < 2000; ++round) {
        Paged paged;
        paged.wide = round % 2 == 0;
        for (std::uint64_t& entry : paged.table) entry = random.below(8) == 0 ? random.next() : random.below(6);
        for (std::uint64_t& entry : paged.seq_ptr) entry = random.below(8) == 0 ? random.next() : random.below(5);
        const Tensor tensor = paged.make();
        const auto view = PagedView::make(tensor);
        if (!view) continue;
        for (std::uint64_t s = 0; s < 3; ++s) {
            for (std::uint64_t token = 0; token < 14; ++token) {
                if (const auto place = view->find(s, token, 1, 2)) {
                    EXPECT_LT(*place, paged.pool_bytes);
                }
            }
            std::uint64_t slots = 0;
            (void)view->for_each_run(s, [&](std::uint64_t first, std::uint64_t count) {
                EXPECT_LE(first + count, view->slot_count());
                return ++slots < 100;
            });
        }
        for (std::uint64_t token = 0; token < 9; ++token) {
            if (const auto slot = view->slot_of_token(token)) {
                EXPECT_LT(*slot, view->slot_count());
            }
        }
    }
}

TEST(PagedView, OtherTensorsAreRefused) {
    Tensor tensor = Paged{}.make();
    tensor.buffers[1].handle.device_tag = device_tag::cuda;
    EXPECT_EQ(fault(PagedView::make(tensor)), fault_of(Status::unsupported, none));
    tensor = Paged{}.make();
    tensor.buffers[2].prefix = 4;
    EXPECT_EQ(fault(PagedView::make(tensor)), fault_of(Status::misaligned, none));
    tensor = Paged{}.make();
    tensor.buffers.pop_back();
    EXPECT_EQ(fault(PagedView::make(tensor)), fault_of(Status::invalid_argument, none));
    const Tensor plain{test::build({.shape = {1}, .buffers = {{.byte_size = 4}}}).value(), {}};
    EXPECT_EQ(fault(PagedView::make(plain)), fault_of(Status::unsupported, none));
}

}  // namespace
}  // namespace hurray
