import CloudWire

/// What carrying development's schema to production would do.
public struct SchemaDeployment: Hashable, Sendable {
    /// What production gets.
    public let changes: [SchemaChange]
    /// What production has and development doesn't, and keeps: indexes, grants and roles that apps may count on.
    public let kept: [SchemaChange]
    /// Why it can't be done; empty when it can.
    public let refusals: [String]
    /// Production's schema afterwards.
    public let result: Schema

    /// Plans a deployment.
    ///
    /// - Parameters:
    ///   - development: what is carried over.
    ///   - production: what is there.
    ///   - removes: whether indexes, grants and roles that development doesn't have go from production too. Record
    ///     types and fields never go.
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
    /// The type with what another one has besides.
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
    /// What of this schema's types and fields another one doesn't have, or has as something else: saved values would
    /// be lost with it. A sentence for each.
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
    /// Returns true if values of one are values of the other: a number that was decided on is the same.
    func holdsSame(as other: FieldDefinition) -> Bool {
        type == other.type && isEncrypted == other.isEncrypted
    }
}
