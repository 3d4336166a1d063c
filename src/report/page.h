/* page - runs as one HTML file that needs nothing else.
 *
 *     page/report.html   the frame; @@NAME@@ marks where the parts go
 *     page/report.css    how it looks: light, dark, on paper, on a phone
 *     page/NAME.js        builds the sections from the data
 *     Chart.js           draws the charts, if this build has it; else tables stand alone
 *
 * All of these are in the library itself (tools/embed.cmake). The runs go in as one block of
 * JSON, in which '<', '>' and '&' are written as \u003c and so on: no name in a run's files
 * can end the block, and the scripts show every string as text, never as markup.
 */
#ifndef SB_REPORT_PAGE_H
#define SB_REPORT_PAGE_H

#include <stddef.h>

#include "report/run.h"

/* The page's text; the caller owns *out (sb_free). */
sb_status sb_page_make(const struct sb_report_run *run, size_t runs, const char *version,
                       char **out);

#endif
