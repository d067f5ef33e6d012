/// What one request may ask for. Beyond a limit the answer is an error that names it.
public struct ServiceLimits: Hashable, Sendable {
    /// Bytes of a request's body.
    public var bodyBytesMax = 2 << 20
    /// Bytes of a record's fields, as they lie on disk.
    public var recordBytesMax = 1 << 20
    /// Bytes of a record's, zone's, field's or type's name.
    public var nameBytesMax = 255
    /// Operations, lookups or zones in a request, and records in an answer.
    public var itemsMax = 200
    /// The same for a client that says `X-Yap-Client: 1`.
    public var itemsWithExtrasMax = 400
    /// Bytes of the records that one request loads, and of an answer's JSON. A page ends there; a lookup or a batch
    /// beyond it is refused, and the client asks for fewer records. A single record is always answered.
    public var answerBytesMax = 16 << 20
    /// Bytes of the stored records that one request changes: each is read, merged and written anew while all other
    /// writes wait. Beyond it the request is refused; a single record is always taken.
    public var changedBytesMax = 2 << 20
    /// Names in a list of desired keys or record types. The list is searched for each record.
    public var desiredNamesMax = 1_000
    /// Records that one request deletes in a cascade: they refer with DELETE_SELF to those that it names.
    public var cascadeRecordsMax = 5_000

    /// Record types in a schema.
    public var recordTypesMax = SchemaLanguage.recordTypesMax
    /// Fields of all record types of a schema together.
    public var schemaFieldsMax = SchemaLanguage.fieldsMax
    /// Index entries of a record: one for each value that it is found or sorted by, each element of such a list, and
    /// each word of a text that is searched.
    public var indexEntriesMax = 5_000
    /// Index entries of the records that one request saves.
    public var indexEntriesOfRequestMax = 50_000
    /// Records that refer to one record with DELETE_SELF.
    public var deleteSelfReferencesMax = 750
    /// References to the records that one request deletes.
    public var dependantsMax = 20_000
    /// References to the records that one request's references with DELETE_SELF lead to, which are counted.
    public var referencesCountedMax = 500_000
    /// References that the records of one request have, which forbid or follow deletions.
    public var referencesOfRequestMax = 50_000
    /// Maximum ancestors of a record: its parent, the parent's parent, and so on. A save that sets a parent is rejected
    /// with `BAD_REQUEST` if the record would have more.
    public var ancestorsMax = 2_000
    /// Maximum ancestors that one request loads for the parents that it sets. Beyond it the request is rejected with
    /// `LimitExceeded`.
    public var ancestorsOfRequestMax = 10_000
    /// Rows that one request writes and removes, index entries and references counted: so long all other writes wait.
    public var rowsWrittenMax = 250_000
    /// Filters and sorts of a query.
    public var queryTermsMax = 32
    /// Queries in a batch.
    public var queriesMax = 10
    /// Rows that a request's queries examine for a page. Then the page ends, and its marker says where the next begins.
    public var queryRowsExaminedMax = 20_000
    /// Maximum zones scanned when the query names none.
    public var queryZonesMax = 1_000
    /// The sizes of a search's steps; tests make them small.
    var querySearch = QuerySearchLimits()
    /// Index lookups with which a request's queries begin: one for each value that they name, in each zone.
    public var queryProbesMax = 50_000
    /// Values in a filter's list.
    public var queryValuesMax = 1_000
    /// Subscriptions of a user in a database.
    public var subscriptionsMax = 100
    /// Bytes of a subscription.
    public var subscriptionBytesMax = 16 << 10
    /// Query subscriptions of all users to one type of records in the public database.
    public var watchersMax = 10_000
    /// Maximum changes with pending notifications. Writes that exceed it are rejected with `TRY_AGAIN_LATER`.
    public var firedChangesMax = 10_000
    /// Maximum bytes of fields that one write keeps for its subscribers. A deletion may delete 20,000 records with it:
    /// beyond the maximum, subscribers hear of a record without its fields.
    public var firedFieldsBytesMax = 16 << 20
    /// Notifications kept for a user; one more, and the oldest is discarded.
    public var notificationsMax = 1_000
    /// Milliseconds after which a notification is discarded.
    public var notificationMilliseconds: Int64 = 30 * 86_400_000
    /// Bytes of a record's text in a notification; a longer text is left out.
    public var notificationFieldBytesMax = 4 << 10
    /// Bytes of a record's values in one notification, and of what a user is told of one change; what goes beyond is
    /// left out.
    public var notificationValuesBytesMax = 16 << 10
    /// Bytes of a push; what doesn't fit is in the collection only.
    public var pushBytesMax = 4 << 10
    /// Notifications that wait to be sent to a webhook; more are left out, and counted.
    public var webhookDeliveriesMax = 10_000
    /// Milliseconds after which a delivery that its webhook hasn't taken is given up.
    public var webhookMilliseconds: Int64 = 86_400_000
    /// Devices of a user that are told of changes; one more, and the one that was silent longest is forgotten.
    public var devicesMax = 50
    /// Milliseconds after which a silent device is forgotten.
    public var deviceMilliseconds: Int64 = 60 * 86_400_000
    /// Milliseconds after which a push that nobody took is given up.
    public var pushMilliseconds: Int64 = 14 * 86_400_000

