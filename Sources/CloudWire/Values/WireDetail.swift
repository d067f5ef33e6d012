/// What a server's request history tells of a response: names and counts, never the value of a field. Not on the wire.
package struct WireDetail: Hashable, Sendable {
    /// What became of a record that a request was to change.
    package struct Record: Hashable, Sendable {
        /// Apple's word for the operation.
        package var operation: String
        /// The record's type, as far as the request or the response tells it.
        package var recordType: String?
        /// The record's name.
        package var recordName: String
        /// The name of its zone.
        package var zoneName: String
        /// The code of its error; nil when it was done.
        package var errorCode: String?
        /// The error's reason, without values.
        package var reason: String?

        /// Names a record.
        package init(operation: String, recordType: String? = nil, recordName: String, zoneName: String) {
            self.operation = operation
            self.recordType = recordType
            self.recordName = recordName
            self.zoneName = zoneName
        }
    }

    /// A field, or a whole record type, that the schema would have to have.
    package struct SchemaName: Hashable, Sendable {
        /// The record type.
        package var recordType: String
        /// The field; nil: the type itself is missing.
        package var fieldName: String?

        /// Names a field or a record type.
        package init(recordType: String, fieldName: String? = nil) {
            self.recordType = recordType
            self.fieldName = fieldName
        }
    }

    /// The shape of a query.
    package struct Query: Hashable, Sendable {
        /// The type of the records.
        package var recordType: String
        /// `field COMPARATOR`, in the query's order.
        package var filters: [String]
        /// `field` or `field DESC`, in the query's order.
        package var sorts: [String]
        /// Rows of indexes and records that were looked at.
        package var rowsExamined = 0
        /// The field that has no such index, and which: `QUERYABLE`, `SORTABLE` or `SEARCHABLE`.
        package var missingIndex: (fieldName: String, kind: String)? {
            get { missing.first.map { ($0, missing[1]) } }
            set { missing = newValue.map { [$0.fieldName, $0.kind] } ?? [] }
        }
        private var missing: [String] = []

        /// Describes a query.
        package init(recordType: String, filters: [String], sorts: [String]) {
            self.recordType = recordType
            self.filters = filters
            self.sorts = sorts
        }
    }

    /// One zone's part of a fetch of changes.
    package struct Fetch: Hashable, Sendable {
        /// The zone's name.
        package var zoneName: String
        /// The change that the client had come to before; nil when its position couldn't be read.
        package var sinceChange: Int64?
        /// The change that it has come to with the response.
        package var toChange: Int64?
        /// Records in the response.
        package var recordsCount = 0
        /// True if there are more.
        package var moreComing = false
        /// The code of the error; nil when it was answered.
        package var errorCode: String?
        /// Why the client's position was refused.
        package var tokenRefusal: WireError.TokenRefusal?

        /// Names a zone.
        package init(zoneName: String) { self.zoneName = zoneName }
    }

    /// How many records were changed in a zone.
    package struct Save: Hashable, Sendable {
        /// The zone's name.
        package var zoneName: String
        /// Records saved and deleted.
        package var count: Int

        /// Counts a zone's records.
        package init(zoneName: String, count: Int) {
            self.zoneName = zoneName
            self.count = count
        }
    }

    /// The public name of the session that asked.
    package var sessionID: String?
    /// The reason of a request that failed as a whole, without values.
    package var reason: String?
    /// The names of the zones that were asked for, each once.
    package var zoneNames: [String] = []
    /// Records that the request was about, or that the response has.
    package var recordsCount = 0
    /// Of the records that were to be changed the first, those that failed before the others.
    package var records: [Record] = []
    /// What was changed, by zone.
    package var saves: [Save] = []
    /// The query, of several the one that looked at the most rows.
    package var query: Query?
    /// The zones that changes were fetched from.
    package var fetches: [Fetch] = []
    /// What the schema lacked.
    package var missing: SchemaName?

    /// Makes a detail that tells nothing.
    package init() {}
}
