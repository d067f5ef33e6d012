/// Checks the names of an extension that is to be registered.
struct ExtensionNames {
    private let store: StoreConnection
    private let registry: [RegisteredExtension]

    init(_ store: StoreConnection, _ registry: [RegisteredExtension]) {
        self.store = store
        self.registry = registry
    }

    /// - Throws: `YapDatabaseError`: `extensionNameTaken`, `extensionDependencyMissing`, `invalidExtension` for a table
    ///   that isn't the extension's to own.
    func check(_ instance: any YapDatabaseExtension, _ name: String) throws {
        guard !name.isEmpty, !store.extensions.contains(where: { $0.registered.name == name }) else {
            throw YapDatabaseError(.extensionNameTaken, "the name \"\(name)\" is empty or taken")
        }
        for dependency in instance.dependencies where !registry.contains(where: { $0.name == dependency }) {
            throw YapDatabaseError(
                .extensionDependencyMissing, "\"\(name)\" needs \"\(dependency)\", which is not registered")
        }
        try checkTables(instance.tableNames(registeredName: name), name)
    }

    private func checkTables(_ tables: [String], _ name: String) throws {
        var taken: [String: String] = ["database2": "the database", "yap2": "the database"]
        for other in try store.config.extensionNames() where other != name {
            // SQLite takes names that differ in case alone for one.
            for table in try StoredExtension(other, store).tables() { taken[table.lowercased()] = other }
        }
        for table in tables {
            if let owner = taken[table.lowercased()] {
                throw YapDatabaseError(
                    .invalidExtension, "the table \(table) of \"\(name)\" is one of \(owner)")
            }
            guard !table.isEmpty, !table.contains("\n"), !table.lowercased().hasPrefix("sqlite_") else {
                throw YapDatabaseError(
                    .invalidExtension, "a table of \"\(name)\" can't be called \"\(table)\"")
            }
        }
    }
}