    /// Milliseconds after which the tombstone of a deleted record, or the row of a deleted zone, is discarded: a client
    /// that has fetched nothing since is told that its token has expired.
    public var tombstoneMilliseconds: Int64 = 180 * 86_400_000
    /// Bytes of a client's name for a write.
    public var operationIDBytesMax = 64
    /// Answers to named writes that are kept for a user; one more, and the oldest is discarded.
    public var answersMax = 10_000
    /// Bytes of those; beyond them the oldest are discarded.
    public var answersBytesMax: Int64 = 32 << 20
    /// Milliseconds for which the answer to a named write is kept.
    public var answerMilliseconds: Int64 = 86_400_000

    /// How fast deleted zones are emptied; tests make the numbers small.
    var clearing = ClearingLimits()
    /// Files, and how much users may have.
    public var assets = AssetLimits()

    /// Apple's published limits, and ours where Apple has none.
    public init() {}

    /// How many items `caller` may name in a request, or get in an answer.
    func itemsMax(for caller: ServiceCaller) -> Int {
        caller.wantsExtras ? itemsWithExtrasMax : itemsMax
    }

    /// Refuses a request that names more items than it may, in Apple's words.
    func check(count: Int, _ caller: ServiceCaller) throws {
        let itemsMax = itemsMax(for: caller)
        guard count > itemsMax else { return }
        throw ServiceError.limitExceeded(
            "Your request contains \(count) items which is more than the maximum number of items in a "
                + "single request (\(itemsMax))")
    }

    /// Refuses lists of desired keys or record types that are too long.
    func check(desired lists: [[String]?]) throws {
        guard lists.contains(where: { ($0?.count ?? 0) > desiredNamesMax }) else { return }
        throw ServiceError.badRequest("more than \(desiredNamesMax) desired keys or record types")
    }
}

/// How much one transaction takes in.
public struct GroupLimits: Hashable, Sendable {
    /// Requests in a group.
    public var requestsMax = 256
    /// Bytes of the bodies in a group; the request that crosses it is the last.
    public var bytesMax = 16 << 20
    /// Milliseconds after which a group takes no more requests.
    public var milliseconds: Int64 = 50
    /// Milliseconds of a group for each user with a write in it. Writes of other users wait no longer than that.
    public var userMilliseconds: Int64 = 8
    /// Requests that wait for an answer; the next one is told to try again later.
    public var waitingRequestsMax = 4_096
    /// Bytes of the bodies that wait for an answer; behind the request that crosses it, the next is told so too.
    public var waitingBytesMax = 128 << 20
    /// Milliseconds after which upkeep that failed, as the making of pushes on a full disk, is tried again by itself.
    public var retryMilliseconds: Int64 = 5_000

    /// The limits that measured well.
    public init() {}

    /// The time of a group. Each user counts a quarter of it when several write: another's first write may be next.
    func milliseconds(ownersCount: Int, isContested: Bool) -> Int64 {
        let share = isContested ? max(1, userMilliseconds / 4) : userMilliseconds
        return min(milliseconds, share * Int64(min(ownersCount, 1_000)))
    }

    /// Whether there is no room for one more: all places are taken, or the owner has at least as many as are left. So
    /// one owner fills half, two fill two thirds, and the next one finds room.
    func isFull(of all: Int, _ max: Int, own: Int) -> Bool {
        all >= max || own > 0 && own >= max - all
    }
}
