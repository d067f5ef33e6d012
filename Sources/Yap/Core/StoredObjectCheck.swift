import SQLite

/// Reads some of the stored objects when a file is opened: a type that can't read what an earlier version of the app
/// stored is a mistake that is to be found at the first start, and not in the middle of a read.
///
/// The first and the last objects of a collection in the order of their keys are read, so that it takes no longer for a
/// large file. What is damaged is passed over here: one such object or page must not keep an app from its others.
struct StoredObjectCheck {
    private static let rowsMax = 8
    private let store: StoreConnection

    init(_ store: StoreConnection) { self.store = store }

    /// - Returns: The properties that were probably renamed without an upgrade.
    /// - Throws: `YapDatabaseError` of code `decoding`.
    func check(_ registrations: some Sequence<CollectionRegistration>) throws -> [YapDatabaseModelWarning] {
        try registrations.sorted { $0.collection < $1.collection }.flatMap { registration in
            var renames = RenameCheck(registration)
            for order in ["ASC", "DESC"] {
                do {
                    try check(registration, order, &renames)
                } catch let error as YapDatabaseError where error.code != .decoding {
                    // A page of the file that can't be read is told to the read that needs it.
                }
            }
            // What can't be read of the file is told to the read that needs it.
            return (try? renames.warnings(store.config)) ?? []
        }
    }

    private func check(
        _ registration: CollectionRegistration, _ order: String, _ renames: inout RenameCheck
    ) throws {
        let sql =
            "SELECT key, data FROM database2 WHERE collection = ?1 ORDER BY key \(order) LIMIT \(Self.rowsMax)"
        try store.statement(sql) { statement in
            try statement.bind(registration.collection, at: 1)
            while try statement.step() {
                let key = statement.text(at: 0)
                try statement.withBytes(at: 1) { bytes in
                    try check(bytes, registration, key)
                    renames.add(bytes)
                }
            }
        }
    }

    private func check(
        _ bytes: UnsafeRawBufferPointer, _ registration: CollectionRegistration, _ key: String
    ) throws {
        do {
            _ = try registration.object.decode(bytes)
        } catch let error as DecodingError {
            let version = (try? StoredForm(bytes).version) ?? 1
            guard let mistake = error.modelMistake(registration.object.typeName, version: version)
            else { return }
            throw YapDatabaseError(
                .decoding, mistake,
                collection: registration.collection, key: key, underlying: error)
        } catch {
            // Of another serializer's errors nobody knows whether the type or the bytes are wrong.
        }
    }
}
