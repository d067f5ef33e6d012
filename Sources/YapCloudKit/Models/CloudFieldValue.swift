public import CloudKit
public import Foundation

/// A type that a model's property can have to be a field of a record.
///
/// An enum with a raw value only has to say that it conforms.
public protocol CloudFieldValue: Equatable, Sendable {
    /// The value as a record holds it; nil for no value.
    var cloudValue: (any CKRecordValueProtocol)? { get }
    /// The value that a record holds; nil when it is none of this type. Then the property stays as it is, or takes its
    /// default when another device removed the value.
    init?(cloudValue: (any CKRecordValueProtocol)?)
}

extension CloudFieldValue where Self: CKRecordValueProtocol {
    /// The value itself.
    public var cloudValue: (any CKRecordValueProtocol)? { self }
    /// The value itself.
    public init?(cloudValue: (any CKRecordValueProtocol)?) {
        guard let value = cloudValue as? Self else { return nil }
        self = value
    }
}

extension String: CloudFieldValue {}
extension Bool: CloudFieldValue {}
extension Int: CloudFieldValue {}
extension Int32: CloudFieldValue {}
extension Int64: CloudFieldValue {}
extension Double: CloudFieldValue {}
extension Float: CloudFieldValue {}
extension Int8: CloudFieldValue {}
extension Int16: CloudFieldValue {}
extension UInt8: CloudFieldValue {}
extension UInt16: CloudFieldValue {}
extension UInt32: CloudFieldValue {}
extension Date: CloudFieldValue {}
extension Data: CloudFieldValue {}

extension UUID: CloudFieldValue {
    /// The UUID as text.
    public var cloudValue: (any CKRecordValueProtocol)? { uuidString }
    /// The UUID that the text is.
    public init?(cloudValue: (any CKRecordValueProtocol)?) {
        guard let text = cloudValue as? String else { return nil }
        self.init(uuidString: text)
    }
}

extension Optional: CloudFieldValue where Wrapped: CloudFieldValue {
    /// The value, or none.
    public var cloudValue: (any CKRecordValueProtocol)? { flatMap(\.cloudValue) }
    /// The value, or nil for none.
    public init?(cloudValue: (any CKRecordValueProtocol)?) {
        guard let cloudValue else {
            self = .none
            return
        }
        guard let value = Wrapped(cloudValue: cloudValue) else { return nil }
        self = value
    }
}

extension Array: CloudFieldValue where Element: CloudFieldValue & CKRecordValueProtocol {
    /// The list; an empty one is no value, for the cloud can't tell of what it is a list.
    public var cloudValue: (any CKRecordValueProtocol)? { isEmpty ? nil : self }
    /// The list; none is an empty one.
    public init?(cloudValue: (any CKRecordValueProtocol)?) {
        guard let cloudValue else {
            self = []
            return
        }
        guard let value = cloudValue as? [Element] else { return nil }
        self = value
    }
}

extension Set: CloudFieldValue where Element: CloudFieldValue & CKRecordValueProtocol & Comparable {
    /// The elements as a sorted list; an empty set is no value.
    public var cloudValue: (any CKRecordValueProtocol)? { sorted().cloudValue }
    /// The set of a list's elements; none is an empty one.
    public init?(cloudValue: (any CKRecordValueProtocol)?) {
        guard let list = [Element](cloudValue: cloudValue) else { return nil }
        self = Set(list)
    }
}

extension CloudFieldValue where Self: RawRepresentable, RawValue: CloudFieldValue {
    /// The raw value.
    public var cloudValue: (any CKRecordValueProtocol)? { rawValue.cloudValue }
    /// The case with the raw value.
    public init?(cloudValue: (any CKRecordValueProtocol)?) {
        guard let rawValue = RawValue(cloudValue: cloudValue) else { return nil }
        self.init(rawValue: rawValue)
    }
}
