public import CloudKit
public import Foundation

/// A type of a model's property that can be a field of a record.
///
/// An enum with a raw value only has to declare the conformance.
public protocol CloudFieldValue: Equatable, Sendable {
    /// The value in a record, or nil for no value.
    var cloudValue: (any CKRecordValueProtocol)? { get }
    /// Creates the property's value from the value in a record, or nil if the record's value has another type. Then the
    /// property keeps its value, or takes its default if another device removed the value.
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
    /// The value, or nil.
    public var cloudValue: (any CKRecordValueProtocol)? { flatMap(\.cloudValue) }
    /// The value, or nil.
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
    /// The list. An empty list is no value, because the cloud can't store its element type.
    public var cloudValue: (any CKRecordValueProtocol)? { isEmpty ? nil : self }
    /// The list; no value becomes an empty list.
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
    /// The elements as a sorted list. An empty set is no value.
    public var cloudValue: (any CKRecordValueProtocol)? { sorted().cloudValue }
    /// The set of a list's elements; no value becomes an empty set.
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
