import Foundation
import Yap

extension JSON {
    /// A stored value as JSON. What JSON doesn't have is an object with one member: bytes `{"$bytes": base64}`, numbers
    /// that aren't finite `{"$double": "nan"}`, and what a serializer of the app wrote `{"$foreign": base64}`.
    init(_ value: StoredValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .bytes(Array("\(value)".utf8))
        case .double(let value) where value.isFinite: self = .bytes(Array("\(value)".utf8))
        case .double(let value): self = .object([("$double", .string("\(value)"))])
        case .text(let text): self = .string(text)
        case .bytes(let bytes): self = .object([("$bytes", .string(Data(bytes).base64EncodedString()))])
        case .array(let values): self = .array(values.map { JSON($0) })
        case .map(let entries): self = .object(entries.map { (Self.name($0.key), JSON($0.value)) })
        case .foreign(let bytes): self = .object([("$foreign", .string(Data(bytes).base64EncodedString()))])
        }
    }

    /// A key that is no text is written as its JSON.
    private static func name(_ key: StoredValue) -> String {
        if case .text(let text) = key { return text }
        return JSON(key).text
    }
}

extension DatabaseFile.Row {
    /// The row as a line of `yap db dump`.
    var json: JSON {
        .object(
            [("collection", .string(collection)), ("key", .string(key)), ("object", JSON(object))]
                + (metadata.map { [("metadata", JSON($0))] } ?? []))
    }
}
