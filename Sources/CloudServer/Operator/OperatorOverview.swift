import CloudService
import CloudStore
import CloudWire
import HTTPServer

/// The endpoints for the accounts of a container, and the audit log.
struct OperatorOverview: Sendable {
    /// Maximum number of lines of the audit log in a response.
    static let linesMax = 200
    private static let linesUsual = 50

    private let control: ControlStore

    init(_ control: ControlStore) { self.control = control }

    /// Responds with accounts by name, and the record name of each in the container.
    func sendAccounts(of container: String, _ request: OperatorRequest) throws {
        guard try control.containers.exists(container) else { throw ControlError.noSuchContainer(container) }
        let text = request.head.queryValue("named") ?? ""
        if text.hasPrefix("_"),
            let account = try control.accounts.find(userRecordNames: [text], in: container)[text]
        {
            return send([try json(account, in: container)], "accounts", after: nil, request)
        }
        let page = try control.accounts.page(request.head)
        send(try page.accounts.map { try json($0, in: container) }, "accounts", after: page.after, request)
    }

    private func json(_ account: ControlAccount, in container: String) throws -> JSONValue {
        .members([
            "name": .string(account.name),
            "userRecordName": .string(try control.accounts.userRecordName(of: account, container: container)),
            "isDeveloper": .bool(account.isDeveloper), "givenName": .text(account.givenName),
            "familyName": .text(account.familyName),
            "createdMilliseconds": .integer(account.createdMilliseconds),
        ])
    }

    /// Responds with lines of the audit log, newest first.
    func sendAudit(_ request: OperatorRequest) throws {
        let head = request.head
        let asked = head.queryValue("limit").flatMap { Int($0) } ?? Self.linesUsual
        let linesMax = min(max(1, asked), Self.linesMax)
        let lines = try control.auditLog.lines(
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
