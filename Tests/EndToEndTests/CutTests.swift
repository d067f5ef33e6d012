import CloudKit
import CloudKitAdditions
import FaultProxy
import Foundation
import ProcessSupport
import SQLiteTestSupport
import System
import TestSeed
import Testing
import TodoKit
import YapCloudKit

/// Each response of a sync of 200 records, cut: the same state as without a cut.
@Suite struct CutTests {
    enum Cut: CaseIterable, CustomStringConvertible {
        case beforeSending, afterTheCommit, inMidReply

        var description: String {
            switch self {
            case .beforeSending: "before sending"
            case .afterTheCommit: "after the commit"
            case .inMidReply: "in mid-reply"
            }
        }

        var fault: Fault {
            switch self {
            case .beforeSending: .loseRequest
            case .afterTheCommit: .dropReply
            case .inMidReply: .cutReply(afterBytes: 600)
            }
        }
    }

    /// Two devices in this process, with a service that is another one, and a user of their own.
    private final class Pair {
        let phone: TodoList
        let laptop: TodoList
        let proxy: FaultProxy
        /// How many exchanges the proxy has seen; those that are held open until something happens don't count.
        let exchangesCount = Lock(0)

        init(_ account: String, _ stage: Stage, _ folder: TemporaryFolder) async throws {
            let proxy = try FaultProxy(targetPort: stage.server.port)
            self.proxy = proxy
            func container(_ name: String) -> CKContainer {
                var settings = CloudKitConfiguration.Container(server: "http://127.0.0.1:\(proxy.port)")
                settings.apiToken = stage.server.apiToken
                settings.credentialFile = folder.file("\(account)/credentials.json")
                settings.deviceID = "\(account)-\(name)"
                return CKContainer(identifier: YapServer.container, configuration: settings)
            }
            func open(_ name: String) async throws -> TodoList {
                try await TodoList(
                    path: folder.file("\(account)-\(name).sqlite"), container: container(name))
            }
            // One sign-in for both: a password is checked slowly on purpose.
            try await container("phone").signIn(account: account, password: YapServer.password(account))
            phone = try await open("phone")
            laptop = try await open("laptop")
        }

        /// Cuts the exchange with this number, counted from now; nil cuts none.
        func cut(_ number: Int?, _ cut: Cut) {
            proxy.plan { [exchangesCount] exchange in
                guard !exchange.path.hasSuffix("/courier") else { return .pass }
                let current = exchangesCount.withLock { count in
                    count += 1
                    return count
                }
                return current == number ? cut.fault : .pass
            }
        }

        func end() async throws {
            try await phone.close()
            try await laptop.close()
            await withCheckedContinuation { continuation in
                Thread { [proxy] in
                    proxy.stop()
                    continuation.resume()
                }.start()
            }
        }
    }

    private static let recordsCount = 200
    private static let together = 8

    @Test func aSyncWhoseResponsesAreCutEndsInTheSameState() async throws {
        try await Stage.with { stage in
            let folder = try TemporaryFolder()
            let exchanges = try await run(nil, .beforeSending, account: "whole", stage, folder)
            #expect(exchanges >= 8)
            // All responses, and two more: pushes do not always come at the same moment.
            let all = (1...exchanges + 2).flatMap { number in Cut.allCases.map { (number, $0) } }
            // Four is no multiple of the number of cuts: each kind of them meets each exchange in turn.
            let runs = stride(from: 0, to: all.count, by: Places.step(4)).map { all[$0] }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, (number, cut)) in runs.enumerated() {
                    if index >= Self.together { try await group.next() }
                    group.addTask {
                        _ = try await run(number, cut, account: "cut\(index)", stage, folder)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// One device sends 200 records, the other fetches them, changes some and deletes some.
    /// - Returns: How many exchanges that took.
    private func run(
        _ number: Int?, _ cut: Cut, account: String, _ stage: Stage, _ folder: TemporaryFolder
    ) async throws -> Int {
        try await stage.server.addAccount(account)
        let pair = try await Pair(account, stage, folder)
        pair.cut(number, cut)
        var expected = [String: Todo]()
        for order in 1...Self.recordsCount {
            expected["r\(order)"] = Todo(title: "todo \(order)", order: order)
        }
        try await pair.phone.add(expected.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        await idle(pair.phone.sync)
        await idle(pair.laptop.sync)
        for order in 1...10 {
            try await pair.laptop.change("r\(order)") { $0.priority = "A" }
            expected["r\(order)"]?.priority = "A"
            try await pair.laptop.remove("r\(order + 10)")
            expected["r\(order + 10)"] = nil
        }
        await idle(pair.laptop.sync)
        await idle(pair.phone.sync)
        let words: Comment = "exchange \(number ?? 0) cut \(cut)"
        #expect(try await pair.phone.todos() == expected, words)
        #expect(try await pair.laptop.todos() == expected, words)
        #expect(try await stage.server.todos(of: account) == expected, words)
        #expect(try await pair.phone.pendingChangesCount() == 0, words)
        let counts = pair.proxy.counts
        let cuts = counts.requestsLost + counts.repliesDropped + counts.repliesCut
        try await pair.end()
        let exchanges = pair.exchangesCount.withLock { $0 }
        // A push that comes later or sooner makes a fetch more or less, so a late number may not be reached.
        let isReached = number.map { $0 <= exchanges } ?? false
        #expect(cuts == (isReached ? 1 : 0), words)
        return exchanges
    }

    /// Fetches and sends until everything is there; failures that pass are tried again by the sync itself.
    private func idle(_ sync: CloudSync) async {
        if await sync.syncNow().state == .idle { return }
        for await status in sync.status where status.state == .idle { return }
    }
}
