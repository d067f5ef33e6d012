import CloudStore
import CloudWire

/// Counts rows for an operator, up to `countMax` of each kind and up to `rowsMax` per request. A count that
/// reaches its limit is marked as capped.
package struct OperatorCounting {
    static let countMax = 10_000
    /// Maximum number of types with listed index work.
    static let typesMax = 100
    /// Counting this many takes about a tenth of a second.
    package static let rowsMax = 500_000

    struct Count: Hashable {
        var count: Int
        var isCapped: Bool
    }

    private let reader: any RecordCountsReader
    private var rowsLeft = Self.rowsMax
    private var types: [String: Count] = [:]

    init(_ reader: any CloudStoreReader) {
        self.reader = (reader as? any RecordCountsReader) ?? NoCounts()
    }

    /// Returns the records of a type, of all users.
    mutating func records(ofType recordType: String) throws -> Count {
        if let known = types[recordType] { return known }
        let reader = reader
        let count = try take { try reader.countRecords(ofType: recordType, rowsMax: $0) }
        types[recordType] = count
        return count
    }

    /// Returns the entries of an index, of all users.
    mutating func entries(ofType recordType: String, field: String, kind: StoredIndexEntry.Kind) throws
        -> Count
    {
        let reader = reader
        return try take {
            try reader.countEntries(ofType: recordType, field: field, kind: kind, rowsMax: $0)
        }
    }

    private mutating func take(_ body: (_ rowsMax: Int) throws -> CountedRows) rethrows -> Count {
        let rowsMax = min(Self.countMax, rowsLeft)
        guard rowsMax > 0 else { return Count(count: 0, isCapped: true) }
        let found = try body(rowsMax + 1)
        rowsLeft -= found.rowsRead
        return Count(count: min(found.count, rowsMax), isCapped: found.count > rowsMax)
    }
}

/// Counts nothing, for a store without support for counts.
private struct NoCounts: RecordCountsReader {
    func countRecords(in database: StoredDatabaseKey, rowsMax: Int) throws -> [RecordCount] { [] }

    func countRecords(ofType recordType: String, rowsMax: Int) throws -> CountedRows {
        CountedRows(count: rowsMax, rowsRead: 0)
    }

    func countEntries(
        ofType recordType: String, field: String, kind: StoredIndexEntry.Kind, rowsMax: Int
    ) throws -> CountedRows { CountedRows(count: rowsMax, rowsRead: 0) }

    func countPushes(rowsMax: Int) throws -> Int? { nil }
}

