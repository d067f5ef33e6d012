import CloudStore
import CloudWire

/// One step of a client through a zone's changes: upwards from what it knows, or from the newest downwards.
struct FeedWalk {
    private let known: FeedPosition
    private let feedCounter: Int64
    private let descent: ChangeToken.Descent?

    /// - Parameters:
    ///   - known: what the client knows. A walk downwards that isn't done goes on, whatever `isReversed` says.
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

    /// The highest counter that is wanted.
    var through: Int64 { descent.map { $0.below - 1 } ?? .max }

    /// Up to which change the client knows all behind a page. On the way downwards that is what it knew before.
    func counter(behind page: ChangesPage<StoredRecord>) -> Int64 {
        guard page.moreComing else { return descent?.newest ?? feedCounter }
        return descent == nil ? page.rows.last?.counter ?? known.counter : known.counter
    }

    /// The token behind a page. What changes while a client walks downwards has a counter above the walk's beginning,
    /// and comes with the fetch after the walk.
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
    /// The zones as a feed tells them: whether each is there or gone.
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
    /// The token of a client that knows all of the zone, or nil for a deleted zone.
    func syncToken(in scope: DatabaseScope) -> String? {
        guard !isDeleted else { return nil }
        let subject = ChangeToken.Subject.zone(ownerRecordName: key.database.owner, zoneName: key.zoneName)
        return ChangeToken(
            scope: scope, subject: subject, epoch: epoch, counter: counter, liveUntil: counter
        ).text
    }
}

extension RecordResult {
    /// The same with its numbers as text, or as numbers, whatever the rest of the response has; nil: as the rest.
    func with(numbersAsStrings: Bool?) -> RecordResult {
        guard let numbersAsStrings, case .record(var record) = self else { return self }
        record.numbersAsStrings = numbersAsStrings
        return .record(record)
    }
}
