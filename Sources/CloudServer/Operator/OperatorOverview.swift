import CloudService
import CloudStore
import CloudWire
import HTTPServer

/// The endpoints that show what a server keeps: containers, accounts, schemas, and the audit log.
struct OperatorOverview: Sendable {
    /// Maximum number of accounts in an answer.
    static let accountsMax = 50
    /// How many accounts are tried to find the one of a record name, and how many are read at a time.
    static let accountsTriedMax = 10_000
    private static let accountsReadMax = 500
    /// Maximum number of lines of the audit log in an answer.
    static let linesMax = 200
    private static let linesUsual = 50

    private let control: ControlStore
    private let folder: DataFolder
    private let table: EnvironmentTable
    private let gate: OperatorGate

    init(_ control: ControlStore, _ folder: DataFolder, _ table: EnvironmentTable, _ gate: OperatorGate) {
        self.gate = gate
        self.control = control
        self.folder = folder
        self.table = table
    }

    /// Answers with the containers, and how large the store of each environment is.
    func sendContainers(_ request: OperatorRequest) throws {
        let tokens = Dictionary(grouping: try control.tokens(), by: \.container)
        let containers = try control.containers().map { container in
            JSONValue.members([
                "identifier": .string(container.identifier),
                "createdMilliseconds": .integer(container.createdMilliseconds),
                "tokensCount": .count(tokens[container.identifier]?.count ?? 0),
                "environments": .array(
                    try ["production", "development"].map { try environment($0, of: container.identifier) }),
            ])
        }
        request.reply.send(JSONValue.object(["containers": .array(containers)]))
    }

    /// Answers with accounts by name, and the record name that each has in the container.
    func sendAccounts(of container: String, _ request: OperatorRequest) throws {
        guard try control.containerExists(container) else { throw ControlError.noSuchContainer(container) }
        let text = request.head.queryValue("named") ?? ""
        if text.hasPrefix("_"), let account = try account(withRecordName: text, in: container) {
            return send([try json(account, in: container)], "accounts", after: nil, request)
        }
        let accounts = try control.accounts(
            beginning: text, after: request.head.queryValue("after") ?? "", countMax: Self.accountsMax + 1)
        let page = try accounts.prefix(Self.accountsMax).map { try json($0, in: container) }
        let last = accounts.count > Self.accountsMax ? accounts[Self.accountsMax - 1].name : nil
        send(page, "accounts", after: last, request)
    }

    /// The account of a user's record. The record name can't be reversed, so the first accounts are tried one by one.
    private func account(withRecordName name: String, in container: String) throws -> ControlAccount? {
        var after = ""
        for _ in 0..<Self.accountsTriedMax / Self.accountsReadMax {
            let accounts = try control.accounts(
                beginning: "", after: after, countMax: Self.accountsReadMax)
            for account in accounts
            where try control.userRecordName(of: account, container: container) == name {
                return account
            }
            guard let last = accounts.last, accounts.count == Self.accountsReadMax else { return nil }
            after = last.name
        }
        return nil
    }

    private func json(_ account: ControlAccount, in container: String) throws -> JSONValue {
        .members([
            "name": .string(account.name),
            "userRecordName": .string(try control.userRecordName(of: account, container: container)),
            "isDeveloper": .bool(account.isDeveloper), "givenName": .text(account.givenName),
            "familyName": .text(account.familyName),
            "createdMilliseconds": .integer(account.createdMilliseconds),
        ])
    }

    /// Answers with the schema of an environment, later.
    func sendSchema(of container: CloudService.Container, _ request: OperatorRequest) {
        let reply = request.reply
        let isTaken = gate.enter { [table, gate, peer = request.peer] in
            table.use(container, from: peer) { result in
                switch result {
                case .failure(let error):
                    gate.leave()
                    reply.send(error)
                case .success(let environment):
                    environment.thread.sendSchema(requestID: reply.exchange.requestID) { response in
                        table.release(environment)
                        gate.leave()
                        reply.send(response)
                    }
                }
            }
        }
        if !isTaken { reply.send(Refusal.busy) }
    }

    /// Answers with lines of the audit log, newest first.
    func sendAudit(_ request: OperatorRequest) throws {
        let head = request.head
        let asked = head.queryValue("limit").flatMap { Int($0) } ?? Self.linesUsual
        let linesMax = min(max(1, asked), Self.linesMax)
        let lines = try AuditLog(control).lines(
            before: head.queryValue("before").flatMap { Int64($0) }, linesMax: linesMax,
            administrator: head.queryValue("administrator"), container: head.queryValue("container"))
        request.reply.send(
            JSONValue.object([
                "lines": .array(lines.map { JSONValue($0) }),
                "before": lines.count == linesMax ? lines.last.map { .integer($0.number) } ?? .null : .null,
            ]))
    }

    private func environment(_ name: String, of container: String) throws -> JSONValue {
        let path = try folder.storePath(container: container, environment: name)
        let bytes = FileBytes.count(of: [path, "\(path)-wal"])
        return .members([
            "environment": .string(name), "isMade": .bool(bytes != nil), "bytes": .integer(bytes ?? 0),
        ])
    }

    private func send(_ page: [JSONValue], _ name: String, after: String?, _ request: OperatorRequest) {
        request.reply.send(
            JSONValue.object([name: .array(page), "after": after.map { .string($0) } ?? .null]))
    }
}
