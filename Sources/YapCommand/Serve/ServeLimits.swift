import CloudServer
import CloudService

/// Limits of a request.
extension ServeSettings {
    static let limits: [Setting] = [
        Setting(
            "limits.bodyBytesMax", .bytes, .number(\.options.limits.bodyBytesMax),
            to: 1 << 30, "a request's body"),
        Setting(
            "limits.recordBytesMax", .bytes, .number(\.options.limits.recordBytesMax),
            to: 256 << 20, "a record's fields, in their form on disk"),
        Setting(
            "limits.nameBytesMax", .bytes, .number(\.options.limits.nameBytesMax),
            to: 255, "the name of a record, zone, field or type"),
        Setting(
            "limits.itemsMax", .count, .number(\.options.limits.itemsMax),
            to: 10_000, "operations, lookups or zones in a request, records in a response"),
        Setting(
            "limits.itemsWithExtrasMax", .count, .number(\.options.limits.itemsWithExtrasMax),
            to: 10_000, "the same for our own framework"),
        Setting(
            "limits.answerBytesMax", .bytes, .number(\.options.limits.answerBytesMax),
            to: 1 << 30, "records that one request loads, and a response's JSON; a page ends there"),
        Setting(
            "limits.changedBytesMax", .bytes, .number(\.options.limits.changedBytesMax),
            to: 1 << 30, "stored records that one request changes, together"),
        Setting(
            "limits.desiredNamesMax", .count, .number(\.options.limits.desiredNamesMax),
            "names in a list of desired keys or record types"),
        Setting(
            "limits.cascadeRecordsMax", .count, .number(\.options.limits.cascadeRecordsMax),
            "records that a request deletes in a cascade"),
        Setting(
            "limits.recordTypesMax", .count, .number(\.options.limits.recordTypesMax),
            "record types of a schema"),
        Setting(
            "limits.schemaFieldsMax", .count, .number(\.options.limits.schemaFieldsMax),
            "fields of all types of a schema"),
        Setting(
            "limits.indexEntriesMax", .count, .number(\.options.limits.indexEntriesMax),
            "index entries of a record: indexed values, and words of searchable texts"),
        Setting(
            "limits.indexEntriesOfRequestMax", .count, .number(\.options.limits.indexEntriesOfRequestMax),
            "index entries of the records that a request saves"),
        Setting(
            "limits.deleteSelfReferencesMax", .count, .number(\.options.limits.deleteSelfReferencesMax),
            "records that refer to one with DELETE_SELF"),
        Setting(
            "limits.dependantsMax", .count, .number(\.options.limits.dependantsMax),
            "references to the records that one request deletes"),
        Setting(
            "limits.referencesCountedMax", .count, .number(\.options.limits.referencesCountedMax),
            "references counted for the targets of one request's DELETE_SELF references"),
        Setting(
            "limits.referencesOfRequestMax", .count, .number(\.options.limits.referencesOfRequestMax),
            "references of the records that a request saves, of those that prevent or cascade deletions"),
        Setting(
            "limits.ancestorsMax", .count, .number(\.options.limits.ancestorsMax), to: 100_000,
            "ancestors of a record: its parent, the parent's parent, and so on"),
        Setting(
            "limits.ancestorsOfRequestMax", .count, .number(\.options.limits.ancestorsOfRequestMax),
            "ancestors that a request loads for the parents that it sets"),
        Setting(
            "limits.rowsWrittenMax", .count, .number(\.options.limits.rowsWrittenMax), from: 20_000,
            "rows that a request writes and removes, including index entries and references"),
        Setting(
            "limits.queryTermsMax", .count, .number(\.options.limits.queryTermsMax),
            to: 100, "filters and sorts of a query"),
        Setting(
            "limits.queryValuesMax", .count, .number(\.options.limits.queryValuesMax),
            to: 10_000, "values in a filter's list"),
        Setting(
            "limits.queriesMax", .count, .number(\.options.limits.queriesMax),
            to: 100, "queries in a batch"),
        Setting(
            "limits.queryRowsExaminedMax", .count, .number(\.options.limits.queryRowsExaminedMax),
            "rows that a request's queries examine for a page"),
        Setting(
            "limits.queryProbesMax", .count, .number(\.options.limits.queryProbesMax),
            "values that a request's queries look up, counted for each zone"),
        Setting(
            "limits.queryZonesMax", .count, .number(\.options.limits.queryZonesMax),
            "maximum zones scanned when the query names none"),
        Setting(
            "limits.subscriptionsMax", .count, .number(\.options.limits.subscriptionsMax),
            to: 10_000, "subscriptions of a user in a database"),
        Setting(
            "limits.subscriptionBytesMax", .bytes, .number(\.options.limits.subscriptionBytesMax),
            to: 1 << 20, "a subscription"),
        Setting(
            "limits.watchersMax", .count, .number(\.options.limits.watchersMax),
            "query subscriptions of all users to a type of the public database"),
        Setting(
            "limits.firedChangesMax", .count, .number(\.options.limits.firedChangesMax),
            "changes with pending notifications; writes that exceed it get TRY_AGAIN_LATER"),
        Setting(
            "limits.firedFieldsBytesMax", .bytes, .number(\.options.limits.firedFieldsBytesMax),
            to: 1 << 30, "fields that one write stores for notifications"),
        Setting(
            "limits.notificationsMax", .count, .number(\.options.limits.notificationsMax),
            "notifications kept for a user; the oldest are removed first"),
        Setting(
            "limits.notificationMilliseconds", .milliseconds,
            .longNumber(\.options.limits.notificationMilliseconds),
            "how long a notification is kept"),
        Setting(
            "limits.notificationValuesBytesMax", .bytes, .number(\.options.limits.notificationValuesBytesMax),
            to: 1 << 20, "a record's values in one notification"),
        Setting(
            "limits.notificationFieldBytesMax", .bytes, .number(\.options.limits.notificationFieldBytesMax),
            to: 1 << 20, "a record's text in a notification"),
        Setting(
            "limits.pushBytesMax", .bytes, .number(\.options.limits.pushBytesMax),
            from: 512, to: 1 << 20, "a push; values that don't fit are only in the collection"),
        Setting(
            "limits.webhookDeliveriesMax", .count, .number(\.options.limits.webhookDeliveriesMax),
            "notifications queued for a webhook; more are dropped"),
        Setting(
            "limits.webhookMilliseconds", .milliseconds, .longNumber(\.options.limits.webhookMilliseconds),
            "when an undelivered webhook request is abandoned"),
        Setting(
            "limits.devicesMax", .count, .number(\.options.limits.devicesMax),
            to: 10_000,
            "devices of a user that get notifications; the least recently active one is removed first"),
        Setting(
            "limits.deviceMilliseconds", .milliseconds, .longNumber(\.options.limits.deviceMilliseconds),
            "when an inactive device is removed"),
        Setting(
            "limits.pushMilliseconds", .milliseconds, .longNumber(\.options.limits.pushMilliseconds),
            "when an undelivered push is discarded"),
        Setting(
            "limits.tombstoneMilliseconds", .milliseconds,
            .longNumber(\.options.limits.tombstoneMilliseconds),
            "how long deletions of records and zones are kept; tokens that are older have expired"),
        Setting(
            "limits.operationIDBytesMax", .bytes, .number(\.options.limits.operationIDBytesMax),
            to: 255, "a client's name for a write"),
        Setting(
            "limits.answersMax", .count, .number(\.options.limits.answersMax),
            "responses to named writes kept for a user; the oldest are removed first"),
        Setting(
            "limits.answersBytesMax", .bytes, .longNumber(\.options.limits.answersBytesMax),
            "bytes of these responses"),
        Setting(
            "limits.answerMilliseconds", .milliseconds, .longNumber(\.options.limits.answerMilliseconds),
            "how long the response to a named write is kept"),
    ]

