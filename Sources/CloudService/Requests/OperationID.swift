import CloudStore
import CloudWire
import Crypto

/// A client's name for a write, by which it is done once however often it comes.
struct OperationID: Sendable {
    let key: OperationKey
    /// Of the endpoint and the body, or the form of it that is compared: the same name for something else is refused.
    let requestHash: [UInt8]

    /// Nil when the write has no name. Only our own clients give names.
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

    /// The beginning of the names in a series, with its point. Nil for a name in no series.
    var series: OperationKey? {
        guard key.operationID.hasPrefix(WireHeader.operationSeries),
            let point = key.operationID.firstIndex(of: ".")
        else { return nil }
        return OperationKey(
            database: key.database, user: key.user, operationID: String(key.operationID[...point]))
    }

    /// The same for a save of records that may come again with receipts of other uploads of the same files.
    func identified(by request: RecordsModifyRequest) throws -> OperationID {
        guard let form = request.withoutReceipts else { return self }
        return OperationID(key: key, requestHash: try Self.hash(of: try form.json(), at: .recordsModify))
    }
}

/// How the response to a named write is kept.
protocol KeptForm<Answer>: Sendable {
    associatedtype Answer: JSONMessage

    var numbersAsStrings: Bool { get }
    /// The response in as few bytes as the request allows: what the request says needn't be kept.
    func encode(_ answer: Answer) throws -> [UInt8]
    /// The response to the same request, as it was before `shown`.
    func decode(_ bytes: [UInt8]) throws -> Answer
    /// Returns true if the response shows something that is read when the write is done, and not by the writer.
    func isShownLater(_ answer: Answer) -> Bool
    /// The response with what it shows, as that is now; without it when there is no reader.
    func shown(_ answer: Answer, _ reader: (any CloudStoreReader)?) throws -> Answer
}

extension KeptForm {
    func isShownLater(_ answer: Answer) -> Bool { false }
    func shown(_ answer: Answer, _ reader: (any CloudStoreReader)?) throws -> Answer { answer }

    /// What is answered.
    func told(_ answer: Answer) throws -> ServiceAnswer {
        guard isShownLater(answer) else { return message(answer) }
        return .readLater(
            { reader in message(try shown(answer, reader)) }, otherwise: message(try shown(answer, nil)))
    }

    private func message(_ answer: Answer) -> ServiceAnswer {
        .message(answer, numbersAsStrings: numbersAsStrings, ifTooLarge: .tellInBrief)
    }
}

/// Keeps a response as it is.
struct KeptMessageForm<Answer: JSONMessage>: KeptForm {
    let numbersAsStrings = false

    func encode(_ answer: Answer) throws -> [UInt8] { try answer.json(extras: true) }

    func decode(_ bytes: [UInt8]) throws -> Answer { try Answer(json: bytes) }
}
