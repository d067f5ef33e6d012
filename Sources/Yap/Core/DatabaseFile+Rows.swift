import SQLite

/// Rows of a file, without their types.
extension DatabaseFile {
    /// Statistics of a collection.
    package struct Collection: Sendable {
        package let name: String
        package let rowsCount: Int
        /// Bytes of all objects and metadata.
        package let bytesCount: Int64
    }

    /// A row. Without metadata, `metadata` is nil.
    package struct Row: Sendable {
        package let collection: String
        package let key: String
        package let stored: StoredObject
        package let metadata: StoredValue?
        /// Bytes of object and metadata.
        package let bytesCount: Int
        /// Bytes of the object, if encoding `stored` wouldn't result in the same bytes.
        package let unlikeBytes: [UInt8]?
        /// Bytes of the metadata, if encoding `metadata` wouldn't result in the same bytes.
        package let unlikeMetadataBytes: [UInt8]?

        package var object: StoredValue { stored.object }
    }

    /// Returns the collections that have rows, sorted by name. Reads all rows.
    package func collections() throws -> [Collection] {
        try sqlite.withStatement(
            """
            SELECT collection, count(*), sum(length(data) + ifnull(length(metadata), 0))
            FROM database2 GROUP BY collection ORDER BY collection
            """
        ) { statement in
            var collections: [Collection] = []
            while try statement.step() {
                collections.append(
                    Collection(
                        name: statement.text(at: 0), rowsCount: Int(statement.int64(at: 1)),
                        bytesCount: statement.int64(at: 2)))
            }
            return collections
        }
    }

    /// Returns a row, or nil if it doesn't exist.
    package func row(_ key: String, inCollection collection: String) throws -> Row? {
        var found: Row?
        try visit("WHERE collection = ?1 AND key = ?2", [collection, key]) { found = $0 }
        return found
    }

    /// Returns the bytes of a row, or nil if it doesn't exist.
    package func storedBytes(_ key: String, inCollection collection: String) throws
        -> YapDatabaseReadWriteTransaction.StoredBytes?
    {
        try sqlite.withStatement("SELECT data, metadata FROM database2 WHERE collection = ?1 AND key = ?2") {
            try $0.bind(collection, at: 1)
            try $0.bind(key, at: 2)
            guard try $0.step() else { return nil }
            return YapDatabaseReadWriteTransaction.StoredBytes(
                data: $0.bytes(at: 0), metadata: $0.isNull(at: 1) ? nil : $0.bytes(at: 1))
        }
    }

    /// Calls `body` with each row, ordered by collection and key.
    ///
    /// - Parameter collection: Only rows of this collection. Default: all.
    package func forEachRow(inCollection collection: String? = nil, _ body: (Row) throws -> Void) throws {
        try visit(collection == nil ? "" : "WHERE collection = ?1", collection.map { [$0] } ?? [], body)
    }

    private func visit(_ condition: String, _ values: [String], _ body: (Row) throws -> Void) throws {
        try sqlite.withStatement(
            "SELECT collection, key, data, metadata FROM database2 \(condition) ORDER BY collection, key"
        ) { statement in
            for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
            while try statement.step() { try body(Self.row(statement)) }
        }
    }

    private static func row(_ statement: borrowing Statement) -> Row {
        let (stored, unlike, count) = statement.withBytes(at: 2) { bytes in
            let stored = StoredObject(bytes)
            return (stored, stored.bytes.elementsEqual(bytes) ? nil : [UInt8](bytes), bytes.count)
        }
        var (metadata, unlikeMetadata, metadataCount) = (StoredValue?.none, [UInt8]?.none, 0)
        if !statement.isNull(at: 3) {
            (metadata, unlikeMetadata, metadataCount) = statement.withBytes(at: 3) { bytes in
                let value = StoredValue(cbor: bytes)
                return (value, value.cbor.elementsEqual(bytes) ? nil : [UInt8](bytes), bytes.count)
            }
        }
        return Row(
            collection: statement.text(at: 0), key: statement.text(at: 1), stored: stored, metadata: metadata,
            bytesCount: count + metadataCount, unlikeBytes: unlike, unlikeMetadataBytes: unlikeMetadata)
    }

    /// Returns the messages of SQLite's integrity check. Empty if it found no damage. Reads the whole file.
    package func integrityMessages() throws -> [String] {
        try reading { try sqlite.integrityCheck() }
    }

    /// Counts the pages of the file.
    package func pageCounts() throws -> Connection.PageCounts { try reading { try sqlite.pageCounts() } }

    /// Copies the committed state to a new file, with the same key.
    ///
    /// - Parameter path: Path of the new file. It must not exist.
    package func backup(to path: String) throws {
        try reading { try sqlite.backup(to: path) }
    }

    /// Copies the committed state to a new file with another key. It needs permission to write the database's file,
    /// although it doesn't change it: SQLite attaches a second file for writing only to one that is open for writing.
    ///
    /// - Parameters:
    ///   - path: Path of the new file. It must not exist.
    ///   - key: Its key. Nil for an unencrypted copy.
    package func export(to path: String, encryptionKey key: YapDatabaseOptions.EncryptionKey?) throws {
        try reading {
            var options = OpenOptions()
            options.create = false
            options.keepsJournalMode = true
            options.encryptionKey = encryptionKey?.key
            try Connection.checkEncryption(options)
            let connection = try Connection(path: self.path, options: options)
            try connection.export(to: path, encryptionKey: key?.key)
            try connection.close()
        }
    }
}
