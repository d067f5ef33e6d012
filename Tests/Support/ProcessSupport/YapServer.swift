import Foundation
import Glibc
import System

/// `yap` as an operator runs it: a folder, accounts, a token, and the service as a process that can be killed and
/// started again.
package final class YapServer: Sendable {
    /// A command that did not do what it should.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private struct State {
        var process: Program?
        var port = 0
    }

    /// The container that is made.
    package static let container = "iCloud.example.todo"
    /// The server's folder.
    package let folder: String
    /// The app's token.
    package let apiToken: String
    private let yap: String
    private let state = Lock(State())

    /// Makes the folder, the container and its token.
    ///
    /// - Parameters:
    ///   - programs: Where the executable `yap` is.
    ///   - folder: Must not be there yet.
    package init(programs: String, folder: String) async throws {
        yap = programs + "/yap"
        self.folder = folder
        _ = try await Self.run(yap, ["init", "--data", folder, "--container", Self.container])
        let token = try await Self.run(
            yap,
            ["token", "create", "--data", folder, "--container", Self.container, "--name", "todo", "--json"])
        struct Token: Decodable { let token: String }
        apiToken = try JSONDecoder().decode(Token.self, from: Data(token.utf8)).token
    }

    /// Makes an account. Its password is its name, five times.
    package func addAccount(_ name: String) async throws {
        _ = try await Self.run(
            yap, ["account", "create", name, "--data", folder, "--password-stdin"], input: Self.password(name)
        )
    }

    /// The password of an account that `addAccount` made.
    package static func password(_ account: String) -> String { String(repeating: account, count: 5) }

    /// Where it listens.
    package var port: Int { state.withLock { $0.port } }
    /// The process that serves, or served last.
    package var process: Program? { state.withLock { $0.process } }

    /// Starts to serve on a free port, and returns when it listens.
    /// - Returns: The port.
    @discardableResult
    package func start() async throws -> Int {
        let process = try launch()
        let line = await process.errorLine { $0.hasPrefix(Self.listening) }
        return try await adopt(process, line)
    }

    /// The same on a thread of the caller's own, which waits.
    @discardableResult
    package func startAndWait() throws -> Int {
        let done = DispatchSemaphore(value: 0)
        let port = Lock<Result<Int, any Error>>(.failure(Failure(description: "not started")))
        Task {
            do {
                let started = try await start()
                port.withLock { $0 = .success(started) }
            } catch {
                port.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        return try port.withLock { $0 }.get()
    }

    /// Kills it with SIGKILL, and waits on this thread, which must not be one of Swift's pool.
    /// - Returns: How the system says that it ended.
    @discardableResult
    package func killAndWait() -> Program.End {
        guard let process else { return .exit(0) }
        process.signal(SIGKILL)
        return process.waitForEnd()
    }

    /// Ends it as an operator does, and returns how it ended.
    @discardableResult
    package func stop() async -> Program.End {
        guard let process else { return .exit(0) }
        process.signal(SIGTERM)
        return await process.result().end
    }

    /// What `yap record query --json` says of the records in a zone of an account's private database, by their names.
    package func records(ofType type: String, account: String, zone: String) async throws -> [String:
        ServerRecord]
    {
        let text = try await Self.run(
            yap,
            [
                "record", "query", type, "--data", folder, "--container", Self.container, "--account",
                account,
                "--zone", zone, "--json",
            ])
        struct Records: Decodable { let records: [ServerRecord] }
        let records = try JSONDecoder().decode(Records.self, from: Data(text.utf8)).records
        return Dictionary(records.map { ($0.recordName, $0) }) { first, _ in first }
    }

    private static let listening = "listening on http://127.0.0.1:"

    private func launch() throws -> Program {
        try Program(yap, ["serve", "--data", folder, "--port", "0"])
    }

    private func adopt(_ process: Program, _ line: String?) async throws -> Int {
        guard let port = line.flatMap({ Int($0.dropFirst(Self.listening.count)) }) else {
            let result = await process.result()
            throw Failure(description: "yap serve ended with \(result.end): \(result.errors)")
        }
        state.withLock { $0 = State(process: process, port: port) }
        return port
    }

    /// Runs a command to its end.
    /// - Returns: Its output.
    package static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], input: String = ""
    ) async throws -> String {
        let result = try await Program(program, arguments, environment: environment, input: input).result()
        guard result.end == .exit(0) else {
            let words = ([program] + arguments).joined(separator: " ")
            throw Failure(description: "\(words) ended with \(result.end): \(result.errors)")
        }
        return result.output
    }
}

/// A record as `yap` prints it: the fields that are texts or whole numbers.
package struct ServerRecord: Decodable, Sendable {
    package let recordName: String
    package let texts: [String: String]
    package let numbers: [String: Int]

    private enum Keys: CodingKey { case recordName, fields }
    private struct Field: Decodable {
        var text: String?
        var number: Int?
        private enum Keys: CodingKey { case value }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Keys.self)
            text = try? fields.decode(String.self, forKey: .value)
            number = try? fields.decode(Int.self, forKey: .value)
        }
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        recordName = try values.decode(String.self, forKey: .recordName)
        let fields = try values.decodeIfPresent([String: Field].self, forKey: .fields) ?? [:]
        texts = fields.compactMapValues(\.text)
        numbers = fields.compactMapValues(\.number)
    }
}
