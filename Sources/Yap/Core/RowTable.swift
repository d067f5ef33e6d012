import SQLite

/// SQL statements on the table `database2`.
struct RowTable {
    let store: StoreConnection

    // MARK: Reading

    func rowID(_ key: String, _ collection: String) throws -> Int64? {
        try find("SELECT rowid FROM database2 WHERE collection = ?1 AND key = ?2", key, collection) {
            $0.int64(at: 0)
        }
    }

    /// Finds a row and reads it at the statement. Returns nil if the row doesn't exist.
    func find<Result>(
        _ sql: String, _ key: String, _ collection: String, _ body: (borrowing Statement) throws -> Result
    ) throws -> Result? {
        try store.statement(sql) { statement in
            try statement.binding(collection, at: 1) {
                try statement.binding(key, at: 2) {
                    try statement.step() ? try body(statement) : nil
                }
            }
        }
    }

    func identity(ofRowID rowID: Int64) throws -> YapDatabaseRowIdentity? {
        try store.statement("SELECT collection, key FROM database2 WHERE rowid = ?1") {
            try $0.bind(rowID, at: 1)
            guard try $0.step() else { return nil }
            return YapDatabaseRowIdentity(rowID: rowID, collection: $0.text(at: 0), key: $0.text(at: 1))
        }
    }

    /// Returns up to `max` rows of a collection, or of all collections, in the order of their rowids after `rowID`.
    func identities(inCollection collection: String, after key: String?, max: Int) throws
        -> [YapDatabaseRowIdentity]
    {
        let sql = "SELECT rowid, key FROM database2 WHERE collection = ?1 AND key > ?2 ORDER BY key LIMIT ?3"
        let first = "SELECT rowid, key FROM database2 WHERE collection = ?1 ORDER BY key LIMIT ?3"
        return try store.statement(key == nil ? first : sql) {
            try $0.bind(collection, at: 1)
            if let key { try $0.bind(key, at: 2) }
            try $0.bind(Int64(max), at: 3)
            var rows: [YapDatabaseRowIdentity] = []
            while try $0.step() {
                rows.append(
                    YapDatabaseRowIdentity(
                        rowID: $0.int64(at: 0), collection: collection, key: $0.text(at: 1)))
            }
            return rows
        }
    }

    func count(_ sql: String, _ collection: String? = nil) throws -> Int {
        try store.statement(sql) {
            if let collection { try $0.bind(collection, at: 1) }
            return try $0.step() ? Int($0.int64(at: 0)) : 0
        }
    }

    func texts(_ sql: String, _ argument: String? = nil) throws -> [String] {
        try store.statement(sql) {
            if let argument { try $0.bind(argument, at: 1) }
            var texts: [String] = []
            while try $0.step() { texts.append($0.text(at: 0)) }
            return texts
        }
    }

    // MARK: Writing

    /// Inserts a row, and returns its rowid, or nil if a row of that name exists.
    func insert(_ key: String, _ collection: String, data: [UInt8], metadata: [UInt8]?) throws -> Int64? {
        let sql = """
            INSERT INTO database2 (collection, key, data, metadata) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING
            """
        try store.statement(sql) { statement in
            try statement.binding(collection, at: 1) {
                try statement.binding(key, at: 2) {
                    try statement.binding(data, at: 3) { try run(statement, blob: metadata, at: 4) }
                }
            }
        }
        return store.sqlite.changesCount == 1 ? store.sqlite.lastInsertRowID : nil
    }

    func update(_ rowID: Int64, data: [UInt8], metadata: [UInt8]?) throws {
        try store.statement("UPDATE database2 SET data = ?2, metadata = ?3 WHERE rowid = ?1") { statement in
            try statement.bind(rowID, at: 1)
            try statement.binding(data, at: 2) { try run(statement, blob: metadata, at: 3) }
        }
    }

    func updateObject(_ rowID: Int64, data: [UInt8]) throws {
        try store.statement("UPDATE database2 SET data = ?2 WHERE rowid = ?1") {
            try $0.bind(rowID, at: 1)
            try run($0, blob: data, at: 2)
        }
    }

    func updateMetadata(_ rowID: Int64, metadata: [UInt8]?) throws {
        try store.statement("UPDATE database2 SET metadata = ?2 WHERE rowid = ?1") {
            try $0.bind(rowID, at: 1)
            try run($0, blob: metadata, at: 2)
        }
    }

    func delete(_ rowID: Int64) throws {
        try store.statement("DELETE FROM database2 WHERE rowid = ?1") {
            try $0.bind(rowID, at: 1)
            try $0.run()
        }
    }

    func deleteAll(inCollection collection: String) throws {
        try store.statement("DELETE FROM database2 WHERE collection = ?1") {
            try $0.bind(collection, at: 1)
            try $0.run()
        }
    }

    func deleteAll() throws {
        try store.statement("DELETE FROM database2") { try $0.run() }
    }

    private func run(_ statement: borrowing Statement, blob: [UInt8]?, at index: Int32) throws {
        guard let blob else { return try statement.run() }
        try statement.binding(blob, at: index) { try statement.run() }
    }
}
