/* Convoi Express: how a train moves (Regles de deplacement), and what it meets on its way. */
#include "games/convoi/state.h"
#include "kit/draw.h"

#include <assert.h>

/* Faces of the dice as weights of the values 0..5: black 2 3 3 4 4 5, brown 1 2 2 3 3 4, gray
 * 1 1 1 2 2 3. */
const uint8_t die_weights[CONVOI_COLOURS][DIE_MAX + 1] = {
    {0, 0, 1, 2, 2, 1},
    {0, 1, 2, 2, 1, 0},
    {0, 3, 2, 1, 0, 0},
};

/* Without a branch for each train, and byte by byte: a word whose bytes were just written has to
 * wait for them. */
uint8_t train_at(const ConvoiState *state, uint8_t place, uint8_t mover)
{
    uint32_t there = 0;
    for (uint32_t train = 0; train < CONVOI_TRAINS; train++) {
        there |= (uint32_t)(state->place[train] == place + 1) << train;
    }
    there &= mover == CONVOI_NONE ? UINT32_MAX : ~(1u << mover);
    return there == 0 ? CONVOI_NONE : (uint8_t)__builtin_ctz(there);
}

bool port_takes(const ConvoiTables *tables, const ConvoiState *state, uint8_t port, uint8_t goods)
{
    const uint8_t *held = state->delivered[port];
    if (held[goods] < tables->port_wants) {
        return true;
    }
    uint8_t extra = 0;
    for (uint32_t i = 0; i < CONVOI_GOODS; i++) {
        extra =
            (uint8_t)(extra + (held[i] > tables->port_wants ? held[i] - tables->port_wants : 0));
    }
    return extra < tables->port_extra;
}

/* Tells of the way covered since the last event, if there is any. */
static void path_tell(Play *play)
{
    if (play->ty->path_count > 0) {
        EVENT(play, EVENT_MOVE, (int16_t)(play->state->train - 1));
        play->ty->path_count = 0;
    }
}

/* The train has come to rest: back to the card or to the action cards. */
void train_done(Play *play)
{
    ConvoiState *state = play->state;
    path_tell(play);
    state->train = 0;
    state->roll = 0;
    state->points = 0;
    state->entry = 0;
    if (state->head.over) {
        return;
    }
    if (state->card != CARD_NONE) {
        card_next(play);
    } else {
        actions_ask(play);
    }
}

void train_to_depot(Play *play, uint8_t train)
{
    ConvoiState *state = play->state;
    EVENT(play, EVENT_DEPOT, train, state->cargo[train]);
    if (state->cargo[train] != 0) {
        state->goods[play->tables->goods_city[state->cargo[train] - 1]]++;
    }
    state->place[train] = 0;
    state->heading[train] = 0;
    state->cargo[train] = 0;
    network_change(play);
}

/* Rules 3, 6, 7, 8: the train waits where it is; each point that it could not use costs a token. */
static void train_wait(Play *play, Loss why)
{
    path_tell(play);
    tokens_lose(play, play->state->points, why);
    train_done(play);
}

/* Rule 11: two tokens for each point left; the train that moved goes to the depot. */
static void train_collide(Play *play, uint8_t train)
{
    ConvoiState *state = play->state;
    path_tell(play);
    state->collisions++;
    train_to_depot(play, train);
    tokens_lose(play, (uint8_t)(2 * state->points), LOSS_HEAD_ON);
    train_done(play);
}

/* Rule 12: a start space reached from the track costs two tokens, and the train goes to the depot.
 */
static void train_derail(Play *play, uint8_t train)
{
    path_tell(play);
    play->state->derailments++;
    train_to_depot(play, train);
    tokens_lose(play, 2, LOSS_START_REACHED);
    train_done(play);
}

void train_unload(Play *play, uint8_t train, uint8_t city)
{
    ConvoiState *state = play->state;
    uint8_t goods = (uint8_t)(state->cargo[train] - 1);
    state->delivered[play->tables->city_port[city]][goods]++;
    state->goods_delivered++;
    state->cargo[train] = 0;
    network_change(play);
    team_earn(play, delivery_reward(play->tables));
    EVENT(play, EVENT_DELIVER, train, goods, city, state->goods_delivered);
}

/* Rule 10: what the train carries is unloaded and the train goes to the depot. A good that the port
 * no longer takes goes back to its city (ruling 17). */
