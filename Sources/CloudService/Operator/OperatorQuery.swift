import CloudStore
import CloudWire

/// The pages of `records/query` for a caller that may read everything.
package struct OperatorQuery {
    private static let recordsMax = 200

    private let query: RecordQuery
    private let database: StoredDatabaseKey
    private let zones: [ZoneKey]
    private var position: QueryPosition?

    package init(_ query: RecordQuery, database: StoredDatabaseKey, zoneNames: [String]) {
        self.query = query
        self.database = database
        zones = zoneNames.map { ZoneKey(database: database, zoneName: $0) }.sorted()
    }

    /// Returns the next records, and whether there may be more. Each page is a consistent snapshot.
    ///
    /// - Throws: `WireError` if `records/query` rejects the query, since no index serves it or the index
    ///   isn't complete.
    package mutating func page(in reader: any CloudStoreReader) throws -> (
        rows: [StoredRecord], moreComing: Bool
    ) {
        var wanted = StoreLoad()
        wanted.schema = true
        let limits = ServiceLimits()
        let reading = QueryReading(
            schema: try reader.load(wanted).schema.map { try Schema($0) } ?? .initial, database: database,
            userRecordName: nil, limits: limits)
        let resolved = try reading.resolve(query)
        try resolved.checkIndexes(in: reader)
        let runner = QueryRunner(
            reader: reader, query: resolved, zones: zones, limits: limits, recordsMax: Self.recordsMax,
            isVisible: nil)
        var budget = limits.budget(records: Self.recordsMax)
        let page = try runner.page(after: position, &budget)
        position = page.next
        return (page.rows, page.moreComing)
    }
}
