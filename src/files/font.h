/* font - capital letters, digits and a few signs, 3 dots wide and 5 high.
 *
 * Each octal digit is a row, from the top; its bits are the dots from left to right:
 *
 *     025755   . # .
 *              # . #
 *              # # #
 *              # . #
 *              # . #
 */
#ifndef SB_FILES_FONT_H
#define SB_FILES_FONT_H

#include <stdint.h>

enum { SB_FONT_WIDTH = 3, SB_FONT_HEIGHT = 5 };

/* The dots of a character; small letters have those of capitals, what is not in the font
 * those of '?'. */
uint16_t sb_font_glyph(char c);

#endif
