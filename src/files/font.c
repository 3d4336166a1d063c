/* font - see font.h. */
#include "files/font.h"

#include <string.h>

static const uint16_t letters[26] = {
    025755, 065656, 034443, 065556, 074647, 074644, 034553, 055755, 072227,
    011152, 055655, 044447, 057755, 065555, 025552, 065644, 025563, 065655,
    034216, 072222, 055557, 055552, 055775, 055255, 055222, 071247,
};

static const uint16_t digits[10] = {
    075557, 026227, 061247, 061216, 055711, 074616, 034652, 071222, 025252, 025316,
};

static const char signs[] = " -_./,:()+'#&%?";
static const uint16_t sign_dots[] = {
    000000, 000700, 000007, 000002, 011244, 000024, 002020, 012221,
    042224, 002720, 022000, 057575, 025253, 051245, 061202,
};

uint16_t sb_font_glyph(char c)
{
    if (c >= 'a' && c <= 'z')
        return letters[c - 'a'];
    if (c >= 'A' && c <= 'Z')
        return letters[c - 'A'];
    if (c >= '0' && c <= '9')
        return digits[c - '0'];
    const char *sign = c ? strchr(signs, c) : NULL;
    return sign ? sign_dots[sign - signs] : sb_font_glyph('?');
}
