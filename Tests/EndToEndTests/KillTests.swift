import FaultProxy
import Foundation
import Glibc
import ProcessSupport
import System
import Testing
import TodoKit

/// The service and the devices as processes, each killed with SIGKILL at each point that matters.
@Suite(.serialized) struct KillTests {
    enum Point: CaseIterable {
        case beforeTheRequest, afterTheCommit, inMidReply
    }

    @Test func theStoryInSmall() async throws {
        try await Stage.with { stage in
            let phone = try await stage.device("phone")
            let laptop = try await stage.device("laptop")
            phone.proxy.refuseConnections()
            var keys = [String]()
            for number in 0..<5 { keys.append(try await phone.add("item \(number)")) }
            #expect(try await phone.status().pending == 5)
            try phone.proxy.acceptConnections()
            try await phone.sync()
            #expect(try await stage.server.todos(of: Stage.user).count == 5)
            try await laptop.sync()
            #expect(try await laptop.todos() == phone.todos())

            try await phone.run(["done", keys[0]])
            try await laptop.run(["edit", keys[0], "(A) item 0"])
            try await phone.run(["delete", keys[1]])
            try await laptop.run(["edit", keys[1], "item 1 is needed"])
            try await phone.run(["edit", keys[2], "of the phone"])
            try await laptop.run(["edit", keys[2], "of the laptop"])
            try await phone.sync()
            let decisions = try await laptop.sync()
            #expect(Set(decisions.map(\.rule)) == ["remoteWon", "editBeatDeletion"])
            try await stage.expectConverged(phone, laptop)
            let todos = try await phone.todos()
            #expect(todos[keys[0]]?.isDone == true && todos[keys[0]]?.priority == "A")
            #expect(todos[keys[1]]?.title == "item 1 is needed" && todos[keys[2]]?.title == "of the phone")
        }
    }

    /// The points at which the service is killed, for each kind of request that a sync makes.
    @Test func whereverTheServiceIsKilledNothingIsLost() async throws {
        try await Stage.with { stage in
            let phone = try await stage.device("phone")
            let laptop = try await stage.device("laptop")
            var killedCount = 0
            for path in ["/zones/modify", "/records/modify", "/changes/zone"] {
                for point in Point.allCases {
                    let killed = Lock(false)
                    kill(stage, phone, at: point, path, killed)
                    try await phone.add("\(point) \(path)")
                    try await phone.sync()
                    phone.proxy.plan { _ in .pass }
                    if killed.withLock({ $0 }) { killedCount += 1 }
                }
                try await stage.expectConverged(phone, laptop, "\(path)")
            }
            // A zone is made once.
            #expect(killedCount >= 7)
            #expect(try await laptop.todos().count == 9)
        }
    }

    /// The next request with this path meets a service that is killed and started again.
    private func kill(
        _ stage: Stage, _ device: TodoDevice, at point: Point, _ path: String, _ killed: Lock<Bool>
    ) {
        let isPlanned = Lock(false)
        device.proxy.plan { exchange in
            let isHit = isPlanned.withLock { isPlanned in
                guard !isPlanned, exchange.path.hasSuffix(path) else { return false }
                isPlanned = true
                return true
            }
            guard isHit else { return .pass }
            return switch point {
            case .beforeTheRequest: .loseRequest
            case .afterTheCommit: .dropReply
            case .inMidReply: .cutReply(afterBytes: 350)
            }
        }
        device.proxy.handle { event in
            switch event {
            case .requestArrived(_, .loseRequest), .replyArrived(_, .dropReply, _),
                .replyArrived(_, .cutReply, _):
                #expect(stage.restartAfterKill() == .signal(SIGKILL))
                killed.withLock { $0 = true }
            default: break
            }
        }
    }

    @Test func aDeviceThatIsKilledWhileItWritesHasTheItemOrHasItNot() async throws {
        try await Stage.with { stage in
            let phone = try await stage.device("phone")
            let laptop = try await stage.device("laptop")
            for (point, isKept) in [
                ("kill-before-begin", false), ("kill-before-commit", false), ("kill-after-commit", true),
            ] {
                let before = try await phone.status()
                let end = try await phone.start(["--failpoint", point, "add", point]).result().end
                #expect(end == .signal(SIGKILL))
                let after = try await phone.status()
                #expect(after.items == before.items + (isKept ? 1 : 0), "\(point)")
                #expect(after.pending == before.pending + (isKept ? 1 : 0), "\(point)")
            }
            try await stage.expectConverged(phone, laptop)
            #expect(try await laptop.todos().values.map(\.title) == ["kill-after-commit"])
        }
    }

    /// A sync is killed before the COMMIT of its first transaction, of its second, ... and after each.
    @Test func aDeviceKilledAtAnyTransactionOfItsSyncContinues() async throws {
        try await Stage.with { stage in
            let phone = try await stage.device("phone")
            let laptop = try await stage.device("laptop")
            let key = try await phone.add("first")
            try await stage.expectConverged(phone, laptop)
            var killsCount = 0
            for point in ["kill-before-commit", "kill-after-commit"] {
                for number in 1...20 {
                    // Something to send, something to fetch, and something to merge.
                    try await laptop.run(["edit", key, "edited by the laptop, \(point) \(number)"])
                    try await laptop.add("laptop \(point) \(number)")
                    try await laptop.sync()
                    try await phone.run(["edit", key, "edited by the phone, \(point) \(number)"])
                    try await phone.add("phone \(point) \(number)")
                    let end = try await phone.start(["sync", "--failpoint", "\(point):\(number)"]).result()
                        .end
                    if end == .exit(0) {
                        #expect(number > 3, "a sync of this has more transactions")
                        break
                    }
                    #expect(end == .signal(SIGKILL))
                    killsCount += 1
                    try await phone.sync()
                }
                try await stage.expectConverged(phone, laptop, "\(point)")
            }
            let texts = try await laptop.todos().values.map(\.title)
            #expect(texts.count == Set(texts).count, "nothing came twice")
            #expect(killsCount >= 6)
        }
    }
}
