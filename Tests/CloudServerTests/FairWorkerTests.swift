import Dispatch
import System
import Testing

@testable import CloudServer

/// Who is served when somebody sends more than a thread can do.
@Suite struct FairWorkerTests {
    /// Keeps the queue's thread busy until it is released.
    private static func hold(_ queue: FairWorker) -> DispatchSemaphore {
        let (begun, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        _ = queue.submit(of: "192.0.2.99") {
            begun.signal()
            release.wait()
        }
        begun.wait()
        return release
    }

    @Test func anAddressThatSendsManyLeavesRoomAndTurnsForAnother() async throws {
        try await onThread {
            let queue = try FairWorker(jobsMax: 8).started()
            let release = Self.hold(queue)
            let order = Lock<[String]>([])
            func submit(_ address: String) -> Bool {
                queue.submit(of: address) { order.withLock { $0.append(address) } }
            }
            let flood = (0..<20).map { _ in submit("192.0.2.1") }
            #expect(flood.filter { $0 }.count == 4, "half of the places")
            #expect(submit("192.0.2.2"))
            // Of IPv6 the network counts: a household has 2^64 addresses.
            let network = ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map(submit)
            #expect(network == [true, true, false])
            release.signal()
            queue.stop()
            #expect(order.withLock { $0 }.prefix(3) == ["192.0.2.1", "192.0.2.2", "2001:db8::1"])
            #expect(order.withLock { $0.count } == 7)
            #expect(!submit("192.0.2.2"), "it has stopped")
        }
    }
}
