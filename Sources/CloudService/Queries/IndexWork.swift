import CloudStore
import CloudWire

/// A part of a field's index, which is complete or under construction.
struct IndexPiece: Hashable, Comparable {
    /// Kind of the entries.
    enum Kind: UInt8, Comparable {
        /// Entries of records that have a value.
        case values = 1
        /// Entries of records without a value.
        case nulls = 2
        case words = 3

        static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    let field: String
    let kind: Kind

    static func < (left: IndexPiece, right: IndexPiece) -> Bool {
        (left.field, left.kind) < (right.field, right.kind)
    }

    /// Returns the pieces that a type's indexes consist of, each with the type of its values.
    static func all(of type: RecordType) -> [IndexPiece: FieldType] {
        var pieces: [IndexPiece: FieldType] = [:]
        for field in QueryField.indexed(of: type) where field.system != .recordID {
            func add(_ kind: Kind) { pieces[IndexPiece(field: field.name, kind: kind)] = field.type }
            if !field.indexes.isDisjoint(with: [.queryable, .sortable]) { add(.values) }
            if field.indexes.contains(.sortable) { add(.nulls) }
            if field.indexes.contains(.searchable) { add(.words) }
        }
        return pieces
    }
}

/// Pending index work of a type. Each record of the type gets the entries that the schema declares, and loses
/// all others.
struct IndexWork: Hashable {
    let recordType: String
    /// Pieces that aren't complete for all records. A query that needs one is rejected with a retry delay.
    /// Empty if entries are only removed.
    var missing: Set<IndexPiece>
    /// The last processed record.
    var position: RecordKey?

    /// Version 1 didn't account bytes. Up to version 2 texts were split into words differently. Up to version
    /// 3 names and file rows weren't counted. Work of these versions starts again.
    private static let version: UInt8 = 4

    /// The work that a change of a type requires, including the pending work `left`, or nil if there is none.
    init?(_ recordType: String, from old: RecordType?, to new: RecordType?, left: IndexWork?) {
        let before = old.map { IndexPiece.all(of: $0) } ?? [:]
        let after = new.map { IndexPiece.all(of: $0) } ?? [:]
        guard before != after else { return nil }
        self.recordType = recordType
        // Values of another type have other bytes.
        missing = Set(after.filter { before[$0.key] != $0.value }.keys)
        missing.formUnion(left?.missing.filter { after[$0] != nil } ?? [])
    }

    init(_ row: IndexWorkRow) throws {
        var reader = BinaryReader(row.content[...])
        let version = try reader.byte()
        guard 1...Self.version ~= version else {
            throw reader.error("index work of an unknown version")
        }
        recordType = row.recordType
        missing = []
        for _ in 0..<(try reader.count()) {
            let field = try reader.text()
            guard let kind = IndexPiece.Kind(rawValue: try reader.byte()) else {
                throw reader.error("an unknown piece of an index")
            }
            missing.insert(IndexPiece(field: field, kind: kind))
        }
        if try reader.byte() == 1 {
            guard let scope = StoredDatabaseKey.Scope(rawValue: try reader.signed()) else {
                throw reader.error("an unknown database")
            }
            let owner = try reader.text()
            let database =
                scope == .publicDatabase ? .publicDatabase : StoredDatabaseKey.privateDatabase(of: owner)
            let zone = ZoneKey(database: database, zoneName: try reader.text())
            position = RecordKey(zone: zone, recordName: try reader.text())
        }
        if version < Self.version { position = nil }
        try reader.expectEnd()
    }

    /// The work in the store's form.
    var row: IndexWorkRow {
        var writer = BinaryWriter()
        writer.byte(Self.version)
        writer.unsigned(UInt64(missing.count))
        for piece in missing.sorted() {
            writer.text(piece.field)
            writer.byte(piece.kind.rawValue)
        }
        writer.byte(position == nil ? 0 : 1)
        if let position {
            writer.signed(position.zone.database.scope.rawValue)
            writer.text(position.zone.database.owner)
            writer.text(position.zone.zoneName)
            writer.text(position.recordName)
        }
        return IndexWorkRow(recordType: recordType, content: writer.bytes)
    }

    /// Returns the row of a type without remaining work.
    static func done(_ recordType: String) -> IndexWorkRow {
        IndexWorkRow(recordType: recordType, content: [])
    }
}

extension IndexEntries {
    /// Returns the row of a record in a store's indexes.
    ///
    /// - Parameters:
    ///   - references: the record's binding references, or nil if they aren't known yet.
    ///   - assets: the files of the record, or nil if they aren't known yet.
    static func row(
        _ subject: QuerySubject, _ schema: Schema, references: [ReferenceRow]? = nil,
        assets: [AssetUse]? = nil
    ) -> RecordIndexRow {
        let entries = schema.recordTypes[subject.row.recordType].map { of(subject, in: $0) } ?? []
        let references =
            references
            ?? bindingReferences(of: subject.row.key, fields: subject.fields, parent: subject.row.parent)
        let filesCount = Int64((assets ?? subject.fields.assetUses).count)
        return RecordIndexRow(
            key: subject.row.key, recordType: subject.row.recordType, entries: entries,
            linkBytes: references.countedBytes + filesCount * subject.row.key.countedFileBytes)
    }
}

extension ResolvedQuery {
    /// Seconds after which a client may repeat a query that needs an incomplete index.
    private static let indexRetrySeconds = 5.0

    /// Rejects a query that needs an index which isn't complete yet.
    func checkIndexes(in reader: any CloudStoreReader) throws {
        var wanted = StoreLoad()
        wanted.indexWorkOf = [recordType]
        guard let row = try reader.load(wanted).indexWork[recordType] else { return }
        let missing = try IndexWork(row).missing
        guard let piece = pieces.first(where: missing.contains) else { return }
        throw ServiceError.tryAgainLater(
            "the index of field '\(piece.field)' is being built", retryAfterSeconds: Self.indexRetrySeconds)
    }

    /// The pieces of indexes that the query needs.
    var pieces: [IndexPiece] {
        var pieces: [IndexPiece] = []
        for condition in conditions {
            var kind = IndexPiece.Kind.values
            if case .words = condition.test { kind = .words }
            pieces += condition.fields.map { IndexPiece(field: $0.name, kind: kind) }
        }
        for key in sortKeys {
            pieces += [.values, .nulls].map { IndexPiece(field: key.field.name, kind: $0) }
        }
        return pieces
    }
}
