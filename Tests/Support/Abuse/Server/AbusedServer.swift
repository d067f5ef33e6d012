import CloudStore
import Crypto
import Foundation

/// A real `yap serve` over a folder of its own, with the accounts of its users.
package final class AbusedServer {
    /// The limits that keep what an abuser may fill small enough for a run: `--set` of `yap serve`.
    package struct Quotas: Sendable {
        package var privateBytes = 512 << 20
        package var publicBytesOfUser = 128 << 20
        package var unsavedBytes = 64 << 20
    }

    package let folder: URL
    package let requests: Requests
    package let quotas: Quotas
    /// A token for each account, the abuser's last.
    package let tokens: [String]
    /// The name of a server's key.
    package let keyID: String
    package private(set) var port = 0
    package var process: Int32 { server?.processIdentifier ?? 0 }
    private let yap: String
    private var server: Process?

    package static func account(_ number: Int) -> String { "user\(number)" }

    /// Makes the folder and its accounts.
    ///
    /// - Parameters:
    ///   - yap: The program.
    ///   - folder: Must not be there yet.
    package init(yap: String, folder: URL, accountsCount: Int, quotas: Quotas = Quotas()) throws {
        self.yap = yap
        self.folder = folder
        self.quotas = quotas
        let data = DataFolder(path: folder.path)
        try data.make()
        let control = try ControlStore(path: data.controlPath)
        let container = Requests.container
        requests = Requests(apiToken: try control.tokens.make(container: container, name: "app"))
        keyID = try control.serverKeys.add(
            container: container, environment: "development", name: "jobs",
            publicKey: P256PrivateKey().publicKey.der
        ).id
        // All passwords are one: its hash takes longer than all the rest.
        let hash = try PasswordHash(hashing: Self.password).text
        tokens = try (0..<accountsCount).map { number in
            let account = try control.accounts.add(name: Self.account(number), passwordHash: hash)
            return try control.sessions.make(of: account, container: container, environment: "development")
                .token
        }
    }

    package static let password = "correct horse battery staple"

    /// Starts it on a free port, and returns when it listens.
    package func start() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: yap)
        let limits = [
            "privateBytesMax": quotas.privateBytes, "publicBytesOfUserMax": quotas.publicBytesOfUser,
            "unsavedBytesMax": quotas.unsavedBytes,
        ]
        // Callers tell their addresses as behind a proxy: else all would be one.
        process.arguments =
            [
                "serve", "--data", folder.path, "--port", "0", "--trust-forwarded-for", "--development",
                "everyone",
            ]
            + limits.sorted { $0.key < $1.key }.flatMap { ["--set", "limits.\($0.key)=\($0.value)"] }
        let errors = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        server = process
        var said: [UInt8] = []
        let mark = "listening on http://127.0.0.1:"
        while let byte = try errors.fileHandleForReading.read(upToCount: 1)?.first {
            said.append(byte)
            guard byte == 0x0A else { continue }
            let lines = String(decoding: said, as: UTF8.self).split(separator: "\n")
            guard let line = lines.last(where: { $0.contains(mark) }), let found = line.range(of: mark),
                let port = Int(line[found.upperBound...].prefix(while: \.isNumber))
            else { continue }
            self.port = port
            // What it says from now on must not fill the pipe.
            errors.fileHandleForReading.readabilityHandler = { handle in
                let data = handle.availableData
                if data.isEmpty { handle.readabilityHandler = nil }
            }
            return
        }
        throw AbuseError("yap serve ended: \(String(decoding: said, as: UTF8.self))")
    }

    /// Kills it with SIGKILL, and waits until it is gone.
    package func kill() {
        guard let server else { return }
        Glibc.kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
        self.server = nil
    }

    /// Ends it as an operator does.
    /// - Returns: Whether it ended in order.
    @discardableResult
    package func stop() -> Bool {
        guard let server else { return true }
        server.terminate()
        server.waitUntilExit()
        self.server = nil
        return server.terminationReason == .exit && server.terminationStatus == 0
    }

    /// Whether the process is there.
    package var isRunning: Bool { server?.isRunning ?? false }
}
