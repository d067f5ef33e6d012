import Foundation
import Glibc
import ProcessSupport
import Testing
import TodoKit

/// `todo watch`, beside other commands on its device and beside another device.
@Suite(.timeLimit(.minutes(1))) struct WatchTests {
    /// The first line of JSON with these parts.
    private func event(_ watch: Program, _ parts: String...) async throws {
        _ = try #require(await watch.line { line in parts.allSatisfy { line.contains($0) } }, "\(parts)")
    }

    @Test func watchShowsAndSendsWhatAnotherCommandAddsOnItsDevice() async throws {
        try await Stage.with { stage in
            let phone = try await stage.device("phone")
            let laptop = try await stage.device("laptop")
            let watch = try phone.start(["watch", "--json"])
            try await event(watch, "everything is synced")
            let key = try await phone.add("from another terminal")
            try await event(watch, "\"added\"", "\"device\"", key)
            // The other process waits for the one that syncs: then everything is sent.
            try await phone.sync()
            #expect(try await stage.server.todos(of: Stage.user)[key]?.text == "from another terminal")
            try await phone.run(["done", key])
            try await event(watch, "\"changed\"", "\"device\"", key)
            try await phone.sync()
            try await laptop.sync()
            #expect(try await laptop.todos()[key]?.isDone == true)
            watch.signal(SIGTERM)
            let result = await watch.result()
            #expect(result.end == .exit(0) && result.output.contains("\"ended\""))
            #expect(try await phone.status().pending == 0)
        }
    }

    @Test func anotherCommandSyncsOnceTheWatchIsKilled() async throws {
        try await Stage.with { stage in
            let phone = try await stage.device("phone")
            let watch = try phone.start(["watch", "--json"])
            try await event(watch, "everything is synced")
            let next = try phone.start(["watch", "--json"])
            try await event(next, "another process syncs this device")
            watch.signal(SIGKILL)
            #expect(await watch.result().end == .signal(SIGKILL))
            try await event(next, "everything is synced")
            let key = try await phone.add("one more")
            try await event(next, "\"added\"", key)
            next.signal(SIGINT)
            #expect(await next.result().end == .exit(0))
        }
    }
}
