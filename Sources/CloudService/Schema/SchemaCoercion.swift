import CloudWire
import System

extension FieldDefinition {
    /// What a sent value becomes in a field of this type; nil when it can't be one.
    ///
    /// A number becomes one of the field's type when that changes nothing of it. What came without a type was guessed
    /// from its JSON and can also be a time, bytes or a number in quotes.
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

    /// Returns true if values of the field are marked as encrypted, as the field's own are.
    func agreesOnEncryption(with field: Field) -> Bool {
        let element = field.value.map { $0.type.elementType ?? $0.type }
        if field.isEncrypted || element == .encryptedBytes { return isEncrypted }
        // Bytes without a type are text, of which only the schema knows what it is.
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
