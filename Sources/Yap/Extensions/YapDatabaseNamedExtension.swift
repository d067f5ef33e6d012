/// An extension with its own name, so that it can be passed around as a handle.
///
/// ```swift
/// try await database.register(byDue)
/// let late = try await connection.read { try $0[byDue].rows(where: { $0.due < now }) }
/// ```
public protocol YapDatabaseNamedExtension: YapDatabaseExtension {
    /// Name of the extension in transactions and in the file.
    var name: String { get }
}

extension YapDatabase.Blocking {
    /// Registers an extension under its own name. Throws the errors of `register(_:withName:)`.
    @available(*, noasync, message: "call `try await database.register(_:)`")
    public func register(_ handle: some YapDatabaseNamedExtension) throws {
        try register(handle, withName: handle.name)
    }
}

extension YapDatabaseReadTransaction {
    /// Returns the transaction of an extension.
    ///
    /// - Throws: `YapDatabaseError` with `extensionNotRegistered` if it isn't registered in this snapshot, or is
    ///   still being filled.
    public final subscript<Extension: YapDatabaseNamedExtension>(handle: Extension)
        -> Extension.Connection.Transaction
    {
        get throws {
            try ext(handle.name, as: Extension.self)
        }
    }
}
