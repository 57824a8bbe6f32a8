/* Convoi Express: positions as text, enough to play from. */
#include "games/convoi/text.h"

/* ---- The goal and how far ----------------------------------------------------------------------
 */

static void text_port(const View *view, uint8_t city, TyText *out)
{
    const ConvoiTables *tables = view->tables;
    uint8_t port = tables->city_port[city];
    const char *separator = " ";
    ty_text_add(out, "  %s [%s] still wants", view_title(view, &convoi_cities, city).text,
                view_name(view, &convoi_cities, city).text);
    for (uint8_t goods = 0; goods < CONVOI_GOODS; goods++) {
        uint8_t held = view->state->delivered[port][goods];
        if (tables->goods_city[goods] != CONVOI_NONE && held < tables->port_wants) {
            ty_text_add(out, "%s%u %s", separator, tables->port_wants - held,
                        convoi_goods.words[goods]);
            separator = ", ";
        }
    }
    ty_text_add(out, "%s", separator[0] == ' ' ? " none of a colour of its own" : "");
    if (tables->port_extra > 0) {
        ty_text_add(out, "; %u more of any colour count", tables->port_extra);
    }
    ty_text_add(out, "; has %u\n", goods_of_port(view->state, port));
}

static void text_goal(const View *view, TyText *out)
{
    const ConvoiTables *tables = view->tables;
    const ConvoiState *state = view->state;
    ty_text_add(out,
                "Goal, together: goods from their cities to the port%s. Delivered: %u of %u.\n",
                tables->port_count > 1 ? "s" : "", state->goods_delivered, tables->goods_wanted);
    for (uint8_t city = 0; city < tables->city_count; city++) {
        if (tables->city_port[city] != CONVOI_NONE) {
            text_port(view, city, out);
        } else {
            ty_text_add(out, "  %s [%s] has %u %s to load\n",
                        view_title(view, &convoi_cities, city).text,
                        view_name(view, &convoi_cities, city).text, state->goods[city],
                        convoi_goods.words[tables->city_goods[city]]);
        }
    }
    ty_text_add(out,
                "Clock: %u of %u tokens. Without a token an instruction card is lost and the "
                "clock is full again. Instruction cards to come: %u%s\n",
                state->clock, tables->clock, state->pile,
                state->pile == 0 ? ": this is the last turn" : ", a turn each");
}

static void text_symbols(TyText *out, const char *verb, const uint8_t *colours, uint32_t count,
                         const char *any)
{
    for (uint32_t i = 0; i < count; i++) {
        bool free = colours[i] == CONVOI_COLOUR_ANY;
        ty_text_add(out, " %s %s;", verb, free ? any : convoi_colours.words[colours[i]]);
    }
}

static void text_card(const View *view, TyText *out)
{
    uint8_t number = view->state->card;
    if (number == CARD_NONE) {
        ty_text_add(out, "Instruction card: done for this turn\n");
        return;
    }
    const Card *card = card_of(view->tables, number);
    ty_text_add(out, "Instruction card %s:", view_name(view, &convoi_cards, number).text);
    text_symbols(out, "new train,", card->new_colour, card->new_count, "of any colour");
    text_symbols(out, "every train moves of", card->move_colour, card->move_count,
                 "a colour of choice");
    ty_text_add(out, " %u of %u done\n", view->state->symbol, card->new_count + card->move_count);
}

/* ---- Trains ------------------------------------------------------------------------------------
 */

/* The nearest city that the train wants, by track alone. */
static void text_wanted(const View *view, uint8_t train, TyText *out)
{
    const ConvoiTables *tables = view->tables;
    const ConvoiState *state = view->state;
    uint32_t place = state->place[train] - 1u;
    uint32_t node = place < tables->space_count ? 2 * place + state->heading[train]
                                                : place + tables->space_count;
    uint8_t cargo = state->cargo[train];
    uint8_t nearest = CONVOI_NONE;
    for (uint8_t city = 0; city < tables->city_count; city++) {
        uint8_t port = tables->city_port[city];
        bool wanted = cargo == 0 ? state->goods[city] > 0
                                 : port != CONVOI_NONE &&
                                       port_takes(tables, state, port, (uint8_t)(cargo - 1));
        if (wanted && tables->distance[node][city] != CONVOI_FAR &&
            (nearest == CONVOI_NONE ||
             tables->distance[node][city] < tables->distance[node][nearest])) {
            nearest = city;
        }
    }
    if (nearest == CONVOI_NONE) {
        ty_text_add(out, "; no city that it wants can be reached");
    } else if (city_at(tables, (uint8_t)place) == nearest) {
        ty_text_add(out, "; is where it is wanted");
    } else {
        uint32_t spaces = tables->distance[node][nearest];
        ty_text_add(out, "; wants %s, ", view_title(view, &convoi_cities, nearest).text);
        ty_text_put_count(out, spaces, "space");
        ty_text_add(out, " by track");
    }
}

