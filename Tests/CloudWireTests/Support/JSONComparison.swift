import Foundation

/// JSON read by Foundation, independently of the room under test, as values that tell 1 from true and from
/// 1.0.
indirect enum ForeignJSON: Equatable {
    case null, bool(Bool), integer(Int64), double(Double), string(String)
    case array([ForeignJSON]), object([String: ForeignJSON])

    init(_ bytes: [UInt8]) throws {
        self = try ForeignJSON(JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed))
    }

    private init(_ value: Any) throws {
        switch value {
        case is NSNull: self = .null
        case let number as NSNumber where String(cString: number.objCType) == "c":
            self = .bool(number.boolValue)
        case let number as NSNumber where "dfDF".contains(String(cString: number.objCType)):
            self = .double(number.doubleValue)
        case let number as NSNumber: self = .integer(number.int64Value)
        case let string as String: self = .string(string)
        case let array as [Any]: self = .array(try array.map(ForeignJSON.init))
        case let object as [String: Any]: self = .object(try object.mapValues(ForeignJSON.init))
        default: throw CocoaError(.coderInvalidValue)
        }
    }

    /// Where two values differ first; nil if they are equal.
    func difference(from other: ForeignJSON, at path: String = "") -> String? {
        switch (self, other) {
        case (.array(let left), .array(let right)) where left.count == right.count:
            for (index, pair) in zip(left, right).enumerated() {
                if let found = pair.0.difference(from: pair.1, at: "\(path)[\(index)]") { return found }
            }
            return nil
        case (.object(let left), .object(let right)):
            for key in Set(left.keys).union(right.keys).sorted() {
                guard let first = left[key], let second = right[key] else {
                    return "\(path).\(key) is on one side only"
                }
                if let found = first.difference(from: second, at: "\(path).\(key)") { return found }
            }
            return nil
        default: return self == other ? nil : "\(path): \(self) and \(other)"
        }
    }

    subscript(key: String) -> ForeignJSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// The tree with the booleans that are an untyped field's value as 0 and 1, which is what they mean.
    var readingBooleansOfFields: ForeignJSON {
        switch self {
        case .array(let elements): .array(elements.map(\.readingBooleansOfFields))
        case .object(["value": .bool(true)]): .object(["value": .integer(1)])
        case .object(["value": .bool(false)]): .object(["value": .integer(0)])
        case .object(let members): .object(members.mapValues(\.readingBooleansOfFields))
        default: self
        }
    }

    /// How often each `type` stands in a field with a value, in any `fields` of the tree.
    func countFieldTypes(into counts: inout [String: Int]) {
        switch self {
        case .array(let elements): for element in elements { element.countFieldTypes(into: &counts) }
        case .object(let members):
            for (key, value) in members {
                if key == "fields", case .object(let fields) = value {
                    for field in fields.values where field["value"] != nil {
                        if case .string(let type)? = field["type"] { counts[type, default: 0] += 1 }
                    }
                } else {
                    value.countFieldTypes(into: &counts)
                }
            }
        default: break
        }
    }
}
