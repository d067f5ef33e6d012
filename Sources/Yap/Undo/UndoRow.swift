import SQLite

/// A row of a group: its values before and after the group. Without an object, the row doesn't exist.
struct UndoRow {
    let name: YapCollectionKey
    let object, metadata: [UInt8]?
    let leftObject, leftMetadata: [UInt8]?

    /// - Parameter statement: At a row of `UndoSQL.row`.
    init(_ statement: borrowing Statement) {
        name = YapCollectionKey(collection: statement.text(at: 0), key: statement.text(at: 1))
        object = statement.isNull(at: 2) ? nil : statement.bytes(at: 2)
        metadata = statement.isNull(at: 3) ? nil : statement.bytes(at: 3)
        leftObject = statement.isNull(at: 4) ? nil : statement.bytes(at: 4)
        leftMetadata = statement.isNull(at: 5) ? nil : statement.bytes(at: 5)
    }
}

extension ValueCoder {
    /// Returns the bytes as the current version of the type stores them. Bytes of that version, and bytes of a custom
    /// serializer, aren't changed: encoding a set again could change the order of its elements.
    func upgraded(_ bytes: [UInt8]) -> [UInt8] {
        guard let anew = storedAnew(bytes), Self.version(anew) != Self.version(bytes) else { return bytes }
        return anew
    }

    /// Returns true if the current version of the type would store the same value for both.
    func storesSameValue(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        if left == right { return true }
        guard let left = storedAnew(left) else { return false }
        return left == storedAnew(right)
    }

    /// Returns the bytes decoded and encoded again, with the properties that the type doesn't know. Nil if they can't
    /// be decoded, and for a custom serializer, which may drop unknown properties.
    private func storedAnew(_ bytes: [UInt8]) -> [UInt8]? {
        guard isCBOR else { return nil }
        return bytes.withUnsafeBytes { raw in
            guard let value = try? decode(raw), let encoded = try? encode(value) else { return nil }
            return keeping(raw, in: encoded)
        }
    }

    private static func version(_ bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBytes { try? StoredForm($0).version }
    }
}
