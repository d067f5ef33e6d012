import CloudStore
import CloudWire

/// A `records/modify` request, parsed without reading the store.
struct ModifyBatch {
    /// An operation, or the reason that it is invalid.
    struct Operation {
        let kind: RecordOperation.Kind
        /// The record as sent by the client. Its name is never nil.
        let record: WireRecord
        /// True if the service generated the name.
        let isNamedByService: Bool
        let desiredKeys: [String]?
        /// True if the response encodes numbers as text. Nil uses the request's setting.
        let numbersAsStrings: Bool?
        let target: Result<RecordKey, WireError>

        /// Returns true if the client's change tag is the current one.
        func knows(_ old: StoredRecord) -> Bool { old.changeTag == record.recordChangeTag }

        /// True if the operation may be rejected because of the record's state, before its fields are read.
        var isConditional: Bool {
            switch kind {
            case .create, .update, .replace: true
            case .delete: record.recordChangeTag != nil
            case .forceUpdate, .forceReplace, .forceDelete: false
            }
        }

        /// Returns true if it changes an existing record, so that the record's fields are needed.
        func changes(_ old: StoredRecord) -> Bool { !old.isDeleted && kind != .create && knows(old) }
    }

    let caller: ServiceCaller
    let operations: [Operation]
    /// The value as sent. Nil selects the zone's default: atomic in custom zones, not atomic in default
    /// zones.
    let atomic: Bool?
    let settings: ServiceSettings
    /// The zone whose sync token is returned with the records.
    let tokenZone: ZoneKey?

    /// Parses the request, and generates a name for each record without one.
    ///
    /// Throws a `WireError` if the whole request is invalid: too many operations, or two for the same record.
    init(
        _ request: RecordsModifyRequest, caller: ServiceCaller, limits: ServiceLimits,
        settings: ServiceSettings = ServiceSettings(), newRecordName: () -> String
    ) throws {
        try limits.check(count: request.operations.count, caller)
        var seen = Set<RecordKey>()
        var operations: [Operation] = []
        for operation in request.operations {
            var record = operation.record
            let recordName = record.recordName ?? newRecordName()
            record.recordName = recordName
            let zoneID = record.zoneID ?? request.zoneID
            let target = Result { () throws(WireError) -> RecordKey in
                try Self.checkNames(of: record, limits: limits)
                return RecordKey(zone: try caller.key(of: zoneID), recordName: recordName)
            }
            if case .success(let key) = target, !seen.insert(key).inserted {
                throw ServiceError.badRequest("more than one operation on the record \(recordName)")
            }
            operations.append(
                Operation(
                    kind: operation.operationType, record: record,
                    isNamedByService: operation.record.recordName == nil,
                    desiredKeys: operation.desiredKeys ?? request.desiredKeys,
                    numbersAsStrings: operation.numbersAsStrings, target: target))
        }
        self.caller = caller
        self.operations = operations
        atomic = request.atomic
        self.settings = settings
        tokenZone = caller.wantsSyncToken ? try? caller.key(of: request.zoneID) : nil
    }

    /// Returns true if a failure in `zone` fails all operations in that zone.
    func isAtomic(in zone: ZoneKey) -> Bool {
        zone.isDefault ? false : isAtomicWhereItCan
    }

    /// Whether the batch is atomic in custom zones.
    var isAtomicWhereItCan: Bool { atomic ?? (settings.atomicDefault == .inCustomZones) }

    static func checkNames(of record: WireRecord, limits: ServiceLimits) throws(WireError) {
        try checkName(record.recordName, of: "recordName", limits)
        if let recordType = record.recordType { try checkName(recordType, of: "recordType", limits) }
        if let parent = record.parent { try checkName(parent.recordName, of: "parent.recordName", limits) }
        for name in record.fields.keys.sorted() { try checkName(name, of: "a field's name", limits) }
    }

    /// ASCII only, as in Apple's service. Swift compares strings by canonical equivalence and a store
    /// compares bytes, so a non-ASCII name could be one record to Swift and two to the store.
    static func checkName(_ name: String?, of what: String, _ limits: ServiceLimits) throws(WireError) {
        guard let name, !name.isEmpty, name.utf8.count <= limits.nameBytesMax,
            name.utf8.allSatisfy({ 0x20..<0x7F ~= $0 })
        else {
            throw ServiceError.badRequest(
                "\(what) must have 1 to \(limits.nameBytesMax) ASCII characters, none a control character")
        }
    }
}
