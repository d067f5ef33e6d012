/// The body of `records/modify`.
package struct RecordsModifyRequest: Hashable, Sendable {
    /// What to do, in order.
    package var operations: [RecordOperation]
    /// The zone of all records; nil means the default zone, or each record's own.
    package var zoneID: ZoneID?
    /// True if all operations succeed or none.
    package var atomic: Bool?
    /// The fields to answer; nil means all.
    package var desiredKeys: [String]?
    /// True if the response shall have numbers as text.
    package var numbersAsStrings: Bool?
    /// What the zone's next fetch of changes hands back to this device; a key of our own.
    package var clientChangeToken: [UInt8]?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(
        operations: [RecordOperation], zoneID: ZoneID? = nil, atomic: Bool? = nil,
        desiredKeys: [String]? = nil, numbersAsStrings: Bool? = nil, clientChangeToken: [UInt8]? = nil
    ) {
        self.clientChangeToken = clientChangeToken
        self.operations = operations
        self.zoneID = zoneID
        self.atomic = atomic
        self.desiredKeys = desiredKeys
        self.numbersAsStrings = numbersAsStrings
    }

    /// The request without the receipts of uploads, nil when it has none.
    ///
    /// A write that is sent again uploads its files again, and each upload gives another receipt: both times the write
    /// is the same in this form.
    package var withoutReceipts: RecordsModifyRequest? {
        var request = self
        var hasReceipts = false
        for (index, operation) in operations.enumerated() {
            for (name, field) in operation.record.fields {
                guard let value = field.value?.withoutReceipts else { continue }
                request.operations[index].record.fields[name]?.value = value
                hasReceipts = true
            }
        }
        return hasReceipts ? request : nil
    }
}

extension FieldValue {
    /// The value without the receipts of its files, nil when it has none.
    fileprivate var withoutReceipts: FieldValue? {
        switch self {
        case .asset(var asset):
            guard asset.receipt != nil else { return nil }
            asset.receipt = nil
            return .asset(asset)
        case .list(.assetList, let elements):
            let changed = elements.map(\.withoutReceipts)
            guard changed.contains(where: { $0 != nil }) else { return nil }
            return .list(.assetList, zip(changed, elements).map { $0 ?? $1 })
        default:
            return nil
        }
    }
}

/// One operation of `records/modify`.
package struct RecordOperation: Hashable, Sendable {
    /// What to do with a record; the raw value is Apple's name.
    package enum Kind: String, Hashable, CaseIterable, Sendable {
        /// Make it; fails if it exists.
        case create
        /// Change the named fields; fails if the change tag is stale.
        case update
        /// Change the named fields whatever the tag; make it if it's absent.
        case forceUpdate
        /// Set the named fields and clear the others; fails if the change tag is stale.
        case replace
        /// Set the named fields and clear the others whatever the tag; make it if it's absent.
        case forceReplace
        /// Delete it; fails if the change tag is stale.
        case delete
        /// Delete it whatever the tag, and if it's absent too.
        case forceDelete
    }

    /// What to do.
    package var operationType: Kind
    /// With which record.
    package var record: WireRecord
    /// The fields to answer; nil means the request's.
    package var desiredKeys: [String]?
    /// True if the response shall have numbers as text.
    package var numbersAsStrings: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes an operation.
    package init(
        operationType: Kind, record: WireRecord, desiredKeys: [String]? = nil, numbersAsStrings: Bool? = nil
    ) {
        self.operationType = operationType
        self.record = record
        self.desiredKeys = desiredKeys
        self.numbersAsStrings = numbersAsStrings
    }
}

/// The response of `records/modify` and of `records/lookup`: a result for each item, in order.
package struct RecordsResponse: Hashable, Sendable {
    /// The results in the request's order.
    package var records: [RecordResult]
    /// True if there was no `records` at all, not even an empty array: recorded from one of Apple's services.
    package var isWithoutRecords = false
    /// The zone's change token, if it was asked for.
    package var syncToken: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(records: [RecordResult], syncToken: String? = nil) {
        self.records = records
        self.syncToken = syncToken
    }
}

/// The response of `records/modify`.
package typealias RecordsModifyResponse = RecordsResponse
/// The response of `records/lookup`.
package typealias RecordsLookupResponse = RecordsResponse

extension RecordsModifyRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(operations: [])
        var operations: [RecordOperation]?
        for member in try node.members() {
            switch member.key {
            case "operations": operations = try member.value.array(of: RecordOperation.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "zoneID": zoneID = try ZoneID(reading: member.value)
            case "atomic": atomic = try member.value.bool()
            case "desiredKeys": desiredKeys = try member.value.strings()
            case "numbersAsStrings": numbersAsStrings = try member.value.bool()
            case "clientChangeToken": clientChangeToken = try member.value.base64()
            default: try unknown.keep(member)
            }
        }
        self.operations = try node.required(operations, "operations")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("operations", operations)
            writer.member("zoneID", zoneID)
            writer.member("atomic", atomic)
            writer.member("desiredKeys", desiredKeys)
            writer.member("numbersAsStrings", numbersAsStrings)
            if let clientChangeToken {
                writer.key("clientChangeToken")
                writer.base64(clientChangeToken)
            }
            writer.members(unknown)
        }
    }
}

extension RecordOperation: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(operationType: .create, record: WireRecord())
        var operationType: Kind?
        var record: WireRecord?
        for member in try node.members() {
            switch member.key {
            case "operationType": operationType = try member.value.choice("operationType")
            case "record": record = try WireRecord(readingRequest: member.value)
            case _ where member.value.isNull: try unknown.keep(member)
            case "desiredKeys": desiredKeys = try member.value.strings()
            case "numbersAsStrings": numbersAsStrings = try member.value.bool()
            default: try unknown.keep(member)
            }
        }
        self.operationType = try node.required(operationType, "operationType")
        self.record = try node.required(record, "record")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("operationType", operationType.rawValue)
            writer.member("record", record)
            writer.member("desiredKeys", desiredKeys)
            writer.member("numbersAsStrings", numbersAsStrings)
            writer.members(unknown)
        }
    }
}

extension RecordsResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(records: [])
        var records: [RecordResult]?
        for member in try node.members() {
            switch member.key {
            case "records": records = try member.value.array(of: RecordResult.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "syncToken": syncToken = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.records = records ?? []
        isWithoutRecords = records == nil
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            if !isWithoutRecords || !records.isEmpty { writer.member("records", records) }
            writer.member("syncToken", syncToken)
            writer.members(unknown)
        }
    }
}