    /// Limits of files, and quotas of users.
    static let fileLimits: [Setting] = [
        Setting(
            "limits.fileBytesMax", .bytes, .longNumber(\.options.limits.assets.fileBytesMax),
            to: 1 << 40, "a file"),
        Setting(
            "limits.uploadMilliseconds", .milliseconds,
            .longNumber(\.options.limits.assets.uploadMilliseconds),
            "how long an upload address is valid"),
        Setting(
            "limits.receiptMilliseconds", .milliseconds,
            .longNumber(\.options.limits.assets.receiptMilliseconds),
            "how long a record can be saved with an upload's receipt"),
        Setting(
            "limits.downloadMilliseconds", .milliseconds,
            .longNumber(\.options.limits.assets.downloadMilliseconds),
            "how long the download address in a fetched record is valid (minimum)"),
        Setting(
            "limits.unsavedBytesMax", .bytes, .longNumber(\.options.limits.assets.unsavedBytesMax),
            "a user's uploads that aren't in a record yet"),
        Setting(
            "limits.unsavedFilesMax", .count, .number(\.options.limits.assets.unsavedFilesMax),
            "number of such uploads"),
        Setting(
            "limits.unusedMilliseconds", .milliseconds,
            .longNumber(\.options.limits.assets.unusedMilliseconds),
            "how long an unused file is kept after its receipt expires"),
        Setting(
            "limits.collectionMilliseconds", .milliseconds,
            .longNumber(\.options.limits.assets.collectionMilliseconds),
            "time between two searches for unused files"),
        Setting(
            "limits.privateBytesMax", .bytes, .longNumber(\.options.limits.assets.privateBytesMax),
            from: 0,
            "the quota of a user's private database: records, their names, index entries and references, and files"
        ),
        Setting(
            "limits.publicBytesBase", .bytes, .longNumber(\.options.limits.assets.publicBytesBase),
            from: 0, "the quota of the public database without users"),
        Setting(
            "limits.publicBytesPerUser", .bytes, .longNumber(\.options.limits.assets.publicBytesPerUser),
            from: 0, "bytes that each user of the container adds to it"),
        Setting(
            "limits.publicBytesOfUserMax", .bytes, .longNumber(\.options.limits.assets.publicBytesOfUserMax),
            from: 0, "bytes of it that one user may create"),
        Setting(
            "limits.rowBytes", .bytes, .longNumber(\.options.limits.assets.rowBytes),
            from: 0, to: 1 << 20,
            "bytes counted for a record, tombstone or zone beside fields, names, index entries, references and files"
        ),
        Setting(
            "limits.privateZonesMax", .count, .number(\.options.limits.assets.privateZonesMax),
            "a user's zones; deleted ones count until their rows are discarded"),
        Setting(
            "limits.privateRecordsMax", .count, .longNumber(\.options.limits.assets.privateRecordsMax),
            "a user's records; deleted ones count until their tombstones are discarded"),
    ]

