/// Details of a response for the server's request history: names and counts, but no field values. Not on the
/// wire.
package struct WireDetail: Hashable, Sendable {
    /// The result for a record that a request was to change.
    package struct Record: Hashable, Sendable {
        /// Apple's name of the operation.
        package var operation: String
        /// The record's type, if the request or the response contains it.
        package var recordType: String?
        /// The record's name.
        package var recordName: String
        /// The name of its zone.
        package var zoneName: String
        /// Code of the record's error, or nil for success.
        package var errorCode: String?
        /// The error's reason, without values.
        package var reason: String?

        /// Makes the result for a record.
        package init(operation: String, recordType: String? = nil, recordName: String, zoneName: String) {
            self.operation = operation
            self.recordType = recordType
            self.recordName = recordName
            self.zoneName = zoneName
        }
    }

    /// A field or a record type that is missing in the schema.
    package struct SchemaName: Hashable, Sendable {
        /// The record type.
        package var recordType: String
        /// The missing field, or nil if the type itself is missing.
        package var fieldName: String?

        /// Makes the name of a field or a record type.
        package init(recordType: String, fieldName: String? = nil) {
            self.recordType = recordType
            self.fieldName = fieldName
        }
    }

    /// The structure of a query, without values.
    package struct Query: Hashable, Sendable {
        /// The type of the records.
        package var recordType: String
        /// `field COMPARATOR`, in the query's order.
        package var filters: [String]
        /// `field` or `field DESC`, in the query's order.
        package var sorts: [String]
        /// Number of rows of indexes and records that were read.
        package var rowsExamined = 0
        /// The field without the required index, and the kind of the index: `QUERYABLE`, `SORTABLE` or
        /// `SEARCHABLE`.
        package var missingIndex: (fieldName: String, kind: String)? {
            get { missing.first.map { ($0, missing[1]) } }
            set { missing = newValue.map { [$0.fieldName, $0.kind] } ?? [] }
        }
        private var missing: [String] = []

        /// Makes the description of a query.
        package init(recordType: String, filters: [String], sorts: [String]) {
            self.recordType = recordType
            self.filters = filters
            self.sorts = sorts
        }
    }

    /// The part of a fetch of changes that concerns one zone.
    package struct Fetch: Hashable, Sendable {
        /// The zone's name.
        package var zoneName: String
        /// Counter of the client's position before the fetch, or nil if the token couldn't be read.
        package var sinceChange: Int64?
        /// Counter of the client's position after the response.
        package var toChange: Int64?
        /// Number of records in the response.
        package var recordsCount = 0
        /// True if there are more.
        package var moreComing = false
        /// Code of the zone's error, or nil for success.
        package var errorCode: String?
        /// Reason the client's token was rejected.
        package var tokenRefusal: WireError.TokenRefusal?

        /// Makes the part of a zone.
        package init(zoneName: String) { self.zoneName = zoneName }
    }

    /// Number of changed records in a zone.
    package struct Save: Hashable, Sendable {
        /// The zone's name.
        package var zoneName: String
        /// Number of saved and deleted records.
        package var count: Int

        /// Makes the count of a zone.
        package init(zoneName: String, count: Int) {
            self.zoneName = zoneName
            self.count = count
        }
    }

    /// Public name of the caller's session.
    package var sessionID: String?
    /// Reason that the whole request failed, without values.
    package var reason: String?
    /// Names of the requested zones, without duplicates.
    package var zoneNames: [String] = []
    /// Number of records in the request or in the response.
    package var recordsCount = 0
    /// Results for the first of the records to be changed. Failed records come first.
    package var records: [Record] = []
    /// Numbers of changed records by zone.
    package var saves: [Save] = []
    /// The query, or the one of several queries that read the most rows.
    package var query: Query?
    /// Fetches of changes by zone.
    package var fetches: [Fetch] = []
    /// Name that is missing in the schema.
    package var missing: SchemaName?

    /// Makes an empty detail.
    package init() {}
}
