/* Reading a deck of instruction cards for Convoi Express from its file (BOARDS.md). */
#include <string.h>

#include "core/status.h"
#include "games/convoi/read.h"

enum {
    WORD_ANY = CONVOI_COLOURS, /* the last word of each list below */
};

static const char *const NEW_WORDS[] = {"black", "brown", "gray", "any", NULL};
static const char *const MOVE_WORDS[] = {"black", "brown", "gray", "multi", NULL};

/* Reads the list `key` of a card into `colours` and returns how many symbols it has. */
static uint8_t read_symbols(Reader *reader, const DocNode *card, const char *key,
                            const char *const *words, uint8_t colours[CONVOI_SYMBOLS_MAX])
{
    const DocNode *list =
        doc_read_list(reader->doc, card, key, 0, CONVOI_SYMBOLS_MAX, &reader->status);
    uint8_t count = 0;
    for (const DocNode *node = doc_first(reader->doc, list); node != NULL;
         node = doc_next(reader->doc, node)) {
        uint8_t word = convoi_read_word(reader, node, words);
        colours[count++] = word == WORD_ANY ? CONVOI_COLOUR_ANY : word;
    }
    return count;
}

/* Each multicolour symbol names a colour of its own that is not printed on the card, so together
 * with the printed ones there can be no more than there are colours (rulings 22 and 41). */
static void check_moves(Reader *reader, const DocNode *node, const Card *card)
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
        doc_fail(reader->doc, node, &reader->status,
                 "\"multi\" symbols and printed colours of \"move\" need %u different colours, "
                 "there are %d",
                 needed, (int)CONVOI_COLOURS);
    }
}

/* Reads the symbols of a card, which is the first one or one of the deck. */
static void read_card(Reader *reader, const DocNode *node, Card *card)
{
    card->new_count = read_symbols(reader, node, "new", NEW_WORDS, card->new_colour);
    card->move_count = read_symbols(reader, node, "move", MOVE_WORDS, card->move_colour);
    if (!reader_ok(reader)) {
        return;
    }
    if (card->new_count + card->move_count == 0) {
        doc_fail(reader->doc, node, &reader->status, "a card needs at least one symbol");
    }
    check_moves(reader, node, card);
}

/* The first card places trains of printed colours on starts of their own. */
static void read_first(Reader *reader)
{
    static const char *const KEYS[] = {"new", "move", NULL};
    ConvoiTables *tables = reader->tables;
    Card *card = &tables->first_card;
    const DocNode *node = doc_get(reader->doc, reader->doc->nodes, "first");
    if (node == NULL) {
        doc_fail(reader->doc, reader->doc->nodes, &reader->status, "\"first\" is missing");
        return;
    }
    doc_known_keys(reader->doc, node, KEYS, &reader->status);
    read_card(reader, node, card);
    card->name = convoi_name_add(reader, node, "first");
    if (reader_ok(reader) && memchr(card->new_colour, CONVOI_COLOUR_ANY, card->new_count) != NULL) {
        doc_fail(reader->doc, doc_get(reader->doc, node, "new"), &reader->status,
                 "the new trains of the first card have fixed colours, not \"any\"");
    }
    if (tables->start_count > 0 && card->new_count > tables->start_count) {
        doc_fail(reader->doc, doc_get(reader->doc, node, "new"), &reader->status,
                 "the board has %u starts, too few for %u new trains", tables->start_count,
                 card->new_count);
    }
}

static void read_deck_card(Reader *reader, const DocNode *node)
{
    static const char *const KEYS[] = {"id", "new", "move", NULL};
    ConvoiTables *tables = reader->tables;
    Card *card = &tables->cards[tables->card_count];
    doc_known_keys(reader->doc, node, KEYS, &reader->status);
    card->name = convoi_read_card_id(reader, node, "id");
    for (uint8_t i = 0; i < tables->card_count; i++) {
        if (strcmp(tables->names + tables->cards[i].name, tables->names + card->name) == 0) {
            doc_fail(reader->doc, doc_get(reader->doc, node, "id"), &reader->status,
                     "another card has the id \"%s\"", tables->names + card->name);
        }
    }
    read_card(reader, node, card);
    tables->card_count++;
}

TyStatus convoi_deck_read(const Doc *doc, ConvoiTables *tables)
{
    static const char *const KEYS[] = {"format", "name", "status", "first", "cards", NULL};
    Reader reader = {.doc = doc, .tables = tables, .status = status_ok()};
    convoi_read_head(&reader, "convoi-deck-1");
    doc_known_keys(doc, doc->nodes, KEYS, &reader.status);
    if (reader_ok(&reader)) {
        read_first(&reader);
    }
    const DocNode *cards =
        doc_read_list(doc, doc->nodes, "cards", 1, CONVOI_CARDS_MAX, &reader.status);
    tables->card_count = 0;
    for (const DocNode *node = doc_first(doc, cards); node != NULL && reader_ok(&reader);
         node = doc_next(doc, node)) {
        read_deck_card(&reader, node);
    }
    return reader.status;
}
