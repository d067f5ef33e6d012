internal import CloudKit
internal import CloudWire
import Foundation

/// A type that is stored in a field as it is, without an object of the framework in between. Creating such objects
/// would take most of the time of reading and writing a model.
protocol PlainFieldValue: SendableMetatype {
    /// Returns the field's value, or nil for none.
    func plainField() throws(CKError) -> FieldValue?
    /// Creates the property's value, or nil if the field's value has another type and the slow path must handle it.
    init?(plain value: FieldValue)
}

/// The conversions between a property and a field, for types that have them.
struct PlainFieldCodec<Value>: Sendable {
    var encode: @Sendable (Value) throws -> FieldValue?
    var decode: @Sendable (FieldValue) -> Value?

    /// Nil for a type that isn't stored as it is.
    init?() {
        guard let type = Value.self as? any PlainFieldValue.Type, let made = Self.made(type) as? Self else {
            return nil
        }
        self = made
    }

    private init(
        encode: @escaping @Sendable (Value) throws -> FieldValue?,
        decode: @escaping @Sendable (FieldValue) -> Value?
    ) {
        self.encode = encode
        self.decode = decode
    }

    private static func made<Plain: PlainFieldValue>(_ type: Plain.Type) -> Any {
        PlainFieldCodec<Plain>(encode: { try $0.plainField() }, decode: { Plain(plain: $0) })
    }
}

extension String: PlainFieldValue {
    func plainField() -> FieldValue? { .string(self) }
    init?(plain value: FieldValue) {
        guard case .string(let text) = value else { return nil }
        self = text
    }
}

extension Bool: PlainFieldValue {
    func plainField() -> FieldValue? { .int64(self ? 1 : 0) }
    init?(plain value: FieldValue) {
        guard case .int64(let number) = value, number == 0 || number == 1 else { return nil }
        self = number == 1
    }
}

extension Int: PlainFieldValue {
    func plainField() -> FieldValue? { .int64(Int64(self)) }
    init?(plain value: FieldValue) {
        guard case .int64(let number) = value else { return nil }
        self.init(exactly: number)
    }
}

extension Int64: PlainFieldValue {
    func plainField() -> FieldValue? { .int64(self) }
    init?(plain value: FieldValue) {
        guard case .int64(let number) = value else { return nil }
        self = number
    }
}

extension Double: PlainFieldValue {
    func plainField() throws(CKError) -> FieldValue? { try FieldValue(double: self) }
    init?(plain value: FieldValue) {
        guard case .double(let number) = value else { return nil }
        self = number
    }
}

extension Date: PlainFieldValue {
    func plainField() throws(CKError) -> FieldValue? { try FieldValue(date: self) }
    init?(plain value: FieldValue) {
        guard case .timestamp(let milliseconds) = value else { return nil }
        self.init(wholeMilliseconds: milliseconds)
    }
}

extension Data: PlainFieldValue {
    func plainField() -> FieldValue? { .bytes([UInt8](self)) }
    init?(plain value: FieldValue) {
        guard case .bytes(let bytes) = value else { return nil }
        self.init(bytes)
    }
}

extension UUID: PlainFieldValue {
    func plainField() -> FieldValue? { .string(uuidString) }
    init?(plain value: FieldValue) {
        guard case .string(let text) = value else { return nil }
        self.init(uuidString: text)
    }
}

extension Optional: PlainFieldValue where Wrapped: PlainFieldValue {
    func plainField() throws(CKError) -> FieldValue? {
        guard let self else { return nil }
        return try self.plainField()
    }
    init?(plain value: FieldValue) {
        guard let wrapped = Wrapped(plain: value) else { return nil }
        self = .some(wrapped)
    }
}

extension Array: PlainFieldValue where Element == String {
    func plainField() -> FieldValue? { isEmpty ? nil : .list(.stringList, map { .string($0) }) }
    init?(plain value: FieldValue) {
        guard case .list(.stringList, let elements) = value else { return nil }
        self = []
        reserveCapacity(elements.count)
        for element in elements {
            guard case .string(let text) = element else { return nil }
            append(text)
        }
    }
}
