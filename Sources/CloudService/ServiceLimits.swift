/// Limits of requests and users. A request beyond a limit is rejected with an error that names the limit.
public struct ServiceLimits: Hashable, Sendable {
    /// Maximum bytes of a request's body.
    public var bodyBytesMax = 2 << 20
    /// Maximum bytes of a record's fields, in their form on disk.
    public var recordBytesMax = 1 << 20
    /// Maximum bytes of the name of a record, zone, field or type.
    public var nameBytesMax = 255
    /// Maximum operations, lookups or zones in a request, and records in a response.
    public var itemsMax = 200
    /// The same for a client that sends `X-Yap-Client: 1`.
    public var itemsWithExtrasMax = 400
    /// Maximum bytes of the records that one request loads, and of a response's JSON. A page ends there. A
    /// lookup or a batch beyond it is rejected, so that the client requests fewer records. A single record is
    /// always returned.
    public var answerBytesMax = 16 << 20
    /// Maximum bytes of the stored records that one request changes: each is read, merged and written again while all
    /// other writes wait. A request beyond it is rejected. A change of a single record is always accepted.
    public var changedBytesMax = 2 << 20
    /// Maximum names in a list of desired keys or record types. The list is searched for each record.
    public var desiredNamesMax = 1_000
    /// Maximum records that one request deletes in a cascade, by references with DELETE_SELF.
    public var cascadeRecordsMax = 5_000

    /// Maximum record types in a schema.
    public var recordTypesMax = SchemaLanguage.recordTypesMax
    /// Maximum fields of all record types of a schema together.
    public var schemaFieldsMax = SchemaLanguage.fieldsMax
    /// Maximum index entries of a record: one for each queryable or sortable value, each element of such a list, and
    /// each word of a searchable text.
    public var indexEntriesMax = 5_000
    /// Maximum index entries of all records that one request saves.
    public var indexEntriesOfRequestMax = 50_000
    /// Maximum records that refer to one record with DELETE_SELF.
    public var deleteSelfReferencesMax = 750
    /// Maximum references to the records that one request deletes.
    public var dependantsMax = 20_000
    /// Maximum references counted for the targets of one request's references with DELETE_SELF.
    public var referencesCountedMax = 500_000
    /// Maximum references that prevent or cascade deletions, of the records of one request.
    public var referencesOfRequestMax = 50_000
    /// Maximum ancestors of a record: its parent, the parent's parent, and so on. A save that sets a parent is rejected
    /// with `BAD_REQUEST` if the record would have more.
    public var ancestorsMax = 2_000
    /// Maximum ancestors that one request loads for the parents that it sets. Beyond it the request is rejected with
    /// `LimitExceeded`.
    public var ancestorsOfRequestMax = 10_000
    /// Maximum rows that one request writes and deletes, including index entries and references. Other writes wait
    /// meanwhile.
    public var rowsWrittenMax = 250_000
    /// Maximum filters and sorts of a query.
    public var queryTermsMax = 32
    /// Maximum queries in a batch.
    public var queriesMax = 10
    /// Maximum rows that a request's queries examine for a page. Then the page ends, and its marker continues there.
    public var queryRowsExaminedMax = 20_000
    /// Maximum zones scanned when the query names none.
    public var queryZonesMax = 1_000
    /// Sizes of the steps of a search. Tests make them small.
    var querySearch = QuerySearchLimits()
    /// Maximum index lookups of a request's queries: one for each value that they name, in each zone.
    public var queryProbesMax = 50_000
    /// Maximum values in a filter's list.
    public var queryValuesMax = 1_000
    /// Maximum subscriptions of a user in a database.
    public var subscriptionsMax = 100
    /// Maximum bytes of a subscription.
    public var subscriptionBytesMax = 16 << 10
    /// Maximum query subscriptions of all users to one record type of the public database.
    public var watchersMax = 10_000
    /// Maximum changes with pending notifications. Writes that exceed it are rejected with `TRY_AGAIN_LATER`.
    public var firedChangesMax = 10_000
    /// Maximum bytes of fields that one write stores for notifications. A deletion may delete 20,000 records with it:
    /// beyond the maximum, notifications contain no fields.
    public var firedFieldsBytesMax = 16 << 20
    /// Maximum notifications kept for a user. The oldest is discarded first.
    public var notificationsMax = 1_000
    /// Milliseconds after which a notification is discarded.
    public var notificationMilliseconds: Int64 = 30 * 86_400_000
    /// Maximum bytes of a text field in a notification. Longer texts are left out.
    public var notificationFieldBytesMax = 4 << 10
    /// Maximum bytes of a record's values in one notification, and in all notifications of one change to a user. Values
    /// beyond it are left out.
    public var notificationValuesBytesMax = 16 << 10
    /// Maximum bytes of a push. Values that don't fit are only in the collection of notifications.
    public var pushBytesMax = 4 << 10
    /// Maximum notifications queued for a webhook. Further ones are dropped and counted.
    public var webhookDeliveriesMax = 10_000
    /// Milliseconds after which an undelivered webhook request is abandoned.
    public var webhookMilliseconds: Int64 = 86_400_000
    /// Maximum devices that receive a user's notifications. The least recently active one is removed first.
    public var devicesMax = 50
    /// Milliseconds after which an inactive device is removed.
    public var deviceMilliseconds: Int64 = 60 * 86_400_000
    /// Milliseconds after which a pending push is discarded.
    public var pushMilliseconds: Int64 = 14 * 86_400_000

