import Foundation
import System
package import Testing

/// Threads for tests that compute or wait for long. The pool that all tests share has one for each processor: a test
/// that keeps one keeps others from answering in time.
package final class OwnThreads: TaskExecutor {
    package static let shared = OwnThreads(count: ProcessInfo.processInfo.activeProcessorCount)

    private let jobs = Lock<[UnownedJob]>([])
    private let arrived = DispatchSemaphore(value: 0)

    private init(count: Int) {
        for _ in 0..<count {
            let thread = Thread { [self] in
                while true {
                    arrived.wait()
                    let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                    job?.runSynchronously(on: asUnownedTaskExecutor())
                }
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrived.signal()
    }
}

/// Lets a test's cases run on threads of their own.
package struct OnOwnThreads: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await withTaskExecutorPreference(OwnThreads.shared) { try await function() }
    }
}

extension Trait where Self == OnOwnThreads {
    /// Runs the cases beside the pool that all tests share.
    package static var onOwnThreads: Self { Self() }
}
