/// The body of `records/modify`.
package struct RecordsModifyRequest: Hashable, Sendable {
    /// The operations, in order.
    package var operations: [RecordOperation]
    /// The zone of all records. Nil: each record's own, or the default zone.
    package var zoneID: ZoneID?
    /// True to apply all operations or none.
    package var atomic: Bool?
    /// Fields to include in the response. Nil includes all.
    package var desiredKeys: [String]?
    /// True to write numbers as text in the response.
    package var numbersAsStrings: Bool?
    /// Bytes that the zone's next fetch of changes returns to this device. Our own key.
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

    /// The request without the receipts of uploads, or nil if it has no receipts.
    ///
    /// When a client repeats a write, it uploads the files again and gets other receipts. Without receipts,
    /// the two requests are equal.
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
    /// The value without the receipts of its files, or nil if it has no receipts.
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
    /// The kind of operation. The raw value is Apple's name.
    package enum Kind: String, Hashable, CaseIterable, Sendable {
        /// Creates it. Fails if it exists.
        case create
        /// Changes the named fields. Fails if the change tag is out of date.
        case update
        /// Changes the named fields, with any tag. Creates the record if it is missing.
        case forceUpdate
        /// Sets the named fields and clears the others. Fails if the change tag is out of date.
        case replace
        /// Sets the named fields and clears the others, with any tag. Creates the record if it is missing.
        case forceReplace
        /// Deletes it. Fails if the change tag is out of date.
        case delete
        /// Deletes it, with any tag. Succeeds if the record is missing.
        case forceDelete
    }

    /// The kind of operation.
    package var operationType: Kind
    /// The record.
    package var record: WireRecord
    /// Fields to include in the response. Nil uses the request's.
    package var desiredKeys: [String]?
    /// True to write numbers as text in the response.
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
    /// The zone's change token, if it was requested.
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

extension RecordsModifyRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(operations: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("operations", &operations)
        members.optional("zoneID", &zoneID)
        members.optional("atomic", &atomic)
        members.optional("desiredKeys", &desiredKeys)
        members.optional("numbersAsStrings", &numbersAsStrings)
        members.optional("clientChangeToken", base64: &clientChangeToken)
    }
}

extension RecordOperation: JSONObject {
    static var blank: Self { Self(operationType: .create, record: WireRecord()) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("operationType", choice: &operationType)
        members.member("record", .required) { node throws(JSONError) in
            record = try WireRecord(readingRequest: node)
        } write: {
            $0.member("record", record)
        }
        members.optional("desiredKeys", &desiredKeys)
        members.optional("numbersAsStrings", &numbersAsStrings)
    }
}

extension RecordsResponse: JSONObject, JSONMessage {
    static var blank: Self {
        var response = Self(records: [])
        response.isWithoutRecords = true
        return response
    }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.member("records", .notNull) { node throws(JSONError) in
            records = try node.array(of: RecordResult.self)
            isWithoutRecords = false
        } write: { writer in
            if !isWithoutRecords || !records.isEmpty { writer.member("records", records) }
        }
        members.optional("syncToken", &syncToken)
    }
}
