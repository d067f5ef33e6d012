/// Parts of a row that a proxy sets, if the row exists.
struct ProxyReplacement<Object: Sendable>: Sendable {
    enum Metadata: Sendable {
        case kept
        /// Nil clears the metadata.
        case set((any Sendable)?)
    }

    /// The new object. Nil keeps the row's object.
    var object: Object?
    var metadata = Metadata.kept

    /// Writes the parts.
    func write(_ transaction: YapDatabaseReadWriteTransaction, _ key: String, _ collection: String) throws {
        if let object { try transaction.replaceObject(object, forKey: key, inCollection: collection) }
        switch metadata {
        case .kept: break
        case .set(let metadata?):
            try transaction.replaceMetadata(of: key, collection, by: metadata)
        case .set(nil):
            // Clearing needs no value of the type.
            try transaction.replaceMetadata(nil as Never?, forKey: key, inCollection: collection)
        }
    }
}

extension ProxyReplacement.Metadata {
    var isKept: Bool {
        if case .kept = self { true } else { false }
    }

    /// Returns the metadata of a row after the replacement.
    func value(instead old: (any Sendable)?) -> (any Sendable)? {
        switch self {
        case .kept: old
        case .set(let metadata): metadata
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    fileprivate func replaceMetadata(
        of key: String, _ collection: String, by metadata: some Sendable
    ) throws {
        try replaceMetadata(metadata, forKey: key, inCollection: collection)
    }
}

/// Reads a row as it will be after a pending change.
extension YapDatabaseReadTransaction {
    func object<Object: Sendable>(
        _ key: String, _ collection: String, after change: ProxyChanges<Object>.Change?
    ) throws -> Object? {
        switch change {
        case .set(let object, _): return object
        case .remove: return nil
        case .replace(let replacement):
            guard let object = replacement.object else { break }
            return try hasObject(forKey: key, inCollection: collection) ? object : nil
        case nil: break
        }
        return try object(Object.self, forKey: key, inCollection: collection)
    }

    func metadata<Object: Sendable, Metadata: Sendable>(
        _ type: Metadata.Type, _ key: String, _ collection: String,
        after change: ProxyChanges<Object>.Change?
    ) throws -> Metadata? {
        switch change {
        case .set(_, let metadata): return metadata as? Metadata
        case .remove: return nil
        case .replace(let replacement):
            guard case .set(let metadata) = replacement.metadata else { break }
            return try hasObject(forKey: key, inCollection: collection) ? metadata as? Metadata : nil
        case nil: break
        }
        return try metadata(type, forKey: key, inCollection: collection)
    }
}
