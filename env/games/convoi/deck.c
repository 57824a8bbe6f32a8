/* Reading a deck of instruction cards for Convoi Express from its file (BOARDS.md). */
#include "games/convoi/convoi.h"
#include "kit/reader.h"

#include <string.h>

enum {
    WORD_ANY = CONVOI_COLOURS, /* the last word of each list below */
};

static const char *const NEW_WORDS[] = {"black", "brown", "gray", "any", NULL};
static const char *const MOVE_WORDS[] = {"black", "brown", "gray", "multi", NULL};

/* Reads the list `key` of a card into `colours` and returns how many symbols it has. */
static uint8_t read_symbols(TyReader *reader, const TyDocNode *card, const char *key,
                            const char *const *words, uint8_t colours[CONVOI_SYMBOLS_MAX])
{
    const TyDocNode *list = ty_read_list(reader, card, key, 0, CONVOI_SYMBOLS_MAX);
    uint8_t count = 0;
    for (const TyDocNode *node = ty_doc_first(reader->doc, list); node != NULL;
         node = ty_doc_next(reader->doc, node)) {
        uint8_t word = ty_read_word_at(reader, node, words);
        colours[count++] = word == WORD_ANY ? CONVOI_COLOUR_ANY : word;
    }
    return count;
}

/* The colours that are printed among `count` symbols, as bits. */
static uint8_t colours_printed(const uint8_t colours[CONVOI_SYMBOLS_MAX], uint8_t count)
{
    uint8_t printed = 0;
    for (uint8_t i = 0; i < count; i++) {
        printed |= (uint8_t)(colours[i] < CONVOI_COLOURS ? 1u << colours[i] : 0u);
    }
    return printed;
}

/* Each multicolour symbol names a colour of its own that is not printed on the card, so together
 * with the printed ones there can be no more than there are colours (rulings 22 and 41). */
static void check_moves(TyReader *reader, const TyDocNode *node, const Card *card)
{
    bool printed[CONVOI_COLOURS] = {false};
    uint32_t needed = 0;
    for (uint8_t i = 0; i < card->move_count; i++) {
        uint8_t colour = card->move_colour[i];
        if (colour == CONVOI_COLOUR_ANY) {
            needed++;
        } else if (!printed[colour]) {
            printed[colour] = true;
            needed++;
        }
    }
    if (needed > CONVOI_COLOURS) {
        ty_read_fail(reader, node,
                     "\"multi\" symbols and printed colours of \"move\" need %u different colours, "
                     "there are %d",
                     needed, (int)CONVOI_COLOURS);
    }
}

/* Reads the symbols of a card, which is the first one or one of the deck. */
static void read_card(TyReader *reader, const TyDocNode *node, Card *card)
{
    card->new_count = read_symbols(reader, node, "new", NEW_WORDS, card->new_colour);
    card->move_count = read_symbols(reader, node, "move", MOVE_WORDS, card->move_colour);
    if (!ty_reader_ok(reader)) {
        return;
    }
    card->new_colours = colours_printed(card->new_colour, card->new_count);
    card->move_colours = colours_printed(card->move_colour, card->move_count);
    if (card->new_count + card->move_count == 0) {
        ty_read_fail(reader, node, "a card needs at least one symbol");
    }
    check_moves(reader, node, card);
}

/* The first card places trains of printed colours on starts of their own. */
static void read_first(TyReader *reader, ConvoiTables *tables)
{
    static const char *const KEYS[] = {"new", "move", NULL};
    Card *card = &tables->first_card;
    const TyDocNode *node = ty_read_map(reader, reader->doc->nodes, "first");
    if (!ty_reader_ok(reader)) {
        return;
    }
    ty_read_keys(reader, node, KEYS);
    read_card(reader, node, card);
    const TyDocNode *trains = ty_doc_get(reader->doc, node, "new");
    if (memchr(card->new_colour, CONVOI_COLOUR_ANY, card->new_count) != NULL) {
        ty_read_fail(reader, trains,
                     "the new trains of the first card have fixed colours, not \"any\"");
    }
    if (tables->start_count > 0 && card->new_count > tables->start_count) {
        ty_read_fail(reader, trains, "the board has %u starts, too few for %u new trains",
                     tables->start_count, card->new_count);
    }
}

/* The id of a card, which may have capitals and belongs to no other card. */
static uint16_t read_card_id(TyReader *reader, const TyDocNode *node, const ConvoiTables *tables)
{
    ty_read_text(reader, node, "id");
    if (!ty_reader_ok(reader)) {
        return 0;
    }
    const TyDocNode *id = ty_doc_get(reader->doc, node, "id");
    uint16_t name = ty_read_id_at(reader, id, true);
    ty_read_unique(reader, id, name, tables->card_name, tables->card_count);
    return name;
}

static void read_deck_card(TyReader *reader, const TyDocNode *node, ConvoiTables *tables)
{
    static const char *const KEYS[] = {"id", "new", "move", NULL};
    ty_read_keys(reader, node, KEYS);
    tables->card_name[tables->card_count] = read_card_id(reader, node, tables);
    read_card(reader, node, &tables->cards[tables->card_count]);
    tables->card_count++;
}

TyStatus convoi_deck_read(const TyDoc *doc, ConvoiTables *tables)
{
    static const char *const KEYS[] = {"format", "name", "status", "first", "cards", NULL};
    TyReader reader = {.doc = doc, .pool = &tables->names};
    ty_read_keys(&reader, doc->nodes, KEYS);
    read_first(&reader, tables);
    const TyDocNode *cards = ty_read_list(&reader, doc->nodes, "cards", 1, CONVOI_CARDS_MAX);
    for (const TyDocNode *node = ty_doc_first(doc, cards); node != NULL && ty_reader_ok(&reader);
         node = ty_doc_next(doc, node)) {
        read_deck_card(&reader, node, tables);
    }
    return reader.status;
}
