/* Fuzzes what reads boards, maps, decks and train files (libFuzzer): whatever is accepted is played
 * for a while, and its invariants hold. Besides bytes, whole JSON values are changed. */
#include "core/hash.h"
#include "game.h"
#include "tests/fuzz/fuzz_options.h"

#include <jansson.h>
#include <sanitizer/asan_interface.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argument_count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);

enum { STEPS_MAX = 60, ARENA_SIZE = 4 << 20, ARENA_ALIGN = 16 };

/* ---- Memory for jansson ---- */

/* jansson takes a hundred small pieces per file, which AddressSanitizer's own allocator makes twice
 * as slow as everything else. These are laid one behind the other, cannot be read once they are
 * freed, and are all given back at the end of an input. */
static struct {
    alignas(ARENA_ALIGN) uint8_t bytes[ARENA_SIZE];
    size_t used;
    uint32_t pieces; /* not freed yet */
} arena;

static void *arena_take(size_t size)
{
    size_t whole = ARENA_ALIGN + (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (whole > ARENA_SIZE - arena.used) {
        return NULL;
    }
    uint8_t *piece = arena.bytes + arena.used + ARENA_ALIGN;
    __asan_unpoison_memory_region(piece - sizeof size, sizeof size + size);
    memcpy(piece - sizeof size, &size, sizeof size);
    __asan_poison_memory_region(piece - sizeof size, sizeof size);
    arena.used += whole;
    arena.pieces++;
    return piece;
}

static void arena_free(void *piece)
{
    size_t size = 0;
    if (piece == NULL) {
        return;
    }
    uint8_t *head = (uint8_t *)piece - sizeof size;
    if (__asan_address_is_poisoned(piece)) {
        abort(); /* freed twice */
    }
    __asan_unpoison_memory_region(head, sizeof size);
    memcpy(&size, head, sizeof size);
    __asan_poison_memory_region(head, sizeof size + size);
    arena.pieces--;
}

/* Everything must have been freed. */
static void arena_clear(void)
{
    if (arena.pieces != 0) {
        abort();
    }
    arena.used = 0;
}

int LLVMFuzzerInitialize(int *argument_count, char ***arguments)
{
    (void)argument_count;
    (void)arguments;
    __asan_poison_memory_region(arena.bytes, sizeof arena.bytes);
    json_set_alloc_funcs(arena_take, arena_free);
    return 0;
}

/* ---- Reading and playing ---- */

static void board_play(const TyRuleset *ruleset, uint64_t seed)
{
    static uint64_t state[TY_STATE_MAX / 8];
    static uint8_t mask[TY_ACTIONS_MAX];
    static uint8_t row[TY_ROW_MAX];
    static char text[1 << 16];
    const TyShape *shape = ty_shape(ruleset);
    int32_t reward[TY_SEATS_MAX];
    ty_reset(ruleset, state, seed, NULL);
    for (uint32_t step = 0; step < STEPS_MAX && !ty_head(state)->over; step++) {
        ty_legal(ruleset, state, mask);
        uint32_t action = ty_sample(mask, shape->action_count, seed, step);
        if (!ty_step(ruleset, state, action, reward, NULL)) {
            abort();
        }
    }
    if (ty_check(ruleset, state) != NULL) {
        fprintf(stderr, "broken: %s\n", ty_check(ruleset, state));
        abort();
    }
    for (uint32_t seat = 0; seat < shape->players; seat++) {
        ty_observe(ruleset, state, seat, row);
        ty_text(ruleset, state, seat, text, sizeof text);
    }
    ty_state_json(ruleset, state, text, sizeof text);
}

/* Opens the file as the value of one key of one game. */
static void board_open_as(const TyGame *game, uint32_t key, const TyFileBytes *file, uint64_t seed)
{
    char spec[TY_SPEC_MAX];
    TyRuleset *ruleset = NULL;
    snprintf(spec, sizeof spec, "%s:%s=fuzzed", game->name, game->files[key].key);
    TyStatus status = ty_ruleset_open_bytes(spec, file, 1, &ruleset);
    if ((status.code == TY_OK) != (ruleset != NULL) ||
        (status.code != TY_OK && status.message[0] == '\0')) {
        abort();
    }
    if (ruleset != NULL) {
        board_play(ruleset, seed);
        ty_ruleset_close(ruleset);
    }
}

/* Opens the file as what it says it is, and one input in eight as every other kind, which refuse it
 * with a sentence. */
static void board_open(const char *kind, const char *bytes, size_t size, uint64_t seed)
{
    const TyFileBytes file = {.value = "fuzzed", .name = "fuzzed", .bytes = bytes, .size = size};
    for (uint32_t i = 0; i < ty_game_count(); i++) {
        const TyGame *game = ty_game_at(i);
        for (uint32_t k = 0; k < game->file_count; k++) {
            if (strcmp(game->files[k].title, kind) == 0 || seed % 8 == 0) {
                board_open_as(game, k, &file, seed);
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *kind = NULL;
    char name[TY_NAME_MAX];
    /* In memory of exactly its size, so that reading beyond the end is seen. */
    char *bytes = malloc(size > 0 ? size : 1);
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data, size);
    TyStatus status = ty_file_check(bytes, size, &kind, name);
    if (status.code == TY_OK) {
        board_open(kind, bytes, size, hash_bytes(0, data, size));
    } else if (status.message[0] == '\0') {
        abort();
    }
    free(bytes);
    arena_clear();
    return 0;
}

/* ---- Changing values ---- */

static uint64_t pick(uint64_t *state, uint64_t count)
{
    *state = hash_mix(*state + 0x9E3779B97F4A7C15u);
    return *state % count;
}

/* Another value for a place in a document: an edge, a word of another place, or nothing at all. */
static json_t *value_make(uint64_t *state, json_t *old)
{
    static const json_int_t numbers[] = {0,   1,   -1,  2,     3,         7,         16,       63,
                                         127, 128, 255, 65535, INT32_MAX, INT32_MIN, INT64_MAX};
    switch (pick(state, 8)) {
    case 0:
    case 1:
        return json_integer(numbers[pick(state, sizeof numbers / sizeof numbers[0])]);
    case 2:
    case 3:
        return json_is_integer(old) ? json_integer((json_int_t)((uint64_t)json_integer_value(old) +
                                                                pick(state, 5) - 2))
                                    : json_integer((json_int_t)pick(state, 20));
    case 4:
        return json_string(pick(state, 2) == 0 ? "" : "gray");
    case 5:
        return pick(state, 2) == 0 ? json_true() : json_null();
    case 6:
        return json_real((double)pick(state, 2000) / 7.0);
    default:
        return pick(state, 2) == 0 ? json_array() : json_object();
    }
}

/* One entry of a list goes, comes twice, changes places or changes. */
static void list_change(uint64_t *state, json_t *list)
{
    size_t size = json_array_size(list);
    size_t at = (size_t)pick(state, size);
    size_t other = (size_t)pick(state, size);
    switch (pick(state, 4)) {
    case 0:
        json_array_remove(list, at);
        return;
    case 1:
        json_array_insert_new(list, at, json_deep_copy(json_array_get(list, other)));
        return;
    case 2:
        json_array_set_new(list, at, json_deep_copy(json_array_get(list, other)));
        return;
    default:
        json_array_set_new(list, at, value_make(state, json_array_get(list, at)));
        return;
    }
}

static void *map_place(uint64_t *state, json_t *map)
{
    void *place = json_object_iter(map);
    for (uint64_t skip = pick(state, json_object_size(map)); skip > 0; skip--) {
        place = json_object_iter_next(map, place);
    }
    return place;
}

static void map_change(uint64_t *state, json_t *map)
{
    void *place = map_place(state, map);
    if (pick(state, 6) == 0) {
        char key[256];
        snprintf(key, sizeof key, "%s", json_object_iter_key(place));
        json_object_del(map, key);
    } else {
        json_object_iter_set_new(map, place, value_make(state, json_object_iter_value(place)));
    }
}

/* Goes down from the root at random and changes what it comes to. */
static void document_change(uint64_t *state, json_t *value)
{
    for (;;) {
        size_t size = json_is_array(value) ? json_array_size(value) : json_object_size(value);
        if (size == 0) {
            return;
        }
        json_t *child = json_is_array(value) ? json_array_get(value, (size_t)pick(state, size))
                                             : json_object_iter_value(map_place(state, value));
        bool leaf = json_array_size(child) == 0 && json_object_size(child) == 0;
        if (leaf || pick(state, 4) == 0) {
            if (json_is_array(value)) {
                list_change(state, value);
            } else {
                map_change(state, value);
            }
            return;
        }
        value = child;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned int seed)
{
    uint64_t state = seed;
    json_t *root = pick(&state, 3) > 0 ? json_loadb((const char *)data, size, 0, NULL) : NULL;
    if (root == NULL) {
        arena_clear();
        return LLVMFuzzerMutate(data, size, size_max);
    }
    for (uint64_t count = 1 + pick(&state, 3); count > 0; count--) {
        document_change(&state, root);
    }
    size_t written = json_dumpb(root, (char *)data, size_max, JSON_COMPACT);
    json_decref(root);
    arena_clear();
    return written > 0 && written <= size_max ? written : LLVMFuzzerMutate(data, size, size_max);
}
