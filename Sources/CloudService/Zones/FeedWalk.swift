import CloudStore
import CloudWire

/// One page of a client's fetch of a zone's changes: oldest first from its position, or newest first.
struct FeedWalk {
    private let known: FeedPosition
    private let feedCounter: Int64
    private let descent: ChangeToken.Descent?

    /// - Parameters:
    ///   - known: the client's position. An unfinished newest-first walk is continued, regardless of
    ///     `isReversed`.
    ///   - isReversed: whether the client wants the newest change first.
    ///   - feedCounter: the zone's newest change.
    init(from known: FeedPosition, isReversed: Bool, feedCounter: Int64) {
        self.known = known
        self.feedCounter = feedCounter
        let begins = isReversed && feedCounter < .max
        descent =
            known.descent
            ?? (begins ? ChangeToken.Descent(newest: feedCounter, below: feedCounter + 1) : nil)
    }

    var isNewestFirst: Bool { descent != nil }

    /// The highest counter to return.
    var through: Int64 { descent.map { $0.below - 1 } ?? .max }

    /// Returns the position of a client after a page. During a newest-first walk it is the position before the
    /// walk.
    func counter(behind page: ChangesPage<StoredRecord>) -> Int64 {
        guard page.moreComing else { return descent?.newest ?? feedCounter }
        return descent == nil ? page.rows.last?.counter ?? known.counter : known.counter
    }

    /// Returns the token after a page. Changes during a newest-first walk have a counter above the walk's
    /// beginning, and are returned by the fetch after the walk.
    func token(behind page: ChangesPage<StoredRecord>) -> String {
        guard let descent else {
            let last = page.rows.last?.counter ?? known.counter
            return known.token(counter: page.moreComing ? last : feedCounter)
        }
        guard page.moreComing else { return known.token(counter: descent.newest) }
        guard let last = page.rows.last?.counter else {
            return known.token(counter: known.counter, descent: known.descent)
        }
        return known.token(
            counter: known.counter, descent: ChangeToken.Descent(newest: descent.newest, below: last))
    }
}

extension ZonesPage {
    /// The zones in a feed: each present or deleted.
    var changedZones: [ZoneResult] {
        rows.map { row in
            var zoneID = row.key.zoneID
            zoneID.zoneType = row.key.zoneType
            return .zone(WireZone(zoneID: zoneID, deleted: row.isDeleted))
        }
    }
}

extension ZoneKey {
    /// Apple's word for the kind of zone.
    var zoneType: String { isDefault ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE" }
}

extension ZoneRow {
    /// Returns the token of a client that has fetched the whole zone, or nil for a deleted zone.
    func syncToken(in scope: DatabaseScope) -> String? {
        guard !isDeleted else { return nil }
        let subject = ChangeToken.Subject.zone(ownerRecordName: key.database.owner, zoneName: key.zoneName)
        return ChangeToken(
            scope: scope, subject: subject, epoch: epoch, counter: counter, liveUntil: counter
        ).text
    }
}

extension RecordResult {
    /// The same with numbers encoded as text or as numbers, independent of the response. Nil uses the
    /// response's setting.
    func with(numbersAsStrings: Bool?) -> RecordResult {
        guard let numbersAsStrings, case .record(var record) = self else { return self }
        record.numbersAsStrings = numbersAsStrings
        return .record(record)
    }
}
