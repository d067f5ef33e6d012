import CloudStore
import CloudWire
import Crypto
import Testing

@testable import CloudServer

/// A server with administrators of each role, asked as the dashboard asks.
struct OperatorClient {
    static let password = "a long sentence"

    let guarded: GuardedServer
    private let connection: RawConnection
    /// The cookie that goes along; nil without a session.
    var cookie: String?

    /// - Parameter role: of the administrator who is signed in; nil: nobody is.
    init(_ guarded: GuardedServer, role: AdministratorRole? = nil) throws {
        self.guarded = guarded
        connection = try RawConnection(port: guarded.server.port)
        guard let role else { return }
        let administrators = guarded.control.administrators
        let administrator =
            try administrators.administrator(named: role.rawValue)
            ?? administrators.add(role.rawValue, role: role)
        let made = try guarded.control.administratorSessions.make(
            for: administrator, address: "127.0.0.1", client: "tests")
        cookie = "yap-operator-\(guarded.server.port)=\(made.token)"
    }

    func get(_ path: String, headers: [(name: String, value: String)] = []) throws -> RawResponse {
        try connection.exchange("GET", "/operator/1/\(path)", headers: headers + sent)
    }

    func post(
        _ path: String, _ body: String = "{}", headers: [(name: String, value: String)]? = nil
    ) throws -> RawResponse {
        let headers = headers ?? [("Content-Type", "application/json")]
        return try connection.exchange(
            "POST", "/operator/1/\(path)", headers: headers + sent, body: Array(body.utf8))
    }

    /// A page or a file of it.
    func page(_ path: String) throws -> RawResponse { try connection.exchange("GET", path) }

    /// Returns when what was asked is handed to the history: an answer goes out before its summary is handed over, and
    /// the summary before the connection's next answer.
    func waitForSummaries() throws {
        _ = try page("/health/live")
    }

    /// The path of an endpoint of data.
    func data(_ database: String, _ endpoint: String, user: String? = nil) -> String {
        "\(RawDevice.container)/development/\(database)/\(endpoint)" + (user.map { "?user=\($0)" } ?? "")
    }

    /// The record name of Ada, who has an account.
    var ada: String {
        get throws {
            try #require(try guarded.control.sessions.find(token: guarded.session)?.userRecordName)
        }
    }

    /// Takes the cookie of an answer.
    mutating func take(_ response: RawResponse) throws {
        let header = try #require(response.header("Set-Cookie"))
        cookie = String(header.prefix { $0 != ";" })
    }

    /// Gives an administrator a password, by a hash that costs little.
    static func setPassword(of name: String, _ control: ControlStore) throws {
        let hash = try PasswordHash(
            hashing: password, cost: .init(costLog2: 4, blockSize: 8, parallelism: 1))
        try control.administrators.setPassword(hash, of: name)
    }

    private var sent: [(name: String, value: String)] { cookie.map { [("Cookie", $0)] } ?? [] }
}
