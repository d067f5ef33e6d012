import Foundation

/// Runs what blocks on a thread of its own, so that the threads that tests share stay free.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Swift.Result { try body() }) }.start()
    }
}

/// Runs `body` for each number on a thread of its own, and waits for all; the first error is thrown. Blocks.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let errors = Errors()
    let ended = DispatchSemaphore(value: 0)
    for index in 0..<count {
        let thread = Thread {
            do { try body(index) } catch { errors.add(error) }
            ended.signal()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }
    for _ in 0..<count { ended.wait() }
    if let first = errors.first { throw first }
}

private final class Errors: @unchecked Sendable {
    // Sendable because `errors` is touched only under the lock.
    private let lock = NSLock()
    private var errors: [any Error] = []

    func add(_ error: any Error) { lock.withLock { errors.append(error) } }
    var first: (any Error)? { lock.withLock { errors.first } }
}

/// A test's own error, with words.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
