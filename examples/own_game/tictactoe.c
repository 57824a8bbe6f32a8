/* Tic-tac-toe: a whole game on the kit. README.md says how to build and play it. */
#include <string.h>
#include <trainyard/game.h>

/* A state is plain data without padding: the kit's head and answers, then the game's own. */
typedef struct Board {
    TyHead head;
    uint64_t answers[1];
    uint8_t owner[16]; /* of each of the nine cells: seat plus one, 0 for none */
} Board;

static const char *const words[] = {"a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3", NULL};
static const TyNames cells = {.words = words};

enum { FORM_WAIT, FORM_MARK };
static const TyActionForm actions[] = {
    {.verb = "wait"}, {"mark", &cells, .help = "Mark a free cell"}, {.verb = NULL}};

static const TyBlockForm blocks[] = {
    {.name = "owner",
     .help = "who marked each cell",
     .kind = TY_BLOCK_CATEGORY,
     .columns = &cells,
     .values = &ty_seats,
     .optional = true,
     .show = TY_SHOW_OWNER,
     .field = offsetof(Board, owner)},
    {.name = NULL},
};

enum { EVENT_END = TY_EVENT_END, EVENT_MARK };
static const TyEventForm events[] = {
    {.name = "end", .args = {{"winner", TY_ARG_SEAT_OR_NONE, NULL}}, .sentence = "{winner} wins"},
    {.name = "mark",
     .args = {{"seat", TY_ARG_OWNER, NULL}, {"cell", TY_ARG_NAME, &cells}},
     .sentence = "{seat} marks {cell}"},
    {.name = NULL},
};

static const TyStateField state_fields[] = {TY_FIELD(Board, uint8_t, owner, 2), {.size = 0}};

static void legal_marks(const TyRuleset *ruleset, const void *state, uint64_t *answers)
{
    for (uint32_t cell = 0; cell < 9; cell++) {
        if (((const Board *)state)->owner[cell] == 0) {
            ty_answers_add(answers, ruleset->action_first[FORM_MARK] + cell);
        }
    }
}

static bool three_in_a_row(const uint8_t *owner, uint32_t own)
{
    static const uint8_t lines[8][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6},
                                        {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};
    bool found = false;
    for (const uint8_t *at = lines[0]; at < lines[0] + sizeof lines; at += 3) {
        found |= owner[at[0]] == own && owner[at[1]] == own && owner[at[2]] == own;
    }
    return found;
}

static void mark(TyPlay *play, uint32_t action)
{
    Board *board = play->state;
    uint32_t seat = (uint32_t)board->head.seat;
    uint32_t cell = ty_choice(play->ruleset, action).item;
    board->owner[cell] = (uint8_t)(seat + 1);
    TY_EVENT(play, EVENT_MARK, (int16_t)cell);
    int32_t prize = three_in_a_row(board->owner, seat + 1) ? TY_REWARD_ONE : 0;
    play->reward[seat] += prize;
    play->reward[1 - seat] -= prize;
    if (prize != 0 || memchr(board->owner, 0, 9) == NULL) {
        ty_end(play, false);
        TY_EVENT(play, EVENT_END, (int16_t)(prize != 0 ? seat + 1 : 0));
    } else {
        board->head.seat = (int8_t)(1 - seat);
    }
}

static const TyGame tictactoe = {
    .api = TY_GAME_API,
    .name = "tictactoe",
    .title = "Tic-tac-toe",
    .rules_version = 1,
    .players = 2,
    .actions = actions,
    .blocks = blocks,
    .events = events,
    .state_fields = state_fields,
    .state_size = sizeof(Board),
    .answer_words = 1,
    .apply = mark,
    .answers = legal_marks,
};

/* Called when the shared object is loaded; a program with the game inside calls ty_game_add. */
TY_PLUGIN
{
    return ty_game_add(&tictactoe);
}
