import SQLite

/// What the file keeps about an extension, in `yap2`.
struct StoredExtension {
    private let name: String
    private let store: StoreConnection

    /// Whether class and versions are those of `instance`.
    func isOf(_ instance: any YapDatabaseExtension) throws -> Bool {
        let (type, config) = (type(of: instance), store.config)
        return try config.text(extension: name, key: ConfigTable.classKey) == type.className
            && config.text(extension: name, key: ConfigTable.classVersionKey) == String(type.classVersion)
            && config.text(extension: name, key: ConfigTable.versionTagKey) == instance.versionTag
    }

    /// Whether rows were written while the extension was not registered.
    func hasMissedCommits() throws -> Bool {
        try store.config.text(extension: name, key: ConfigTable.missedKey) != nil
    }

    /// The names of its tables.
    func tables() throws -> [String] {
        (try store.config.text(extension: name, key: ConfigTable.tablesKey) ?? "").split(separator: "\n").map(
            String.init)
    }

    /// Up to which rowid its tables have the rows; nil: they have all.
    func filledThrough() throws -> Int64? {
        try store.config.text(extension: name, key: ConfigTable.filledThroughKey).flatMap { Int64($0) }
    }

    func setFilledThrough(_ rowID: Int64?) throws {
        guard let rowID else {
            return try store.config.remove(extension: name, key: ConfigTable.filledThroughKey)
        }
        try store.config.setText(String(rowID), extension: name, key: ConfigTable.filledThroughKey)
    }

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
            hasMissedCommits: try hasMissedCommits())
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
        for table in try tables() {
            try store.sqlite.execute("DROP TABLE IF EXISTS \(Connection.quoted(table))")
        }
        try store.config.removeAll(extension: name)
    }
}
