extension YapDatabase {
    /// The forms of a database's calls that run on the caller's thread and wait. Not for use in async code.
    public struct Blocking: Sendable {
        let database: YapDatabase

        /// Registers an extension: creates or brings up to date its tables in one transaction.
        ///
        /// - Throws: `YapDatabaseError`: `extensionNameTaken`, `extensionDependencyMissing`, or what the
        ///   extension threw. Then nothing has changed.
        @available(*, noasync, message: "call `try await database.register(_:withName:)`")
        public func register(_ instance: some YapDatabaseExtension, withName name: String) throws {
            try database.register(instance, name)
        }

        /// Unregisters an extension and those that depend on it, and drops their tables: also one that is in
        /// the file from an earlier run and not registered in this one.
        ///
        /// - Throws: `YapDatabaseError` of code `extensionNotRegistered`.
        @available(*, noasync, message: "call `try await database.unregister(_:)`")
        public func unregister(_ name: String) throws {
            try database.writer.withCore { try $0.unregister(name) }
        }

        /// Copies the newest snapshot to a file, while others go on reading and writing.
        ///
        /// - Parameters:
        ///   - path: The file to write. A database that is there is replaced, as a whole or not at all.
        ///   - progress: Told the part that is done, from 0 to 1; throws to give up.
        /// - Throws: `YapDatabaseError`, or what `progress` threw.
        @available(*, noasync, message: "call `try await database.backup(to:)`")
        public func backup(to path: String, progress: (Double) throws -> Void = { _ in }) throws {
            try database.backup(to: path, progress)
        }
    }

    func register(_ instance: some YapDatabaseExtension, _ name: String) throws {
        try writer.withCore { try $0.register(instance, withName: name) }
        instance.didRegister(registeredName: name, database: self)
    }

    func backup(to path: String, _ progress: (Double) throws -> Void) throws {
        try makeReader().backup(to: path, progress: progress)
    }
}
