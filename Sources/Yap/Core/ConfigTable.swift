import SQLite

/// The table `yap2`: small values by extension and key. The extension "" is the database itself.
struct ConfigTable {
    static let snapshotKey = "snapshot"
    static let classKey = "class"
    static let classVersionKey = "classVersion"
    static let versionTagKey = "versionTag"
    static let tablesKey = "tables"
    static let missedKey = "hasMissedCommits"
    /// Present if the extension can catch up from the rows that changed while it wasn't registered.
    static let catchesUpKey = "catchesUp"
    /// Last rowid with which an extension has been filled. Absent when it is complete.
    static let filledThroughKey = "filledThrough"
    /// Prefix of the keys that name an extension's dependencies.
    private static let needsPrefix = "needs/"

    /// Present if the extension fetches rows from elsewhere.
    static let fetchesRowsKey = "fetchesRows"
    /// Values of `moreRowsKey`.
    static let isComing = "1"
    static let isPaused = "0"

    private static let moreRowsPrefix = "moreRows/"

    /// Returns the key that is present while pages of a part of an extension's fetch are pending.
    static func moreRowsKey(_ part: String) -> String { moreRowsPrefix + part }

    /// Returns the key of the property names of all versions of a collection's type.
    static func namesKey(_ collection: String) -> String { "names/" + collection }

    /// Returns the key of the names that the last change of the type added and removed, if it did both.
    static func changedNamesKey(_ collection: String) -> String { "changedNames/" + collection }

    private let sqlite: Connection

    init(_ sqlite: Connection) {
        self.sqlite = sqlite
    }

    func mark() throws -> SnapshotMark {
        let mark = try sqlite.withStatement("SELECT data FROM yap2 WHERE extension = '' AND key = 'snapshot'")
        {
            try $0.step() ? $0.withBytes(at: 0) { SnapshotMark($0) } : nil
        }
        guard let mark else {
            throw YapDatabaseError(.corrupt, "the snapshot number is missing: \(sqlite.path)")
        }
        return mark
    }

    func setMark(_ mark: SnapshotMark) throws {
        try sqlite.withStatement("UPDATE yap2 SET data = ?1 WHERE extension = '' AND key = 'snapshot'") {
            try $0.bind(mark.bytes, at: 1)
            try $0.run()
        }
    }

    func bytes(extension name: String, key: String) throws -> [UInt8]? {
        try sqlite.withStatement("SELECT data FROM yap2 WHERE extension = ?1 AND key = ?2") {
            try $0.bind(name, at: 1)
            try $0.bind(key, at: 2)
            return try $0.step() ? $0.bytes(at: 0) : nil
        }
    }

    func setBytes(_ bytes: [UInt8], extension name: String, key: String) throws {
        try sqlite.withStatement("INSERT OR REPLACE INTO yap2 (extension, key, data) VALUES (?1, ?2, ?3)") {
            try $0.bind(name, at: 1)
            try $0.bind(key, at: 2)
            try $0.bind(bytes, at: 3)
            try $0.run()
        }
    }

    func text(extension name: String, key: String) throws -> String? {
        try bytes(extension: name, key: key).map { String(decoding: $0, as: UTF8.self) }
    }

    func setText(_ text: String, extension name: String, key: String) throws {
        try setBytes(Array(text.utf8), extension: name, key: key)
    }

    func remove(extension name: String, key: String) throws {
        try sqlite.withStatement("DELETE FROM yap2 WHERE extension = ?1 AND key = ?2") {
            try $0.bind(name, at: 1)
            try $0.bind(key, at: 2)
            try $0.run()
        }
    }

    func removeAll(extension name: String) throws {
        try sqlite.withStatement("DELETE FROM yap2 WHERE extension = ?1") {
            try $0.bind(name, at: 1)
            try $0.run()
        }
    }

