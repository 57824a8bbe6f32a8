/* Observation rows as the float vectors that networks read. */
#include "base.h"
#include "core/bytes.h"

#include <string.h>

/* Numbers that one value of the block becomes. */
static uint32_t value_width(const TyBlock *block)
{
    return block->kind == TY_BLOCK_CATEGORY ? block->maximum + 1u : 1u;
}

static uint32_t block_value_count(const TyBlock *block)
{
    return (uint32_t)block->rows * block->columns;
}

uint32_t ty_expand_width(const TyBlock *block)
{
    return block_value_count(block) * value_width(block);
}

uint32_t ty_expand_size(const TyRuleset *ruleset, bool full)
{
    const TyShape *shape = ty_shape(ruleset);
    const TyBlock *blocks = full ? shape->full_blocks : shape->row_blocks;
    uint32_t count = full ? shape->full_block_count : shape->row_block_count;
    uint32_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        size += ty_expand_width(&blocks[i]);
    }
    return size;
}

/* `out` is all zero. */
static void block_expand(const TyBlock *block, const uint8_t *row, float *out)
{
    uint32_t count = block_value_count(block);
    uint32_t width = value_width(block);
    bool category = block->kind == TY_BLOCK_CATEGORY;
    float maximum = block->kind == TY_BLOCK_FLAG ? 1.0f : (float)block->maximum;
    const uint8_t *bytes = row + block->offset;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = block->width == 2 ? load_le16(bytes + (size_t)i * 2) : bytes[i];
        if (!category) {
            out[i] = maximum > 0 ? (float)value / maximum : 0.0f;
        } else if (value < width) {
            out[(size_t)i * width + value] = 1.0f;
        }
    }
}

void ty_expand(const TyRuleset *ruleset, bool full, const uint8_t *rows, uint32_t count, float *out)
{
    const TyShape *shape = ty_shape(ruleset);
    const TyBlock *blocks = full ? shape->full_blocks : shape->row_blocks;
    uint32_t block_count = full ? shape->full_block_count : shape->row_block_count;
    uint32_t row_size = full ? shape->full_size : shape->row_size;
    uint32_t size = ty_expand_size(ruleset, full);
    for (uint32_t row = 0; row < count; row++) {
        float *at = out + (size_t)row * size;
        memset(at, 0, size * sizeof *at);
        for (uint32_t i = 0; i < block_count; i++) {
            block_expand(&blocks[i], rows + (size_t)row * row_size, at);
            at += ty_expand_width(&blocks[i]);
        }
    }
}

/* Adds the values of the block that are categories or numbers, whichever it has. */
static void block_split(const TyBlock *block, const uint8_t *row, int32_t first,
                        int32_t **categories, float **numbers)
{
    uint32_t count = block_value_count(block);
    bool category = block->kind == TY_BLOCK_CATEGORY;
    float maximum = block->kind == TY_BLOCK_FLAG ? 1.0f : (float)block->maximum;
    const uint8_t *bytes = row + block->offset;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = block->width == 2 ? load_le16(bytes + (size_t)i * 2) : bytes[i];
        if (category) {
            *(*categories)++ = first + (int32_t)(i * value_width(block) + value);
        } else {
            *(*numbers)++ = maximum > 0 ? (float)value / maximum : 0.0f;
        }
    }
}

TySplit ty_split_size(const TyRuleset *ruleset)
{
    const TyShape *shape = ty_shape(ruleset);
    TySplit split = {.categories = 0};
    for (uint32_t i = 0; i < shape->row_block_count; i++) {
        const TyBlock *block = &shape->row_blocks[i];
        if (block->kind == TY_BLOCK_CATEGORY) {
            split.categories += block_value_count(block);
            split.values += ty_expand_width(block);
        } else {
            split.numbers += block_value_count(block);
        }
    }
    return split;
}

void ty_split(const TyRuleset *ruleset, const uint8_t *rows, uint32_t count, int32_t *categories,
              float *numbers)
{
    const TyShape *shape = ty_shape(ruleset);
    for (uint32_t row = 0; row < count; row++) {
        int32_t first = 0;
        for (uint32_t i = 0; i < shape->row_block_count; i++) {
            const TyBlock *block = &shape->row_blocks[i];
            block_split(block, rows + (size_t)row * shape->row_size, first, &categories, &numbers);
            if (block->kind == TY_BLOCK_CATEGORY) {
                first += (int32_t)ty_expand_width(block);
            }
        }
    }
}
