import CloudWire

/// A difference between two schemas.
public struct SchemaChange: Hashable, Sendable {
    /// Kind of change.
    public enum Action: String, Hashable, Sendable {
        /// The element is added.
        case add
        /// The element is removed.
        case remove
        /// The element is changed.
        case change
    }

    /// Kind of the changed element.
    public enum Kind: String, Hashable, Sendable {
        /// A custom role.
        case role
        /// A record type.
        case recordType
        /// A field of a record type, with its type.
        case field
        /// The indexes of a field.
        case index
        /// The permissions of a role on records of a type.
        case grant
    }

    /// Kind of change.
    public let action: Action
    /// Kind of the changed element.
    public let kind: Kind
    /// The record type that the element belongs to, or nil for a role.
    public let recordType: String?
    /// The name of the role, record type or field, or of the grant's role.
    public let name: String
    /// The previous definition in the schema language.
    public let before: String?
    /// The new definition in the schema language.
    public let after: String?

    /// A human-readable line, such as `+ field Note.title STRING`.
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
    /// Returns the changes that turn this schema into `other`, in a fixed order.
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
