import CloudStore
import CloudWire

/// Stores the response of `records/modify` without the parts that the batch contains. For a record saved with
/// only the client's values, little more than the tag is stored. An error that shows the server's record is
/// stored without that record. It is read again when the write is repeated, since the client can only use the
/// newest one.
///
/// Format: byte 1 (the version), the stamp of the first saved record, which most records share, then for each
/// operation a byte with the kind of result, and the result.
struct KeptRecordsForm: KeptForm {
    let batch: ModifyBatch
    let numbersAsStrings: Bool
    /// True if the names of new records are stored too, for `madeRecords(in:)`.
    let namesMadeRecords: Bool
    /// Reads the current records that the client may read.
    let currentRecords: @Sendable ([RecordKey], any CloudStoreReader) throws -> [RecordKey: WireRecord]

    private static let version: UInt8 = 1
    /// Maximum answers of a series that are searched for a new record, and maximum bytes of them.
    static let seriesAnswersMax = 32
    static let seriesBytesMax = 1 << 20

    private enum Kind: UInt8 {
        case record = 0
        case tombstone = 1
        case error = 2
        /// An error that showed the server's record.
        case conflict = 3
    }

    /// Parts of a record that follow its tag, because the batch doesn't contain them.
    private struct Parts: OptionSet {
        let rawValue: UInt8
        static let name = Parts(rawValue: 1)
        static let recordType = Parts(rawValue: 2)
        static let created = Parts(rawValue: 4)
        static let parent = Parts(rawValue: 8)
        static let fields = Parts(rawValue: 16)
        static let modified = Parts(rawValue: 32)
    }

    /// The stored part of a saved record. Nil members are taken from the batch.
    private struct KeptRecord {
        let changeTag: String
        let name: String?
        let recordType: String?
        let created: WireRecord.Stamp
        let parent: String?
        let fields: [UInt8]?
        let modified: WireRecord.Stamp

        /// - Parameter modified: the stamp that most records of the response share.
        init(modified shared: WireRecord.Stamp, from reader: inout BinaryReader) throws {
            let parts = Parts(rawValue: try reader.byte())
            changeTag = try reader.text()
            name = parts.contains(.name) ? try reader.text() : nil
            recordType = parts.contains(.recordType) ? try reader.text() : nil
            created = parts.contains(.created) ? try KeptRecordsForm.stamp(from: &reader) : shared
            parent = parts.contains(.parent) ? try reader.text() : nil
            fields = parts.contains(.fields) ? try reader.blob() : nil
            modified = parts.contains(.modified) ? try KeptRecordsForm.stamp(from: &reader) : shared
        }
    }

    func encode(_ answer: RecordsResponse) throws -> [UInt8] {
        var writer = BinaryWriter()
        writer.byte(Self.version)
        let modified = answer.records.lazy.compactMap(\.savedRecord).first?.modified
        write(modified ?? Self.noStamp, to: &writer)
        for (operation, result) in zip(batch.operations, answer.records) {
            switch result {
            case .record(let record):
                writer.byte(Kind.record.rawValue)
                write(record, operation, modified: modified ?? Self.noStamp, to: &writer)
            case .tombstone(let tombstone):
                writer.byte(Kind.tombstone.rawValue)
                writer.text(operation.isNamedByService ? tombstone.recordName : "")
                writer.text(tombstone.recordType ?? "")
            case .error(var error):
                writer.byte(error.serverRecord == nil ? Kind.error.rawValue : Kind.conflict.rawValue)
                error.serverRecord = nil
                writer.blob(try error.json(extras: true))
            }
        }
        if let syncToken = answer.syncToken { writer.text(syncToken) }
        return writer.bytes
    }

    func decode(_ bytes: [UInt8]) throws -> RecordsResponse {
        var reader = BinaryReader(bytes[...])
        guard try reader.byte() == Self.version else {
            throw reader.error("an unknown form of a kept answer")
        }
        let modified = try Self.stamp(from: &reader)
        let results = try batch.operations.map { operation -> RecordResult in
            switch Kind(rawValue: try reader.byte()) {
            case .record:
                return RecordResult.record(try record(operation, modified: modified, from: &reader))
                    .with(numbersAsStrings: operation.numbersAsStrings)
            case .tombstone:
                let name = try reader.text()
                let recordType = try reader.text()
                return .tombstone(
                    Tombstone(
                        recordName: operation.isNamedByService ? name : operation.record.recordName ?? "",
                        zoneID: zoneID(operation), recordType: recordType.isEmpty ? nil : recordType))
            case .error: return .error(try WireError(json: try reader.blob()))
            case .conflict:
                var error = try WireError(json: try reader.blob())
                error.serverRecord = WireRecord(recordName: operation.record.recordName)
                return .error(error)
            case nil: throw reader.error("an unknown kind of result")
            }
        }
        // Present only if the request asked for it.
        let syncToken = reader.remainingCount == 0 ? nil : try reader.text()
        try reader.expectEnd()
        return RecordsResponse(records: results, syncToken: syncToken)
    }

    /// Returns the new records with these names in a response, read without the batch.
    static func madeRecords(in bytes: [UInt8], named names: Set<String>) -> [String: MadeRecord] {
        var reader = BinaryReader(bytes[...])
        var made: [String: MadeRecord] = [:]
        guard (try? reader.byte()) == version, let shared = try? stamp(from: &reader) else { return [:] }
        // The number of results isn't stored. A token may follow the last result. It doesn't begin with a
        // kind of result.
        while made.count < names.count, let kind = (try? reader.byte()).flatMap(Kind.init) {
            do {
                if let (name, record) = try namedRecord(kind, modified: shared, from: &reader),
                    names.contains(name)
                {
                    made[name] = record
                }
            } catch {
                return made
            }
        }
        return made
    }

