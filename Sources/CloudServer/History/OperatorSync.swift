import CloudService
import HTTPServer

/// The endpoints of the sync inspector.
struct OperatorSync: Sendable {
    let history: OperatorHistory
    let report: SyncReport

    /// Responds with the users ordered by their devices' last requests.
    func sendUsers(of container: CloudService.Container, _ request: OperatorRequest) throws {
        let after = request.head.queryValue("after").flatMap { Int64($0) } ?? .max
        let rows = try history.read { try SyncReport.userRows(of: container, before: after, $0) }
        request.reply.send(try report.users(rows, of: container))
    }

    /// Responds with the devices of a user.
    func sendDevices(
        of user: String, in container: CloudService.Container, _ request: OperatorRequest
    ) throws {
        let rows = try history.read { try SyncReport.deviceRows(of: user, in: container, $0) }
        request.reply.send(try report.devices(rows, of: user, in: container))
    }
}
