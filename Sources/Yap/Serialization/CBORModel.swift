/// Encodes and decodes the objects of a model, with the model's version, and upgrades from earlier versions.
///
/// `StoredForm` describes where the version is stored.
struct CBORModel<Value: Codable & Sendable>: Sendable {
    let version: Int
    /// An object with default values for missing properties, in CBOR.
    let defaults: [UInt8]?
    let upgrade: (@Sendable (inout YapDatabaseStoredObject) throws -> Void)?

    func encode(_ value: Value) throws -> [UInt8] {
        StoredForm.head(version: version) + (try CBOREncoder().encode(value))
    }

    func decode(_ bytes: UnsafeRawBufferPointer) throws -> Value {
        let form = try StoredForm(bytes)
        guard form.kept != nil else { return try decode(form.object, version: form.version) }
        return try decodeWithKept(form)
    }

    private func decode(_ bytes: UnsafeRawBufferPointer, version stored: Int) throws -> Value {
        if stored > version { return try decodeLater(bytes) }
        guard stored < version, upgrade != nil else {
            return try CBORDecoder(defaults: defaults).decode(Value.self, from: bytes)
        }
        let map = try upgraded(.ofStoredObject(bytes), from: stored)
        return try CBORDecoder(defaults: defaults).decode(Value.self, from: map.bytes)
    }

    /// Returns the properties of an earlier version in the form of this one.
    private func upgraded(_ map: CBORMap, from stored: Int) throws -> CBORMap {
        guard stored < version, let upgrade else { return map }
        var object = YapDatabaseStoredObject(map, version: stored)
        try upgrade(&object)
        return object.map
    }

    /// Decodes an object of a later version, which exists after an earlier version of the app was installed again. A
    /// property that this version can't read counts as absent.
    private func decodeLater(_ bytes: UnsafeRawBufferPointer, asked: AskedNames? = nil) throws -> Value {
        let decoder = CBORDecoder(defaults: defaults)
        var failure: any Error
        do { return try decoder.decode(Value.self, from: bytes, asked: asked) } catch { failure = error }
        guard var map = try? CBORMap(bytes) else { throw failure }
        // Each attempt finds one property.
        for _ in 0..<CBORLimits.defaultsMax {
            guard let name = (failure as? DecodingError)?.unreadableProperty, map[name] != nil else { break }
            map[name] = nil
            do {
                return try map.bytes.withUnsafeBytes {
                    try decoder.decode(Value.self, from: $0, asked: asked)
                }
            } catch { failure = error }
        }
        throw failure
    }
}

extension DecodingError {
    /// The outermost object's property that couldn't be read, because its value has another type or is an unknown
    /// case. Nil for any other error.
    fileprivate var unreadableProperty: String? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.first?.stringValue
        default: nil
        }
    }
}

// MARK: Unknown properties

extension CBORModel: PropertyKeeping {
    func decodeOwn(_ bytes: UnsafeRawBufferPointer) throws -> Value? {
        let form = try StoredForm(bytes)
        return try form.kept.map { _ in try decode(form.object, version: form.version) }
    }

    func knownNames(_ bytes: UnsafeRawBufferPointer) -> Set<String>? {
        let asked = AskedNames()
        guard let form = try? StoredForm(bytes), (try? decodeLater(form.object, asked: asked)) != nil else {
            return nil
        }
        return asked.known
    }

    func keeping(_ old: UnsafeRawBufferPointer, in new: [UInt8]) -> [UInt8] {
        // Bytes that can't be read are replaced.
        guard let form = try? StoredForm(old), var map = try? properties(form),
            let known = map.bytes.withUnsafeBytes({ knownNames($0) }),
            let own = try? new.withUnsafeBytes({ try CBORMap(StoredForm($0).object) })
        else { return new }
        let written = Set(own.entries.map(\.key))
        map.entries.removeAll { known.contains($0.key) || written.contains($0.key) }
        guard !map.entries.isEmpty else { return new }
        let bytes = StoredForm.head(kept: map, version: max(version, form.version, form.keptVersion)) + new
        // A type may request one name where another one is absent. Kept properties must not change what it reads.
        guard bytes.count <= CBORLimits.bytesMax, let value = try? bytes.withUnsafeBytes({ try decode($0) }),
            (try? encode(value)) == new
        else { return new }
        return bytes
    }

    private func decodeWithKept(_ form: StoredForm) throws -> Value {
        let own = try upgraded(.ofStoredObject(form.object), from: form.version)
        let (asked, askedOfOwn) = (AskedNames(), AskedNames())
        let value = try properties(form).bytes.withUnsafeBytes { try decodeLater($0, asked: asked) }
        let ownValue = try? own.bytes.withUnsafeBytes { try decodeLater($0, asked: askedOfOwn) }
        // A property under an older name in the object itself is newer than one kept under a later name.
        let isHidden = own.entries.contains {
            askedOfOwn.names.contains($0.key) && !asked.names.contains($0.key)
        }
        return isHidden ? ownValue ?? value : value
    }

    /// Returns all properties in the form of this version: the object's own, and those kept properties that it lacks.
    /// Properties that this version has renamed or removed aren't included.
    func properties(_ form: StoredForm) throws -> CBORMap {
        let own = try CBORMap.ofStoredObject(form.object)
        let kept = try form.kept.map { try CBORMap.ofStoredObject($0) }
        guard let kept, form.keptVersion != form.version else {
            return try upgraded(own.adding(kept), from: form.version)
        }
        // Each part is upgraded from its own version. A kept part that can't be upgraded is ignored.
        return try upgraded(own, from: form.version).adding(try? upgraded(kept, from: form.keptVersion))
    }
}