    /// Milliseconds after which the tombstone of a deleted record, or the row of a deleted zone, is discarded. The
    /// token of a client that has fetched nothing since then is rejected as expired.
    public var tombstoneMilliseconds: Int64 = 180 * 86_400_000
    /// Maximum bytes of a client's operation ID.
    public var operationIDBytesMax = 64
    /// Maximum responses to named writes that are kept for a user. The oldest is discarded first.
    public var answersMax = 10_000
    /// Maximum bytes of these responses. The oldest are discarded first.
    public var answersBytesMax: Int64 = 32 << 20
    /// Milliseconds for which the response to a named write is kept.
    public var answerMilliseconds: Int64 = 86_400_000

    /// Rate at which the rows of deleted zones are removed. Tests use small numbers.
    var clearing = ClearingLimits()
    /// Limits of files, and quotas of users.
    public var assets = AssetLimits()

    /// Makes Apple's published limits, and ours where Apple has none.
    public init() {}

    /// Returns the maximum items in a caller's request or response.
    func itemsMax(for caller: ServiceCaller) -> Int {
        caller.wantsExtras ? itemsWithExtrasMax : itemsMax
    }

    /// Rejects a request with too many items, with Apple's message.
    func check(count: Int, _ caller: ServiceCaller) throws {
        let itemsMax = itemsMax(for: caller)
        guard count > itemsMax else { return }
        throw ServiceError.limitExceeded(
            "Your request contains \(count) items which is more than the maximum number of items in a "
                + "single request (\(itemsMax))")
    }

    /// Rejects lists of desired keys or record types that are too long.
    func check(desired lists: [[String]?]) throws {
        guard lists.contains(where: { ($0?.count ?? 0) > desiredNamesMax }) else { return }
        throw ServiceError.badRequest("more than \(desiredNamesMax) desired keys or record types")
    }
}

/// Limits of a group of requests that share one transaction, and of pending requests.
public struct GroupLimits: Hashable, Sendable {
    /// Maximum requests in a group.
    public var requestsMax = 256
    /// Maximum bytes of the bodies in a group. The request that exceeds it is the last.
    public var bytesMax = 16 << 20
    /// Milliseconds after which a group takes no more requests.
    public var milliseconds: Int64 = 50
    /// Milliseconds of a group for each user with a write in it. Writes of other users wait no longer than that.
    public var userMilliseconds: Int64 = 8
    /// Maximum pending requests. Further ones are rejected with `TRY_AGAIN_LATER`.
    public var waitingRequestsMax = 4_096
    /// Maximum bytes of the bodies of pending requests. Requests after the one that exceeds it are rejected too.
    public var waitingBytesMax = 128 << 20
    /// Milliseconds after which failed upkeep is retried, as after a full disk.
    public var retryMilliseconds: Int64 = 5_000

    /// Makes the default limits.
    public init() {}

    /// Returns the maximum time of a group. If several users write, each counts for a quarter of `userMilliseconds`,
    /// because another user's first write may be next.
    func milliseconds(ownersCount: Int, isContested: Bool) -> Int64 {
        let share = isContested ? max(1, userMilliseconds / 4) : userMilliseconds
        return min(milliseconds, share * Int64(min(ownersCount, 1_000)))
    }

    /// Returns true if there is no room for one more: all places are taken, or the owner has at least as many as are
    /// free. So one owner fills a half, two fill two thirds, and the next one finds room.
    func isFull(of all: Int, _ max: Int, own: Int) -> Bool {
        all >= max || own > 0 && own >= max - all
    }
}
