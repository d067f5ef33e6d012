import Foundation
import System
import Testing

@Suite struct ThreadStartTests {
    private struct Failed: Error {}
    private final class Held: Sendable {}
    private struct Released {
        weak var object: Held?
        init(_ object: Held?) { self.object = object }
    }

    /// Returns a source that refuses the n-th thread, counted from 0, until `count` is set anew.
    private static func source(refusing refused: Int, _ count: Lock<Int>) -> ThreadSource {
        ThreadSource { _ in
            count.withLock { count in
                defer { count += 1 }
                return count == refused ? EAGAIN : nil
            }
        }
    }

    @Test(arguments: 0..<3) func ofThreadsThatStartTogetherNoneRunsIfOneIsRefused(refused: Int) throws {
        let threads = (0..<3).map { OwnedThread(name: "test \($0)") }
        let ran = Lock([Int]())
        let source = Self.source(refusing: refused, Lock(0))
        func start() throws {
            try ThreadStart.all(from: source) { start in
                for (index, thread) in threads.enumerated() {
                    try thread.start(start) { ran.withLock { $0.append(index) } }
                }
            }
        }
        let error = #expect(throws: SystemThread.NotStarted.self) { try start() }
        #expect(error?.code == EAGAIN)
        #expect(error?.description.contains("no thread could be started") == true)
        for thread in threads { thread.waitForEnd() }
        #expect(ran.withLock { $0 } == [])
        #expect(threads.allSatisfy { !$0.hasStarted })
        try start()
        for thread in threads { thread.waitForEnd() }
        #expect(ran.withLock { $0.sorted() } == [0, 1, 2])
    }

    @Test func threadsRunOnlyAfterAllElseHasSucceeded() throws {
        let thread = OwnedThread(name: "test")
        let held = Lock<Held?>(Held())
        let released = Released(held.withLock { $0 })
        let ran = Lock(0)
        #expect(throws: Failed.self) {
            try ThreadStart.all { start in
                let held = held.withLock { $0.take() }
                try thread.start(start) { withExtendedLifetime(held) { ran.withLock { $0 += 1 } } }
                throw Failed()
            }
        }
        #expect(ran.withLock { $0 } == 0)
        #expect(released.object == nil, "what the thread would have used is released")
        try ThreadStart.all { try thread.start($0) { ran.withLock { $0 += 1 } } }
        thread.waitForEnd()
        thread.waitForEnd()
        #expect(ran.withLock { $0 } == 1)
    }
}
