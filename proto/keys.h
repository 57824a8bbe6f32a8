/* Key files as `trainyard keygen` writes them: lines "public KEY" and "secret KEY". */
#pragma once

enum { KEY_TEXT_SIZE = 41 /* a CURVE key in Z85, 40 characters, and a NUL */ };

/* The first key of the text that stands on a line behind `word`. Returns what follows it, or NULL
 * if there is none. */
const char *key_find(const char *text, const char *word, char key[KEY_TEXT_SIZE]);
