import FaultProxy
import Foundation
import ProcessSupport
import SQLiteTestSupport
import System
import Testing
import TodoKit

/// A service, and devices of its user, as processes in a folder of their own.
final class Stage: Sendable {
    static let user = "ada"

    /// The folder with the executables: they lie beside the tests.
    static var programs: String {
        get throws {
            try #require(Bundle.main.executableURL).deletingLastPathComponent().path
        }
    }

    let server: YapServer
    private let folder: TemporaryFolder
    private let devices = Lock<[TodoDevice]>([])

    private init(_ folder: TemporaryFolder) async throws {
        self.folder = folder
        server = try await YapServer(programs: Self.programs, folder: folder.file("server"))
        try await server.addAccount(Self.user)
        try await server.start()
    }

    /// Runs `body` with a service that is up, and ends all of it.
    static func with(_ body: (Stage) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let stage = try await Stage(folder)
        do {
            try await body(stage)
        } catch {
            await stage.end()
            throw error
        }
        await stage.end()
        withExtendedLifetime(folder) {}
    }

    /// A device that is signed in.
    func device(_ name: String) async throws -> TodoDevice {
        let device = try TodoDevice(name, programs: Self.programs, in: folder.file("."), server: server)
        devices.withLock { $0.append(device) }
        try await device.logIn(Self.user, server)
        return device
    }

    /// Kills the service on this thread, which waits, and starts it again.
    func restartAfterKill() -> Program.End {
        let end = server.killAndWait()
        do {
            let port = try server.startAndWait()
            for device in devices.withLock({ $0 }) { device.proxy.retarget(port: port) }
        } catch {
            Issue.record(error)
        }
        return end
    }

    /// Both devices sync until nothing is left to tell, and then each has what the server has.
    func expectConverged(_ first: TodoDevice, _ second: TodoDevice, _ comment: Comment? = nil) async throws {
        for device in [first, second, first] { try await device.sync() }
        let places = [
            try await first.todos(), try await second.todos(), try await server.todos(of: Self.user),
        ]
        let differences = TodoComparison(places).differences
        #expect(differences.isEmpty, comment)
        for device in [first, second] { #expect(try await device.status().pending == 0, comment) }
    }

    private func end() async {
        _ = await server.stop()
        let devices = devices.withLock { $0 }
        await withCheckedContinuation { continuation in
            Thread {
                for device in devices { device.proxy.stop() }
                continuation.resume()
            }.start()
        }
    }
}
