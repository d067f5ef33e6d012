import CloudStore
import CloudWire
import System

/// Schemas by their version, so that one is read again only when it has changed.
private struct SchemaCache {
    /// More than one, because readers and the writer see different moments, and the one that a refused write made is
    /// never met again.
    private static let entriesMax = 4
    private var entries: [(version: UInt64, schema: Schema)] = []

    func schema(_ version: UInt64) -> Schema? { entries.first { $0.version == version }?.schema }

    mutating func keep(_ schema: Schema, version: UInt64) {
        entries.removeAll { $0.version == version }
        entries.insert((version, schema), at: 0)
        if entries.count > Self.entriesMax { entries.removeLast() }
    }
}

/// The schema of an environment, and what it lets callers do. What it remembers lives as long as the service, and is
/// read again after it.
package final class Schemas: Sendable {
    private let cache = Lock(SchemaCache())

    /// The schema as it is in the reader's transaction.
    ///
    /// Another process may have changed it: its version is looked at each time, and the rest is read when that is
    /// another one.
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

    /// What the caller may do, with the roles that they have in the reader's transaction.
    func access(
        of caller: ServiceCaller, schema: Schema, in reader: any CloudStoreReader
    ) throws -> Access {
        // Most schemas have no roles.
        guard caller.scope == .public, !schema.roles.isEmpty, let user = caller.user?.userRecordName else {
            return Access(caller, schema: schema)
        }
        var wanted = StoreLoad()
        wanted.rolesOf = [user]
        return Access(
            caller, schema: schema, customRoles: try reader.load(wanted).roles[user]?.roles ?? [])
    }

    /// Remembers a schema that a write has made, by the version that it gave it.
    func remember(_ schema: Schema, as row: SchemaRow?) {
        guard let row else { return }
        cache.withLock { $0.keep(schema, version: row.version) }
    }
}

extension Schema {
    /// Reads a schema as a store keeps it. The users' type is there in any case.
    ///
    /// - Throws: `SchemaTextError` when the row holds no schema.
    package init(_ row: SchemaRow) throws {
        self = try SchemaLanguage.parse(row.content).complete
    }

    /// The schema with the users' type, which a text may leave out.
    package var complete: Schema {
        guard recordTypes[Self.usersTypeName] == nil else { return self }
        var schema = self
        schema.recordTypes[Self.usersTypeName] = .users
        return schema
    }

    /// The schema as a store keeps it.
    package func row(version: UInt64) -> SchemaRow {
        SchemaRow(version: version, content: Array(SchemaLanguage.print(self).utf8))
    }
}
