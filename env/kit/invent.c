/* Inventing boards and maps: names, and orders of chance. */
#include "kit/invent.h"

const char *const ty_level_names[] = {"normal", "easy", "hard", NULL};

void invent_shuffle(Invention *invention, uint8_t *numbers, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = invent_chance(invention, i);
        uint8_t number = numbers[i - 1];
        numbers[i - 1] = numbers[other];
        numbers[other] = number;
    }
}

void invent_name(Invention *invention, char name[INVENT_NAME_SIZE])
{
    static const char *const first[] = {"Bel", "Cor", "Dun", "Fal", "Gar", "Hol", "Kar", "Lin",
                                        "Mar", "Nor", "Ost", "Pel", "Ros", "Sal", "Tor", "Val"};
    static const char *const last[] = {"by",   "dal",   "burg", "feld", "ham",  "haven",
                                       "mont", "mouth", "ona",  "rup",  "sund", "ton",
                                       "vik",  "ville", "wald", "wick"};
    uint32_t index = invent_chance(invention, INVENT_NAMES);
    while (invention->named[index]) {
        /* An odd step, so that every name is tried; a large one, so that it does not look like its
         * neighbour. */
        index = (index + 91) % INVENT_NAMES;
    }
    invention->named[index] = true;
    TyText text = ty_text_init(name, INVENT_NAME_SIZE);
    ty_text_add(&text, "%s%s", first[index / 16], last[index % 16]);
}

void invent_title(TyOrder order, const char *what, const char *things, TyText *out)
{
    ty_text_add(out, "%s %llu, %u %s", what, (unsigned long long)order.seed, order.size, things);
    if (order.level != TY_LEVEL_NORMAL) {
        ty_text_add(out, ", %s", ty_level_names[order.level]);
    }
}
