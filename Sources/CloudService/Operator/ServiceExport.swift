import CloudStore
import CloudWire
import Crypto
import System

/// Writes the contents of an environment as lines of JSON.
struct ServiceExport: Sendable {
    private static let pageRecordsMax = 200
    private static let pageBytesMax = 4 << 20
    fileprivate static let pieceBytes = 64 << 10
    fileprivate static let listMax = 200

    let store: any CloudStore
    let files: any AssetStore
    let schemas: Schemas

    /// Writes the lines of one snapshot, each with its line end.
    func export(
        _ scope: ExportScope, names: ExportNames, write: ([UInt8]) throws -> Void
    ) throws -> ExportSummary {
        try withoutActuallyEscaping(write) { write in
            try store.read { reader in
                var writer = try ExportWriter(files: files, names: names, write: write)
                try export(scope, names, reader, &writer)
                return writer.summary
            }
        }
    }

    private func export(
        _ scope: ExportScope, _ names: ExportNames, _ reader: any CloudStoreReader,
        _ writer: inout ExportWriter
    ) throws {
        try writer.put(.header(version: ExportLine.version, of: scope.word))
        switch scope {
        case .user(let user):
            try export(.privateDatabase(of: user), reader, &writer)
        case .container:
            try writer.put(.schema(SchemaLanguage.print(try schemas.schema(in: reader))))
            try writer.put(.database(.public, owner: nil))
            try export(.publicDatabase, reader, &writer)
            // Ordered by export names, which are the same on every server.
            let owners = try reader.owners().map { (name: names.name(ofUser: $0), user: $0) }
            for owner in owners.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
                try writer.put(.database(.private, owner: owner.name))
                try export(.privateDatabase(of: owner.user), reader, &writer)
            }
        }
        let digest = try writer.digest.finish()
        try writer.put(.end(records: writer.summary.records, assets: writer.summary.assets, digest: digest))
    }

    private func export(
        _ database: StoredDatabaseKey, _ reader: any CloudStoreReader, _ writer: inout ExportWriter
    ) throws {
        for zone in try reader.zoneNames(in: database) {
            try writer.put(.zone(zone))
            var after: String?
            while true {
                let page = try reader.records(
                    in: ZoneKey(database: database, zoneName: zone), after: after,
                    recordsMax: Self.pageRecordsMax, bytesMax: Self.pageBytesMax)
                for row in page.rows { try writer.put(row) }
                guard page.moreComing, let last = page.rows.last else { break }
                after = last.key.recordName
            }
        }
    }

    /// Writes lines, and each file before the first record that references it.
    private struct ExportWriter {
        let files: any AssetStore
        let names: ExportNames
        let write: ([UInt8]) throws -> Void
        let digest: LinesDigest
        var summary = ExportSummary()
        private var written: Set<[UInt8]> = []

        init(files: any AssetStore, names: ExportNames, write: @escaping ([UInt8]) throws -> Void) throws {
            digest = try LinesDigest()
            self.files = files
            self.names = names
            self.write = write
        }

        mutating func put(_ line: ExportLine) throws {
            let bytes = try line.json() + [0x0A]
            summary.bytes += Int64(bytes.count)
            try digest.add(bytes)
            try write(bytes)
        }

        mutating func put(_ row: StoredRecord) throws {
            let fields = try FieldsBinary.decode(row.fields)
            for use in fields.assetUses where written.insert(use.digest).inserted { try put(use) }
            var record = row.wireRecord(fields: fields, desiredKeys: nil)
            record.recordChangeTag = nil
            record.zoneID = nil
            record.deleted = nil
            record.pluginFields = nil
            try put(.record(record.renamingUsers(names.name)))
            summary.records += 1
        }

        private mutating func put(_ use: AssetUse) throws {
            let digest = Hex.text(use.digest)
            guard let file = try files.open(use.digest), file.bytes == use.bytes else {
                throw ExportError.asset(
                    digest: digest, reason: "is missing, or has another size than the record says")
            }
            try put(.asset(digest: digest, bytes: use.bytes))
            var done: Int64 = 0
            while case let piece = try file.read(at: done, bytesMax: ServiceExport.pieceBytes), !piece.isEmpty
            {
                try put(.data(piece))
                done += Int64(piece.count)
            }
            guard done == use.bytes else {
                throw ExportError.asset(digest: digest, reason: "is shorter than the record says")
            }
            summary.assets += 1
        }
    }
}

extension CloudStoreReader {
    /// Returns the users with private databases.
    func owners() throws -> [String] {
        var owners: [String] = []
        while true {
            var wanted = StoreLoad()
            wanted.owners = OwnersLoad(after: owners.last ?? "", ownersMax: ServiceExport.listMax)
            let page = try load(wanted).owners
            owners += page
            if page.count < ServiceExport.listMax { return owners }
        }
    }

    /// Returns the default zone, then the custom zones by name.
    func zoneNames(in database: StoredDatabaseKey) throws -> [String] {
        var names = [ZoneID.defaultZoneName]
        guard database.scope == .privateDatabase else { return names }
        var after = ZoneKey(database: database, zoneName: "")
        while true {
            let page = try zones(after: after, zonesMax: ServiceExport.listMax)
            let own = page.rows.filter { $0.key.database == database }
            names += own.filter { !$0.isDeleted }.map(\.key.zoneName)
            guard page.moreComing, own.count == page.rows.count, let last = page.rows.last else {
                return names
            }
            after = last.key
        }
    }
}

/// The SHA-256 of an export's lines, as text.
final class LinesDigest {
    private var hash: SHA256?

    init() throws { hash = try SHA256() }

    /// Adds bytes. Has no effect after `finish`.
    func add(_ bytes: [UInt8]) throws { try hash?.update(bytes) }

    func finish() throws -> String {
        guard let hash = hash.take() else { return "" }
        return Hex.text(try hash.finish())
    }
}