    /// Limits of queued writes and of groups.
    static let groups: [Setting] = [
        Setting(
            "groups.requestsMax", .count, .number(\.options.groupLimits.requestsMax),
            to: 10_000, "requests in one transaction"),
        Setting(
            "groups.bytesMax", .bytes, .number(\.options.groupLimits.bytesMax),
            to: 1 << 30, "bodies of the requests in one transaction"),
        Setting(
            "groups.milliseconds", .milliseconds, .longNumber(\.options.groupLimits.milliseconds),
            to: 10_000, "how long a transaction accepts requests"),
        Setting(
            "groups.userMilliseconds", .milliseconds, .longNumber(\.options.groupLimits.userMilliseconds),
            to: 10_000, "the same for each user in it"),
        Setting(
            "groups.waitingRequestsMax", .count, .number(\.options.groupLimits.waitingRequestsMax),
            "pending requests of an environment"),
        Setting(
            "groups.waitingBytesMax", .bytes, .number(\.options.groupLimits.waitingBytesMax),
            "bodies of an environment's pending requests"),
        Setting(
            "groups.retryMilliseconds", .milliseconds, .longNumber(\.options.groupLimits.retryMilliseconds),
            to: 3_600_000, "time after which failed upkeep is retried, for example after a full disk"),
    ]
}
