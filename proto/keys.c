/* Finding keys in the text of key files. */
#include "proto/keys.h"

#include <string.h>

static const char z85[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          ".-:+=^!/*?&<>()[]{}@%$#";

const char *key_find(const char *text, const char *word, char key[KEY_TEXT_SIZE])
{
    const size_t length = strlen(word);
    for (const char *line = text; *line != '\0'; line += *line != '\0') {
        const char *end = line + strcspn(line, "\r\n");
        const char *value = line + length;
        if (strncmp(line, word, length) == 0 && strspn(value, " \t") > 0) {
            value += strspn(value, " \t");
            if (strspn(value, z85) == KEY_TEXT_SIZE - 1) {
                memcpy(key, value, KEY_TEXT_SIZE - 1);
                key[KEY_TEXT_SIZE - 1] = '\0';
                return end;
            }
        }
        line = end;
    }
    return NULL;
}
