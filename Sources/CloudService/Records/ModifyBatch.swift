import CloudStore
import CloudWire

/// A `records/modify` request as far as it can be read without the store.
struct ModifyBatch {
    /// One operation, or why it can't be one.
    struct Operation {
        let kind: RecordOperation.Kind
        /// The record as the client sent it; its name is never nil.
        let record: WireRecord
        /// True when the client left the name to the service.
        let isNamedByService: Bool
        let desiredKeys: [String]?
        /// True if its answer has numbers as text; nil: as the request has it.
        let numbersAsStrings: Bool?
        let target: Result<RecordKey, WireError>

        /// Returns true if the client knows the record as it is.
        func knows(_ old: StoredRecord) -> Bool { old.changeTag == record.recordChangeTag }

        /// True if it may be refused for what the record is, before anybody looks at the fields.
        var isConditional: Bool {
            switch kind {
            case .create, .update, .replace: true
            case .delete: record.recordChangeTag != nil
            case .forceUpdate, .forceReplace, .forceDelete: false
            }
        }

        /// Returns true if it changes a record that is there, so that its fields are needed.
        func changes(_ old: StoredRecord) -> Bool { !old.isDeleted && kind != .create && knows(old) }
    }

    let caller: ServiceCaller
    let operations: [Operation]
    /// As sent; nil means the zone's own habit: all or nothing in custom zones, each for itself in default
    /// zones.
    let atomic: Bool?
    let settings: ServiceSettings
    /// The zone to return a sync token of, beside the records.
    let tokenZone: ZoneKey?

    /// Reads the request; gives a name to each record that came without one.
    ///
    /// Throws a `WireError` for what makes the whole request wrong: too many operations, or two on one
    /// record.
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

    /// Returns true if a failure in `zone` fails all of the batch that is in that zone.
    func isAtomic(in zone: ZoneKey) -> Bool {
        zone.isDefault ? false : isAtomicWhereItCan
    }

    /// Whether what the batch does in custom zones is all or nothing.
    var isAtomicWhereItCan: Bool { atomic ?? (settings.atomicDefault == .inCustomZones) }

    static func checkNames(of record: WireRecord, limits: ServiceLimits) throws(WireError) {
        try checkName(record.recordName, of: "recordName", limits)
        if let recordType = record.recordType { try checkName(recordType, of: "recordType", limits) }
        if let parent = record.parent { try checkName(parent.recordName, of: "parent.recordName", limits) }
        for name in record.fields.keys.sorted() { try checkName(name, of: "a field's name", limits) }
    }

    /// ASCII only, as Apple has it. Swift takes texts that look the same for equal and a store compares bytes: to one
    /// they would be a single record, to the other two.
    static func checkName(_ name: String?, of what: String, _ limits: ServiceLimits) throws(WireError) {
        guard let name, !name.isEmpty, name.utf8.count <= limits.nameBytesMax,
            name.utf8.allSatisfy({ 0x20..<0x7F ~= $0 })
        else {
            throw ServiceError.badRequest(
                "\(what) must have 1 to \(limits.nameBytesMax) ASCII characters, none a control character")
        }
    }
}
