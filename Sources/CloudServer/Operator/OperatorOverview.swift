import CloudService
import CloudStore
import CloudWire
import HTTPServer

/// The endpoints that show what a server keeps: the accounts of a container, and the audit log.
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

    init(_ control: ControlStore) { self.control = control }

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

    private func send(_ page: [JSONValue], _ name: String, after: String?, _ request: OperatorRequest) {
        request.reply.send(
            JSONValue.object([name: .array(page), "after": after.map { .string($0) } ?? .null]))
    }
}