static void train_reach_port(Play *play, uint8_t train, uint8_t city)
{
    const ConvoiTables *tables = play->tables;
    ConvoiState *state = play->state;
    path_tell(play);
    if (state->cargo[train] != 0 &&
        port_takes(tables, state, tables->city_port[city], (uint8_t)(state->cargo[train] - 1))) {
        train_unload(play, train, city);
    }
    train_to_depot(play, train);
    if (state->goods_delivered == tables->goods_wanted) {
        episode_end(play, true, END_ALL_DELIVERED);
    }
    train_done(play);
}

/* A train has entered `city` by the exit of light `entry`. Rule 9: it must stop, unless this side
 * of the board or the gestionnaire lets trains cross and an exit ahead is green. */
static void train_reach_city(Play *play, uint8_t train, uint8_t city, uint8_t entry)
{
    const ConvoiTables *tables = play->tables;
    ConvoiState *state = play->state;
    bool port = tables->city_port[city] != CONVOI_NONE;
    if (port && (!tables->crossing || state->cargo[train] != 0)) {
        train_reach_port(play, train, city);
        return;
    }
    bool may_cross =
        tables->crossing || !state->staff_used[STAFF_GESTIONNAIRE] || state->crossing_on;
    state->entry = (uint8_t)(entry + 1);
    if (state->points == 0 || !may_cross || city_exits(tables, state, city, state->entry) == 0) {
        train_done(play);
        return;
    }
    path_tell(play);
    ask(play, tables->crossing || state->crossing_on ? PHASE_EXIT : PHASE_CITY);
}

bool link_follow(const ConvoiTables *tables, const ConvoiState *state, Link *link, Loss *why)
{
    for (;;) {
        if (link->light != CONVOI_NONE && (state->green >> link->light & 1) == 0) {
            *why = LOSS_RED_LIGHT;
            return false;
        }
        if (link->kind != LINK_JUNCTION) {
            return true;
        }
        uint8_t junction = link->index;
        uint8_t leg = junction_other_leg(tables->junction_degree[junction],
                                         state->setting[junction], link->side);
        if (leg == CONVOI_LEG_NONE) {
            *why = LOSS_CLOSED_SWITCH;
            return false;
        }
        *link = tables->leaving[junction][leg];
    }
}

uint8_t link_place(const ConvoiTables *tables, Link link)
{
    switch ((LinkKind)link.kind) {
    case LINK_SPACE:
        return link.index;
    case LINK_CITY:
        return place_city(tables, link.index);
    case LINK_START:
        return place_start(tables, link.index);
    case LINK_JUNCTION:
        break;
    }
    assert(false);
    return 0;
}

/* Only on the track does a train have a heading; one that waits on its start faces whoever comes.
 */
Loss train_meeting(const ConvoiState *state, uint8_t other, Link link)
{
    if (link.kind == LINK_CITY) {
        return LOSS_CITY_OCCUPIED;
    }
    bool facing = link.kind == LINK_START || state->heading[other] != link.side;
    return facing ? LOSS_HEAD_ON : LOSS_TRAIN_AHEAD;
}

/* Meets `other` on the place ahead (rules 5, 8, 11). */
static void train_meet(Play *play, uint8_t train, uint8_t other, Link link)
{
    Loss meeting = train_meeting(play->state, other, link);
    if (meeting == LOSS_HEAD_ON) {
        train_collide(play, train);
    } else {
        train_wait(play, meeting);
    }
}

/* The train other than `mover` at a place. Only the mover's place changes while it moves, so the
 * places are read once, before. */
static inline uint8_t train_met(BytesOf16 places, uint8_t place, uint8_t mover)
{
    uint32_t there = bytes_high((BytesOf16)(places == (uint8_t)(place + 1)));
    there &= ((1u << CONVOI_TRAINS) - 1) & ~(1u << mover);
    return there == 0 ? CONVOI_NONE : (uint8_t)__builtin_ctz(there);
}

