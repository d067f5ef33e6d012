import FaultProxy
import Foundation
import Glibc
import ProcessSupport
import System
import Testing
import TodoKit

/// `todo watch`, beside other commands on its device and beside another device.
@Suite struct WatchTests {
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
            #expect(try await stage.server.todos(of: Stage.user)[key]?.title == "from another terminal")
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

    @Test func watchShowsWhatAnotherDeviceAddsWithoutAsking() async throws {
        try await Stage.with { stage in
            let phone = try await stage.device("phone")
            let laptop = try await stage.device("laptop")
            try await phone.sync()
            let requests = Lock<[String]>([])
            let isHeld = AsyncStream<Void>.makeStream()
            laptop.proxy.handle { event in
                guard case .requestArrived(let exchange, _) = event else { return }
                requests.withLock { $0.append(exchange.path) }
                if exchange.path.hasSuffix("/courier") { isHeld.continuation.yield() }
            }
            let watch = try laptop.start(["watch", "--json"])
            try await event(watch, "everything is synced")
            for await _ in isHeld.stream { break }
            let key = try await phone.add("from the phone")
            try await phone.sync()
            try await event(watch, "\"added\"", "\"cloud\"", key)
            // What it asks for after the first poll is what the pushes tell it to.
            let paths = requests.withLock { $0 }
            let fetches = paths.filter { $0.hasSuffix("/changes/zone") }.count
            let polls = paths.filter { $0.hasSuffix("/courier") }.count
            #expect(polls >= 1 && fetches <= polls + 3, "\(paths)")
            watch.signal(SIGTERM)
            #expect(await watch.result().end == .exit(0))
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
