// Written by Scripts/dashboard-files.

#include "DashboardPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file1[] = {
#embed "css/base.css"
};

static const unsigned char file2[] = {
#embed "css/controls.css"
};

static const unsigned char file3[] = {
#embed "css/layout.css"
};

static const unsigned char file4[] = {
#embed "css/overview.css"
};

static const unsigned char file5[] = {
#embed "css/record.css"
};

static const unsigned char file6[] = {
#embed "css/signin.css"
};

static const unsigned char file7[] = {
#embed "css/states.css"
};

static const unsigned char file8[] = {
#embed "css/table.css"
};

static const unsigned char file9[] = {
#embed "css/tokens.css"
};

static const unsigned char file10[] = {
#embed "icons.svg"
};

static const unsigned char file11[] = {
#embed "index.html"
};

static const unsigned char file12[] = {
#embed "js/core/accounts.js"
};

static const unsigned char file13[] = {
#embed "js/core/api.js"
};

static const unsigned char file14[] = {
#embed "js/core/dom.js"
};

static const unsigned char file15[] = {
#embed "js/core/finder.js"
};

static const unsigned char file16[] = {
#embed "js/core/format.js"
};

static const unsigned char file17[] = {
#embed "js/core/modules.js"
};

static const unsigned char file18[] = {
#embed "js/core/reach.js"
};

static const unsigned char file19[] = {
#embed "js/core/router.js"
};

static const unsigned char file20[] = {
#embed "js/core/routes.js"
};

static const unsigned char file21[] = {
#embed "js/core/state.js"
};

static const unsigned char file22[] = {
#embed "js/core/theme.js"
};

static const unsigned char file23[] = {
#embed "js/main.js"
};

static const unsigned char file24[] = {
#embed "js/pages/account.js"
};

static const unsigned char file25[] = {
#embed "js/pages/admins-dialogs.js"
};

static const unsigned char file26[] = {
#embed "js/pages/admins.js"
};

static const unsigned char file27[] = {
#embed "js/pages/audit-words.js"
};

static const unsigned char file28[] = {
#embed "js/pages/audit.js"
};

static const unsigned char file29[] = {
#embed "js/pages/link.js"
};

static const unsigned char file30[] = {
#embed "js/pages/missing.js"
};

static const unsigned char file31[] = {
#embed "js/pages/overview-steps.js"
};

static const unsigned char file32[] = {
#embed "js/pages/overview.js"
};

static const unsigned char file33[] = {
#embed "js/pages/password.js"
};

static const unsigned char file34[] = {
#embed "js/pages/record/conflict.js"
};

static const unsigned char file35[] = {
#embed "js/pages/record/create.js"
};

static const unsigned char file36[] = {
#embed "js/pages/record/edit.js"
};

static const unsigned char file37[] = {
#embed "js/pages/record/fields.js"
};

static const unsigned char file38[] = {
#embed "js/pages/record/form.js"
};

static const unsigned char file39[] = {
#embed "js/pages/record/panel.js"
};

static const unsigned char file40[] = {
#embed "js/pages/record/read.js"
};

static const unsigned char file41[] = {
#embed "js/pages/record/references.js"
};

static const unsigned char file42[] = {
#embed "js/pages/records.js"
};

static const unsigned char file43[] = {
#embed "js/pages/records/addresses.js"
};

static const unsigned char file44[] = {
#embed "js/pages/records/choose.js"
};

static const unsigned char file45[] = {
#embed "js/pages/records/columns.js"
};

static const unsigned char file46[] = {
#embed "js/pages/records/commands.js"
};

static const unsigned char file47[] = {
#embed "js/pages/records/list.js"
};

static const unsigned char file48[] = {
#embed "js/pages/records/remove.js"
};

static const unsigned char file49[] = {
#embed "js/pages/records/rows.js"
};

static const unsigned char file50[] = {
#embed "js/pages/records/scope.js"
};

static const unsigned char file51[] = {
#embed "js/pages/records/selection.js"
};

static const unsigned char file52[] = {
#embed "js/pages/records/source.js"
};

static const unsigned char file53[] = {
#embed "js/pages/records/states.js"
};

static const unsigned char file54[] = {
#embed "js/pages/sign-in.js"
};

static const unsigned char file55[] = {
#embed "js/pages/zone-changes.js"
};

static const unsigned char file56[] = {
#embed "js/pages/zones-dialogs.js"
};

static const unsigned char file57[] = {
#embed "js/pages/zones-request.js"
};

static const unsigned char file58[] = {
#embed "js/pages/zones.js"
};

static const unsigned char file59[] = {
#embed "js/parts/account-list.js"
};

static const unsigned char file60[] = {
#embed "js/parts/badge.js"
};

static const unsigned char file61[] = {
#embed "js/parts/bars.js"
};

static const unsigned char file62[] = {
#embed "js/parts/button.js"
};

