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
    /// Bytes of the records that one request loads. A page of changes ends there; a lookup or a batch beyond
    /// it is refused, and the client asks for fewer records.
    public var answerBytesMax = 16 << 20
    /// Names in a list of desired keys or record types, which is gone through for each record.
    public var desiredNamesMax = 1_000
    /// Records that one request deletes beside those it names, because they refer to them with DELETE_SELF.
    public var cascadeRecordsMax = 5_000

    /// Record types in a schema.
    public var recordTypesMax = SchemaLanguage.recordTypesMax
    /// Fields of all record types of a schema together.
    public var schemaFieldsMax = SchemaLanguage.fieldsMax
    /// Records that refer to one record with DELETE_SELF.
    public var deleteSelfReferencesMax = 750
    /// References to the records that one request deletes.
    public var dependantsMax = 20_000
    /// Filters and sorts of a query.
    public var queryTermsMax = 32
    /// Queries in a batch.
    public var queriesMax = 10
    /// Rows that a query looks at for a page; then the page ends, and its marker says where the next begins.
    public var queryRowsExaminedMax = 20_000
    /// Zones that a query looks into which names none.
    public var queryZonesMax = 1_000
    /// How a search goes about it; tests make the numbers small.
    var querySearch = QuerySearchLimits()
    /// Places in indexes that a query looks at before it begins: one for each value that it names, in each zone.
    public var queryProbesMax = 50_000
    /// Values in a filter's list.
    public var queryValuesMax = 1_000
    /// Subscriptions of a user in a database.
    public var subscriptionsMax = 100
    /// Bytes of a subscription.
    public var subscriptionBytesMax = 16 << 10
    /// Query subscriptions of all users to one type of records in the public database.
    public var watchersMax = 10_000
    /// Changed records of which those who subscribed were not told yet; one more, and the write is told to try again.
    public var firedChangesMax = 10_000
    /// Notifications kept for a user; one more, and the oldest is discarded.
    public var notificationsMax = 1_000
    /// Milliseconds after which a notification is discarded.
    public var notificationMilliseconds: Int64 = 30 * 86_400_000
    /// Bytes of a text that a notification tells of a record; a longer one is left out.
    public var notificationFieldBytesMax = 4 << 10
    /// Bytes of a push; what doesn't fit is in the collection only.
    public var pushBytesMax = 4 << 10
    /// Notifications that wait to be sent to a webhook; more are left out, and counted.
    public var webhookDeliveriesMax = 10_000
    /// Milliseconds after which what a webhook hasn't taken is given up.
    public var webhookMilliseconds: Int64 = 86_400_000
    /// Devices of a user that are told of changes; one more, and the one that was silent longest is forgotten.
    public var devicesMax = 50
    /// Milliseconds after which a device that wasn't heard of is forgotten.
    public var deviceMilliseconds: Int64 = 60 * 86_400_000
    /// Milliseconds after which a push that nobody took is given up.
    public var pushMilliseconds: Int64 = 14 * 86_400_000

    /// Bytes of a client's name for a write.
    public var operationIDBytesMax = 64
    /// Milliseconds for which the answer to a named write is kept.
    public var answerMilliseconds: Int64 = 86_400_000

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
    /// Milliseconds of a group for each user who has a write in it, within those: another's write waits no longer.
    public var userMilliseconds: Int64 = 8
    /// Requests that wait for an answer; the next one is told to try again later.
    public var waitingRequestsMax = 4_096
    /// Bytes of the bodies that wait for an answer; behind the request that crosses it, the next is told so too.
    public var waitingBytesMax = 256 << 20
    /// Milliseconds after which upkeep that failed, as the making of pushes on a full disk, is tried again by itself.
    public var retryMilliseconds: Int64 = 5_000

    /// The limits that measured well.
    public init() {}

    /// A quarter for each where several write: a group is over soon, since somebody else's first write may be next.
    func milliseconds(ownersCount: Int, isContested: Bool) -> Int64 {
        let share = isContested ? max(1, userMilliseconds / 4) : userMilliseconds
        return min(milliseconds, share * Int64(min(ownersCount, 1_000)))
    }

    /// Whether one more has no room: when all are too many, or when one has more than is left. So whoever floods fills
    /// half, two fill two thirds, and who comes next finds room.
    func isFull(of all: Int, _ max: Int, own: Int) -> Bool {
        all >= max || own > 0 && own >= max - all
    }
}
