import CloudWire

/// The effects of deploying development's schema to production.
public struct SchemaDeployment: Hashable, Sendable {
    /// Changes to production.
    public let changes: [SchemaChange]
    /// Parts of production that development doesn't have, and that are kept: indexes, grants and roles that
    /// apps may depend on.
    public let kept: [SchemaChange]
    /// Reasons that prevent the deployment. Empty if it is possible.
    public let refusals: [String]
    /// Production's schema after the deployment.
    public let result: Schema

    /// Plans a deployment.
    ///
    /// - Parameters:
    ///   - development: the source schema.
    ///   - production: the destination's current schema.
    ///   - removes: whether indexes, grants and roles that development doesn't have are removed from
    ///     production. Record types and fields are never removed.
    public init(from development: Schema, to production: Schema, removes: Bool = false) {
        refusals = production.losses(in: development, named: "development's schema")
        var result = production
        for (name, type) in development.recordTypes {
            result.recordTypes[name] = production.recordTypes[name]?.joined(by: type) ?? type
        }
        result.roles.formUnion(development.roles)
        let joined = result
        if removes {
            for (name, type) in development.recordTypes { result.recordTypes[name] = type }
            result.roles = development.roles
        }
        self.result = result
        changes = production.changes(to: result)
        kept =
            removes
            ? [] : joined.changes(to: development).filter { $0.kind != .recordType && $0.kind != .field }
    }
}

extension RecordType {
    /// Returns the union of this type and another one.
    fileprivate func joined(by other: RecordType) -> RecordType {
        var joined = self
        for (name, field) in other.fields {
            var field = field
            field.indexes.formUnion(fields[name]?.indexes ?? [])
            joined.fields[name] = field
        }
        for (name, indexes) in other.systemIndexes {
            joined.systemIndexes[name, default: []].formUnion(indexes)
        }
        for (role, permissions) in other.grants { joined.grants[role, default: []].formUnion(permissions) }
        return joined
    }
}

extension Schema {
    /// This schema's types and fields that are missing or different in another one, which would lose their
    /// saved values. A sentence for each.
    package func losses(in other: Schema, named otherName: String) -> [String] {
        var losses: [String] = []
        for (name, type) in recordTypes.sorted(by: { $0.key < $1.key }) {
            guard let otherType = other.recordTypes[name] else {
                losses.append("\(otherName) has no record type '\(name)'")
                continue
            }
            for (field, definition) in type.fields.sorted(by: { $0.key < $1.key }) {
                guard let otherField = otherType.fields[field] else {
                    losses.append("\(otherName) has no field '\(field)' in record type '\(name)'")
                    continue
                }
                if !definition.holdsSame(as: otherField) {
                    losses.append(
                        "in \(otherName) the field '\(field)' of record type '\(name)' is \(otherField.typeName), "
                            + "not \(definition.typeName)")
                }
            }
        }
        return losses
    }
}

extension FieldDefinition {
    /// Returns true if the values of both fields have the same type. An undecided number equals its decided
    /// type.
    func holdsSame(as other: FieldDefinition) -> Bool {
        type == other.type && isEncrypted == other.isEncrypted
    }
}
