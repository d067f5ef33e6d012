import CloudServer
import CloudService
import CloudStore
import CloudWire
import Foundation
import System

/// A server in this process, over a store in memory unless another is given, with some users and a log that is kept.
final class TestServer: Sendable {
    let server: CloudServer
    let service: CloudService
    let log: KeptLog

    /// The token of a user is the user's name.
    init(
        store: (any CloudStore)? = nil, users: [String] = ["ada", "bob"],
        limits: ServiceLimits = ServiceLimits(), assetFiles: (any AssetStore)? = nil,
        clock: any TimeSource = SystemTimeSource(),
        configure: (inout CloudServerOptions) -> Void = { _ in }
    ) throws {
        let service = CloudService(
            store: store ?? MemoryCloudStore(), clock: clock, random: SystemRandomSource(),
            container: CloudService.Container(identifier: RawDevice.container),
            users: Dictionary(
                uniqueKeysWithValues: users.map { ($0, ServiceUser(userRecordName: "_\($0)")) }),
            limits: limits, assetFiles: assetFiles)
        let log = KeptLog()
        var options = CloudServerOptions()
        options.log = log
        options.limits = limits
        configure(&options)
        self.service = service
        self.log = log
        server = CloudServer(service, options: options)
        try server.start()
    }

    var port: Int { server.port }

    func stop() { server.stop() }
}

/// Runs `body` on a thread of its own with a server that is stopped at the end.
func withServer<Result: Sendable>(
    store: (any CloudStore & Sendable)? = nil, users: [String] = ["ada", "bob"],
    configure: @escaping @Sendable (inout CloudServerOptions) -> Void = { _ in },
    _ body: @escaping @Sendable (TestServer) throws -> Result
) async throws -> Result {
    try await onThread {
        let server = try TestServer(store: store, users: users, configure: configure)
        defer { server.stop() }
        return try body(server)
    }
}

/// A log that is kept, and can be waited for.
final class KeptLog: LogSink, @unchecked Sendable {
    // Sendable because `bytes` is touched only under the condition's lock.
    private let condition = NSCondition()
    private var bytes: [UInt8] = []

    func write(_ lines: [UInt8]) {
        condition.withLock {
            bytes += lines
            condition.broadcast()
        }
    }

    /// All lines, each read as JSON.
    func lines() throws -> [[String: Any]] {
        let bytes = condition.withLock { self.bytes }
        return try bytes.split(separator: UInt8(ascii: "\n")).map { line in
            guard let members = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else {
                throw Failure("not a line: \(String(decoding: line, as: UTF8.self))")
            }
            return members
        }
    }

    /// The line of the request with this id, as soon as it is there.
    func line(id: String) throws -> [String: Any] {
        try line { $0["id"] as? String == id }
    }

    /// The first line that is like this, as soon as it is there.
    func line(deadlineSeconds: Double = 20, where isWanted: ([String: Any]) -> Bool) throws -> [String: Any] {
        let end = Date(timeIntervalSinceNow: deadlineSeconds)
        while true {
            let count = condition.withLock { bytes.count }
            if let line = try lines().first(where: isWanted) { return line }
            condition.lock()
            defer { condition.unlock() }
            // What came meanwhile is looked at before the wait.
            while bytes.count == count {
                guard condition.wait(until: end) else { throw Failure("no such line") }
            }
        }
    }
}
