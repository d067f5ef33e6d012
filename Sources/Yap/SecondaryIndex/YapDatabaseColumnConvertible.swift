import FoundationEssentials

/// A type with values that can be columns of an index: Bool, integers of up to 63 bits and a sign, floating-point
/// numbers, String, Date, UUID, URL, Data and arrays of bytes, optionals of these, and your own types. `UInt64` and
/// `UInt` don't conform, because their numbers don't fit into a column.
///
/// An enumeration with a raw value only needs the conformance:
///
/// ```swift
/// enum Priority: Int, Codable, Sendable { case low, high }
/// extension Priority: YapDatabaseColumnConvertible {}
/// ```
///
/// Values are sorted and compared by their columns: texts by their UTF-8 bytes, so that "Z" is before "a".
public protocol YapDatabaseColumnConvertible: Sendable {
    /// The value for SQLite. Equal values must have equal columns.
    var columnValue: YapDatabaseColumnValue { get }

    /// Creates the value from a column. Nil if the column has no such value.
    init?(columnValue: YapDatabaseColumnValue)
}

extension YapDatabaseColumnConvertible where Self: RawRepresentable, RawValue: YapDatabaseColumnConvertible {
    /// The column of the raw value.
    public var columnValue: YapDatabaseColumnValue { rawValue.columnValue }

    /// Creates the value from the column's raw value.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard let rawValue = RawValue(columnValue: columnValue) else { return nil }
        self.init(rawValue: rawValue)
    }
}

/// Returns a whole number, of a type with numbers that all fit into 64 bits with a sign.
private func number<Value: FixedWidthInteger>(_ column: YapDatabaseColumnValue) -> Value? {
    guard case .integer(let number) = column else { return nil }
    return Value(exactly: number)
}

extension Int: YapDatabaseColumnConvertible {
    /// The number.
    public var columnValue: YapDatabaseColumnValue { .integer(Int64(self)) }

    /// The number, if it fits.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard let number: Int = number(columnValue) else { return nil }
        self = number
    }
}

extension Int64: YapDatabaseColumnConvertible {
    /// The number.
    public var columnValue: YapDatabaseColumnValue { .integer(Int64(self)) }

    /// The number, if it fits.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard let number: Int64 = number(columnValue) else { return nil }
        self = number
    }
}

extension Int32: YapDatabaseColumnConvertible {
    /// The number.
    public var columnValue: YapDatabaseColumnValue { .integer(Int64(self)) }

    /// The number, if it fits.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard let number: Int32 = number(columnValue) else { return nil }
        self = number
    }
}

extension Int16: YapDatabaseColumnConvertible {
    /// The number.
    public var columnValue: YapDatabaseColumnValue { .integer(Int64(self)) }

    /// The number, if it fits.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard let number: Int16 = number(columnValue) else { return nil }
        self = number
    }
}

extension Int8: YapDatabaseColumnConvertible {
    /// The number.
    public var columnValue: YapDatabaseColumnValue { .integer(Int64(self)) }

    /// The number, if it fits.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard let number: Int8 = number(columnValue) else { return nil }
        self = number
    }
}

extension UInt32: YapDatabaseColumnConvertible {
    /// The number.
    public var columnValue: YapDatabaseColumnValue { .integer(Int64(self)) }

    /// The number, if it fits.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard let number: UInt32 = number(columnValue) else { return nil }
        self = number
    }
}

extension UInt16: YapDatabaseColumnConvertible {
    /// The number.
    public var columnValue: YapDatabaseColumnValue { .integer(Int64(self)) }

    /// The number, if it fits.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard let number: UInt16 = number(columnValue) else { return nil }
        self = number
    }
}

extension UInt8: YapDatabaseColumnConvertible {
    /// The number.
    public var columnValue: YapDatabaseColumnValue { .integer(Int64(self)) }

    /// The number, if it fits.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard let number: UInt8 = number(columnValue) else { return nil }
        self = number
    }
}

extension Bool: YapDatabaseColumnConvertible {
    /// 0 or 1.
    public var columnValue: YapDatabaseColumnValue { .integer(self ? 1 : 0) }

    /// Whether the number isn't 0.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard case .integer(let number) = columnValue else { return nil }
        self = number != 0
    }
}

extension Double: YapDatabaseColumnConvertible {
    /// The number. NaN is null.
    public var columnValue: YapDatabaseColumnValue { isNaN ? .null : .real(self) }

    /// The number.
    public init?(columnValue: YapDatabaseColumnValue) {
        switch columnValue {
        case .real(let number): self = number
        case .integer(let number): self = Double(number)
        default: return nil
        }
    }
}

extension Float: YapDatabaseColumnConvertible {
    /// The number. NaN is null.
    public var columnValue: YapDatabaseColumnValue { Double(self).columnValue }

    /// The number, rounded.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard let number = Double(columnValue: columnValue) else { return nil }
        self = Float(number)
    }
}

extension String: YapDatabaseColumnConvertible {
    /// The text.
    public var columnValue: YapDatabaseColumnValue { .text(self) }

    /// The text.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard case .text(let text) = columnValue else { return nil }
        self = text
    }
}

extension [UInt8]: YapDatabaseColumnConvertible {
    /// The bytes.
    public var columnValue: YapDatabaseColumnValue { .blob(self) }

    /// The bytes.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard case .blob(let bytes) = columnValue else { return nil }
        self = bytes
    }
}

extension Data: YapDatabaseColumnConvertible {
    /// The bytes.
    public var columnValue: YapDatabaseColumnValue { .blob([UInt8](self)) }

    /// The bytes.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard case .blob(let bytes) = columnValue else { return nil }
        self = Data(bytes)
    }
}

extension Date: YapDatabaseColumnConvertible {
    /// Seconds since the beginning of 2001 in UTC.
    public var columnValue: YapDatabaseColumnValue { timeIntervalSinceReferenceDate.columnValue }

    /// Creates the date from seconds since the beginning of 2001 in UTC.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard let seconds = Double(columnValue: columnValue) else { return nil }
        self = Date(timeIntervalSinceReferenceDate: seconds)
    }
}

extension UUID: YapDatabaseColumnConvertible {
    /// The 16 bytes.
    public var columnValue: YapDatabaseColumnValue { .blob(withUnsafeBytes(of: uuid) { [UInt8]($0) }) }

    /// Creates the UUID from 16 bytes.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard case .blob(let bytes) = columnValue, bytes.count == 16 else { return nil }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

extension URL: YapDatabaseColumnConvertible {
    /// The absolute URL.
    public var columnValue: YapDatabaseColumnValue { .text(absoluteString) }

    /// Creates the URL from its text.
    public init?(columnValue: YapDatabaseColumnValue) {
        guard case .text(let text) = columnValue else { return nil }
        self.init(string: text)
    }
}

extension Optional: YapDatabaseColumnConvertible where Wrapped: YapDatabaseColumnConvertible {
    /// The column of the value, or null.
    public var columnValue: YapDatabaseColumnValue { self?.columnValue ?? .null }

    /// Creates the value from the column. Null is nil.
    public init?(columnValue: YapDatabaseColumnValue) {
        if case .null = columnValue {
            self = .none
        } else {
            guard let value = Wrapped(columnValue: columnValue) else { return nil }
            self = value
        }
    }
}
