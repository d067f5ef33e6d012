import CloudService
import CloudStore
import CloudWire
import Foundation

/// A data folder with many accounts, administrators with sessions, devices, and a user with a large zone; and a server
/// of it.
@MainActor
final class DashboardFolder {
    static let accountsCount = 10_000
    static let recordsCount = 1_000_000
    /// A user may have no more.
    private static let devicesEach = 50
    /// Each has requests of its own a second.
    static let administratorsCount = 40

    let port: Int
    /// The record name of the user with the large zone.
    let user: String
    /// Tokens of an app and of the user's session.
    let apiToken: String
    let webAuthToken: String
    private let operatorTokens: [String]
    private let process: ChildProcess
    /// A poll for each of the devices that wait.
    private let polls: LoadRequests
    private var turn = 0

    init(in folder: URL) throws {
        let dataFolder = DataFolder(path: folder.appendingPathComponent("data").path)
        try dataFolder.make()
        let control = try ControlStore(path: dataFolder.controlPath)
        apiToken = try control.tokens.make(container: ServiceRequests.container, name: "bench")
        for number in 0..<Self.accountsCount {
            try control.accounts.add(name: "account\(number)", passwordHash: "none")
        }
        guard let account = try control.accounts.find(named: "account77") else {
            throw BenchError("the account isn't there")
        }
        let session = try control.sessions.make(
            of: account, container: ServiceRequests.container, environment: "development")
        webAuthToken = session.token
        user = session.session.userRecordName
        let owners = try (0..<WaitingDevices.devicesCount / Self.devicesEach).map { number in
            guard let owner = try control.accounts.find(named: "account\(number)") else {
                throw BenchError("the account isn't there")
            }
            return try control.sessions.make(
                of: owner, container: ServiceRequests.container, environment: "development"
            ).token
        }
        let administrators = control.administrators
        operatorTokens = try (0..<Self.administratorsCount).map { number in
            try control.administratorSessions.make(
                for: administrators.add("admin\(number)", role: .look), address: "127.0.0.1", client: "bench"
            ).token
        }
        let store = try SQLiteCloudStore(
            path: dataFolder.storePath(
                container: ServiceRequests.container, environment: "development", makesFolders: true))
        try RankedNotes.fill(store, of: user, recordsCount: Self.recordsCount)
        store.close()
        process = try ChildProcess(ChildProcess.ownPath, [ChildMode.serveFolder, dataFolder.path])
        guard let port = Int(process.readLine()) else {
            process.end()
            throw BenchError("the server did not start")
        }
        self.port = port
        do {
            polls = try Self.polls(ofOwners: owners, apiToken: apiToken, port: port)
        } catch {
            process.end()
            throw error
        }
    }

    func end() { process.end() }

    /// Runs `body` while 1,000 devices wait for a push.
    func withWaitingDevices<Result>(_ body: () throws -> Result) throws -> Result {
        let devices = try WaitingDevices(polls, port: port)
        defer { devices.release() }
        return try body()
    }

    private static func polls(ofOwners tokens: [String], apiToken: String, port: Int) throws -> LoadRequests {
        let requests = tokens.flatMap { token in
            (0..<devicesEach).map { number in
                CourierRequests.makeToken(device: "device\(number)", token: "\(token)&ckAPIToken=\(apiToken)")
            }
        }
        let answers = try Load.bodies(of: LoadRequests(requests), port: port, connections: 8)
        return LoadRequests(try answers.map(CourierRequests.poll))
    }

    /// A request of the dashboard, by the next administrator.
    func request(_ path: String, body: String? = nil) -> [UInt8] {
        turn += 1
        let token = operatorTokens[turn % operatorTokens.count]
        let head =
            "\(body == nil ? "GET" : "POST") /operator/1/\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
            + "Cookie: yap-operator-\(port)=\(token)\r\nContent-Type: application/json\r\n"
        return ServiceRequests.whole(head, body ?? "")
    }

    /// A request of the app's, as the user.
    func appRequest(_ action: String, _ body: String) -> [UInt8] {
        ServiceRequests.whole(
            "POST /database/1/\(ServiceRequests.container)/development/private/\(action)?ckAPIToken=\(apiToken)"
                + "&ckWebAuthToken=\(webAuthToken) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                + "Content-Type: application/json\r\n", body)
    }
}