/* The cheapest way to where the train is wanted, and what stands in it. */
static void text_way(const View *view, const Way *way, TyText *out)
{
    if (way->cost == 0 || way->cost >= WAY_COST_MAX) {
        return;
    }
    if (way->exit != 0) {
        ty_text_add(out, ", best by exit %s", view_name(view, &convoi_lights, way->exit - 1u).text);
    }
    if (way->light != 0) {
        ty_text_add(out, "; the next light to turn green on its way: %s",
                    view_name(view, &convoi_lights, way->light - 1u).text);
    }
    if (way->setting != 0) {
        ty_text_add(out, "; the next switch to set on its way: %s",
                    view_name(view, &convoi_settings, way->setting - 1u).text);
    }
}

/* What lies ahead of a train: from a city, behind each of its exits. */
static void text_ahead(const View *view, uint8_t train, TyText *out)
{
    const ConvoiTables *tables = view->tables;
    uint8_t city = city_at(tables, (uint8_t)(view->state->place[train] - 1));
    if (city == CONVOI_NONE) {
        ty_text_add(out, "\n    ahead: ");
        view_write_ahead(view, train, train_link(tables, view->state, train), out);
        return;
    }
    for (uint64_t left = tables->city_lights[city]; left != 0; left &= left - 1) {
        uint8_t light = (uint8_t)__builtin_ctzll(left);
        ty_text_add(out, "\n    exit: ");
        view_write_ahead(view, train, tables->exit[light], out);
    }
}

static void text_train(const View *view, uint8_t train, const Way *way, TyText *out)
{
    const ConvoiState *state = view->state;
    ty_text_add(out, "  %s at %s", convoi_trains.words[train],
                view_name(view, &convoi_places, state->place[train] - 1u).text);
    if (view_on_track(view, train)) {
        ty_text_add(out, " towards %s", view_heading(view, train).text);
    }
    if (state->cargo[train] != 0) {
        ty_text_add(out, ", carries %s", convoi_goods.words[state->cargo[train] - 1]);
    } else {
        ty_text_add(out, ", empty");
    }
    text_wanted(view, train, out);
    text_way(view, way, out);
    ty_text_add(out, "%s%s", state->moved[train] ? "; moved by this card" : "",
                state->train == train + 1 && state->act == 0 ? "; IT IS MOVING NOW" : "");
    text_ahead(view, train, out);
    ty_text_add(out, "\n");
}

static void text_trains(const View *view, TyText *out)
{
    uint32_t in_depot[CONVOI_COLOURS] = {0};
    Way ways[CONVOI_TRAINS];
    ways_compute(view->tables, view->state, true, ways);
    ty_text_add(out, "Trains (a move follows the track; every space or city costs a point of the "
                     "die, a point that cannot be used a token; red lights and closed switches "
                     "stop):\n");
    for (uint8_t train = 0; train < CONVOI_TRAINS; train++) {
        if (view->state->place[train] == 0) {
            in_depot[train / 3]++;
        } else {
            text_train(view, train, &ways[train], out);
        }
    }
    ty_text_add(out, "  in the depot: %u black, %u brown, %u gray\n", in_depot[0], in_depot[1],
                in_depot[2]);
}

/* ---- Lights, switches, hands, staff ------------------------------------------------------------
 */

static void text_discs(const View *view, TyText *out)
{
    ty_text_add(out, "Green lights (%s; all others are red):",
                view->tables->light_title[0] == 0
                    ? "CITY/TOWARDS is a city's exit, A~B lies on the track"
                    : "the board's lines say where they are");
    for (uint64_t left = view->state->green; left != 0; left &= left - 1) {
        uint32_t light = (uint32_t)__builtin_ctzll(left);
        ty_text_add(out, " %s", view_name(view, &convoi_lights, light).text);
    }
    ty_text_add(out, "\nSwitches (the two directions that each joins):");
    for (uint32_t i = 0; i < view->tables->junction_count; i++) {
        ty_text_add(out, " %s=%s", view_name(view, &convoi_junctions, i).text,
                    view_name(view, &convoi_open_legs, view_setting(view, i)).text);
    }
    ty_text_add(out, "\n");
}

