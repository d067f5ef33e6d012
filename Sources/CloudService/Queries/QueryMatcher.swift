import CloudStore
import CloudWire

/// Tests whether a query matches a record, given only the record.
///
/// A record without a value for a filter's field matches only the negated comparators (`NOT_...`), which
/// match whenever their opposite doesn't.
struct QueryMatcher: Hashable, Sendable {
    private let query: ResolvedQuery

    /// Parses a query of the records in `database`.
    ///
    /// - Parameters:
    ///   - query: the query as sent by the client.
    ///   - schema: the current schema. After a schema change, create another matcher.
    ///   - database: the database to search.
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

    /// Returns true if the query matches a record with these fields. Tombstones never match.
    func matches(_ row: StoredRecord, fields: [String: Field]) -> Bool {
        matches(QuerySubject(row: row, fields: fields))
    }

    /// The same for a record that is tested by several matchers.
    func matches(_ subject: QuerySubject) -> Bool { query.matches(subject) }
}
