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

    /// - Throws: `YapDatabaseError` of code `decoding`.
    func check(_ registrations: some Sequence<CollectionRegistration>) throws {
        for registration in registrations {
            for order in ["ASC", "DESC"] {
                do {
                    try check(registration, order)
                } catch let error as YapDatabaseError where error.code != .decoding {
                    // A page of the file that can't be read is told to the read that needs it.
                }
            }
        }
    }

    private func check(_ registration: CollectionRegistration, _ order: String) throws {
        let sql =
            "SELECT key, data FROM database2 WHERE collection = ?1 ORDER BY key \(order) LIMIT \(Self.rowsMax)"
        try store.statement(sql) { statement in
            try statement.bind(registration.collection, at: 1)
            while try statement.step() {
                let key = statement.text(at: 0)
                try statement.withBytes(at: 1) { bytes in try check(bytes, registration, key) }
            }
        }
    }

    private func check(
        _ bytes: UnsafeRawBufferPointer, _ registration: CollectionRegistration, _ key: String
    ) throws {
        do {
            _ = try registration.object.decode(bytes)
        } catch let error as DecodingError {
            guard let reason = error.modelMistake(registration.object.typeName) else { return }
            let (version, _) = ModelVersion.split(bytes)
            let stored = version == 1 ? "" : ", stored by version \(version) of the model"
            throw YapDatabaseError(
                .decoding, "the stored object\(stored) is no \(registration.object.typeName): \(reason)",
                collection: registration.collection, key: key, underlying: error)
        } catch {
            // Of another serializer's errors nobody knows whether the type or the bytes are wrong.
        }
    }
}

extension DecodingError {
    /// What is wrong with the type that can't read what an earlier version stored, and how to mend it; nil when the
    /// bytes are wrong.
    fileprivate func modelMistake(_ typeName: String) -> String? {
        switch self {
        case .keyNotFound(let key, let context):
            let name = Self.name(context.codingPath + [key])
            return
                "it has no '\(name)'. Make \(typeName) a YapDatabaseModel, so that its init() gives the value, pass an "
                + "object as default: when you register it, or make the property optional. If '\(name)' is a new "
                + "name for a property, register a higher version: and rename it in upgrade"
        case .typeMismatch(let type, let context):
            return
                "'\(Self.name(context.codingPath))' is no \(type): \(context.debugDescription) Register a higher "
                + "version: and convert the property in upgrade"
        case .valueNotFound(_, let context):
            return
                "'\(Self.name(context.codingPath))' is nil in it. Make the property optional, or register a higher "
                + "version: and set the property in upgrade"
        default: return nil
        }
    }

    private static func name(_ path: [any CodingKey]) -> String {
        path.map(\.stringValue).joined(separator: ".")
    }
}
