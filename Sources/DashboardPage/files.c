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
#embed "css/device.css"
};

static const unsigned char file4[] = {
#embed "css/layout.css"
};

static const unsigned char file5[] = {
#embed "css/live.css"
};

static const unsigned char file6[] = {
#embed "css/overview.css"
};

static const unsigned char file7[] = {
#embed "css/people.css"
};

static const unsigned char file8[] = {
#embed "css/record.css"
};

static const unsigned char file9[] = {
#embed "css/schema.css"
};

static const unsigned char file10[] = {
#embed "css/signin.css"
};

static const unsigned char file11[] = {
#embed "css/states.css"
};

static const unsigned char file12[] = {
#embed "css/table.css"
};

static const unsigned char file13[] = {
#embed "css/tokens.css"
};

static const unsigned char file14[] = {
#embed "device.html"
};

static const unsigned char file15[] = {
#embed "icons.svg"
};

static const unsigned char file16[] = {
#embed "index.html"
};

static const unsigned char file17[] = {
#embed "js/core/accounts.js"
};

static const unsigned char file18[] = {
#embed "js/core/api.js"
};

static const unsigned char file19[] = {
#embed "js/core/dom.js"
};

static const unsigned char file20[] = {
#embed "js/core/finder.js"
};

static const unsigned char file21[] = {
#embed "js/core/format.js"
};

static const unsigned char file22[] = {
#embed "js/core/modules.js"
};

static const unsigned char file23[] = {
#embed "js/core/poll.js"
};

static const unsigned char file24[] = {
#embed "js/core/reach.js"
};

static const unsigned char file25[] = {
#embed "js/core/router.js"
};

static const unsigned char file26[] = {
#embed "js/core/routes.js"
};

static const unsigned char file27[] = {
#embed "js/core/save-file.js"
};

static const unsigned char file28[] = {
#embed "js/core/state.js"
};

static const unsigned char file29[] = {
#embed "js/core/theme.js"
};

static const unsigned char file30[] = {
#embed "js/core/views.js"
};

static const unsigned char file31[] = {
#embed "js/device.js"
};

static const unsigned char file32[] = {
#embed "js/device/changes.js"
};

static const unsigned char file33[] = {
#embed "js/device/sections.js"
};

static const unsigned char file34[] = {
#embed "js/device/source.js"
};

static const unsigned char file35[] = {
#embed "js/device/tables.js"
};

static const unsigned char file36[] = {
#embed "js/device/words.js"
};

static const unsigned char file37[] = {
#embed "js/main.js"
};

static const unsigned char file38[] = {
#embed "js/pages/account.js"
};

static const unsigned char file39[] = {
#embed "js/pages/admins-dialogs.js"
};

static const unsigned char file40[] = {
#embed "js/pages/admins.js"
};

static const unsigned char file41[] = {
#embed "js/pages/audit-words.js"
};

static const unsigned char file42[] = {
#embed "js/pages/audit.js"
};

static const unsigned char file43[] = {
#embed "js/pages/keys.js"
};

static const unsigned char file44[] = {
#embed "js/pages/keys/server-key-dialogs.js"
};

static const unsigned char file45[] = {
#embed "js/pages/keys/server-keys.js"
};

static const unsigned char file46[] = {
#embed "js/pages/keys/token-dialogs.js"
};

static const unsigned char file47[] = {
#embed "js/pages/keys/tokens.js"
};

static const unsigned char file48[] = {
#embed "js/pages/keys/webhooks.js"
};

static const unsigned char file49[] = {
#embed "js/pages/link.js"
};

static const unsigned char file50[] = {
#embed "js/pages/missing.js"
};

static const unsigned char file51[] = {
#embed "js/pages/now.js"
};

static const unsigned char file52[] = {
#embed "js/pages/now/charts.js"
};

static const unsigned char file53[] = {
#embed "js/pages/now/lists.js"
};

static const unsigned char file54[] = {
#embed "js/pages/now/series.js"
};

static const unsigned char file55[] = {
#embed "js/pages/now/span.js"
};

static const unsigned char file56[] = {
#embed "js/pages/overview-difference.js"
};

static const unsigned char file57[] = {
#embed "js/pages/overview-steps.js"
};

