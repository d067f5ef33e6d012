/// What a server's request history tells of a response: names and counts, never the value of a field. Not on the wire.
public struct WireDetail: Hashable, Sendable {
    /// What became of a record that a request was to change.
    public struct Record: Hashable, Sendable {
        /// Apple's word for the operation.
        public var operation: String
        /// The record's type, as far as the request or the response tells it.
        public var recordType: String?
        /// The record's name.
        public var recordName: String
        /// The name of its zone.
        public var zoneName: String
        /// The code of its error; nil when it was done.
        public var errorCode: String?
        /// The error's reason, without values.
        public var reason: String?

        /// Names a record.
        public init(operation: String, recordType: String? = nil, recordName: String, zoneName: String) {
            self.operation = operation
            self.recordType = recordType
            self.recordName = recordName
            self.zoneName = zoneName
        }
    }

    /// A field, or a whole record type, that the schema would have to have.
    public struct SchemaName: Hashable, Sendable {
        /// The record type.
        public var recordType: String
        /// The field; nil: the type itself is missing.
        public var fieldName: String?

        /// Names a field or a record type.
        public init(recordType: String, fieldName: String? = nil) {
            self.recordType = recordType
            self.fieldName = fieldName
        }
    }

    /// The shape of a query.
    public struct Query: Hashable, Sendable {
        /// The type of the records.
        public var recordType: String
        /// `field COMPARATOR`, in the query's order.
        public var filters: [String]
        /// `field` or `field DESC`, in the query's order.
        public var sorts: [String]
        /// Rows of indexes and records that were looked at.
        public var rowsExamined = 0
        /// The field that has no such index, and which: `QUERYABLE`, `SORTABLE` or `SEARCHABLE`.
        public var missingIndex: (fieldName: String, kind: String)? {
            get { missing.first.map { ($0, missing[1]) } }
            set { missing = newValue.map { [$0.fieldName, $0.kind] } ?? [] }
        }
        private var missing: [String] = []

        /// Describes a query.
        public init(recordType: String, filters: [String], sorts: [String]) {
            self.recordType = recordType
            self.filters = filters
            self.sorts = sorts
        }
    }

    /// One zone's part of a fetch of changes.
    public struct Fetch: Hashable, Sendable {
        /// The zone's name.
        public var zoneName: String
        /// The change that the client had come to before; nil when its position couldn't be read.
        public var sinceChange: Int64?
        /// The change that it has come to with the response.
        public var toChange: Int64?
        /// Records in the response.
        public var recordsCount = 0
        /// True if there are more.
        public var moreComing = false
        /// The code of the error; nil when it was answered.
        public var errorCode: String?
        /// Why the client's position was refused.
        public var tokenRefusal: WireError.TokenRefusal?

        /// Names a zone.
        public init(zoneName: String) { self.zoneName = zoneName }
    }

    /// How many records were changed in a zone.
    public struct Save: Hashable, Sendable {
        /// The zone's name.
        public var zoneName: String
        /// Records saved and deleted.
        public var count: Int

        /// Counts a zone's records.
        public init(zoneName: String, count: Int) {
            self.zoneName = zoneName
            self.count = count
        }
    }

    /// The public name of the session that asked.
    public var sessionID: String?
    /// The reason of a request that failed as a whole, without values.
    public var reason: String?
    /// The names of the zones that were asked for, each once.
    public var zoneNames: [String] = []
    /// Records that the request was about, or that the response has.
    public var recordsCount = 0
    /// Of the records that were to be changed the first, those that failed before the others.
    public var records: [Record] = []
    /// What was changed, by zone.
    public var saves: [Save] = []
    /// The query, of several the one that looked at the most rows.
    public var query: Query?
    /// The zones that changes were fetched from.
    public var fetches: [Fetch] = []
    /// What the schema lacked.
    public var missing: SchemaName?

    /// Makes a detail that tells nothing.
    public init() {}
}
