/* Convoi Express: what lies ahead of trains, and what a choice costs. */
#include "games/convoi/text.h"

#include <string.h>

enum { AHEAD_MAX = 12 /* lights, switches and trains that are told ahead of a train */ };

/* ---- Names -------------------------------------------------------------------------------------
 */

Name view_name(const View *view, const TyNames *names, uint32_t index)
{
    Name name = {.text = ""};
    TyText text = ty_text_init(name.text, sizeof name.text);
    ty_names_write(names, view->ruleset, index, &text);
    return name;
}

Name view_title(const View *view, const TyNames *names, uint32_t index)
{
    Name name = {.text = ""};
    TyText text = ty_text_init(name.text, sizeof name.text);
    ty_names_title(names, view->ruleset, index, &text);
    return name;
}

uint32_t view_setting(const View *view, uint32_t junction)
{
    return (uint32_t)view->tables->setting_first[junction] + view->state->setting[junction];
}

bool view_on_track(const View *view, uint8_t train)
{
    uint8_t place = view->state->place[train];
    return place != 0 && place <= view->tables->space_count;
}

Name view_heading(const View *view, uint8_t train)
{
    static const TyNames *const names[] = {
        [LINK_CITY] = &convoi_cities,
        [LINK_START] = &convoi_starts,
        [LINK_JUNCTION] = &convoi_junctions,
    };
    Link link = train_link(view->tables, view->state, train);
    while (link.kind == LINK_SPACE) {
        link = view->tables->ahead[2 * link.index + link.side];
    }
    return view_name(view, names[link.kind], link.index);
}

/* ---- Ahead -------------------------------------------------------------------------------------
 */

/* What lies ahead, being told. */
typedef struct Ahead {
    const View *view;
    uint8_t train;
    uint32_t spaces; /* passed since the last thing that was told */
    uint32_t told;
    TyText *out;
} Ahead;

/* Begins the next thing: tells the spaces before it. */
static void ahead_next(Ahead *ahead)
{
    ty_text_add(ahead->out, "%s", ahead->told++ == 0 ? "" : ", ");
    if (ahead->spaces > 0) {
        ty_text_put_count(ahead->out, ahead->spaces, "space");
        ty_text_add(ahead->out, ", ");
        ahead->spaces = 0;
    }
}

/* A train that stands on the place ahead. */
static void ahead_train(Ahead *ahead, Link link)
{
    const View *view = ahead->view;
    uint8_t other = train_at(view->state, link_place(view->tables, link), ahead->train);
    if (other != CONVOI_NONE) {
        bool meets = train_meeting(view->state, other, link) == LOSS_HEAD_ON;
        ahead_next(ahead);
        ty_text_add(ahead->out, "train %s%s", convoi_trains.words[other],
                    meets ? " coming towards it" : "");
    }
}

/* A switch: where it leads from here, and the link behind it. False if it is closed. */
static bool ahead_switch(Ahead *ahead, Link *link)
{
    const View *view = ahead->view;
    uint8_t junction = link->index;
    uint8_t leg = junction_other_leg(view->tables->junction_degree[junction],
                                     view->state->setting[junction], link->side);
    ahead_next(ahead);
    ty_text_add(ahead->out, "switch %s ", view_name(view, &convoi_junctions, junction).text);
    if (leg == CONVOI_LEG_NONE) {
        ty_text_add(ahead->out, "CLOSED (it joins %s)",
                    view_name(view, &convoi_open_legs, view_setting(view, junction)).text);
        return false;
    }
    ty_text_add(ahead->out, "to %s",
                view->tables->names.bytes + view->tables->leg_way[junction][leg]);
    *link = view->tables->leaving[junction][leg];
    return true;
}

void view_write_ahead(const View *view, uint8_t train, Link link, TyText *out)
{
    Ahead ahead = {.view = view, .train = train, .out = out};
    while (ahead.told < AHEAD_MAX) {
        if (link.light != CONVOI_NONE) {
            bool green = (view->state->green >> link.light & 1) != 0;
            ahead_next(&ahead);
            ty_text_add(out, "light %s %s", view_name(view, &convoi_lights, link.light).text,
                        green ? "green" : "RED");
        }
        if (link.kind == LINK_JUNCTION) {
            if (!ahead_switch(&ahead, &link)) {
                return;
            }
            continue;
        }
        ahead_train(&ahead, link);
        ahead.spaces++;
        if (link.kind != LINK_SPACE) {
            const TyNames *names = link.kind == LINK_CITY ? &convoi_cities : &convoi_starts;
            ahead.spaces--;
            ahead_next(&ahead);
            ty_text_add(out, "%s%s", link.kind == LINK_START ? "the dead end " : "",
                        view_title(view, names, link.index).text);
            return;
        }
        link = view->tables->ahead[2 * link.index + link.side];
    }
    ty_text_add(out, ", and so on");
}

