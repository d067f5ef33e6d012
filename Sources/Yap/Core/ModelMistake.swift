extension DecodingError {
    /// Describes why a type can't decode an object of an earlier version of the app, and how to fix the type.
    ///
    /// - Parameter version: The version of the model that stored the object.
    /// - Returns: Nil if the bytes are damaged.
    func modelMistake(_ typeName: String, version: Int) -> String? {
        guard let reason = mistakeReason(typeName) else { return nil }
        let stored = version == 1 ? "" : ", stored by version \(version) of the model,"
        return "the stored object\(stored) is no \(typeName): \(reason)"
    }

    private func mistakeReason(_ typeName: String) -> String? {
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
        case .dataCorrupted(let context):
            // Bytes that aren't CBOR are damaged. Values that a type rejects, such as an unknown raw value of an
            // enum, are a mistake of the type.
            guard !context.codingPath.isEmpty, !(context.underlyingError is CBORFault) else { return nil }
            return
                "'\(Self.name(context.codingPath))' can't be read: \(context.debugDescription) Register a higher "
                + "version: and convert the value in upgrade"
        @unknown default: return nil
        }
    }

    private static func name(_ path: [any CodingKey]) -> String {
        path.map(\.stringValue).joined(separator: ".")
    }
}
