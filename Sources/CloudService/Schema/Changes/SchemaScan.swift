import CloudStore
import CloudWire
import System

/// Iterates over all records of types.
final class SchemaScan {
    /// Records read at once.
    private static let recordsMax = 500
    private static let bytesMax = 4 << 20

    let reader: any CloudStoreReader
    private let recordsMax: Int
    private var recordsCount = 0
    private var bytesCount = 0
    /// Maximum bytes of the fields of all records, if their number is limited.
    private static let allBytesMax = 64 << 20

    /// - Parameter recordsMax: maximum number of records to read, or nil for all.
    init(_ reader: any CloudStoreReader, recordsMax: Int? = nil) {
        self.reader = reader
        self.recordsMax = recordsMax ?? .max
    }

    /// Returns the types of all records, sorted. Throws if the store can't list them.
    func recordTypes() throws -> [String] {
        guard let reader = reader as? any RecordTypesReader else {
            throw SchemaRefusal(["the store can't list its records"])
        }
        return try reader.recordTypes()
    }

    /// Calls `body` with each record of the type until it returns false.
    ///
    /// - Throws: `SchemaRefusal` if there are more records than the limit, the error of `body`,
    ///   `CloudStoreError`.
    func forEach(_ recordType: String, _ body: (StoredRecord) throws -> Bool) throws {
        var after: RecordKey?
        while true {
            guard
                recordsMax == .max || recordsCount < recordsMax && bytesCount < Self.allBytesMax
            else {
                throw SchemaRefusal([
                    "there are too many records to look through while others write, some of type '\(recordType)'; "
                        + "change the schema with: yap schema import"
                ])
            }
            let page = try reader.records(
                ofType: recordType, after: after, recordsMax: Self.recordsMax, bytesMax: Self.bytesMax)
            for row in page.rows {
                guard try body(row) else { return }
            }
            recordsCount += page.rows.count
            bytesCount += page.rows.reduce(0) { $0 + $1.fields.count }
            guard page.moreComing, let last = page.rows.last else { return }
            after = last.key
        }
    }
}

extension SchemaMaintenance {
    /// Checks that no record has values that the new schema can't store.
    ///
    /// - Parameter recordsMax: maximum number of records of a type to read, or nil for all.
    /// - Throws: `SchemaRefusal` that names a record for each reason.
    func checkRecords(
        _ before: Schema, against after: Schema, recordsMax: Int? = nil, _ reader: any CloudStoreReader
    ) throws {
        var reasons: [String] = []
        let scan = SchemaScan(reader, recordsMax: recordsMax)
        for (name, type) in before.recordTypes.sorted(by: { $0.key < $1.key }) {
            guard let newType = after.recordTypes[name] else {
                try scan.forEach(name) { row in
                    reasons.append("there are records of type '\(name)', as \(row.key.recordName)")
                    return false
                }
                continue
            }
            var lost = Set<String>()
            for (field, definition) in type.fields
            where !(newType.fields[field].map { definition.holdsSame(as: $0) } ?? false) {
                lost.insert(field)
            }
            guard !lost.isEmpty else { continue }
            try scan.forEach(name) { row in
                let values = try FieldsBinary.decode(row.fields)
                for field in lost.sorted() where values[field] != nil {
                    reasons.append(
                        "the field '\(field)' of record type '\(name)' has values, as in \(row.key.recordName)"
                    )
                    lost.remove(field)
                }
                return !lost.isEmpty
            }
        }
        guard reasons.isEmpty else { throw SchemaRefusal(reasons) }
    }

    /// Derives the schema of an environment from its records, which an earlier version stored without a
    /// schema. Does nothing if a schema exists, or no records.
    ///
    /// - Throws: `CloudStoreError`, or `BinaryError` for an unreadable record; then no schema was stored.
    package func adoptSchema() throws {
        guard
            try store.read({ reader in
                try reader.schemaVersion() == nil && !SchemaScan(reader).recordTypes().isEmpty
            })
        else { return }
        try store.write { writer in
            guard try writer.schemaVersion() == nil else { return }
            let scan = SchemaScan(writer)
            var growth = SchemaGrowth(.initial, mayGrow: true, limits: limits)
            for name in try scan.recordTypes() {
                _ = growth.take([:], recordType: name)
                try scan.forEach(name) { row in
                    // A field with values of two types gets the first type. Values of the other type stay
                    // readable.
                    for (field, value) in try FieldsBinary.decode(row.fields).sorted(by: { $0.key < $1.key })
                    {
                        _ = growth.take([field: value], recordType: name)
                    }
                    return true
                }
            }
            var changes = StoreChanges()
            changes.schema = growth.grown.row(version: random.next())
            try writing.apply(changes, to: writer)
        }
    }
}
