import Yap

/// The database as one process has it.
package struct ItemInstance: Sendable {
    private struct RolledBack: Error {}

    package let extensions = ItemExtensions()
    package let database: YapDatabase
    package let connection: YapDatabaseConnection

    /// Opens the file without extensions.
    package init(path: String, _ options: YapDatabaseOptions = YapDatabaseOptions()) throws {
        database = try YapDatabase(path: path, options: options) {
            $0.register(ModelItem.self, inCollection: ModelItem.collection)
            $0.register(Int.self, inCollection: ItemJournal.collection)
        }
        connection = database.newConnection()
    }

    /// Opens the file, and registers those whose bit is set.
    package init(path: String, bits: Int) throws {
        try self.init(path: path)
        try extensions.register(bits, in: database)
    }

    /// Writes the next transaction.
    ///
    /// - Parameter isUndone: Whether it is rolled back after all its writes.
    /// - Returns: Its number.
    @discardableResult
    package func write(_ draw: ItemDraw, isUndone: Bool = false) throws -> Int {
        try connection.blocking.readWrite { transaction in
            let number = try ItemJournal.write(draw, extensions, transaction)
            if isUndone { transaction.rollback() }
            return number
        }
    }

    /// Compares the extensions with what `replay` has of the file's transactions.
    package func differences(_ replay: inout ItemReplay, requiresAll: Bool = false) throws -> [String] {
        try connection.blocking.read {
            try replay.differences(extensions, $0, requiresAll: requiresAll)
        }
    }

    package func close() throws {
        try database.blocking.close()
        // A connection closes its own handle when it finds the database closed.
        _ = try? connection.blocking.read { _ in }
    }
}
