import FaultProxy
import Foundation
import Glibc
import ProcessSupport
import SQLiteTestSupport
import System
import Testing

/// The note app's command on two devices, with a service that goes and comes back.
@Suite struct NoteProcessTests {
    /// A device: a folder, and a way to the service that stays the same when the service's port changes.
    private struct Device {
        let name: String
        let folder: String
        let proxy: FaultProxy

        func start(_ words: [String], input: String = "") throws -> Program {
            try Program(
                Stage.programs + "/notes", ["--device", name, "--folder", folder, "--json"] + words,
                input: input)
        }

        /// Runs a command that must succeed.
        func run(_ words: String..., input: String = "") async throws -> String {
            let result = try await start(words, input: input).result()
            #expect(result.end == .exit(0), "\(words): \(result.errors)")
            return result.output
        }
    }

    private func device(_ name: String, _ stage: Stage, in folder: TemporaryFolder) async throws -> Device {
        let proxy = try FaultProxy(targetPort: stage.server.port)
        let device = Device(name: name, folder: folder.file(name), proxy: proxy)
        let answer = try await device.run(
            "login", "--server", "http://127.0.0.1:\(proxy.port)", "--container", YapServer.container,
            "--api-token", stage.server.apiToken, "--account", Stage.user, "--password-stdin",
            input: YapServer.password(Stage.user))
        #expect(answer.contains("signed in as \(Stage.user)"))
        return device
    }

    private func see(_ watch: Program, _ parts: String...) async throws {
        _ = try #require(await watch.line { line in parts.allSatisfy { line.contains($0) } }, "\(parts)")
    }

    @Test func aNoteIsTheSameOnTwoDevicesThroughTheAbsenceOfTheService() async throws {
        let folder = try TemporaryFolder()
        try await Stage.with { stage in
            let phone = try await device("phone", stage, in: folder)
            let laptop = try await device("laptop", stage, in: folder)
            #expect(try await phone.run("write", "Buy", "milk").contains("all is saved"))
            let watch = try laptop.start(["watch"])
            try await see(watch, "Buy milk", "all is saved")
            #expect(try await laptop.start(["sync"]).result().errors.contains("another `notes`"))
            // Heard of by push.
            _ = try await phone.run("write", "Buy oat milk")
            try await see(watch, "Buy oat milk")

            _ = await stage.server.stop()
            let alone = try await phone.run("write", "Buy soy milk")
            #expect(alone.contains("no connection") && alone.contains("\"isUnsent\":true"))
            #expect(try await phone.run("show").contains("Buy soy milk"))
            let port = try await stage.server.start()
            for device in [phone, laptop] { device.proxy.retarget(port: port) }
            let synced = try await phone.run("sync")
            #expect(synced.contains("all is saved"), "\(synced)")
            try await see(watch, "Buy soy milk", "all is saved")
            watch.signal(SIGTERM)
            #expect(await watch.result().end == .signal(SIGTERM))
            #expect(try await laptop.run("show").contains("Buy soy milk"))
            await withCheckedContinuation { continuation in
                Thread {
                    for device in [phone, laptop] { device.proxy.stop() }
                    continuation.resume()
                }.start()
            }
        }
    }
}
