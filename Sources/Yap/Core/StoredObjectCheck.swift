import SQLite

/// Decodes some stored objects when a file is opened. So a type that can't decode objects of an earlier
/// version of the app is detected at the first start, and not at a later read.
///
/// It decodes the first and the last objects of each collection by key, so the time doesn't depend on the
/// size of the file. Damage is ignored here, because one damaged object or page must not make the other
/// objects inaccessible.
struct StoredObjectCheck {
    private static let rowsMax = 8
    private let store: StoreConnection

    init(_ store: StoreConnection) { self.store = store }

    /// - Returns: The properties that were probably renamed without an upgrade.
    /// - Throws: `YapDatabaseError` with `decoding`.
    func check(_ registrations: some Sequence<CollectionRegistration>) throws -> [YapDatabaseModelWarning] {
        try registrations.sorted { $0.collection < $1.collection }.flatMap { registration in
            var renames = RenameCheck(registration)
            for order in ["ASC", "DESC"] {
                do {
                    try check(registration, order, &renames)
                } catch let error as YapDatabaseError where error.code != .decoding {
                    // An unreadable page of the file is reported by the read that needs it.
                }
            }
            // Unreadable data is reported by the read that needs it.
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
            // For an error of a custom serializer, it is unknown whether the type or the bytes are wrong.
        }
    }
}
