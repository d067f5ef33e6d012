import SQLite

/// Checks the names of an extension before its registration.
struct ExtensionNames {
    private let store: StoreConnection
    private let registry: [RegisteredExtension]

    init(_ store: StoreConnection, _ registry: [RegisteredExtension]) {
        self.store = store
        self.registry = registry
    }

    /// - Throws: `YapDatabaseError`: `extensionNameTaken`, `extensionDependencyMissing`, `invalidExtension` for a
    ///   table that the extension can't own.
    func check(_ instance: any YapDatabaseExtension, _ name: String) throws {
        guard !name.isEmpty, !store.extensions.contains(where: { $0.registered.name == name }) else {
            throw YapDatabaseError(.extensionNameTaken, "the name \"\(name)\" is empty or taken")
        }
        guard !name.hasPrefix(ChangeReader.namePrefix) else {
            throw YapDatabaseError(
                .invalidExtension, "\"\(name)\" begins as the name of a reader of changes does")
        }
        for dependency in instance.dependencies where !registry.contains(where: { $0.name == dependency }) {
            throw YapDatabaseError(
                .extensionDependencyMissing, "\"\(name)\" needs \"\(dependency)\", which is not registered")
        }
        try checkTables(instance.tableNames(registeredName: name), name)
    }

    private func checkTables(_ tables: [String], _ name: String) throws {
        let others = try store.config.extensionNames().filter { $0 != name }.flatMap { other in
            try StoredExtension(other, store).tables().map { (owner: other, table: $0) }
        }
        for table in tables {
            for own in ["database2", "yap2", "changes2"]
            where TableStatements.owner(of: table, mayWrite: own) {
                throw YapDatabaseError(
                    .invalidExtension, "the table \(table) of \"\(name)\" is one of the database")
            }
            // A virtual table owns the tables that SQLite creates for it.
            for other in others
            where TableStatements.owner(of: table, mayWrite: other.table)
                || TableStatements.owner(of: other.table, mayWrite: table)
            {
                throw YapDatabaseError(
                    .invalidExtension,
                    "the table \(table) of \"\(name)\" may be one of \"\(other.owner)\", which has \(other.table)"
                )
            }
            guard !table.isEmpty, !table.contains("\n"), !table.lowercased().hasPrefix("sqlite_") else {
                throw YapDatabaseError(
                    .invalidExtension, "a table of \"\(name)\" can't be called \"\(table)\"")
            }
        }
    }
}