    /// Reads a result, or returns nil if it names no record.
    private static func namedRecord(
        _ kind: Kind, modified shared: WireRecord.Stamp, from reader: inout BinaryReader
    ) throws -> (String, MadeRecord)? {
        switch kind {
        case .record:
            let kept = try KeptRecord(modified: shared, from: &reader)
            guard let name = kept.name, let changeTag = ChangeTag(kept.changeTag) else { return nil }
            let made = MadeRecord(
                changeTag: changeTag, created: kept.created.storeStamp, modified: kept.modified.storeStamp)
            return (name, made)
        case .tombstone:
            _ = try reader.text()
            _ = try reader.text()
        case .error, .conflict:
            _ = try reader.blob()
        }
        return nil
    }

    func isShownLater(_ answer: RecordsResponse) -> Bool { answer.records.contains(where: \.isConflict) }

    /// Returns the response with the server's current records in its conflict errors. Deleted records are omitted.
    func shown(_ answer: RecordsResponse, _ reader: (any CloudStoreReader)?) throws -> RecordsResponse {
        let keys = zip(batch.operations, answer.records).compactMap { operation, result in
            result.isConflict ? try? operation.target.get() : nil
        }
        let current = try reader.map { try currentRecords(Set(keys).sorted(), $0) } ?? [:]
        var shown = answer
        shown.records = zip(batch.operations, answer.records).map { operation, result in
            guard result.isConflict, case .error(var error) = result else { return result }
            error.serverRecord = (try? operation.target.get()).flatMap { current[$0] }
            return .error(error)
        }
        return shown
    }

    private func write(
        _ record: WireRecord, _ operation: ModifyBatch.Operation, modified: WireRecord.Stamp,
        to writer: inout BinaryWriter
    ) {
        let sent = sentFields(operation)
        let others = record.fields.filter { sent[$0.key] != $0.value }
        var parts: Parts = []
        if operation.isNamedByService || (namesMadeRecords && operation.kind == .create) {
            parts.insert(.name)
        }
        if record.recordType != operation.record.recordType { parts.insert(.recordType) }
        if record.created != modified { parts.insert(.created) }
        if record.parent?.recordName != operation.record.parent?.recordName { parts.insert(.parent) }
        if !others.isEmpty { parts.insert(.fields) }
        // The record was created by an earlier write.
        if record.modified != modified { parts.insert(.modified) }
        writer.byte(parts.rawValue)
        writer.text(record.recordChangeTag ?? "")
        if parts.contains(.name) { writer.text(record.recordName ?? "") }
        if parts.contains(.recordType) { writer.text(record.recordType ?? "") }
        if parts.contains(.created) { write(record.created ?? Self.noStamp, to: &writer) }
        if parts.contains(.parent) { writer.text(record.parent?.recordName ?? "") }
        if parts.contains(.fields) { writer.blob(FieldsBinary.encode(others)) }
        if parts.contains(.modified) { write(record.modified ?? Self.noStamp, to: &writer) }
    }

    private func record(
        _ operation: ModifyBatch.Operation, modified: WireRecord.Stamp, from reader: inout BinaryReader
    ) throws -> WireRecord {
        let kept = try KeptRecord(modified: modified, from: &reader)
        var fields = sentFields(operation)
        if let others = kept.fields { fields.merge(try FieldsBinary.decode(others)) { $1 } }
        let parent = kept.parent ?? operation.record.parent?.recordName ?? ""
        return WireRecord(
            recordName: kept.name ?? operation.record.recordName,
            recordType: kept.recordType ?? operation.record.recordType, fields: fields,
            recordChangeTag: kept.changeTag, created: kept.created, modified: kept.modified, deleted: false,
            zoneID: zoneID(operation), parent: parent.isEmpty ? nil : Reference(recordName: parent),
            pluginFields: [:])
    }

    /// Returns the fields of the response that the client sent itself.
    private func sentFields(_ operation: ModifyBatch.Operation) -> [String: Field] {
        let sent = operation.record.fields.compactMapValues { field in
            field.value.map { Field($0, isEncrypted: field.isEncrypted) }
        }
        guard let desired = operation.desiredKeys, !desired.isEmpty else { return sent }
        let names = Set(desired)
        return sent.filter { names.contains($0.key) }
    }

    private func zoneID(_ operation: ModifyBatch.Operation) -> ZoneID? {
        (try? operation.target.get())?.zone.zoneID
    }

    private static let noStamp = WireRecord.Stamp(timestampMilliseconds: 0, userRecordName: "", deviceID: "")

    private func write(_ stamp: WireRecord.Stamp, to writer: inout BinaryWriter) {
        writer.signed(stamp.timestampMilliseconds)
        writer.text(stamp.userRecordName ?? "")
        writer.text(stamp.deviceID ?? "")
    }

    private static func stamp(from reader: inout BinaryReader) throws -> WireRecord.Stamp {
        WireRecord.Stamp(
            timestampMilliseconds: try reader.signed(), userRecordName: try reader.text(),
            deviceID: try reader.text())
    }
}

extension RecordResult {
    fileprivate var savedRecord: WireRecord? { if case .record(let record) = self { record } else { nil } }

    /// True if the error shows the server's record.
    fileprivate var isConflict: Bool {
        if case .error(let error) = self { error.serverRecord != nil } else { false }
    }
}