/// The messages of the operator API about an environment, as in `docs/OPERATOR_API.md`.
package struct OperatorMessages: Sendable {
    let schemas: Schemas

    /// Returns the pending work of an environment, in the form of `docs/OPERATOR_API.md`.
    ///
    /// - Throws: `CloudStoreError`.
    package func backlogMessage(_ reader: any CloudStoreReader) throws -> JSONValue {
        let counts = (reader as? any RecordCountsReader) ?? NoCounts()
        let pushes = try counts.countPushes(rowsMax: OperatorCounting.countMax + 1)
        let webhooks = try reader.notificationReader.webhooks().reduce(0) { $0 + $1.waitingCount }
        let work = try reader.indexWork(typesMax: OperatorCounting.typesMax)
        var members: [String: JSONValue] = [
            "webhooksWaiting": .integer(webhooks),
            "indexesBeingBuilt": .array(
                try work.flatMap { row in
                    try IndexWork(row).missing.sorted().map { piece in
                        .object([
                            "recordType": .string(row.recordType), "field": .string(piece.field),
                            "kind": .string(piece.kind == .words ? "SEARCHABLE" : "QUERYABLE"),
                        ])
                    }
                }),
        ]
        if let pushes {
            members["pushesWaiting"] = .object([
                "count": .integer(Int64(min(pushes, OperatorCounting.countMax))),
                "isCapped": .bool(pushes > OperatorCounting.countMax),
            ])
        }
        return .object(members)
    }

    /// Returns the records of a database by zone and type, in the form of `docs/OPERATOR_API.md`.
    ///
    /// - Throws: `CloudStoreError`.
    package func countsMessage(
        in database: StoredDatabaseKey, _ reader: any CloudStoreReader
    ) throws -> JSONValue {
        let reader = (reader as? any RecordCountsReader) ?? NoCounts()
        let rows = try reader.countRecords(in: database, rowsMax: OperatorCounting.countMax)
        let zones = Dictionary(grouping: rows, by: \.zoneName).sorted { $0.key < $1.key }
        return .object([
            "zones": .array(
                zones.map { zone, rows in
                    .object([
                        "zone": .string(zone),
                        "recordTypes": .array(
                            rows.map { row in
                                .object([
                                    "recordType": .string(row.recordType),
                                    "count": .integer(Int64(row.count)),
                                    "isCapped": .bool(row.isCapped),
                                ])
                            }),
                    ])
                }), "isCapped": .bool(rows.contains { $0.isCapped }),
        ])
    }

    /// Returns the indexes of a schema with their numbers of entries, in the form of `docs/OPERATOR_API.md`.
    ///
    /// - Parameter recordType: restricts the result to one type, or nil for all types.
    /// - Throws: `CloudStoreError`.
    package func indexesMessage(
        ofType recordType: String?, _ reader: any CloudStoreReader
    ) throws -> JSONValue {
        var counting = OperatorCounting(reader)
        var indexes: [JSONValue] = []
        let types = try schemas.schema(in: reader).recordTypes.filter {
            recordType == nil || $0.key == recordType
        }
        for (name, type) in types.sorted(by: { $0.key < $1.key }) {
            var wanted = StoreLoad()
            wanted.indexWorkOf = [name]
            let missing = try reader.load(wanted).indexWork[name].map { try IndexWork($0).missing } ?? []
            for field in QueryField.indexed(of: type) {
                for (word, index) in FieldIndexes.names
                where field.indexes.subtracting(field.system?.alwaysHas ?? []).contains(index) {
                    let count = try counting.entries(of: field, index, ofType: name)
                    let pieces = IndexPiece.kinds(of: index).map { IndexPiece(field: field.name, kind: $0) }
                    indexes.append(
                        .object([
                            "recordType": .string(name), "field": .string(field.name), "kind": .string(word),
                            "isSystemField": .bool(field.system != nil),
                            "entriesCount": .integer(Int64(count.count)), "isCapped": .bool(count.isCapped),
                            "isBeingBuilt": .bool(pieces.contains { missing.contains($0) }),
                        ]))
                }
            }
        }
        return .object(["indexes": .array(indexes)])
    }

    /// Returns the devices of a user that get pushes, in the form of `docs/OPERATOR_API.md`.
    ///
    /// - Throws: `CloudStoreError`.
    package func devicesMessage(of user: String, _ reader: any CloudStoreReader) throws -> JSONValue {
        var wanted = StoreLoad()
        wanted.devicesOf = [user]
        let devices = try reader.load(wanted).devices[user] ?? []
        wanted = StoreLoad()
        wanted.pushesOf = devices.map(\.key)
        let pushes = try reader.load(wanted).pushes
        return .object([
            "devices": .array(
                devices.sorted { $0.seenMilliseconds > $1.seenMilliseconds }.map { device in
                    .object([
                        "device": .string(String(device.key.device.prefix(8))),
                        "lastMilliseconds": .integer(device.seenMilliseconds),
                        "pushesWaiting": .integer(Int64(pushes[device.key]?.count ?? 0)),
                        "apnsEnvironment": .string(device.environment),
                    ])
                })
        ])
    }
}

extension OperatorCounting {
    /// Returns the entries of a field's index. The index of record names has no entries of its own.
    fileprivate mutating func entries(
        of field: QueryField, _ index: FieldIndexes, ofType recordType: String
    ) throws -> Count {
        if field.system == .recordID { return try records(ofType: recordType) }
        let kind = index == .searchable ? .word : IndexEntries.kind(of: field)
        return try entries(ofType: recordType, field: field.name, kind: kind)
    }
}

extension IndexPiece {
    /// Returns the kinds of entries in a field's index.
    fileprivate static func kinds(of index: FieldIndexes) -> [Kind] {
        index == .searchable ? [.words] : index == .sortable ? [.values, .nulls] : [.values]
    }
}
