/* Convoi Express: what lies ahead of each train, for learners that do not know the board yet.
 *
 * All of it follows from the rest of the row; working it out takes a person a glance and a network
 * a long training. Option `hints`. */
#include "games/convoi/state.h"

#include <string.h>

static void hint_block(Hint *hint, Loss why, Link at)
{
    hint->obstacle = (uint8_t)(why + 1);
    if (why == LOSS_RED_LIGHT) {
        hint->light = (uint8_t)(at.light + 1);
    } else {
        hint->junction = (uint8_t)(at.index + 1);
    }
}

/* A position, and for every place the train on it plus one: looking that up is what costs time. */
typedef struct Scene {
    const ConvoiTables *tables;
    const ConvoiState *state;
    uint8_t train_at[256];
} Scene;

/* Follows the line from `link` as `train` with the longest roll would. */
static Hint hint_follow(const Scene *scene, uint8_t train, Link link)
{
    const ConvoiTables *tables = scene->tables;
    const ConvoiState *state = scene->state;
    Hint hint = {0};
    while (hint.run < DIE_MAX) {
        Loss why = LOSS_RED_LIGHT;
        if (!link_follow(tables, state, &link, &why)) {
            hint_block(&hint, why, link);
            break;
        }
        uint8_t other = scene->train_at[link_place(tables, link)];
        if (other != 0 && other != train + 1) {
            hint.obstacle = (uint8_t)(train_meeting(state, (uint8_t)(other - 1), link) + 1);
            break;
        }
        hint.run++;
        if (link.kind != LINK_SPACE) {
            hint.obstacle = link.kind == LINK_START ? LOSS_START_REACHED + 1 : HINT_CITY;
            break;
        }
        link = tables->ahead[2 * link.index + link.side];
    }
    return hint;
}

/* The green exit by which a train in a city would get furthest. */
static Hint hint_leave(const Scene *scene, uint8_t train, uint8_t city)
{
    Hint best = {0};
    uint64_t exits = scene->state->green & scene->tables->city_lights[city];
    for (uint64_t left = exits; left != 0; left &= left - 1) {
        uint8_t light = (uint8_t)__builtin_ctzll(left);
        Hint hint = hint_follow(scene, train, scene->tables->exit[light]);
        if (left == exits || hint.run > best.run) {
            best = hint;
        }
    }
    return best;
}

static Hint train_hint(const Scene *scene, uint8_t train)
{
    const ConvoiTables *tables = scene->tables;
    uint8_t city = city_at(tables, (uint8_t)(scene->state->place[train] - 1));
    return city != CONVOI_NONE ? hint_leave(scene, train, city)
                               : hint_follow(scene, train, train_link(tables, scene->state, train));
}

void hints_compute(const ConvoiTables *tables, const ConvoiState *state, Hint hints[CONVOI_TRAINS])
{
    Scene scene = {.tables = tables, .state = state};
    memset(hints, 0, sizeof hints[0] * CONVOI_TRAINS);
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (state->place[train] != 0) {
            scene.train_at[state->place[train] - 1] = (uint8_t)(train + 1);
        }
    }
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (state->place[train] != 0) {
            hints[train] = train_hint(&scene, train);
        }
    }
}

void hints_lay_out(const Hint hints[CONVOI_TRAINS], const Way ways[CONVOI_TRAINS],
                   uint8_t blocks[CONVOI_HINTS][CONVOI_TRAINS])
{
    for (uint32_t train = 0; train < CONVOI_TRAINS; train++) {
        const Hint *hint = &hints[train];
        const Way *way = &ways[train];
        const uint8_t bytes[CONVOI_HINTS] = {hint->run, hint->obstacle, hint->light, hint->junction,
                                             way->cost, way->exit,      way->light,  way->setting};
        for (uint32_t i = 0; i < CONVOI_HINTS; i++) {
            blocks[i][train] = bytes[i];
        }
    }
}
