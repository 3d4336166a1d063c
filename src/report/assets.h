/* assets - files that CMake made part of the library; each ends with a zero byte. */
#ifndef SB_REPORT_ASSETS_H
#define SB_REPORT_ASSETS_H

extern const unsigned char sb_asset_page[];      /* page/report.html */
extern const unsigned char sb_asset_style[];     /* page/report.css */
extern const unsigned char sb_asset_chart[];     /* Chart.js; empty: not in this build */
extern const unsigned char sb_asset_dom[];       /* page/dom.js */
extern const unsigned char sb_asset_charts[];    /* page/charts.js */
extern const unsigned char sb_asset_sections[];  /* page/sections.js */
extern const unsigned char sb_asset_evaluated[]; /* page/evaluated.js */
extern const unsigned char sb_asset_outcomes[];  /* page/outcomes.js */
extern const unsigned char sb_asset_main[];      /* page/main.js */

#endif
