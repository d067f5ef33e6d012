import CloudStore
import CloudWire
import System

/// Cache of schemas by version, so that a schema is parsed only when it has changed.
private struct SchemaCache {
    /// More than one, because readers and the writer use different snapshots, and the schema of a rejected
    /// write is never used again.
    private static let entriesMax = 4
    private var entries: [(version: UInt64, schema: Schema)] = []

    func schema(_ version: UInt64) -> Schema? { entries.first { $0.version == version }?.schema }

    mutating func keep(_ schema: Schema, version: UInt64) {
        entries.removeAll { $0.version == version }
        entries.insert((version, schema), at: 0)
        if entries.count > Self.entriesMax { entries.removeLast() }
    }
}

/// The schema of an environment, and the access that it gives to callers. The cache is kept in memory.
package final class Schemas: Sendable {
    private let cache = Lock(SchemaCache())

    /// Returns the schema in the reader's snapshot.
    ///
    /// Another process may have changed it, so each call checks its version and reads the schema only if the
    /// version differs.
    package func schema(in reader: any CloudStoreReader) throws -> Schema {
        guard let version = try reader.schemaVersion() else { return .initial }
        if let known = cache.withLock({ $0.schema(version) }) { return known }
        var wanted = StoreLoad()
        wanted.schema = true
        guard let row = try reader.load(wanted).schema else { return .initial }
        let schema = try Schema(row)
        cache.withLock { $0.keep(schema, version: row.version) }
        return schema
    }

    /// Returns the caller's access, with the roles assigned in the reader's snapshot.
    func access(
        of caller: ServiceCaller, schema: Schema, in reader: any CloudStoreReader
    ) throws -> Access {
        // Most schemas have no custom roles.
        guard caller.scope == .public, !schema.roles.isEmpty, let user = caller.user?.userRecordName else {
            return Access(caller, schema: schema)
        }
        var wanted = StoreLoad()
        wanted.rolesOf = [user]
        return Access(
            caller, schema: schema, customRoles: try reader.load(wanted).roles[user]?.roles ?? [])
    }

    /// Caches a schema that was written, by its new version.
    func remember(_ schema: Schema, as row: SchemaRow?) {
        guard let row else { return }
        cache.withLock { $0.keep(schema, version: row.version) }
    }
}

extension Schema {
    /// Parses a stored schema. The user record type is always added.
    ///
    /// - Throws: `SchemaTextError` if the row holds no schema.
    package init(_ row: SchemaRow) throws {
        self = try SchemaLanguage.parse(row.content).complete
    }

    /// The schema including the user record type, which a text may omit.
    package var complete: Schema {
        guard recordTypes[Self.usersTypeName] == nil else { return self }
        var schema = self
        schema.recordTypes[Self.usersTypeName] = .users
        return schema
    }

    /// Returns the schema in the store's form.
    package func row(version: UInt64) -> SchemaRow {
        SchemaRow(version: version, content: Array(SchemaLanguage.print(self).utf8))
    }
}
