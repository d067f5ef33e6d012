import CloudStore
import CloudWire
import System

/// The reasons that a schema change is rejected.
package struct SchemaRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence for each reason.
    package let reasons: [String]

    package init(_ reasons: [String]) { self.reasons = reasons }

    package var description: String { reasons.joined(separator: "\n") }
}

/// Schema changes by the operator. Each is one transaction on the store's file, which a running server may
/// have open. The server checks the schema's version in each of its transactions, and uses the new schema
/// from the next one on.
package struct SchemaMaintenance: Sendable {
    let store: any CloudStore
    let random: any RandomSource
    let limits: ServiceLimits
    let schemas: Schemas
    let writing: ChangeWriter

    /// Returns the current schema.
    package func currentSchema() throws -> Schema { try store.read { try schemas.schema(in: $0) } }

    /// Replaces the schema with the result of `change`.
    ///
    /// - Returns: the previous schema and the new one.
    /// - Throws: the error of `change`, `SchemaRefusal`, `CloudStoreError`; then nothing was changed.
    @discardableResult
    package func changeSchema(
        _ change: (Schema) throws -> Schema
    ) throws -> (before: Schema, after: Schema) {
        try store.write { try changeSchema(recordsMax: nil, $0, change) }
    }

    /// Replaces the schema with the result of `change`, in a transaction.
    ///
    /// - Parameter recordsMax: maximum number of records to check for values that the new schema can't store,
    ///   or nil for all.
    package func changeSchema(
        recordsMax: Int?, _ writer: any CloudStoreWriter, _ change: (Schema) throws -> Schema
    ) throws -> (before: Schema, after: Schema) {
        let before = try schemas.schema(in: writer)
        let after = try change(before).complete
        let isFirst = try writer.schemaVersion() == nil
        guard isFirst || after != before else { return (before, after) }
        try checkRecords(before, against: after, recordsMax: recordsMax, writer)
        var changes = StoreChanges()
        changes.schema = after.row(version: random.next())
        try writing.apply(changes, to: writer)
        return (before, after)
    }

    /// Returns the reasons that prevent the change to another schema, a sentence for each. Empty if it is possible.
    ///
    /// - Parameter production: the parts of it that the other schema must contain.
    /// - Throws: `CloudStoreError`.
    package func losses(
        from before: Schema, to after: Schema, production: Schema, recordsMax: Int,
        _ reader: any CloudStoreReader
    ) throws -> [String] {
        let losses = production.losses(in: after, named: "the new schema").map {
            "production would lose: \($0)"
        }
        do {
            try checkRecords(before, against: after, recordsMax: recordsMax, reader)
            return losses
        } catch let refusal as SchemaRefusal {
            return losses + refusal.reasons
        }
    }

    /// Deletes everything in the environment, and gives it a schema. Earlier tokens are rejected, so devices
    /// fetch again.
    ///
    /// - Throws: `CloudStoreError`; then nothing was changed.
    package func reset(to schema: Schema) throws {
        try store.write { try reset(to: schema, $0) }
    }

    /// The same in a transaction.
    package func reset(to schema: Schema, _ writer: any CloudStoreWriter) throws {
        // Erased first, so that the work for the new schema finds no records.
        var erased = StoreChanges()
        erased.erasesData = true
        try writing.apply(erased, to: writer)
        var changes = StoreChanges()
        changes.schema = schema.row(version: random.next())
        try writing.apply(changes, to: writer)
    }
}

/// Assignments of custom roles to users.
extension SchemaMaintenance {
    /// Users read at once.
    private static let usersMax = 500

    /// Returns the users with custom roles, by name.
    package func userRoles() throws -> [(user: String, roles: [String])] {
        try store.read { reader in
            var all: [(user: String, roles: [String])] = []
            var after: String?
            while true {
                let page = try reader.userRoles(after: after, usersMax: Self.usersMax)
                all += page.rows.map { ($0.user, $0.roles) }
                guard page.moreComing, let last = page.rows.last else { return all }
                after = last.user
            }
        }
    }

    /// Assigns a role to a user, or removes it.
    ///
    /// - Returns: true if that changed anything.
    /// - Throws: `SchemaRefusal` if the schema has no such custom role, `CloudStoreError`.
    package func setRole(_ role: String, ofUser user: String, isAssigned: Bool) throws -> Bool {
        try store.write { writer in
            let schema = try schemas.schema(in: writer)
            guard !isAssigned || schema.roles.contains(role) else {
                let others = schema.roles.sorted().joined(separator: ", ")
                throw SchemaRefusal([
                    "the schema has no role '\(role)'; it has "
                        + (others.isEmpty ? "none: CREATE ROLE in an imported schema makes one" : others)
                ])
            }
            var wanted = StoreLoad()
            wanted.rolesOf = [user]
            var roles = Set(try writer.load(wanted).roles[user]?.roles ?? [])
            let isChanged = isAssigned ? roles.insert(role).inserted : roles.remove(role) != nil
            guard isChanged else { return false }
            var changes = StoreChanges()
            changes.roles = [UserRolesRow(user: user, roles: roles.sorted())]
            try writing.apply(changes, to: writer)
            return true
        }
    }
}