static const unsigned char file58[] = {
#embed "js/pages/overview.js"
};

static const unsigned char file59[] = {
#embed "js/pages/password.js"
};

static const unsigned char file60[] = {
#embed "js/pages/people-dialogs.js"
};

static const unsigned char file61[] = {
#embed "js/pages/people.js"
};

static const unsigned char file62[] = {
#embed "js/pages/person.js"
};

static const unsigned char file63[] = {
#embed "js/pages/person/containers.js"
};

static const unsigned char file64[] = {
#embed "js/pages/person/devices.js"
};

static const unsigned char file65[] = {
#embed "js/pages/person/dialogs.js"
};

static const unsigned char file66[] = {
#embed "js/pages/person/sessions.js"
};

static const unsigned char file67[] = {
#embed "js/pages/record/conflict.js"
};

static const unsigned char file68[] = {
#embed "js/pages/record/create.js"
};

static const unsigned char file69[] = {
#embed "js/pages/record/edit.js"
};

static const unsigned char file70[] = {
#embed "js/pages/record/fields.js"
};

static const unsigned char file71[] = {
#embed "js/pages/record/form.js"
};

static const unsigned char file72[] = {
#embed "js/pages/record/history.js"
};

static const unsigned char file73[] = {
#embed "js/pages/record/panel.js"
};

static const unsigned char file74[] = {
#embed "js/pages/record/read.js"
};

static const unsigned char file75[] = {
#embed "js/pages/record/references.js"
};

static const unsigned char file76[] = {
#embed "js/pages/records.js"
};

static const unsigned char file77[] = {
#embed "js/pages/records/addresses.js"
};

static const unsigned char file78[] = {
#embed "js/pages/records/choose.js"
};

static const unsigned char file79[] = {
#embed "js/pages/records/columns.js"
};

static const unsigned char file80[] = {
#embed "js/pages/records/commands.js"
};

static const unsigned char file81[] = {
#embed "js/pages/records/counter.js"
};

static const unsigned char file82[] = {
#embed "js/pages/records/elsewhere.js"
};

static const unsigned char file83[] = {
#embed "js/pages/records/files.js"
};

static const unsigned char file84[] = {
#embed "js/pages/records/list.js"
};

static const unsigned char file85[] = {
#embed "js/pages/records/remove.js"
};

static const unsigned char file86[] = {
#embed "js/pages/records/rows.js"
};

static const unsigned char file87[] = {
#embed "js/pages/records/scope.js"
};

static const unsigned char file88[] = {
#embed "js/pages/records/selection.js"
};

static const unsigned char file89[] = {
#embed "js/pages/records/source.js"
};

static const unsigned char file90[] = {
#embed "js/pages/records/states.js"
};

static const unsigned char file91[] = {
#embed "js/pages/records/views.js"
};

static const unsigned char file92[] = {
#embed "js/pages/request.js"
};

static const unsigned char file93[] = {
#embed "js/pages/requests.js"
};

static const unsigned char file94[] = {
#embed "js/pages/requests/addresses.js"
};

static const unsigned char file95[] = {
#embed "js/pages/requests/answer.js"
};

static const unsigned char file96[] = {
#embed "js/pages/requests/columns.js"
};

static const unsigned char file97[] = {
#embed "js/pages/requests/facts.js"
};

static const unsigned char file98[] = {
#embed "js/pages/requests/filters.js"
};

static const unsigned char file99[] = {
#embed "js/pages/requests/live-rows.js"
};

static const unsigned char file100[] = {
#embed "js/pages/requests/names.js"
};

static const unsigned char file101[] = {
#embed "js/pages/requests/touched.js"
};

static const unsigned char file102[] = {
#embed "js/pages/requests/words.js"
};

static const unsigned char file103[] = {
#embed "js/pages/schema/check.js"
};

static const unsigned char file104[] = {
#embed "js/pages/schema/deploy-dialog.js"
};

static const unsigned char file105[] = {
#embed "js/pages/schema/deploy.js"
};

static const unsigned char file106[] = {
#embed "js/pages/schema/dialogs.js"
};

static const unsigned char file107[] = {
#embed "js/pages/schema/frame.js"
};