static const unsigned char file63[] = {
#embed "js/parts/client.js"
};

static const unsigned char file64[] = {
#embed "js/parts/code.js"
};

static const unsigned char file65[] = {
#embed "js/parts/command.js"
};

static const unsigned char file66[] = {
#embed "js/parts/control.js"
};

static const unsigned char file67[] = {
#embed "js/parts/copy.js"
};

static const unsigned char file68[] = {
#embed "js/parts/dialog.js"
};

static const unsigned char file69[] = {
#embed "js/parts/find.js"
};

static const unsigned char file70[] = {
#embed "js/parts/frame.js"
};

static const unsigned char file71[] = {
#embed "js/parts/map.js"
};

static const unsigned char file72[] = {
#embed "js/parts/message.js"
};

static const unsigned char file73[] = {
#embed "js/parts/password-form.js"
};

static const unsigned char file74[] = {
#embed "js/parts/picker.js"
};

static const unsigned char file75[] = {
#embed "js/parts/query/body.js"
};

static const unsigned char file76[] = {
#embed "js/parts/query/builder.js"
};

static const unsigned char file77[] = {
#embed "js/parts/query/comparators.js"
};

static const unsigned char file78[] = {
#embed "js/parts/query/fields.js"
};

static const unsigned char file79[] = {
#embed "js/parts/query/indexes.js"
};

static const unsigned char file80[] = {
#embed "js/parts/query/syntax.js"
};

static const unsigned char file81[] = {
#embed "js/parts/session-dialog.js"
};

static const unsigned char file82[] = {
#embed "js/parts/sessions-table.js"
};

static const unsigned char file83[] = {
#embed "js/parts/sheet.js"
};

static const unsigned char file84[] = {
#embed "js/parts/sign-in-form.js"
};

static const unsigned char file85[] = {
#embed "js/parts/states.js"
};

static const unsigned char file86[] = {
#embed "js/parts/status.js"
};

static const unsigned char file87[] = {
#embed "js/parts/table.js"
};

static const unsigned char file88[] = {
#embed "js/parts/time.js"
};

static const unsigned char file89[] = {
#embed "js/parts/values/asset.js"
};

static const unsigned char file90[] = {
#embed "js/parts/values/bytes.js"
};

static const unsigned char file91[] = {
#embed "js/parts/values/cell.js"
};

static const unsigned char file92[] = {
#embed "js/parts/values/editor.js"
};

static const unsigned char file93[] = {
#embed "js/parts/values/input.js"
};

static const unsigned char file94[] = {
#embed "js/parts/values/own.js"
};

static const unsigned char file95[] = {
#embed "js/parts/values/parse.js"
};

static const unsigned char file96[] = {
#embed "js/parts/values/text.js"
};

static const unsigned char file97[] = {
#embed "js/parts/values/times.js"
};

static const unsigned char file98[] = {
#embed "js/parts/values/types.js"
};

static const unsigned char file99[] = {
#embed "js/parts/values/view.js"
};

static const unsigned char file100[] = {
#embed "js/theme.js"
};

static const unsigned char file101[] = {
#embed "land.svg"
};

static const unsigned char file102[] = {
#embed "mark.svg"
};

static const unsigned char file103[] = {
#embed "root.html"
};

