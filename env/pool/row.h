/* The cells of a slab, and the rows that slots write into them. */
#pragma once

#include "core/bytes.h"
#include "pool/pool_internal.h"

static inline void *cell(const TySlab *slab, Place place, TyColumn column, size_t size)
{
    const TyColumnLayout *layout = &slab->group[place.group].columns[column];
    return slab->rows + layout->offset + place.row * layout->width * size;
}

/* The same for a column that has one value in a row. */
static inline void *cell_one(const TySlab *slab, Place place, TyColumn column, size_t size)
{
    return slab->rows + slab->group[place.group].columns[column].offset + place.row * size;
}

/* With release order, since `ready` is stored last: a reader that sees it set, from another
 * process and at any time, sees the whole row. */
static inline void put_u8(const TySlab *slab, Place place, TyColumn column, uint8_t value)
{
    __atomic_store_n((uint8_t *)cell_one(slab, place, column, 1), value, __ATOMIC_RELEASE);
}

static inline void put_u32(const TySlab *slab, Place place, TyColumn column, uint32_t value)
{
    *(uint32_t *)cell_one(slab, place, column, 4) = value;
}

static inline void put_u64(const TySlab *slab, Place place, TyColumn column, uint64_t value)
{
    *(uint64_t *)cell_one(slab, place, column, 8) = value;
}

/* The row of the seat to act, in the slab of its owner, who has to answer. */
void row_ask(TyPool *pool, Place place);
/* The row stays as it is; nothing was earned by the refused action. */
void row_refuse(const TyPool *pool, Place place, uint32_t member);
/* The ending as every member sees it: the row of its seat that acted last, or of its first seat. */
void ending_write(TyPool *pool, Place place);

/* The row of the old episode's end, while the new episode's first row is written over it. */
typedef struct EndingRow {
    SlotEnding ending;
    float reward;
    float earned[TY_SEATS_MAX];
} EndingRow;

EndingRow ending_row_keep(const TySlab *slab, Place place, SlotEnding ending);
void ending_row_put(const TySlab *slab, Place place, const EndingRow *row);
