import Foundation
import System

/// Runs on all cores, each on one thread.
package enum Runs {
    /// The cores of the machine.
    package static var threadsMax: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// Calls `body` for the numbers from 0 on, on threads of their own, until it was called `count` times or returns
    /// false. Returns when all calls have returned; it blocks.
    package static func each(
        _ count: Int, threads: Int = threadsMax, _ body: @escaping @Sendable (Int) -> Bool
    ) {
        let next = Lock<Int?>(0)
        let group = DispatchGroup()
        for _ in 0..<min(threads, max(1, count)) {
            group.enter()
            let thread = Thread {
                while let index = take(next, count) {
                    // What Foundation keeps for a pool goes with each run.
                    if !body(index) { next.withLock { $0 = nil } }
                }
                group.leave()
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
        group.wait()
    }

    private static func take(_ next: Lock<Int?>, _ count: Int) -> Int? {
        next.withLock { next in
            guard let index = next, index < count else { return nil }
            next = index + 1
            return index
        }
    }

    /// What `run` returns for each of `inputs`, in their order.
    package static func all<Input: Sendable, Result: Sendable>(
        _ inputs: [Input], _ run: @escaping @Sendable (Input) throws -> Result
    ) async throws -> [Result] {
        let results = Lock([Int: Swift.Result<Result, any Error>]())
        await withCheckedContinuation { continuation in
            Thread {
                each(inputs.count) { index in
                    let result = Swift.Result { try run(inputs[index]) }
                    results.withLock { $0[index] = result }
                    return true
                }
                continuation.resume()
            }.start()
        }
        let all = results.withLock { $0 }
        return try inputs.indices.compactMap { try all[$0]?.get() }
    }
}