/* Uses one point along `link`. Returns true if the train is on the track and has points left. */
static bool train_advance(Play *play, uint8_t train, Link link, BytesOf16 places)
{
    ConvoiState *state = play->state;
    Loss why = LOSS_RED_LIGHT;
    if (!link_follow(play->tables, state, &link, &why)) {
        train_wait(play, why);
        return false;
    }
    uint8_t place = link_place(play->tables, link);
    uint8_t other = train_met(places, place, train);
    if (other != CONVOI_NONE) {
        train_meet(play, train, other, link);
        return false;
    }
    state->place[train] = (uint8_t)(place + 1);
    state->heading[train] = link.kind == LINK_SPACE ? link.side : 0;
    network_change(play);
    state->points--;
    if (play->ty->path_count < TY_EVENT_PATH_MAX) {
        play->ty->path[play->ty->path_count++] = place;
    }
    if (link.kind == LINK_CITY) {
        train_reach_city(play, train, link.index, link.light);
    } else if (link.kind == LINK_START) {
        train_derail(play, train);
    } else if (state->points == 0) {
        train_done(play);
    } else {
        return true;
    }
    return false;
}

/* Runs the train along `link` until it comes to rest or a question has to be asked. */
static void train_follow(Play *play, Link link)
{
    const ConvoiTables *tables = play->tables;
    ConvoiState *state = play->state;
    uint8_t train = (uint8_t)(state->train - 1);
    const BytesOf16 places = bytes_load(state->place);
    while (train_advance(play, train, link, places)) {
        link = tables->ahead[2 * (state->place[train] - 1) + state->heading[train]];
    }
}

Link train_link(const ConvoiTables *tables, const ConvoiState *state, uint8_t train)
{
    uint8_t place = (uint8_t)(state->place[train] - 1);
    return place < tables->space_count ? tables->ahead[2 * place + state->heading[train]]
                                       : tables->departure[place - place_start(tables, 0)];
}

void train_exit(Play *play, uint8_t light)
{
    play->state->entry = 0;
    train_follow(play, play->tables->exit[light]);
}

/* A train that begins its move in `city` takes the only exit at once, as in act_choose. */
static void train_leave(Play *play, uint8_t city)
{
    uint64_t exits = city_exits(play->tables, play->state, city, play->state->entry);
    ask(play, PHASE_EXIT);
    if (bits_single(exits) && !play->ty->ruleset->ask_forced) {
        train_exit(play, (uint8_t)__builtin_ctzll(exits));
    }
}

void train_run(Play *play)
{
    const ConvoiState *state = play->state;
    uint8_t train = (uint8_t)(state->train - 1);
    uint8_t city = city_at(play->tables, (uint8_t)(state->place[train] - 1));
    if (city != CONVOI_NONE) {
        train_leave(play, city);
    } else {
        train_follow(play, train_link(play->tables, state, train));
    }
}

/* What the die of `colour` shows: draw_few, but that the compiler knows what each of the three
 * streams adds to the seed. Computing it takes as long as half of a draw. */
static uint32_t die_draw(Play *play, uint8_t colour)
{
    TyHead *head = &play->state->head;
    const uint8_t *weights = die_weights[colour];
    uint32_t stream = STREAM_DIE + (uint32_t)colour;
    if (play->ty->tape != NULL) {
        return ty_draw(play->ty, stream, weights, DIE_MAX + 1);
    }
    uint64_t mixed = bits_if(colour == 0, draw_stream(STREAM_DIE)) |
                     bits_if(colour == 1, draw_stream(STREAM_DIE + 1)) |
                     bits_if(colour == 2, draw_stream(STREAM_DIE + 2));
    return weights_pass(weights, DIE_MAX + 1,
                        draw_mixed_below(head->seed, mixed, &head->draws[stream], DIE_FACES));
}

static void die_roll(Play *play, uint8_t train)
{
    ConvoiState *state = play->state;
    uint8_t colour = train / 3;
    uint32_t value = die_draw(play, colour);
    state->roll = (uint8_t)value;
    state->points = (uint8_t)value;
    EVENT_CHANCE(play, EVENT_ROLL, STREAM_DIE + colour, value, colour, (int16_t)value);
}

void train_roll(Play *play, uint8_t train)
{
    ConvoiState *state = play->state;
    state->train = (uint8_t)(train + 1);
    state->entry = 0;
    die_roll(play, train);
    if (!play->tables->crossing && !state->staff_used[STAFF_LOGISTICIEN]) {
        ask(play, PHASE_DIE);
    } else {
        train_run(play);
    }
}

void train_reroll(Play *play)
{
    die_roll(play, (uint8_t)(play->state->train - 1));
    train_run(play);
}