static void text_hands(const View *view, uint32_t seat, TyText *out)
{
    for (uint32_t i = 0; i < view->tables->player_count; i++) {
        const uint8_t *hand = view->state->hand[i];
        ty_text_add(out, "Hand of seat %u%s: ", i, i == seat ? " (you)" : "");
        if (view->tables->hands_hidden && i != seat) {
            ty_text_put_count(out, hand_size(hand), "card");
            ty_text_add(out, "\n");
        } else {
            ty_text_add(out, "%u signal, %u switch, %u move\n", hand[0], hand[1], hand[2]);
        }
    }
}

/* The start tokens that lie open for the trains of the first card. */
static void text_tokens(const View *view, TyText *out)
{
    const char *separator = "First trains:";
    for (uint32_t i = 0; i < view->tables->first_card.new_count; i++) {
        uint8_t token = view->state->first_token[i];
        if (token != 0) {
            uint8_t start = view->state->number_start[token - 1];
            ty_text_add(out, "%s %s on %s (%u)", separator,
                        convoi_colours.words[view->tables->first_card.new_colour[i]],
                        view_name(view, &convoi_starts, start).text, token + 1u);
            separator = ";";
        }
    }
    ty_text_add(out, "%s", separator[0] == ';' ? "\n" : "");
}

static void text_starts(const View *view, TyText *out)
{
    const char *separator = "";
    ty_text_add(out, "Starts of new trains, by what two dice show:");
    for (uint32_t i = 0; i < CONVOI_NUMBERS; i++) {
        uint8_t start = view->state->number_start[i];
        uint8_t place = place_start(view->tables, start);
        bool taken = train_at(view->state, place, CONVOI_NONE) != CONVOI_NONE;
        ty_text_add(out, "%s %u %s%s", separator, i + 2,
                    view_name(view, &convoi_starts, start).text,
                    taken ? " (occupied: 2 tokens)" : "");
        separator = ";";
    }
    ty_text_add(out, "\n");
}

static void text_staff(const View *view, TyText *out)
{
    static const char *const help[2][CONVOI_STAFF] = {
        {"rolls again", "lets trains cross cities this turn", "keeps a colour from moving"},
        {"puts the revealed card under the pile", "chooses the start of a new train",
         "keeps a train from moving"},
    };
    ty_text_add(out, "Staff, once a game each:");
    for (uint32_t staff = 0; staff < CONVOI_STAFF; staff++) {
        ty_text_add(
            out, "%s %s (%s)%s", staff == 0 ? "" : ";", view_title(view, &convoi_staff, staff).text,
            help[view->tables->crossing][staff], view->state->staff_used[staff] ? " used" : "");
    }
    ty_text_add(out, "%s\n",
                view->state->crossing_on ? "; trains may cross cities until this turn ends" : "");
}

/* ---- The question ------------------------------------------------------------------------------
 */

static const char *colour_now(const View *view)
{
    return view->state->colour == 0 ? "new" : convoi_colours.words[view->state->colour - 1];
}

static void question_place(const View *view, Phase phase, TyText *out)
{
    uint32_t placed = (uint32_t)__builtin_popcountll(view->state->green);
    switch ((int)phase) {
    case PHASE_PLACE_CITY:
        ty_text_add(out, "set-up: which exit of %s gets its green light. Then the cities after it",
                    view_title(view, &convoi_cities, placed).text);
        break;
    case PHASE_PLACE_TRACK:
        ty_text_add(out,
                    "set-up: which light on the track turns green, one after the other. "
                    "Green so far: %u of %u",
                    placed, view->tables->green_count);
        break;
    case PHASE_PLACE_EXTRA:
        ty_text_add(out, "set-up: which light gets the additional green disc");
        break;
    default:
        ty_text_add(out, "set-up: which two directions the switch of %s [%s] joins",
                    view_title(view, &convoi_junctions, view->state->junction - 1u).text,
                    view_name(view, &convoi_junctions, view->state->junction - 1u).text);
        break;
    }
}

static void question_colour(const View *view, TyText *out)
{
    bool new_train = view->state->symbol < card_now(view->tables, view->state)->new_count;
    const char *separator = "; named already:";
    ty_text_add(out, "%s",
                new_train ? "the colour of the new train; then its start is rolled. The card's new "
                            "trains have different colours; what moves is named apart from them"
                          : "the colour whose trains move now. Each moves once for a card");
    for (uint32_t colour = 0; colour < CONVOI_COLOURS; colour++) {
        if (view->state->named[colour]) {
            ty_text_add(out, "%s %s", separator, convoi_colours.words[colour]);
            separator = ",";
        }
    }
}

