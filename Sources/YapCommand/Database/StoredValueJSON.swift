import Foundation
import Yap

extension JSON {
    /// Creates the JSON of a stored value. Values without a JSON form are an object with one member with a name that
    /// begins with a dollar: bytes `{"$bytes": base64}`, numbers that aren't finite `{"$double": "nan"}`, 32-bit
    /// numbers `{"$float": 0.5}`, bytes of a custom serializer `{"$foreign": base64}`, and maps that JSON would
    /// confuse `{"$map": [[key, value], ...]}`. So `StoredValueReader` reads the same value back.
    init(_ value: StoredValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .bytes(Array("\(value)".utf8))
        case .double(let value) where value.isFinite: self = .bytes(Array("\(value)".utf8))
        case .double(let value): self = .tagged("$double", Self.notFinite(value))
        case .float(let value) where value.isFinite:
            // As the 64-bit number with exactly this value.
            self = .tagged("$float", .bytes(Array("\(Double(value))".utf8)))
        case .float(let value): self = .tagged("$float", Self.notFinite(Double(value)))
        case .text(let text): self = .string(text)
        case .bytes(let bytes): self = .tagged("$bytes", .base64(bytes))
        case .array(let values): self = .array(values.map { JSON($0) })
        case .map(let entries): self = Self.map(entries)
        case .foreign(let bytes): self = .tagged("$foreign", .base64(bytes))
        }
    }

    private static func tagged(_ tag: String, _ value: JSON) -> JSON { .object([(tag, value)]) }

    static func base64(_ bytes: [UInt8]) -> JSON { .string(Data(bytes).base64EncodedString()) }

    private static func notFinite(_ value: Double) -> JSON {
        .string(value.isNaN ? "nan" : value < 0 ? "-inf" : "inf")
    }

    private static func map(_ entries: [StoredValue.Entry]) -> JSON {
        let names = entries.compactMap { entry -> String? in
            guard case .text(let name) = entry.key else { return nil }
            return name
        }
        let looksLikeATag = names.count == 1 && names[0].utf8.first == UInt8(ascii: "$")
        guard names.count == entries.count, !looksLikeATag,
            Set(names.map { Array($0.utf8) }).count == names.count
        else {
            return .tagged("$map", .array(entries.map { .array([JSON($0.key), JSON($0.value)]) }))
        }
        return .object(zip(names, entries).map { ($0, JSON($1.value)) })
    }
}
