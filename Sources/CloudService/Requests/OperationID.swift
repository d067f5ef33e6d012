import CloudStore
import CloudWire
import Crypto
import Seams

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

/// How the answer to a named write is kept.
protocol KeptForm<Answer>: Sendable {
    associatedtype Answer: JSONMessage

    var numbersAsStrings: Bool { get }
    /// The answer in as few bytes as the request allows: what the request says needn't be kept.
    func encode(_ answer: Answer) throws -> [UInt8]
    /// The answer to the same request, as it was before `shown`.
    func decode(_ bytes: [UInt8]) throws -> Answer
    /// Whether the answer shows something that is read when the write is done, and not by the writer.
    func isShownLater(_ answer: Answer) -> Bool
    /// The answer with what it shows, as that is now; without it when there is no reader.
    func shown(_ answer: Answer, _ reader: (any CloudStoreReader)?) throws -> Answer
}

extension KeptForm {
    func isShownLater(_ answer: Answer) -> Bool { false }
    func shown(_ answer: Answer, _ reader: (any CloudStoreReader)?) throws -> Answer { answer }

    /// What is answered.
    fileprivate func told(_ answer: Answer) throws -> ServiceAnswer {
        guard isShownLater(answer) else { return message(answer) }
        return .readLater(
            { reader in message(try shown(answer, reader)) }, otherwise: message(try shown(answer, nil)))
    }

    private func message(_ answer: Answer) -> ServiceAnswer {
        .message(answer, numbersAsStrings: numbersAsStrings, ifTooLarge: .tellInBrief)
    }
}

/// Keeps an answer as it is.
struct KeptMessageForm<Answer: JSONMessage>: KeptForm {
    let numbersAsStrings = false

    func encode(_ answer: Answer) throws -> [UInt8] { try answer.json(extras: true) }

    func decode(_ bytes: [UInt8]) throws -> Answer { try Answer(json: bytes) }
}

extension CloudService {
    /// A write that is done once: its answer is kept in its own transaction, and a repeated one gets that answer.
    ///
    /// What fails as a whole has written nothing and keeps nothing; it is tried again when it comes again.
    func once<Form: KeptForm>(
        _ operation: OperationID?, _ form: Form,
        _ body: @escaping @Sendable (any CloudStoreWriter) throws -> Form.Answer
    ) -> ServiceWork {
        .write { writer in
            guard let operation else { return try form.told(try body(writer)) }
            if let kept = try self.keptAnswer(operation, writer) {
                return try form.told(try form.decode(kept))
            }
            let answer = try body(writer)
            var changes = StoreChanges()
            changes.answers = [
                KeptAnswerRow(
                    key: operation.key, requestHash: operation.requestHash,
                    atMilliseconds: self.clock.nowMilliseconds(), answer: try form.encode(answer))
            ]
            try self.apply(changes, to: writer)
            return try form.told(answer)
        }
    }

    /// Discards the oldest answers of users who have more than are kept.
    func trimAnswers(_ added: [KeptAnswerRow], _ writer: any CloudStoreWriter) throws {
        // Nobody's are the signed changes of servers' keys, which must not be taken twice.
        for user in Set(added.map(\.key.user)).sorted() where !user.isEmpty {
            let count = try writer.trimAnswers(
                of: user, rowsMax: Int64(limits.answersMax), bytesMax: limits.answersBytesMax)
            if count > 0 { trimmedAnswers.withLock { $0 += count } }
        }
    }

    private func keptAnswer(_ operation: OperationID, _ reader: any CloudStoreReader) throws -> [UInt8]? {
        var wanted = StoreLoad()
        wanted.answers = [operation.key]
        guard let row = try reader.load(wanted).answers[operation.key],
            row.atMilliseconds >= clock.nowMilliseconds() - limits.answerMilliseconds
        else { return nil }
        guard row.requestHash == operation.requestHash else {
            throw ServiceError.badRequest("\(WireHeader.operation) names another request")
        }
        return row.answer
    }
}
