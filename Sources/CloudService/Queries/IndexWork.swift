import CloudStore
import CloudWire

/// A part of a field's index, which is there for all records or not yet.
struct IndexPiece: Hashable, Comparable {
    /// Which entries.
    enum Kind: UInt8, Comparable {
        /// Those of the records that have a value.
        case values = 1
        /// Those of the records that have none.
        case nulls = 2
        case words = 3

        static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    let field: String
    let kind: Kind

    static func < (left: IndexPiece, right: IndexPiece) -> Bool {
        (left.field, left.kind) < (right.field, right.kind)
    }

    /// The pieces that a type asks for, each with the type of the values in it.
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

/// What is left to do on the indexes of a type: its records are gone through, and each gets the entries that the schema
/// asks for and loses all others.
struct IndexWork: Hashable {
    let recordType: String
    /// What isn't there for all records yet; a query that needs it is told to come again. None when entries only go.
    var missing: Set<IndexPiece>
    /// The records up to here are done.
    var position: RecordKey?

    /// Version 1 counted no bytes, up to version 2 other texts had other words, and up to version 3 names and rows of
    /// files were not counted: that work begins anew, with what it had done.
    private static let version: UInt8 = 4

    /// The work that a change of a type makes, beside what was left; nil when nothing is to be done.
    init?(_ recordType: String, from old: RecordType?, to new: RecordType?, left: IndexWork?) {
        let before = old.map { IndexPiece.all(of: $0) } ?? [:]
        let after = new.map { IndexPiece.all(of: $0) } ?? [:]
        guard before != after else { return nil }
        self.recordType = recordType
        // Values of another type are other bytes.
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

    /// As the store keeps it.
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

    /// The row of a type without remaining work.
    static func done(_ recordType: String) -> IndexWorkRow {
        IndexWorkRow(recordType: recordType, content: [])
    }
}

extension IndexEntries {
    /// The row of a record in a store's indexes.
    ///
    /// - Parameters:
    ///   - references: the record's references that bind; nil: they aren't known yet.
    ///   - assets: the files that the record holds; nil: they aren't known yet.
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
    /// Seconds after which a query that needs an unfinished index may ask again.
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
