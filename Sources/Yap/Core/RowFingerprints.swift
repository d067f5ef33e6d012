import SQLite

/// Fingerprints of a file's rows at one moment, for a program that detects changes of other processes without writing
/// to the file. The file itself only records that a commit was made.
package struct RowFingerprints {
    /// Change of a row between two moments.
    package enum Change: String, Sendable { case inserted, updated, removed }

    /// A changed row.
    package struct ChangedRow: Sendable {
        package let collection: String
        package let key: String
        package let change: Change
    }

    /// Default maximum rows. Each takes about 100 bytes of memory.
    package static let rowsMaxDefault = 2_000_000

    private struct Row {
        let name: YapCollectionKey
        var fingerprint: UInt64
        /// True if the current reading has found it.
        var isFound: Bool
    }

    private let collection: String?
    private let rowsMax: Int
    private var rows: [Int64: Row] = [:]
    private var isFound = false

    /// - Parameters:
    ///   - collection: Only rows of this collection. Nil for all.
    ///   - rowsMax: Maximum rows.
    package init(collection: String?, rowsMax: Int = Self.rowsMaxDefault) {
        (self.collection, self.rowsMax) = (collection, rowsMax)
    }

    /// Reads all rows of `file`, inside its `read`.
    ///
    /// - Returns: The rows that changed since the last reading, ordered by collection and key. A row that was removed
    ///   and inserted again counts as updated if its bytes differ.
    /// - Throws: `YapDatabaseError`, also if there are more than `rowsMax` rows.
    package mutating func update(from file: DatabaseFile) throws -> [ChangedRow] {
        isFound.toggle()
        var inserted: Set<YapCollectionKey> = []
        var changed: [ChangedRow] = []
        let condition = collection == nil ? "" : " WHERE collection = ?1"
        try file.sqlite.withStatement(
            "SELECT rowid, collection, key, data, metadata FROM database2\(condition)"
        ) {
            statement in
            if let collection { try statement.bind(collection, at: 1) }
            while try statement.step() {
                let rowID = statement.int64(at: 0)
                let name = YapCollectionKey(collection: statement.text(at: 1), key: statement.text(at: 2))
                let fingerprint = Self.fingerprint(statement)
                if let old = rows[rowID], old.name == name {
                    rows[rowID]?.isFound = isFound
                    if old.fingerprint == fingerprint { continue }
                    rows[rowID]?.fingerprint = fingerprint
                    changed.append(ChangedRow(collection: name.collection, key: name.key, change: .updated))
                    continue
                }
                if let old = rows[rowID] {
                    // Another row now has its rowid.
                    changed.append(
                        ChangedRow(collection: old.name.collection, key: old.name.key, change: .removed))
                } else if rows.count >= rowsMax {
                    throw YapDatabaseError(.sqlite, "there are more than \(rowsMax) rows")
                }
                rows[rowID] = Row(name: name, fingerprint: fingerprint, isFound: isFound)
                inserted.insert(name)
            }
        }
        for (rowID, row) in rows.filter({ $0.value.isFound != isFound }) {
            rows[rowID] = nil
            changed.append(
                ChangedRow(collection: row.name.collection, key: row.name.key, change: .removed))
        }
        return Self.merged(changed, inserted)
    }

    /// Combines the removal and the insertion of a row under another rowid into an update.
    private static func merged(_ changed: [ChangedRow], _ inserted: Set<YapCollectionKey>) -> [ChangedRow] {
        var rest = inserted
        var merged = changed.map { row in
            let name = YapCollectionKey(collection: row.collection, key: row.key)
            guard row.change == .removed, rest.remove(name) != nil else { return row }
            return ChangedRow(collection: row.collection, key: row.key, change: .updated)
        }
        merged += rest.map { ChangedRow(collection: $0.collection, key: $0.key, change: .inserted) }
        return merged.sorted {
            YapCollectionKey(collection: $0.collection, key: $0.key)
                < YapCollectionKey(collection: $1.collection, key: $1.key)
        }
    }

    /// FNV-1a over words, with the lengths. Only this process compares them.
    private static func fingerprint(_ statement: borrowing Statement) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ word: UInt64) { hash = (hash ^ word) &* 0x0000_0100_0000_01B3 ^ (hash >> 29) }
        for column in [Int32(3), 4] {
            statement.withBytes(at: column) { bytes in
                add(UInt64(bytes.count) << 1 | (statement.isNull(at: column) ? 1 : 0))
                var offset = 0
                while offset + 8 <= bytes.count {
                    add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                    offset += 8
                }
                while offset < bytes.count {
                    add(UInt64(bytes[offset]))
                    offset += 1
                }
            }
        }
        return hash
    }
}
