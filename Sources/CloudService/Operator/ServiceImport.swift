import CloudStore
import CloudWire
import Crypto
import System

/// The source of an export's lines. Each call starts at the first line, and returns a function for the next
/// line without its line end, or nil at the end.
public typealias ExportSource = () throws -> (() throws -> [UInt8]?)

/// Imports an export into an environment.
struct ServiceImport: Sendable {
    private static let batchRecordsMax = 200
    private static let batchBytesMax = 4 << 20

    let store: any CloudStore
    let files: any AssetStore
    let limits: ServiceLimits
    let schemaMayGrow: Bool
    let clock: any TimeSource
    let random: any RandomSource
    let schemas: Schemas
    let writing: ChangeWriter
    let zones: ZonesEndpoints
    let pushes: PushDelivery
    let upkeep: Upkeep

    /// Reads and validates all lines, then writes their contents in batches.
    func importExport(
        into scope: ExportScope, names: ExportNames, merges: Bool, from source: ExportSource,
        progress: (ExportSummary) throws -> Void
    ) throws -> ExportSummary {
        var check = try ImportCheck(scope: scope, names: names, limits: limits)
        try Self.read(source) { line, bytes in
            try check.take(line, bytes)
        }
        guard check.isOver else {
            throw ExportError.line(number: check.line + 1, reason: "the last line is missing")
        }
        if !merges, try store.read({ try hasData(scope, $0) }) { throw ExportError.notEmpty }
        var writer = ImportWriter(scope: scope)
        try Self.read(source) { line, bytes in
            try take(line, bytes: bytes.count, names, &writer)
            writer.summary.bytes += Int64(bytes.count)
            if writer.records.count >= Self.batchRecordsMax || writer.bytes >= Self.batchBytesMax {
                try flush(&writer)
                try progress(writer.summary)
            }
        }
        try flush(&writer)
        // A running server isn't notified of the pending pushes, so they are processed here.
        while pushes.tasksMayWait { guard try upkeep.keepUp() else { break } }
        return check.summary
    }

    private static func read(
        _ source: ExportSource, _ body: (_ line: ExportLine, _ bytes: [UInt8]) throws -> Void
    ) throws {
        let next = try source()
        var number = 0
        while let bytes = try next() {
            number += 1
            do {
                try body(try ExportLine(json: bytes), bytes + [0x0A])
            } catch let error as JSONError {
                throw ExportError.line(number: number, reason: "\(error)")
            } catch let error as WireError {
                throw ExportError.line(number: number, reason: error.reason ?? error.serverErrorCode.rawValue)
            }
        }
    }

    private func hasData(_ scope: ExportScope, _ reader: any CloudStoreReader) throws -> Bool {
        let databases: [StoredDatabaseKey]
        switch scope {
        case .user(let user): databases = [.privateDatabase(of: user)]
        case .container:
            databases = try [.publicDatabase] + reader.owners().map(StoredDatabaseKey.privateDatabase(of:))
        }
        return try databases.contains { database in
            let names = try reader.zoneNames(in: database)
            let first = ZoneKey(database: database, zoneName: ZoneID.defaultZoneName)
            return try names.count > 1
                || !reader.records(in: first, after: nil, recordsMax: 1, bytesMax: 1).rows.isEmpty
        }
    }

    // MARK: Writing

    /// Pending writes.
    private struct ImportWriter {
        var database: StoredDatabaseKey
        var zone: ZoneKey
        var records: [WireRecord] = []
        /// Names of the pending records. If a name occurs twice, both are written, the later one last.
        var recordNames: Set<String> = []
        /// Bytes of the pending lines.
        var bytes = 0
        var file: (digest: [UInt8], writer: any StoredAssetWriter)?
        var summary = ExportSummary()

        init(scope: ExportScope) {
            if case .user(let user) = scope {
                database = .privateDatabase(of: user)
            } else {
                database = .publicDatabase
            }
            zone = ZoneKey(database: database, zoneName: ZoneID.defaultZoneName)
        }
    }

    private func take(
        _ line: ExportLine, bytes: Int, _ names: ExportNames, _ writer: inout ImportWriter
    ) throws {
        if case .data(let bytes) = line {
            try writer.file?.writer.write(bytes)
            return
        }
        try finishFile(&writer)
        switch line {
        case .header, .data, .end: break
        case .schema(let text): try add(schema: try SchemaLanguage.parse(text))
        case .database(let scope, let owner):
            try flush(&writer)
            writer.database =
                if scope == .private, let owner {
                    .privateDatabase(of: try names.user(named: owner))
                } else {
                    .publicDatabase
                }
        case .zone(let name):
            try flush(&writer)
            writer.zone = ZoneKey(database: writer.database, zoneName: name)
            if !writer.zone.isDefault { try make(writer.zone) }
        case .asset(let digest, _):
            // The file must be stored before the records that reference it. Their lines follow this one.
            writer.file = (Hex.bytes(digest) ?? [], try files.begin())
            writer.summary.assets += 1
        case .record(let record):
            let renamed = try record.renamingUsers(names.user(named:))
            if let name = renamed.recordName, !writer.recordNames.insert(name).inserted {
                try flush(&writer)
                writer.recordNames = [name]
            }
            writer.records.append(renamed)
            writer.bytes += bytes
            writer.summary.records += 1
        }
    }

    private func finishFile(_ writer: inout ImportWriter) throws {
        guard let (digest, file) = writer.file else { return }
        writer.file = nil
        guard try file.finish().digest == digest else {
            throw ExportError.asset(digest: Hex.text(digest), reason: "changed while it was read")
        }
    }

