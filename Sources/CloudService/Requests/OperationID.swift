import CloudStore
import CloudWire
import Crypto

/// A client's name for a write. A repeated request with the same name isn't executed again.
struct OperationID: Sendable {
    let key: OperationKey
    /// Hash of the endpoint and the body, or of its comparable form. The same name for another request is
    /// rejected.
    let requestHash: [UInt8]

    /// Returns nil if the write has no name. Only our own clients send names.
    init?(
        _ request: WireRequest, at endpoint: Endpoint, body: [UInt8], _ caller: ServiceCaller,
        limits: ServiceLimits
    ) throws {
        guard caller.wantsExtras, let operationID = request.header(WireHeader.operation),
            let user = caller.user, let database = caller.database
        else { return nil }
        switch endpoint {
        case .recordsModify, .zonesModify, .subscriptionsModify: break
        default: return nil
        }
        guard 1...limits.operationIDBytesMax ~= operationID.utf8.count,
            operationID.utf8.allSatisfy({ 0x21..<0x7F ~= $0 })
        else {
            throw ServiceError.badRequest(
                "\(WireHeader.operation) must have 1 to \(limits.operationIDBytesMax) ASCII characters")
        }
        key = OperationKey(database: database, user: user.userRecordName, operationID: operationID)
        requestHash = try Self.hash(of: body, at: endpoint)
    }

    private init(key: OperationKey, requestHash: [UInt8]) {
        (self.key, self.requestHash) = (key, requestHash)
    }

    private static func hash(of body: [UInt8], at endpoint: Endpoint) throws -> [UInt8] {
        var hash = try SHA256()
        try hash.update(Array("\(endpoint.rawValue)\n".utf8))
        try hash.update(body)
        return try hash.finish()
    }

    /// The prefix of the names in a series, including its point. Nil for a name outside of a series.
    var series: OperationKey? {
        guard key.operationID.hasPrefix(WireHeader.operationSeries),
            let point = key.operationID.firstIndex(of: ".")
        else { return nil }
        return OperationKey(
            database: key.database, user: key.user, operationID: String(key.operationID[...point]))
    }

    /// The same for a save of records whose repetition may have receipts of other uploads of the same files.
    func identified(by request: RecordsModifyRequest) throws -> OperationID {
        guard let form = request.withoutReceipts else { return self }
        return OperationID(key: key, requestHash: try Self.hash(of: try form.json(), at: .recordsModify))
    }
}

/// The stored form of the response to a named write.
protocol KeptForm<Answer>: Sendable {
    associatedtype Answer: JSONMessage

    var numbersAsStrings: Bool { get }
    /// The response without the parts that the request contains.
    func encode(_ answer: Answer) throws -> [UInt8]
    /// The response to the same request, before `shown`.
    func decode(_ bytes: [UInt8]) throws -> Answer
    /// Returns true if the response includes rows that a reader loads after the write.
    func isShownLater(_ answer: Answer) -> Bool
    /// The response with the current rows that it includes, or without them if there is no reader.
    func shown(_ answer: Answer, _ reader: (any CloudStoreReader)?) throws -> Answer
}

extension KeptForm {
    func isShownLater(_ answer: Answer) -> Bool { false }
    func shown(_ answer: Answer, _ reader: (any CloudStoreReader)?) throws -> Answer { answer }

    /// Returns the response to send.
    func told(_ answer: Answer) throws -> ServiceAnswer {
        guard isShownLater(answer) else { return message(answer) }
        return .readLater(
            { reader in message(try shown(answer, reader)) }, otherwise: message(try shown(answer, nil)))
    }

    private func message(_ answer: Answer) -> ServiceAnswer {
        .message(answer, numbersAsStrings: numbersAsStrings, ifTooLarge: .tellInBrief)
    }
}

/// Stores a response unchanged.
struct KeptMessageForm<Answer: JSONMessage>: KeptForm {
    let numbersAsStrings = false

    func encode(_ answer: Answer) throws -> [UInt8] { try answer.json(extras: true) }

    func decode(_ bytes: [UInt8]) throws -> Answer { try Answer(json: bytes) }
}