    /// Returns the direct dependencies of each stored extension.
    func needs() throws -> [String: Set<String>] {
        let sql = """
            SELECT extension, substr(key, length(?1) + 1) FROM yap2
            WHERE extension <> '' AND substr(key, 1, length(?1)) = ?1
            """
        return try sqlite.withStatement(sql) {
            try $0.bind(Self.needsPrefix, at: 1)
            var needs: [String: Set<String>] = [:]
            while try $0.step() { needs[$0.text(at: 0), default: []].insert($0.text(at: 1)) }
            return needs
        }
    }

    /// Stores the direct dependencies of an extension.
    func setNeeds(_ names: [String], extension name: String) throws {
        let stored = try needs()[name] ?? []
        for other in stored.subtracting(names).sorted() {
            try remove(extension: name, key: Self.needsPrefix + other)
        }
        for other in Set(names).subtracting(stored).sorted() {
            try setText("1", extension: name, key: Self.needsPrefix + other)
        }
    }

    /// Returns the stored extensions that depend on one, directly or through others, sorted.
    func dependents(of name: String) throws -> [String] { Self.dependents(of: name, try needs()) }

    static func dependents(of name: String, _ needs: [String: Set<String>]) -> [String] {
        var (found, next): (Set<String>, [String]) = ([], [name])
        while let needed = next.popLast() {
            for (dependent, names) in needs where names.contains(needed) {
                if found.insert(dependent).inserted { next.append(dependent) }
            }
        }
        return found.subtracting([name]).sorted()
    }

    // MARK: Rows that are fetched

    func areRowsFetched() throws -> Bool {
        try sqlite.withStatement("SELECT 1 FROM yap2 WHERE key = ?1 LIMIT 1") {
            try $0.bind(Self.fetchesRowsKey, at: 1)
            return try $0.step()
        }
    }

    /// - Parameter isRegistered: Returns true if the extension of a name is registered here.
    func comingRows(_ isRegistered: (String) -> Bool) throws -> ComingRows {
        // A zero follows a slash in the order of bytes.
        try sqlite.withStatement(
            """
            SELECT DISTINCT extension, data = CAST('\(Self.isComing)' AS BLOB) FROM yap2
            WHERE key >= ?1 AND key < 'moreRows0'
            """
        ) {
            try $0.bind(Self.moreRowsPrefix, at: 1)
            var rows = ComingRows()
            while try $0.step() {
                let isComing = $0.int64(at: 1) != 0
                if !isComing {
                    rows.arePaused = true
                } else if isRegistered($0.text(at: 0)) {
                    rows.areComing = true
                } else {
                    rows.areLeftBehind = true
                }
            }
            return rows
        }
    }

    func partsWithMoreRows(extension name: String) throws -> [String] {
        try sqlite.withStatement(
            "SELECT key FROM yap2 WHERE extension = ?1 AND key >= ?2 AND key < 'moreRows0' ORDER BY 1"
        ) {
            try $0.bind(name, at: 1)
            try $0.bind(Self.moreRowsPrefix, at: 2)
            var parts: [String] = []
            while try $0.step() {
                // By bytes, because the part may begin with a combining character.
                let part = $0.text(at: 0).utf8.dropFirst(Self.moreRowsPrefix.utf8.count)
                parts.append(String(decoding: part, as: UTF8.self))
            }
            return parts
        }
    }

    /// Returns the extensions with a stored class, sorted.
    func extensionNames() throws -> [String] {
        try sqlite.withStatement(
            "SELECT extension FROM yap2 WHERE key = 'class' AND extension <> '' ORDER BY 1"
        ) {
            var names: [String] = []
            while try $0.step() { names.append($0.text(at: 0)) }
            return names
        }
    }
}

/// Pending pages of the parts that extensions have started to fetch.
struct ComingRows {
    /// True if pages are pending.
    var areComing = false
    /// True if pages of a part are pending that isn't fetched now, for example because another user is signed
    /// in.
    var arePaused = false
    /// True if pages of a part are pending that no registered extension fetches. Another process may fetch
    /// it.
    var areLeftBehind = false
}
