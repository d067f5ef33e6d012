import SQLite

/// Contents of a file's collections.
extension DatabaseFile {
    /// Statistics of a collection's rows.
    package struct Contents: Sendable {
        /// Maximum number of names in `propertyNames`.
        package static let namesMax = 100

        package let name: String
        package fileprivate(set) var rowsCount = 0
        package fileprivate(set) var objectBytesCount: Int64 = 0
        package fileprivate(set) var metadataBytesCount: Int64 = 0
        /// Bytes of the largest object with its metadata.
        package fileprivate(set) var largestRowBytesCount = 0
        /// Number of rows with metadata.
        package fileprivate(set) var metadataCount = 0
        /// Number of objects written by a custom serializer.
        package fileprivate(set) var foreignCount = 0
        /// Number of objects that each version of the type stored.
        package fileprivate(set) var versions: [Int: Int] = [:]
        /// Number of objects with properties kept for other versions of the type.
        package fileprivate(set) var keptCount = 0
        /// Property names of the objects, up to `namesMax`.
        package fileprivate(set) var propertyNames: Set<String> = []
    }

    /// Returns the contents of each collection that has rows, sorted by name. Reads all rows.
    package func contents() throws -> [Contents] {
        var found: [ExactString: Contents] = [:]
        try sqlite.withStatement("SELECT collection, data, metadata FROM database2") { statement in
            while try statement.step() {
                let name = statement.text(at: 0)
                let metadataBytes = statement.isNull(at: 2) ? nil : statement.withBytes(at: 2) { $0.count }
                statement.withBytes(at: 1) {
                    found[ExactString(name), default: Contents(name: name)].add($0, metadataBytes)
                }
            }
        }
        return found.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

extension DatabaseFile.Contents {
    fileprivate mutating func add(_ bytes: UnsafeRawBufferPointer, _ metadataBytes: Int?) {
        rowsCount += 1
        objectBytesCount += Int64(bytes.count)
        metadataBytesCount += Int64(metadataBytes ?? 0)
        metadataCount += metadataBytes == nil ? 0 : 1
        largestRowBytesCount = max(largestRowBytesCount, bytes.count + (metadataBytes ?? 0))
        guard let form = try? StoredForm(bytes), (try? CBORInput(form.object).checkWhole()) != nil else {
            foreignCount += 1
            return
        }
        versions[form.version, default: 0] += 1
        keptCount += form.kept == nil ? 0 : 1
        let room = Self.namesMax - propertyNames.count
        guard room > 0 else { return }
        let new = StoredObject.propertyNames(bytes, max: Self.namesMax).subtracting(propertyNames)
        propertyNames.formUnion(new.sorted().prefix(room))
    }
}