static const unsigned char file108[] = {
#embed "js/pages/schema/indexes.js"
};

static const unsigned char file109[] = {
#embed "js/pages/schema/language-dialogs.js"
};

static const unsigned char file110[] = {
#embed "js/pages/schema/language.js"
};

static const unsigned char file111[] = {
#embed "js/pages/schema/roles.js"
};

static const unsigned char file112[] = {
#embed "js/pages/schema/source.js"
};

static const unsigned char file113[] = {
#embed "js/pages/schema/type.js"
};

static const unsigned char file114[] = {
#embed "js/pages/schema/types.js"
};

static const unsigned char file115[] = {
#embed "js/pages/schema/words.js"
};

static const unsigned char file116[] = {
#embed "js/pages/sign-in.js"
};

static const unsigned char file117[] = {
#embed "js/pages/slow.js"
};

static const unsigned char file118[] = {
#embed "js/pages/subscription-words.js"
};

static const unsigned char file119[] = {
#embed "js/pages/subscriptions.js"
};

static const unsigned char file120[] = {
#embed "js/pages/sync-user.js"
};

static const unsigned char file121[] = {
#embed "js/pages/sync.js"
};

static const unsigned char file122[] = {
#embed "js/pages/sync/cells.js"
};

static const unsigned char file123[] = {
#embed "js/pages/transfer/buttons.js"
};

static const unsigned char file124[] = {
#embed "js/pages/transfer/csv.js"
};

static const unsigned char file125[] = {
#embed "js/pages/transfer/export.js"
};

static const unsigned char file126[] = {
#embed "js/pages/transfer/formats.js"
};

static const unsigned char file127[] = {
#embed "js/pages/transfer/import.js"
};

static const unsigned char file128[] = {
#embed "js/pages/transfer/patience.js"
};

static const unsigned char file129[] = {
#embed "js/pages/usage.js"
};

static const unsigned char file130[] = {
#embed "js/pages/zone-changes.js"
};

static const unsigned char file131[] = {
#embed "js/pages/zone-changes/at.js"
};

static const unsigned char file132[] = {
#embed "js/pages/zone-changes/between.js"
};

static const unsigned char file133[] = {
#embed "js/pages/zone-changes/columns.js"
};

static const unsigned char file134[] = {
#embed "js/pages/zone-changes/feed.js"
};

static const unsigned char file135[] = {
#embed "js/pages/zone-changes/source.js"
};

static const unsigned char file136[] = {
#embed "js/pages/zone-changes/token.js"
};

static const unsigned char file137[] = {
#embed "js/pages/zones-dialogs.js"
};

static const unsigned char file138[] = {
#embed "js/pages/zones-request.js"
};

static const unsigned char file139[] = {
#embed "js/pages/zones.js"
};

static const unsigned char file140[] = {
#embed "js/parts/account-list.js"
};

static const unsigned char file141[] = {
#embed "js/parts/app-code.js"
};

static const unsigned char file142[] = {
#embed "js/parts/badge.js"
};

static const unsigned char file143[] = {
#embed "js/parts/bars.js"
};

static const unsigned char file144[] = {
#embed "js/parts/button.js"
};

static const unsigned char file145[] = {
#embed "js/parts/change-list.js"
};

static const unsigned char file146[] = {
#embed "js/parts/chart/chart.js"
};

static const unsigned char file147[] = {
#embed "js/parts/chart/group.js"
};

static const unsigned char file148[] = {
#embed "js/parts/chart/paths.js"
};

static const unsigned char file149[] = {
#embed "js/parts/chart/pointing.js"
};

static const unsigned char file150[] = {
#embed "js/parts/chart/scale.js"
};

static const unsigned char file151[] = {
#embed "js/parts/client.js"
};

static const unsigned char file152[] = {
#embed "js/parts/code.js"
};

static const unsigned char file153[] = {
#embed "js/parts/command.js"
};

static const unsigned char file154[] = {
#embed "js/parts/control.js"
};

static const unsigned char file155[] = {
#embed "js/parts/copy.js"
};

static const unsigned char file156[] = {
#embed "js/parts/dialog.js"
};

static const unsigned char file157[] = {
#embed "js/parts/find.js"
};

static const unsigned char file158[] = {
#embed "js/parts/focus.js"
};

