/// An extension that has its own name, so that it can be passed around as a handle.
///
/// ```swift
/// try await database.register(byDue)
/// let late = try await connection.read { try $0[byDue].rows(where: { $0.due < now }) }
/// ```
public protocol YapDatabaseNamedExtension: YapDatabaseExtension {
    /// What it is reached by in transactions, and known by in the file.
    var name: String { get }
}

extension YapDatabase.Blocking {
    /// Registers an extension under its own name. Errors as `register(_:withName:)`.
    @available(*, noasync, message: "call `try await database.register(_:)`")
    public func register(_ handle: some YapDatabaseNamedExtension) throws {
        try register(handle, withName: handle.name)
    }
}

extension YapDatabaseReadTransaction {
    /// The part that an extension plays in this transaction.
    ///
    /// - Throws: `YapDatabaseError` of code `extensionNotRegistered`: it isn't registered in this snapshot, or is still
    ///   being filled.
    public final subscript<Extension: YapDatabaseNamedExtension>(handle: Extension)
        -> Extension.Connection.Transaction
    {
        get throws {
            try ext(handle.name, as: Extension.self)
        }
    }
}
