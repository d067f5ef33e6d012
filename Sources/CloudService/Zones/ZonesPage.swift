import CloudStore
import CloudWire

/// Zones in the order of their last change, with the token after the last.
struct ZonesPage {
    var rows: [ZoneRow]
    var syncToken: String
    var moreComing: Bool
    /// True if this is the first page.
    var isFirst: Bool
}

extension ZonesPage {
    /// The custom zones that changed since `syncToken`.
    init(
        _ reader: any CloudStoreReader, _ caller: ServiceCaller, syncToken: String?, zonesMax: Int
    ) throws {
        guard let user = caller.user else { throw ServiceError.authenticationRequired }
        var row: DatabaseRow?
        if let database = caller.database {
            var wanted = StoreLoad()
            wanted.databases = [database]
            row = try reader.load(wanted).databases[database]
        }
        let known = try FeedPosition(
            syncToken, scope: caller.scope, subject: .database(ownerRecordName: user.userRecordName),
            epoch: row?.epoch ?? FeedPosition.epochBeforeTheFirst, counter: row?.counter ?? 0,
            floor: row?.zoneFloor ?? 0)
        guard let row else {
            self.init(rows: [], syncToken: known.token(counter: 0), moreComing: false, isFirst: true)
            return
        }
        let page = try reader.changedZones(
            in: row.key, after: known.counter, deletedAfter: known.liveUntil, zonesMax: zonesMax)
        let seen = page.moreComing ? page.rows.last?.databaseCounter ?? known.counter : row.counter
        self.init(
            rows: page.rows, syncToken: known.token(counter: seen), moreComing: page.moreComing,
            isFirst: known.counter == 0)
    }
}
