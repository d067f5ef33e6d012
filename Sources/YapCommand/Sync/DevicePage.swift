import CloudServer
import CloudWire
import Crypto
import Dispatch
import HTTPServer
import System
import YapCloudKit

/// The page of a device's file: a server on loopback that serves the dashboard's files and the contents of the file.
///
/// Other users of the machine can reach the port too, so the contents of the file need the secret in the page's
/// address. It is sent in a header and not in a cookie, which the browser would send to each port of the machine.
final class DevicePage: HTTPHandler {
    static let statePath = "/device/1/state"
    private static let readsWaitingMax = 8
    private static let limitDefault = 20
    private static let limitMax = 320
    /// Total number of changes that may be listed, as a multiple of the maximum for one change-set.
    private static let changesFactor = 5
    private static let valueBytesOfAllMax = 1 << 20
    private static let zonesMax = 500

    private let file: SyncFile
    private let files: DashboardFiles
    private let secret: String
    private let queue = DispatchQueue(label: "yap.device")
    private let waitingCount = Lock(0)
    private let server = Lock<HTTPServer?>(nil)

    /// - Throws: `CryptoError` if the system has no randomness.
    init(_ file: SyncFile) throws {
        self.file = file
        files = try DashboardFiles()
        secret = Hex.text(try RandomBytes.make(count: 32))
    }

    /// Listens on loopback.
    ///
    /// - Parameter port: 0 for any free port.
    /// - Throws: `HTTPServerError` if the port is taken.
    func start(port: Int) throws {
        var options = HTTPServerOptions()
        options.port = port
        options.loopCount = 1
        options.connectionsMax = 64
        options.bodyBytesMax = 0
        let made = HTTPServer(options: options, handler: self)
        try made.start()
        server.withLock { $0 = made }
    }

    var port: Int { server.withLock { $0 }?.port ?? 0 }

    /// The page's address, with the secret in its fragment, which a browser never sends.
    var url: String { "http://127.0.0.1:\(port)/#\(secret)" }

    /// Stops the server. Must not be called on a thread of the server.
    func stop() {
        // Removed under the lock, stopped outside it.
        let made = server.withLock { server in
            defer { server = nil }
            return server
        }
        made?.stop(graceMilliseconds: 0)
    }

    // MARK: Requests

    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 0) }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        let head = request.head
        do throws(WireError) {
            try OperatorOrigin(publicURL: nil).check(head)
            guard head.method == "GET" else {
                throw WireError(.badRequest, reason: "the page of a file is only read", ckErrorCode: 12)
            }
        } catch {
            return exchange.respond(Self.response(error))
        }
        switch head.path {
        case "/": exchange.respond(files.devicePage)
        case Self.statePath: sendState(head, exchange)
        default:
            let nothing = WireError(.notFound, reason: "there is nothing at this path", ckErrorCode: 11)
            exchange.respond(files.response(to: head.path) ?? Self.response(nothing))
        }
    }

    /// Reads the file on a separate thread, because a loop must not wait for a disk.
    private func sendState(_ head: HTTPRequestHead, _ exchange: HTTPExchange) {
        let given = head.header("Authorization") ?? ""
        guard ConstantTime.equal(Array(given.utf8), Array("Bearer \(secret)".utf8)) else {
            let reason =
                "Open the address that yap sync inspect --open has printed, with its last part, which is a secret."
            return exchange.respond(
                Self.response(WireError(.authenticationRequired, reason: reason, ckErrorCode: 9)))
        }
        let isTaken = waitingCount.withLock { count in
            guard count < Self.readsWaitingMax else { return false }
            count += 1
            return true
        }
        guard isTaken else {
            return exchange.respond(
                Self.response(
                    WireError(
                        .tryAgainLater, reason: "the file is being read", retryAfterSeconds: 1, ckErrorCode: 6
                    )))
        }
        let limit = head.queryValue("limit").flatMap { Int($0) } ?? Self.limitDefault
        let seen = head.queryValue("after")
        queue.async { [self] in
            exchange.respond(state(limit: min(max(1, limit), Self.limitMax), seen: seen))
            waitingCount.withLock { $0 -= 1 }
        }
    }

    private func state(limit: Int, seen: String?) -> HTTPResponse {
        do {
            let version = try file.version()
            if version == seen { return Self.response(.object([("version", .string(version))])) }
            let (inspection, registrations) = try file.read(Self.limits(limit))
            let members = SyncInspectionJSON.members(file.path, inspection, registrations)
            return Self.response(
                .object(
                    [
                        ("version", .string(version)), ("limit", .integer(Int64(limit))),
                        ("limitMax", .integer(Int64(Self.limitMax))),
                        ("only", .text(file.name)),
                    ] + members))
        } catch {
            return Self.response(Self.wireError(error))
        }
    }

    private static func limits(_ limit: Int) -> SyncInspection.Limits {
        var limits = SyncInspection.Limits()
        limits.changeSetsMax = limit
        limits.changesMax = limit
        limits.changesOfAllMax = limit * changesFactor
        limits.valueBytesOfAllMax = valueBytesOfAllMax
        limits.mergesMax = limit
        limits.stashedMax = limit
        limits.zonesMax = zonesMax
        return limits
    }

    private static func wireError(_ error: any Error) -> WireError {
        switch error {
        case Failure.notThere(let words): WireError(.notFound, reason: words, ckErrorCode: 11)
        case Failure.failed(let words): WireError(.internalError, reason: words, ckErrorCode: 1)
        default: WireError(.internalError, reason: "the file can't be read: \(error)", ckErrorCode: 1)
        }
    }

    private static func response(_ json: JSON) -> HTTPResponse {
        HTTPResponse(status: 200, headers: headers, body: .bytes(Array(json.text.utf8)))
    }

    private static func response(_ error: WireError) -> HTTPResponse {
        let body = (try? error.json()) ?? Array(#"{"serverErrorCode":"INTERNAL_ERROR"}"#.utf8)
        return HTTPResponse(status: error.serverErrorCode.httpStatus, headers: headers, body: .bytes(body))
    }

    private static let headers = [
        (name: "Content-Type", value: "application/json; charset=UTF-8"),
        (name: "Cache-Control", value: "no-store"), (name: "X-Content-Type-Options", value: "nosniff"),
        (name: "Content-Security-Policy", value: DashboardFiles.policy),
        (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
    ]
}
