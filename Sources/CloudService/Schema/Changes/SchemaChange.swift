import CloudWire

/// One way in which a schema differs from another.
public struct SchemaChange: Hashable, Sendable {
    /// What becomes of it.
    public enum Action: String, Hashable, Sendable {
        /// It is new.
        case add
        /// It goes.
        case remove
        /// It becomes something else.
        case change
    }

    /// What it is.
    public enum Kind: String, Hashable, Sendable {
        /// A custom role.
        case role
        /// A record type.
        case recordType
        /// A field of a record type, with its type.
        case field
        /// The indexes of a field.
        case index
        /// What a role may do with records of a type.
        case grant
    }

    /// What becomes of it.
    public let action: Action
    /// What it is.
    public let kind: Kind
    /// The record type that it belongs to; nil for a role.
    public let recordType: String?
    /// The name of the role, record type, field, or of the grant's role.
    public let name: String
    /// What was there, in words of the schema language.
    public let before: String?
    /// What will be there, in words of the schema language.
    public let after: String?

    /// A line for a person, as `+ field Note.title STRING`.
    public var text: String {
        let sign =
            switch action {
            case .add: "+"
            case .remove: "-"
            case .change: "~"
            }
        let words =
            switch kind {
            case .role: "role \(name)"
            case .recordType: "record type \(name)"
            case .field: "field \(recordType ?? "").\(name)"
            case .index: "index \(recordType ?? "").\(name)"
            case .grant: "grant in \(recordType ?? "") to \(name)"
            }
        let content = [before, after].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " -> ")
        return content.isEmpty ? "\(sign) \(words)" : "\(sign) \(words): \(content)"
    }
}

extension Schema {
    /// What makes `other` of this schema, in a fixed order.
    public func changes(to other: Schema) -> [SchemaChange] {
        var changes = Comparison()
        changes.compare(roles, other.roles)
        for name in Set(recordTypes.keys).union(other.recordTypes.keys).sorted() {
            changes.compare(recordTypes[name], other.recordTypes[name], recordType: name)
        }
        return changes.changes
    }

    private struct Comparison {
        var changes: [SchemaChange] = []

        mutating func compare(_ old: Set<String>, _ new: Set<String>) {
            for name in old.union(new).sorted() where old.contains(name) != new.contains(name) {
                add(.role, nil, name, old.contains(name) ? "" : nil, new.contains(name) ? "" : nil)
            }
        }

        mutating func compare(_ old: RecordType?, _ new: RecordType?, recordType: String) {
            add(.recordType, nil, recordType, old.map { _ in "" }, new.map { _ in "" })
            for name in names(old?.fields, new?.fields) {
                let fields = (old?.fields[name], new?.fields[name])
                add(.field, recordType, name, fields.0?.typeName, fields.1?.typeName)
                addIndexes(recordType, name, fields.0?.indexes, fields.1?.indexes)
            }
            for name in names(old?.systemIndexes, new?.systemIndexes) {
                addIndexes(recordType, name, old?.systemIndexes[name], new?.systemIndexes[name])
            }
            for name in names(old?.grants, new?.grants) {
                func text(_ type: RecordType?) -> String? {
                    type?.grants[name].flatMap { $0.isEmpty ? nil : $0.text }
                }
                add(.grant, recordType, name, text(old), text(new))
            }
        }

        private func names<Value>(_ old: [String: Value]?, _ new: [String: Value]?) -> [String] {
            Set((old ?? [:]).keys).union((new ?? [:]).keys).sorted()
        }

        private mutating func addIndexes(
            _ recordType: String, _ name: String, _ old: FieldIndexes?, _ new: FieldIndexes?
        ) {
            add(
                .index, recordType, name, old.flatMap { $0.isEmpty ? nil : $0.text },
                new.flatMap { $0.isEmpty ? nil : $0.text })
        }

        private mutating func add(
            _ kind: SchemaChange.Kind, _ recordType: String?, _ name: String, _ before: String?,
            _ after: String?
        ) {
            guard before != after else { return }
            let action: SchemaChange.Action = before == nil ? .add : after == nil ? .remove : .change
            changes.append(
                SchemaChange(
                    action: action, kind: kind, recordType: recordType, name: name, before: before,
                    after: after))
        }
    }
}