static const DashboardPageFile files[] = {
    {"css/base.css", file1, sizeof file1},
    {"css/controls.css", file2, sizeof file2},
    {"css/layout.css", file3, sizeof file3},
    {"css/overview.css", file4, sizeof file4},
    {"css/record.css", file5, sizeof file5},
    {"css/signin.css", file6, sizeof file6},
    {"css/states.css", file7, sizeof file7},
    {"css/table.css", file8, sizeof file8},
    {"css/tokens.css", file9, sizeof file9},
    {"icons.svg", file10, sizeof file10},
    {"index.html", file11, sizeof file11},
    {"js/core/accounts.js", file12, sizeof file12},
    {"js/core/api.js", file13, sizeof file13},
    {"js/core/dom.js", file14, sizeof file14},
    {"js/core/finder.js", file15, sizeof file15},
    {"js/core/format.js", file16, sizeof file16},
    {"js/core/modules.js", file17, sizeof file17},
    {"js/core/reach.js", file18, sizeof file18},
    {"js/core/router.js", file19, sizeof file19},
    {"js/core/routes.js", file20, sizeof file20},
    {"js/core/state.js", file21, sizeof file21},
    {"js/core/theme.js", file22, sizeof file22},
    {"js/main.js", file23, sizeof file23},
    {"js/pages/account.js", file24, sizeof file24},
    {"js/pages/admins-dialogs.js", file25, sizeof file25},
    {"js/pages/admins.js", file26, sizeof file26},
    {"js/pages/audit-words.js", file27, sizeof file27},
    {"js/pages/audit.js", file28, sizeof file28},
    {"js/pages/link.js", file29, sizeof file29},
    {"js/pages/missing.js", file30, sizeof file30},
    {"js/pages/overview-steps.js", file31, sizeof file31},
    {"js/pages/overview.js", file32, sizeof file32},
    {"js/pages/password.js", file33, sizeof file33},
    {"js/pages/record/conflict.js", file34, sizeof file34},
    {"js/pages/record/create.js", file35, sizeof file35},
    {"js/pages/record/edit.js", file36, sizeof file36},
    {"js/pages/record/fields.js", file37, sizeof file37},
    {"js/pages/record/form.js", file38, sizeof file38},
    {"js/pages/record/panel.js", file39, sizeof file39},
    {"js/pages/record/read.js", file40, sizeof file40},
    {"js/pages/record/references.js", file41, sizeof file41},
    {"js/pages/records.js", file42, sizeof file42},
    {"js/pages/records/addresses.js", file43, sizeof file43},
    {"js/pages/records/choose.js", file44, sizeof file44},
    {"js/pages/records/columns.js", file45, sizeof file45},
    {"js/pages/records/commands.js", file46, sizeof file46},
    {"js/pages/records/list.js", file47, sizeof file47},
    {"js/pages/records/remove.js", file48, sizeof file48},
    {"js/pages/records/rows.js", file49, sizeof file49},
    {"js/pages/records/scope.js", file50, sizeof file50},
    {"js/pages/records/selection.js", file51, sizeof file51},
    {"js/pages/records/source.js", file52, sizeof file52},
    {"js/pages/records/states.js", file53, sizeof file53},
    {"js/pages/sign-in.js", file54, sizeof file54},
    {"js/pages/zone-changes.js", file55, sizeof file55},
    {"js/pages/zones-dialogs.js", file56, sizeof file56},
    {"js/pages/zones-request.js", file57, sizeof file57},
    {"js/pages/zones.js", file58, sizeof file58},
    {"js/parts/account-list.js", file59, sizeof file59},
    {"js/parts/badge.js", file60, sizeof file60},
    {"js/parts/bars.js", file61, sizeof file61},
    {"js/parts/button.js", file62, sizeof file62},
    {"js/parts/client.js", file63, sizeof file63},
    {"js/parts/code.js", file64, sizeof file64},
    {"js/parts/command.js", file65, sizeof file65},
    {"js/parts/control.js", file66, sizeof file66},
    {"js/parts/copy.js", file67, sizeof file67},
    {"js/parts/dialog.js", file68, sizeof file68},
    {"js/parts/find.js", file69, sizeof file69},
    {"js/parts/frame.js", file70, sizeof file70},
    {"js/parts/map.js", file71, sizeof file71},
    {"js/parts/message.js", file72, sizeof file72},
    {"js/parts/password-form.js", file73, sizeof file73},
    {"js/parts/picker.js", file74, sizeof file74},
    {"js/parts/query/body.js", file75, sizeof file75},
    {"js/parts/query/builder.js", file76, sizeof file76},
    {"js/parts/query/comparators.js", file77, sizeof file77},
    {"js/parts/query/fields.js", file78, sizeof file78},
    {"js/parts/query/indexes.js", file79, sizeof file79},
    {"js/parts/query/syntax.js", file80, sizeof file80},
    {"js/parts/session-dialog.js", file81, sizeof file81},
    {"js/parts/sessions-table.js", file82, sizeof file82},
    {"js/parts/sheet.js", file83, sizeof file83},
    {"js/parts/sign-in-form.js", file84, sizeof file84},
    {"js/parts/states.js", file85, sizeof file85},
    {"js/parts/status.js", file86, sizeof file86},
    {"js/parts/table.js", file87, sizeof file87},
    {"js/parts/time.js", file88, sizeof file88},
    {"js/parts/values/asset.js", file89, sizeof file89},
    {"js/parts/values/bytes.js", file90, sizeof file90},
    {"js/parts/values/cell.js", file91, sizeof file91},
    {"js/parts/values/editor.js", file92, sizeof file92},
    {"js/parts/values/input.js", file93, sizeof file93},
    {"js/parts/values/own.js", file94, sizeof file94},
    {"js/parts/values/parse.js", file95, sizeof file95},
    {"js/parts/values/text.js", file96, sizeof file96},
    {"js/parts/values/times.js", file97, sizeof file97},
    {"js/parts/values/types.js", file98, sizeof file98},
    {"js/parts/values/view.js", file99, sizeof file99},
    {"js/theme.js", file100, sizeof file100},
    {"land.svg", file101, sizeof file101},
    {"mark.svg", file102, sizeof file102},
    {"root.html", file103, sizeof file103},
};

size_t dashboardPageFileCount(void) { return sizeof files / sizeof files[0]; }

DashboardPageFile dashboardPageFile(size_t index) { return files[index]; }
