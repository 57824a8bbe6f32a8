/* Rows as lists of what is not 0, and tables of weights that are folded for them. */
#include "agents/net_layers.h"
#include "core/bytes.h"

#include <string.h>

void net_rows_init(NetRows *rows, const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    *rows = (NetRows){.row_size = shape->row_size, .block_count = shape->row_block_count};
    for (uint32_t i = 0; i < shape->row_block_count; i++) {
        const TyBlock *block = &shape->row_blocks[i];
        bool category = block->kind == TY_BLOCK_CATEGORY;
        uint32_t count = (uint32_t)block->rows * block->columns;
        uint32_t values = category ? block->maximum + 1u : 1u;
        rows->blocks[i] =
            (NetBlock){.category = category,
                       .wide = block->width == 2,
                       .offset = block->offset,
                       .count = count,
                       .values = values,
                       .entry = rows->entries,
                       .first = rows->inputs,
                       .maximum = block->kind == TY_BLOCK_FLAG ? 1.0f : (float)block->maximum};
        rows->inputs += count * values;
        rows->entries += count * (category ? values + 1 : 1);
    }
}

/* Lists the categories of a block. Their values are random, so that nothing branches on them. */
static uint32_t categories_list(const NetBlock *block, const uint8_t *bytes, NetInput *list)
{
    uint32_t listed = 0;
    uint32_t entry = block->entry;
    for (uint32_t i = 0; i < block->count; i++, entry += block->values + 1) {
        uint32_t value = block->wide ? load_le16(bytes + (size_t)i * 2) : bytes[i];
        uint32_t known = value < block->values ? value : block->values;
        list[listed] = (NetInput){.entry = entry + known, .value = 1.0f};
        listed += known != 0;
    }
    return listed;
}

static uint32_t numbers_list(const NetBlock *block, const uint8_t *bytes, NetInput *list)
{
    uint32_t listed = 0;
    for (uint32_t i = 0; block->maximum > 0 && i < block->count; i++) {
        uint32_t value = block->wide ? load_le16(bytes + (size_t)i * 2) : bytes[i];
        list[listed] =
            (NetInput){.entry = block->entry + i, .value = (float)value / block->maximum};
        listed += value != 0;
    }
    return listed;
}

void net_rows_list(const NetRows *rows, const uint8_t *row, NetInputs *inputs)
{
    inputs->count = 0;
    for (uint32_t i = 0; i < rows->block_count; i++) {
        const NetBlock *block = &rows->blocks[i];
        const uint8_t *bytes = row + block->offset;
        NetInput *list = inputs->list + inputs->count;
        inputs->count += block->category ? categories_list(block, bytes, list)
                                         : numbers_list(block, bytes, list);
    }
}

/* Folds the `values` entries of one category. */
static void category_fold(const NetBlock *block, const float *table, uint32_t width, float *folded,
                          float *base)
{
    for (uint32_t lane = 0; lane < width; lane++) {
        base[lane] += table[lane];
        folded[lane] = 0.0f;
        folded[(size_t)block->values * width + lane] = -table[lane];
    }
    for (uint32_t value = 1; value < block->values; value++) {
        for (uint32_t lane = 0; lane < width; lane++) {
            size_t at = (size_t)value * width + lane;
            folded[at] = table[at] - table[lane];
        }
    }
}

void net_rows_fold(const NetRows *rows, const float *table, uint32_t width, float *folded,
                   float *base)
{
    for (uint32_t i = 0; i < rows->block_count; i++) {
        const NetBlock *block = &rows->blocks[i];
        const float *from = table + (size_t)block->first * width;
        float *to = folded + (size_t)block->entry * width;
        if (!block->category) {
            memcpy(to, from, (size_t)block->count * width * sizeof *to);
            continue;
        }
        for (uint32_t item = 0; item < block->count; item++) {
            category_fold(block, from, width, to, base);
            from += (size_t)block->values * width;
            to += (size_t)(block->values + 1) * width;
        }
    }
}