/* ---- Choices -----------------------------------------------------------------------------------
 */

/* The faces of a colour's die: "1-2-2-3-3-4". */
static void write_die(uint8_t colour, TyText *out)
{
    const char *separator = "";
    for (uint32_t value = 1; value <= DIE_MAX; value++) {
        for (uint32_t i = 0; i < die_weights[colour][value]; i++) {
            ty_text_add(out, "%s%u", separator, value);
            separator = "-";
        }
    }
}

/* Where a train gets with so many points at most: what stops it, and what that costs. A train in a
 * city is taken to leave by the green exit that leads furthest. */
static void write_run(const View *view, uint8_t train, uint32_t points, TyText *out)
{
    static const char *const stops[] = {
        [LOSS_RED_LIGHT + 1] = "a red light",
        [LOSS_CLOSED_SWITCH + 1] = "a closed switch",
        [LOSS_TRAIN_AHEAD + 1] = "a train ahead",
        [LOSS_CITY_OCCUPIED + 1] = "an occupied city",
    };
    Hint hints[CONVOI_TRAINS];
    hints_compute(view->tables, view->state, hints);
    Hint hint = hints[train];
    uint8_t place = (uint8_t)(view->state->place[train] - 1);
    bool leaves = place < CONVOI_NONE && city_at(view->tables, place) != CONVOI_NONE;
    ty_text_add(out, "%s", leaves ? "by the green exit that leads furthest: " : "");
    bool enters = hint.obstacle == HINT_CITY || hint.obstacle == LOSS_START_REACHED + 1;
    if (hint.obstacle == 0 || points + enters <= hint.run) {
        ty_text_add(out, "the way is free");
    } else if (hint.obstacle == HINT_CITY) {
        ty_text_add(out, "with %u it comes to a city, where stopping is free", hint.run);
    } else if (hint.obstacle == LOSS_START_REACHED + 1) {
        ty_text_add(out, "with %u it comes to a dead end: 2 tokens and the train are lost",
                    hint.run);
    } else if (hint.obstacle == LOSS_HEAD_ON + 1) {
        ty_text_add(out,
                    "it can go %u; with more it meets a train head on: 2 tokens for each point "
                    "left, and the train, are lost",
                    hint.run);
    } else {
        ty_text_add(out, "it can go %u, then %s: every point left costs a token", hint.run,
                    stops[hint.obstacle]);
    }
}

static void explain_move(const View *view, uint8_t train, TyText *out)
{
    uint32_t highest = DIE_MAX;
    while (die_weights[train / 3][highest] == 0) {
        highest--;
    }
    ty_text_add(out, "rolls ");
    write_die(train / 3, out);
    ty_text_add(out, "; ");
    write_run(view, train, highest, out);
}

static void explain_load(const View *view, uint8_t train, TyText *out)
{
    uint8_t city = city_at(view->tables, (uint8_t)(view->state->place[train] - 1));
    ty_text_add(out, "%s in %s", convoi_goods.words[view->tables->city_goods[city]],
                view_title(view, &convoi_cities, city).text);
}

static void explain_colour(const View *view, uint8_t colour, TyText *out)
{
    uint32_t depot = 0;
    for (uint32_t i = 0; i < 3; i++) {
        depot += view->state->place[3 * colour + i] == 0;
    }
    ty_text_add(out, "%u in the depot, %u on the network, die ", depot, 3 - depot);
    write_die(colour, out);
}

static void explain_pay(const View *view, uint32_t payment, TyText *out)
{
    const uint8_t *hand = view->state->hand[view->state->active];
    const uint8_t *cards = payments[payment].cards;
    ty_text_add(out, "leaves you %u signal, %u switch, %u move", hand[0] - cards[0],
                hand[1] - cards[1], hand[2] - cards[2]);
}

void convoi_explain(const TyRuleset *ruleset, const void *state, uint32_t action, TyText *out)
{
    const View view = view_of(ruleset, state);
    TyChoice choice = ty_choice(ruleset, action);
    uint8_t item = (uint8_t)choice.item;
    if (choice.form == FORM_MOVE) {
        explain_move(&view, item, out);
    } else if (choice.form == FORM_KEEP) {
        write_run(&view, (uint8_t)(view.state->train - 1), view.state->roll, out);
    } else if (choice.form == FORM_LOAD) {
        explain_load(&view, item, out);
    } else if (choice.form == FORM_COLOUR) {
        explain_colour(&view, item, out);
    } else if (choice.form == FORM_PAY) {
        explain_pay(&view, item, out);
    } else if (choice.form == FORM_EXIT) {
        view_write_ahead(&view, (uint8_t)(view.state->train - 1), view.tables->exit[item], out);
    }
}
