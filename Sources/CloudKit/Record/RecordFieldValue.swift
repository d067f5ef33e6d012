package import CoreLocation
package import Foundation
internal import System

/// A value of a record's field: one case for each type of the cloud.
package enum RecordFieldValue: Hashable, Sendable {
    case string(String)
    case int64(Int64)
    case double(Double)
    case date(Date)
    case data(Data)
    case reference(CKReference)
    case location(CLLocation)
    case asset(CKAsset)
    case list([RecordFieldValue])
    /// An unsupported value, with the reason. It is stored, so that the save can report it: a subscript can't
    /// throw.
    case unsupported(String)

    /// Converts a value of an app.
    package init(_ value: any CKRecordValueProtocol) {
        self.init(any: value)
    }

    /// Converts an element of a Foundation array, which has no static type.
    init(any value: Any) {
        self = Self.ofCommonType(value) ?? Self(casting: value)
    }

    /// Converts the most frequent types by their exact type. A cast that searches for a bridge costs ten times as much.
    private static func ofCommonType(_ value: Any) -> RecordFieldValue? {
        let type = type(of: value)
        if type == String.self { return (value as? String).map { .string($0) } }
        if type == NSString.self { return (value as? NSString).map { .string($0 as String) } }
        if type == NSNumber.self { return (value as? NSNumber).map { RecordFieldValue(number: $0) } }
        if type == Bool.self { return (value as? Bool).map { .int64($0 ? 1 : 0) } }
        if type == Int.self { return (value as? Int).map { .int64(Int64($0)) } }
        if type == Double.self { return (value as? Double).map { .double($0) } }
        if type == Date.self { return (value as? Date).map { .date($0) } }
        if type == NSDate.self { return (value as? NSDate).map { .date($0 as Date) } }
        if type == Data.self { return (value as? Data).map { .data($0) } }
        return nil
    }

    private init(casting value: Any) {
        switch value {
        case let value as NSNumber: self = RecordFieldValue(number: value)
        case let value as CKReference: self = .reference(value)
        case let value as UnsupportedRecordValue: self = .unsupported(value.reason)
        case let value as CLLocation: self = .location(value)
        case let value as CKAsset: self = .asset(value)
        case let value as String: self = .string(value)
        case let value as Date: self = .date(value)
        case let value as Data: self = .data(value)
        case let value as [Any]: self = .list(value.map { RecordFieldValue(any: $0) })
        default: self = .unsupported("a field can't hold a \(type(of: value))")
        }
    }

    private init(number: NSNumber) {
        switch NumberKind(number) {
        case .fraction: self = .double(number.doubleValue)
        case .integer: self = .int64(number.int64Value)
        case .tooLarge: self = .unsupported("\(number) doesn't fit a 64-bit signed integer")
        }
    }

    /// True if an encrypted field can hold it, alone or in a list.
    var canBeEncrypted: Bool {
        switch self {
        case .asset, .reference: false
        case .list(let values): values.allSatisfy(\.canBeEncrypted)
        default: true
        }
    }

    /// The value as an object of a record. It can be cast to every native type.
    package var object: any __CKRecordObjCValue {
        switch self {
        case .string(let value): value as NSString
        case .int64(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .date(let value): value as NSDate
        case .data(let value): value as NSData
        case .reference(let value): value
        case .location(let value): value
        case .asset(let value): value
        case .list(let values): NSArray(array: values.map(\.object))
        case .unsupported(let reason): UnsupportedRecordValue(reason: reason)
        }
    }
}

extension RecordFieldValue {
    /// Returns true if both have the same bytes. `String` and `Double` treat two normal forms of a text, and zero and
    /// minus zero, as equal.
    package static func == (left: RecordFieldValue, right: RecordFieldValue) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.int64(let left), .int64(let right)): left == right
        case (.double(let left), .double(let right)): left.hasSameBits(as: right)
        case (.date(let left), .date(let right)): left == right
        case (.data(let left), .data(let right)): left == right
        case (.reference(let left), .reference(let right)): left == right
        case (.location(let left), .location(let right)): left == right
        case (.asset(let left), .asset(let right)): left == right
        case (.list(let left), .list(let right)): left == right
        case (.unsupported(let left), .unsupported(let right)): left.hasSameBytes(as: right)
        default: false
        }
    }
}

/// The type of a number object, by its Objective-C type code.
private enum NumberKind {
    case integer, fraction, tooLarge

    init(_ number: NSNumber) {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): self = .fraction
        case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max): self = .tooLarge
        default: self = .integer
        }
    }
}