static const unsigned char file159[] = {
#embed "js/parts/form-dialog.js"
};

static const unsigned char file160[] = {
#embed "js/parts/frame.js"
};

static const unsigned char file161[] = {
#embed "js/parts/growing-table.js"
};

static const unsigned char file162[] = {
#embed "js/parts/key-pair.js"
};

static const unsigned char file163[] = {
#embed "js/parts/keyed.js"
};

static const unsigned char file164[] = {
#embed "js/parts/keys.js"
};

static const unsigned char file165[] = {
#embed "js/parts/live.js"
};

static const unsigned char file166[] = {
#embed "js/parts/map.js"
};

static const unsigned char file167[] = {
#embed "js/parts/message.js"
};

static const unsigned char file168[] = {
#embed "js/parts/password-form.js"
};

static const unsigned char file169[] = {
#embed "js/parts/picker.js"
};

static const unsigned char file170[] = {
#embed "js/parts/query/body.js"
};

static const unsigned char file171[] = {
#embed "js/parts/query/builder.js"
};

static const unsigned char file172[] = {
#embed "js/parts/query/comparators.js"
};

static const unsigned char file173[] = {
#embed "js/parts/query/fields.js"
};

static const unsigned char file174[] = {
#embed "js/parts/query/indexes.js"
};

static const unsigned char file175[] = {
#embed "js/parts/query/syntax.js"
};

static const unsigned char file176[] = {
#embed "js/parts/rail-now.js"
};

static const unsigned char file177[] = {
#embed "js/parts/secret-dialog.js"
};

static const unsigned char file178[] = {
#embed "js/parts/session-dialog.js"
};

static const unsigned char file179[] = {
#embed "js/parts/sessions-table.js"
};

static const unsigned char file180[] = {
#embed "js/parts/share-bar.js"
};

static const unsigned char file181[] = {
#embed "js/parts/sheet.js"
};

static const unsigned char file182[] = {
#embed "js/parts/sign-in-form.js"
};

static const unsigned char file183[] = {
#embed "js/parts/states.js"
};

static const unsigned char file184[] = {
#embed "js/parts/status.js"
};

static const unsigned char file185[] = {
#embed "js/parts/table.js"
};

static const unsigned char file186[] = {
#embed "js/parts/text-editor.js"
};

static const unsigned char file187[] = {
#embed "js/parts/time.js"
};

static const unsigned char file188[] = {
#embed "js/parts/toggle.js"
};

static const unsigned char file189[] = {
#embed "js/parts/values/asset.js"
};

static const unsigned char file190[] = {
#embed "js/parts/values/bytes.js"
};

static const unsigned char file191[] = {
#embed "js/parts/values/cell.js"
};

static const unsigned char file192[] = {
#embed "js/parts/values/editor.js"
};

static const unsigned char file193[] = {
#embed "js/parts/values/file-editor.js"
};

static const unsigned char file194[] = {
#embed "js/parts/values/input.js"
};

static const unsigned char file195[] = {
#embed "js/parts/values/own.js"
};

static const unsigned char file196[] = {
#embed "js/parts/values/parse.js"
};

static const unsigned char file197[] = {
#embed "js/parts/values/text.js"
};

static const unsigned char file198[] = {
#embed "js/parts/values/times.js"
};

static const unsigned char file199[] = {
#embed "js/parts/values/types.js"
};

static const unsigned char file200[] = {
#embed "js/parts/values/view.js"
};

static const unsigned char file201[] = {
#embed "js/theme.js"
};

static const unsigned char file202[] = {
#embed "land.svg"
};

static const unsigned char file203[] = {
#embed "mark.svg"
};

static const unsigned char file204[] = {
#embed "root.html"
};