static void question_exit(const View *view, TyText *out)
{
    const ConvoiState *state = view->state;
    ty_text_add(out, "by which green exit %s leaves its city, with ",
                convoi_trains.words[state->train - 1]);
    ty_text_put_count(out, state->points, "point");
    if (state->entry != 0) {
        ty_text_add(out, "; it crosses, having come in by %s, or it stops free of charge",
                    view_name(view, &convoi_lights, state->entry - 1u).text);
    }
}

/* What is being paid for. */
static void question_pay(const View *view, TyText *out)
{
    const ConvoiState *state = view->state;
    ty_text_add(out, "which cards pay for it: ");
    switch ((Act)(state->act - 1)) {
    case ACT_SIGNAL:
        ty_text_add(out, "the green light of %s goes to %s",
                    view_name(view, &convoi_lights, state->from - 1u).text,
                    view_name(view, &convoi_lights, state->to - 1u).text);
        break;
    case ACT_SWITCH:
        ty_text_add(out, "switch %s",
                    view_name(view, &convoi_settings,
                              (uint32_t)view->tables->setting_first[state->junction - 1] +
                                  state->junction_setting)
                        .text);
        break;
    case ACT_MOVE:
        ty_text_add(out, "%s moves", convoi_trains.words[state->train - 1]);
        break;
    case ACT_LOAD:
        ty_text_add(out, "%s loads", convoi_trains.words[state->train - 1]);
        break;
    }
}

static void question_of_card(const View *view, Phase phase, TyText *out)
{
    const ConvoiState *state = view->state;
    switch ((int)phase) {
    case PHASE_CARD:
        ty_text_add(out, "whether to follow the revealed card");
        break;
    case PHASE_COLOUR:
        question_colour(view, out);
        break;
    case PHASE_START:
        ty_text_add(out,
                    "where the %s train starts; an occupied start costs 2 tokens, and no "
                    "train comes",
                    colour_now(view));
        break;
    case PHASE_TRAIN:
        ty_text_add(out, "which %s train moves next; each of that colour moves once",
                    colour_now(view));
        break;
    case PHASE_DIE:
        ty_text_add(out, "%s has rolled %u: keep it, or roll again",
                    convoi_trains.words[state->train - 1], state->roll);
        break;
    case PHASE_CITY:
        ty_text_add(out, "%s comes to a city with ", convoi_trains.words[state->train - 1]);
        ty_text_put_count(out, state->points, "point");
        ty_text_add(out, " left: stop, which costs nothing, or cross it");
        break;
    default:
        question_exit(view, out);
        break;
    }
}

static void text_question(const View *view, uint32_t seat, TyText *out)
{
    const ConvoiState *state = view->state;
    Phase phase = (Phase)state->head.phase;
    ty_text_add(out, "Question to seat %u%s, %s: ", state->active,
                state->active == seat ? " (you)" : "", convoi_phase_words[phase]);
    if (phase <= PHASE_PLACE_SWITCH) {
        question_place(view, phase, out);
    } else if (phase <= PHASE_EXIT) {
        question_of_card(view, phase, out);
    } else if (phase == PHASE_ACTIONS) {
        ty_text_add(out, "which action to take, as many as the cards allow, then end the turn (you "
                         "draw up to 5 cards, at most 10 in hand). First say what, then with which "
                         "cards it is paid: one of its kind, or any two; for loading any one");
    } else if (phase == PHASE_LIGHT_TO) {
        ty_text_add(out,
                    "which red light gets the green disc of %s; a city's only one stays in "
                    "the city. Then it is paid",
                    view_name(view, &convoi_lights, state->from - 1u).text);
    } else {
        question_pay(view, out);
    }
    ty_text_add(out, ".\n");
}

void convoi_text(const TyRuleset *ruleset, const void *state_, uint32_t seat, TyText *out)
{
    const View view = view_of(ruleset, state_);
    const ConvoiState *state = state_;
    ty_text_add(out, "%s, turn %u", view.tables->names.bytes + view.tables->board_title,
                state->turns);
    ty_text_add(out, state->head.over ? ", over.\n" : ", seat %u to act.\n", state->active);
    text_goal(&view, out);
    if (!state->head.over) {
        text_card(&view, out);
    }
    text_trains(&view, out);
    text_discs(&view, out);
    text_starts(&view, out);
    text_tokens(&view, out);
    text_hands(&view, seat, out);
    text_staff(&view, out);
    if (state->head.over) {
        ty_text_add(out, "%s\n", state->won ? "Won: all goods are delivered." : "Lost.");
    } else {
        text_question(&view, seat, out);
    }
}
