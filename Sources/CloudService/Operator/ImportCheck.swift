import CloudStore
import CloudWire
import Crypto
import System

/// Validates all lines of an export before any of them is imported.
struct ImportCheck {
    let scope: ExportScope
    let names: ExportNames
    let limits: ServiceLimits
    var summary = ExportSummary()
    private(set) var line = 0
    private(set) var isOver = false
    private var hasDatabase: Bool
    private var isPublic = false
    private var hasZone = false
    /// Files on earlier lines, which records may reference.
    private var known: Set<AssetUse> = []
    private var file: FileCheck?
    private let digest: LinesDigest

    /// The file that is being received.
    private final class FileCheck {
        let digest: [UInt8]
        var bytesLeft: Int64
        private var hash: SHA256?

        init(digest: [UInt8], bytes: Int64) throws {
            self.digest = digest
            bytesLeft = bytes
            hash = try SHA256()
        }

        func take(_ bytes: [UInt8]) throws {
            bytesLeft -= Int64(bytes.count)
            try hash?.update(bytes)
        }

        func isRight() throws -> Bool {
            guard let hash = hash.take() else { return false }
            let found = try hash.finish()
            return bytesLeft == 0 && found == digest
        }
    }

    init(scope: ExportScope, names: ExportNames, limits: ServiceLimits) throws {
        digest = try LinesDigest()
        self.scope = scope
        self.names = names
        self.limits = limits
        hasDatabase = scope != .container
    }

    /// Processes the next line, given parsed and as bytes with the line end.
    mutating func take(_ new: ExportLine, _ bytes: [UInt8]) throws {
        line += 1
        summary.bytes += Int64(bytes.count)
        if case .end = new {} else { try digest.add(bytes) }
        guard !isOver else { throw wrong("text after the last line") }
        if line == 1 { return try takeFirst(new) }
        if case .data(let bytes) = new {
            guard let file, !bytes.isEmpty else { throw wrong("bytes of no file") }
            return try file.take(bytes)
        }
        try endFile()
        switch new {
        case .header: throw wrong("a second beginning")
        case .data: break
        case .schema(let text):
            guard scope == .container, !hasZone else { throw wrong("a schema doesn't belong here") }
            do {
                _ = try SchemaLanguage.parse(text)
            } catch {
                throw wrong("the schema can't be read: \(error)")
            }
        case .database(let database, let owner):
            guard scope == .container, (owner == nil) == (database == .public), database != .shared else {
                throw wrong("a database doesn't belong here")
            }
            if let owner { _ = try names.user(named: owner) }
            hasDatabase = true
            isPublic = database == .public
            hasZone = false
        case .zone(let name):
            guard hasDatabase else { throw wrong("a zone without a database") }
            try ModifyBatch.checkName(name, of: "a zone", limits)
            guard !isPublic || name == ZoneID.defaultZoneName else {
                throw wrong("the public database has no zones of its own")
            }
            hasZone = true
        case .asset(let digest, let bytes):
            guard let digest = Hex.bytes(digest), digest.count == SHA256.digestBytes, bytes >= 0 else {
                throw wrong("a file has no digest")
            }
            file = try FileCheck(digest: digest, bytes: bytes)
            known.insert(AssetUse(digest: digest, bytes: bytes))
            summary.assets += 1
        case .record(let record): try take(record)
        case .end(let records, let assets, let digest):
            guard try digest == nil || digest == self.digest.finish() else {
                throw wrong("the lines before don't match this line's sha256")
            }
            guard records == summary.records, assets == summary.assets else {
                throw wrong("the export has other counts of records and files than its last line says")
            }
            isOver = true
        }
    }

    private func takeFirst(_ line: ExportLine) throws {
        guard case .header(let version, let what) = line else { throw wrong("this is no export") }
        guard version <= ExportLine.version else { throw wrong("a newer version of yap wrote this") }
        guard what == scope.word else {
            throw wrong("this is an export of a \(what), but an export of a \(scope.word) is required")
        }
    }

    private mutating func take(_ record: WireRecord) throws {
        guard hasZone else { throw wrong("a record without a zone") }
        guard let type = record.recordType else { throw wrong("a record without a type") }
        let renamed = try record.renamingUsers(names.user(named:))
        try ModifyBatch.checkNames(of: renamed, limits: limits)
        guard !isPublic || type == Schema.usersTypeName || renamed.recordName?.hasPrefix("_") != true else {
            throw wrong("a public record's name begins with _, which is for users")
        }
        let missing = record.fields.assetUses.first { !known.contains($0) }
        guard missing == nil, !record.holdsOtherAssets else {
            throw wrong("a record holds a file that isn't in the export, or has another size there")
        }
        summary.records += 1
    }

    private mutating func endFile() throws {
        guard let file else { return }
        self.file = nil
        guard try file.isRight() else { throw wrong("the file before doesn't match its digest") }
    }

    private func wrong(_ reason: String) -> ExportError { .line(number: line, reason: reason) }
}

extension WireRecord {
    /// True if a field has a file that isn't in the export's form.
    fileprivate var holdsOtherAssets: Bool {
        fields.values.contains { field in
            let values: [FieldValue] =
                if case .list(_, let elements)? = field.value { elements } else {
                    field.value.map { [$0] } ?? []
                }
            return values.contains { value in
                if case .asset(let asset) = value { StoredAsset(asset) == nil } else { false }
            }
        }
    }
}
