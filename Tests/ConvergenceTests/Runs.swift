import Foundation
import Seams

/// Runs of many seeds, each on one thread, two at a time.
enum Runs {
    private static let threadsCount = 2

    /// What `run` returns for each seed, in the order of the seeds. It runs on threads of its own, because a run
    /// blocks.
    static func all<Result: Sendable>(
        _ seeds: [UInt64], _ run: @escaping @Sendable (UInt64) throws -> Result
    ) async throws -> [Result] {
        let next = Lock(0)
        let results = Lock([Int: Swift.Result<Result, any Error>]())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<threadsCount {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread {
                            while let index = take(next, seeds.count) {
                                let result = Swift.Result { try run(seeds[index]) }
                                results.withLock { $0[index] = result }
                            }
                            continuation.resume()
                        }.start()
                    }
                }
            }
        }
        let all = results.withLock { $0 }
        return try seeds.indices.compactMap { try all[$0]?.get() }
    }

    private static func take(_ next: Lock<Int>, _ count: Int) -> Int? {
        next.withLock { next in
            guard next < count else { return nil }
            defer { next += 1 }
            return next
        }
    }
}
