import CloudStore
import CloudWire

/// Says whether a record is one that a query finds, from the record alone.
///
/// A record without a value for a filter's field matches none of the comparators but the negated ones (`NOT_...`),
/// which match whatever their opposite doesn't.
struct QueryMatcher: Hashable, Sendable {
    private let query: ResolvedQuery

    /// Reads a query of the records in `database`.
    ///
    /// - Parameters:
    ///   - query: as the client sent it.
    ///   - schema: the schema as it is now. With another one make another matcher.
    ///   - database: where it looks.
    ///   - userRecordName: the calling user, for `__defaultOwner__`.
    /// - Throws: BAD_REQUEST that names the field, or NOT_FOUND for an unknown record type.
    init(
        _ query: RecordQuery, schema: Schema, database: StoredDatabaseKey, userRecordName: String?,
        limits: ServiceLimits
    ) throws(WireError) {
        let reading = QueryReading(
            schema: schema, database: database, userRecordName: userRecordName, limits: limits)
        self.query = try reading.resolve(query)
    }

    /// Returns true if the query finds a record with these fields; never a tombstone.
    func matches(_ row: StoredRecord, fields: [String: Field]) -> Bool {
        matches(QuerySubject(row: row, fields: fields))
    }

    /// The same for a record that many are asked about.
    func matches(_ subject: QuerySubject) -> Bool { query.matches(subject) }
}
