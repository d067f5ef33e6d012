import SQLite

/// What the file keeps about an extension, in `yap2`.
struct StoredExtension {
    private let name: String
    private let store: StoreConnection

    init(_ name: String, _ store: StoreConnection) {
        self.name = name
        self.store = store
    }

    /// What was stored; `nil` if nothing was, or another class, whose tables are then dropped.
    func registration(of type: any YapDatabaseExtension.Type) throws -> YapDatabaseExtensionRegistration? {
        let config = store.config
        guard let className = try config.text(extension: name, key: ConfigTable.classKey) else { return nil }
        guard className == type.className else {
            try drop()
            return nil
        }
        return YapDatabaseExtensionRegistration(
            classVersion: try config.text(extension: name, key: ConfigTable.classVersionKey).flatMap {
                Int($0)
            } ?? 0,
            versionTag: try config.text(extension: name, key: ConfigTable.versionTagKey) ?? "",
            hasMissedCommits: try config.text(extension: name, key: ConfigTable.missedKey) != nil)
    }

    func save(_ instance: any YapDatabaseExtension) throws {
        let type = type(of: instance)
        let config = store.config
        try config.setText(type.className, extension: name, key: ConfigTable.classKey)
        try config.setText(String(type.classVersion), extension: name, key: ConfigTable.classVersionKey)
        try config.setText(instance.versionTag, extension: name, key: ConfigTable.versionTagKey)
        let tables = instance.tableNames(registeredName: name).joined(separator: "\n")
        try config.setText(tables, extension: name, key: ConfigTable.tablesKey)
        try config.remove(extension: name, key: ConfigTable.missedKey)
    }

    /// Drops the tables and everything that is stored under the name.
    func drop() throws {
        let tables = try store.config.text(extension: name, key: ConfigTable.tablesKey) ?? ""
        for table in tables.split(separator: "\n") {
            try store.sqlite.execute("DROP TABLE IF EXISTS \(Connection.quoted(String(table)))")
        }
        try store.config.removeAll(extension: name)
    }
}