    /// Creates the zone if it doesn't exist, as its owner would.
    private func make(_ zone: ZoneKey) throws {
        let exists = try store.read { reader in
            var wanted = StoreLoad()
            wanted.zones = [zone]
            return try reader.load(wanted).zones[zone].map { !$0.isDeleted } ?? false
        }
        guard !exists else { return }
        let caller = ServiceCaller(
            user: ServiceUser(userRecordName: zone.database.owner), scope: .private,
            request: WireRequest(path: "", body: []))
        let operation = ZoneOperation(
            operationType: .create, zone: WireZone(zoneID: ZoneID(zoneName: zone.zoneName)))
        let request = try ZonesModifyRequest(operations: [operation]).json()
        switch try zones.modify(request, caller, nil).answerAlone(in: store) {
        case .error(let error): throw error
        case .message(let message as ZonesResponse, _, _):
            if case .error(let error)? = message.zones.first { throw error }
        default: break
        }
    }

    /// Adds the types, fields and roles that the schema lacks.
    private func add(schema other: Schema) throws {
        try store.write { writer in
            let old = try schemas.schema(in: writer)
            let new = try old.adding(other)
            guard new != old else { return }
            var changes = StoreChanges()
            changes.schema = new.row(version: random.next())
            try writing.apply(changes, to: writer)
            schemas.remember(new, as: changes.schema)
        }
    }

    private func flush(_ batch: inout ImportWriter) throws {
        guard !batch.records.isEmpty else { return }
        let records = batch.records
        let zone = batch.zone
        batch.records = []
        batch.recordNames = []
        batch.bytes = 0
        try store.write { writer in
            let schema = try schemas.schema(in: writer)
            var wanted = StoreLoad()
            wanted.records = records.map { RecordKey(zone: zone, recordName: $0.recordName ?? "") }
            wanted.zones = zone.isDefault ? [] : [zone]
            wanted.databases = zone.isDefault ? [] : [zone.database]
            var loaded = try writer.load(wanted)
            try loaded.loadPushTasks(of: wanted.zones, from: writer)
            let now = StoreStamp(
                timestampMilliseconds: clock.nowMilliseconds(), userRecordName: "", deviceID: "")
            var growth = SchemaGrowth(schema, mayGrow: schemaMayGrow, limits: limits)
            let drafts = try zip(records, wanted.records).map { record, key in
                let old = loaded.records[key].flatMap { $0.isDeleted ? nil : $0 }
                return try draft(record, key, old: old, growth: &growth)
            }
            let additions = drafts.map(\.additions).filter { !$0.isEmpty }
            let grown = schema.adding(additions)
            var writing = ModifyWriting(
                loaded: loaded, random: random, stamp: now, maker: nil, schema: grown)
            for ((record, key), draft) in zip(zip(records, wanted.records), drafts) {
                writing.save(draft, key: key, stamps: record.stamps(else: now))
            }
            let usage = writing.usage
            var changes = writing.finished()
            try usage.count(into: &changes, writer)
            if !additions.isEmpty { changes.schema = grown.row(version: random.next()) }
            try self.writing.apply(changes, to: writer)
            schemas.remember(grown, as: changes.schema)
        }
    }

    private func draft(
        _ record: WireRecord, _ key: RecordKey, old: StoredRecord?, growth: inout SchemaGrowth
    ) throws -> RecordDraft {
        let recordType = record.recordType ?? ""
        guard old == nil || old?.recordType == recordType else {
            throw ServiceError.badRequest("the record \(key.recordName) exists with another type")
        }
        let (fields, additions) = try growth.take(record.fields, recordType: recordType).get()
        let oldFields = try old.map { try FieldsBinary.decode($0.fields) } ?? [:]
        let parent = record.parent?.recordName
        return RecordDraft(
            old: old, oldReferences: bindingReferences(of: key, fields: oldFields, parent: old?.parent),
            recordType: recordType, parent: parent, fields: fields, fieldBytes: FieldsBinary.encode(fields),
            references: bindingReferences(of: key, fields: fields, parent: parent),
            oldAssets: oldFields.assetUses, assets: fields.assetUses, additions: additions)
    }
}

extension WireRecord {
    fileprivate func stamps(else now: StoreStamp) -> RecordStamps {
        func stamp(_ stamp: Stamp?) -> StoreStamp {
            guard let stamp else { return now }
            return StoreStamp(
                timestampMilliseconds: stamp.timestampMilliseconds,
                userRecordName: stamp.userRecordName ?? "",
                deviceID: stamp.deviceID ?? "")
        }
        return RecordStamps(created: stamp(created), modified: stamp(modified))
    }
}

extension Schema {
    /// This schema with the missing parts of the other one added.
    ///
    /// - Throws: `ExportError.schema` if a field has different types.
    fileprivate func adding(_ other: Schema) throws -> Schema {
        var schema = self
        schema.roles.formUnion(other.roles)
        for (name, type) in other.recordTypes {
            guard var own = schema.recordTypes[name] else {
                schema.recordTypes[name] = type
                continue
            }
            for (field, definition) in type.fields {
                guard let known = own.fields[field] else {
                    own.fields[field] = definition
                    continue
                }
                guard known.type == definition.type, known.isEncrypted == definition.isEncrypted else {
                    throw ExportError.schema(reason: "field '\(field)' of '\(name)' has another type here")
                }
            }
            schema.recordTypes[name] = own
        }
        return schema
    }
}
