import CloudWire
import System

extension FieldDefinition {
    /// Converts a sent value to this field's type, or returns nil if that isn't possible.
    ///
    /// A number is converted if its value doesn't change. A value without a type has a type guessed from its
    /// JSON. It may also be a time, bytes or a number in quotes.
    func value(from field: Field) -> FieldValue? {
        guard let value = field.value else { return nil }
        if value.type == type { return value }
        let isGuess = field.type == nil
        guard case .list(let sentType, let elements) = value else {
            return type.isList ? nil : Self.scalar(value, as: type, isGuess: isGuess)
        }
        guard let elementType = type.elementType else { return nil }
        if sentType == .unknownList && elements.isEmpty { return .list(type, []) }
        var taken: [FieldValue] = []
        taken.reserveCapacity(elements.count)
        for element in elements {
            guard
                let element = Self.scalar(
                    element, as: elementType, isGuess: isGuess || sentType == .unknownList)
            else { return nil }
            taken.append(element)
        }
        return .list(type, taken)
    }

    /// Returns true if the value and the field are both encrypted or both not.
    func agreesOnEncryption(with field: Field) -> Bool {
        let element = field.value.map { $0.type.elementType ?? $0.type }
        if field.isEncrypted || element == .encryptedBytes { return isEncrypted }
        // Bytes sent without a type look like text. Only the schema knows that they are bytes.
        let isUntypedText = field.type == nil && element == .string
        let holdsBytes = type == .encryptedBytes || type == .encryptedBytesList
        return !isEncrypted || isUntypedText && holdsBytes
    }

    private static func scalar(_ value: FieldValue, as type: FieldType, isGuess: Bool) -> FieldValue? {
        if value.type == type { return value }
        switch (value, type) {
        case (.int64(let number), .double): return Double(exactly: number).map { .double($0) }
        case (.double(let number), .int64): return Int64(exactly: number).map { .int64($0) }
        case (.bytes(let bytes), .encryptedBytes): return .encryptedBytes(bytes)
        case (.encryptedBytes(let bytes), .bytes): return .bytes(bytes)
        case _ where !isGuess: return nil
        case (.int64(let number), .timestamp): return .timestamp(milliseconds: number)
        case (.double(let number), .timestamp):
            return Int64(exactly: number).map { .timestamp(milliseconds: $0) }
        case (.string(let text), .bytes): return Base64.decoded(text).map { .bytes($0) }
        case (.string(let text), .encryptedBytes): return Base64.decoded(text).map { .encryptedBytes($0) }
        case (.string(let text), .int64): return Int64(text).map { .int64($0) }
        case (.string(let text), .timestamp): return Int64(text).map { .timestamp(milliseconds: $0) }
        case (.string(let text), .double):
            guard let number = Double(text), number.isFinite else { return nil }
            return .double(number)
        default: return nil
        }
    }
}