static const DashboardPageFile files[] = {
    {"css/base.css", file1, sizeof file1},
    {"css/controls.css", file2, sizeof file2},
    {"css/device.css", file3, sizeof file3},
    {"css/layout.css", file4, sizeof file4},
    {"css/live.css", file5, sizeof file5},
    {"css/overview.css", file6, sizeof file6},
    {"css/people.css", file7, sizeof file7},
    {"css/record.css", file8, sizeof file8},
    {"css/schema.css", file9, sizeof file9},
    {"css/signin.css", file10, sizeof file10},
    {"css/states.css", file11, sizeof file11},
    {"css/table.css", file12, sizeof file12},
    {"css/tokens.css", file13, sizeof file13},
    {"device.html", file14, sizeof file14},
    {"icons.svg", file15, sizeof file15},
    {"index.html", file16, sizeof file16},
    {"js/core/accounts.js", file17, sizeof file17},
    {"js/core/api.js", file18, sizeof file18},
    {"js/core/dom.js", file19, sizeof file19},
    {"js/core/finder.js", file20, sizeof file20},
    {"js/core/format.js", file21, sizeof file21},
    {"js/core/modules.js", file22, sizeof file22},
    {"js/core/poll.js", file23, sizeof file23},
    {"js/core/reach.js", file24, sizeof file24},
    {"js/core/router.js", file25, sizeof file25},
    {"js/core/routes.js", file26, sizeof file26},
    {"js/core/save-file.js", file27, sizeof file27},
    {"js/core/state.js", file28, sizeof file28},
    {"js/core/theme.js", file29, sizeof file29},
    {"js/core/views.js", file30, sizeof file30},
    {"js/device.js", file31, sizeof file31},
    {"js/device/changes.js", file32, sizeof file32},
    {"js/device/sections.js", file33, sizeof file33},
    {"js/device/source.js", file34, sizeof file34},
    {"js/device/tables.js", file35, sizeof file35},
    {"js/device/words.js", file36, sizeof file36},
    {"js/main.js", file37, sizeof file37},
    {"js/pages/account.js", file38, sizeof file38},
    {"js/pages/admins-dialogs.js", file39, sizeof file39},
    {"js/pages/admins.js", file40, sizeof file40},
    {"js/pages/audit-words.js", file41, sizeof file41},
    {"js/pages/audit.js", file42, sizeof file42},
    {"js/pages/keys.js", file43, sizeof file43},
    {"js/pages/keys/server-key-dialogs.js", file44, sizeof file44},
    {"js/pages/keys/server-keys.js", file45, sizeof file45},
    {"js/pages/keys/token-dialogs.js", file46, sizeof file46},
    {"js/pages/keys/tokens.js", file47, sizeof file47},
    {"js/pages/keys/webhooks.js", file48, sizeof file48},
    {"js/pages/link.js", file49, sizeof file49},
    {"js/pages/missing.js", file50, sizeof file50},
    {"js/pages/now.js", file51, sizeof file51},
    {"js/pages/now/charts.js", file52, sizeof file52},
    {"js/pages/now/lists.js", file53, sizeof file53},
    {"js/pages/now/series.js", file54, sizeof file54},
    {"js/pages/now/span.js", file55, sizeof file55},
    {"js/pages/overview-difference.js", file56, sizeof file56},
    {"js/pages/overview-steps.js", file57, sizeof file57},
    {"js/pages/overview.js", file58, sizeof file58},
    {"js/pages/password.js", file59, sizeof file59},
    {"js/pages/people-dialogs.js", file60, sizeof file60},
    {"js/pages/people.js", file61, sizeof file61},
    {"js/pages/person.js", file62, sizeof file62},
    {"js/pages/person/containers.js", file63, sizeof file63},
    {"js/pages/person/devices.js", file64, sizeof file64},
    {"js/pages/person/dialogs.js", file65, sizeof file65},
    {"js/pages/person/sessions.js", file66, sizeof file66},
    {"js/pages/record/conflict.js", file67, sizeof file67},
    {"js/pages/record/create.js", file68, sizeof file68},
    {"js/pages/record/edit.js", file69, sizeof file69},
    {"js/pages/record/fields.js", file70, sizeof file70},
    {"js/pages/record/form.js", file71, sizeof file71},
    {"js/pages/record/history.js", file72, sizeof file72},
    {"js/pages/record/panel.js", file73, sizeof file73},
    {"js/pages/record/read.js", file74, sizeof file74},
    {"js/pages/record/references.js", file75, sizeof file75},
    {"js/pages/records.js", file76, sizeof file76},
    {"js/pages/records/addresses.js", file77, sizeof file77},
    {"js/pages/records/choose.js", file78, sizeof file78},
    {"js/pages/records/columns.js", file79, sizeof file79},
    {"js/pages/records/commands.js", file80, sizeof file80},
    {"js/pages/records/counter.js", file81, sizeof file81},
    {"js/pages/records/elsewhere.js", file82, sizeof file82},
    {"js/pages/records/files.js", file83, sizeof file83},
    {"js/pages/records/list.js", file84, sizeof file84},
    {"js/pages/records/remove.js", file85, sizeof file85},
    {"js/pages/records/rows.js", file86, sizeof file86},
    {"js/pages/records/scope.js", file87, sizeof file87},
    {"js/pages/records/selection.js", file88, sizeof file88},
    {"js/pages/records/source.js", file89, sizeof file89},
    {"js/pages/records/states.js", file90, sizeof file90},
    {"js/pages/records/views.js", file91, sizeof file91},
    {"js/pages/request.js", file92, sizeof file92},
    {"js/pages/requests.js", file93, sizeof file93},
    {"js/pages/requests/addresses.js", file94, sizeof file94},
    {"js/pages/requests/answer.js", file95, sizeof file95},
    {"js/pages/requests/columns.js", file96, sizeof file96},
    {"js/pages/requests/facts.js", file97, sizeof file97},
    {"js/pages/requests/filters.js", file98, sizeof file98},
    {"js/pages/requests/live-rows.js", file99, sizeof file99},
    {"js/pages/requests/names.js", file100, sizeof file100},
    {"js/pages/requests/touched.js", file101, sizeof file101},
    {"js/pages/requests/words.js", file102, sizeof file102},
    {"js/pages/schema/check.js", file103, sizeof file103},
    {"js/pages/schema/deploy-dialog.js", file104, sizeof file104},
    {"js/pages/schema/deploy.js", file105, sizeof file105},
    {"js/pages/schema/dialogs.js", file106, sizeof file106},
    {"js/pages/schema/frame.js", file107, sizeof file107},
    {"js/pages/schema/indexes.js", file108, sizeof file108},
    {"js/pages/schema/language-dialogs.js", file109, sizeof file109},
    {"js/pages/schema/language.js", file110, sizeof file110},
    {"js/pages/schema/roles.js", file111, sizeof file111},
    {"js/pages/schema/source.js", file112, sizeof file112},
    {"js/pages/schema/type.js", file113, sizeof file113},
    {"js/pages/schema/types.js", file114, sizeof file114},
    {"js/pages/schema/words.js", file115, sizeof file115},
    {"js/pages/sign-in.js", file116, sizeof file116},
    {"js/pages/slow.js", file117, sizeof file117},
    {"js/pages/subscription-words.js", file118, sizeof file118},
    {"js/pages/subscriptions.js", file119, sizeof file119},
    {"js/pages/sync-user.js", file120, sizeof file120},
    {"js/pages/sync.js", file121, sizeof file121},
    {"js/pages/sync/cells.js", file122, sizeof file122},
    {"js/pages/transfer/buttons.js", file123, sizeof file123},
    {"js/pages/transfer/csv.js", file124, sizeof file124},
    {"js/pages/transfer/export.js", file125, sizeof file125},
    {"js/pages/transfer/formats.js", file126, sizeof file126},
    {"js/pages/transfer/import.js", file127, sizeof file127},
    {"js/pages/transfer/patience.js", file128, sizeof file128},
    {"js/pages/usage.js", file129, sizeof file129},
    {"js/pages/zone-changes.js", file130, sizeof file130},
    {"js/pages/zone-changes/at.js", file131, sizeof file131},
    {"js/pages/zone-changes/between.js", file132, sizeof file132},
    {"js/pages/zone-changes/columns.js", file133, sizeof file133},
    {"js/pages/zone-changes/feed.js", file134, sizeof file134},
    {"js/pages/zone-changes/source.js", file135, sizeof file135},
    {"js/pages/zone-changes/token.js", file136, sizeof file136},
    {"js/pages/zones-dialogs.js", file137, sizeof file137},
    {"js/pages/zones-request.js", file138, sizeof file138},
    {"js/pages/zones.js", file139, sizeof file139},
    {"js/parts/account-list.js", file140, sizeof file140},
    {"js/parts/app-code.js", file141, sizeof file141},
    {"js/parts/badge.js", file142, sizeof file142},
    {"js/parts/bars.js", file143, sizeof file143},
    {"js/parts/button.js", file144, sizeof file144},
    {"js/parts/change-list.js", file145, sizeof file145},
    {"js/parts/chart/chart.js", file146, sizeof file146},
    {"js/parts/chart/group.js", file147, sizeof file147},
    {"js/parts/chart/paths.js", file148, sizeof file148},
    {"js/parts/chart/pointing.js", file149, sizeof file149},
    {"js/parts/chart/scale.js", file150, sizeof file150},
    {"js/parts/client.js", file151, sizeof file151},
    {"js/parts/code.js", file152, sizeof file152},
    {"js/parts/command.js", file153, sizeof file153},
    {"js/parts/control.js", file154, sizeof file154},
    {"js/parts/copy.js", file155, sizeof file155},
    {"js/parts/dialog.js", file156, sizeof file156},
    {"js/parts/find.js", file157, sizeof file157},
    {"js/parts/focus.js", file158, sizeof file158},
    {"js/parts/form-dialog.js", file159, sizeof file159},
    {"js/parts/frame.js", file160, sizeof file160},
    {"js/parts/growing-table.js", file161, sizeof file161},
    {"js/parts/key-pair.js", file162, sizeof file162},
    {"js/parts/keyed.js", file163, sizeof file163},
    {"js/parts/keys.js", file164, sizeof file164},
    {"js/parts/live.js", file165, sizeof file165},
    {"js/parts/map.js", file166, sizeof file166},
    {"js/parts/message.js", file167, sizeof file167},
    {"js/parts/password-form.js", file168, sizeof file168},
    {"js/parts/picker.js", file169, sizeof file169},
    {"js/parts/query/body.js", file170, sizeof file170},
    {"js/parts/query/builder.js", file171, sizeof file171},
    {"js/parts/query/comparators.js", file172, sizeof file172},
    {"js/parts/query/fields.js", file173, sizeof file173},
    {"js/parts/query/indexes.js", file174, sizeof file174},
    {"js/parts/query/syntax.js", file175, sizeof file175},
    {"js/parts/rail-now.js", file176, sizeof file176},
    {"js/parts/secret-dialog.js", file177, sizeof file177},
    {"js/parts/session-dialog.js", file178, sizeof file178},
    {"js/parts/sessions-table.js", file179, sizeof file179},
    {"js/parts/share-bar.js", file180, sizeof file180},
    {"js/parts/sheet.js", file181, sizeof file181},
    {"js/parts/sign-in-form.js", file182, sizeof file182},
    {"js/parts/states.js", file183, sizeof file183},
    {"js/parts/status.js", file184, sizeof file184},
    {"js/parts/table.js", file185, sizeof file185},
    {"js/parts/text-editor.js", file186, sizeof file186},
    {"js/parts/time.js", file187, sizeof file187},
    {"js/parts/toggle.js", file188, sizeof file188},
    {"js/parts/values/asset.js", file189, sizeof file189},
    {"js/parts/values/bytes.js", file190, sizeof file190},
    {"js/parts/values/cell.js", file191, sizeof file191},
    {"js/parts/values/editor.js", file192, sizeof file192},
    {"js/parts/values/file-editor.js", file193, sizeof file193},
    {"js/parts/values/input.js", file194, sizeof file194},
    {"js/parts/values/own.js", file195, sizeof file195},
    {"js/parts/values/parse.js", file196, sizeof file196},
    {"js/parts/values/text.js", file197, sizeof file197},
    {"js/parts/values/times.js", file198, sizeof file198},
    {"js/parts/values/types.js", file199, sizeof file199},
    {"js/parts/values/view.js", file200, sizeof file200},
    {"js/theme.js", file201, sizeof file201},
    {"land.svg", file202, sizeof file202},
    {"mark.svg", file203, sizeof file203},
    {"root.html", file204, sizeof file204},
};

size_t dashboardPageFileCount(void) { return sizeof files / sizeof files[0]; }

DashboardPageFile dashboardPageFile(size_t index) { return files[index]; }
