import Foundation
internal import System

/// What only makes sense on a screen does nothing here, and says so when it is called: once a process, to the standard
/// error.
package enum Inert {
    private static let said = Lock<Set<String>>([])
    private static let output = Lock<@Sendable (String) -> Void> { line in
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// Takes the place of the standard error, and forgets what was said.
    package static func redirect(to output: @escaping @Sendable (String) -> Void) {
        said.withLock { $0 = [] }
        // The closure before is released after the lock.
        _ = Self.output.withLock { current in
            defer { current = output }
            return current
        }
    }

    /// Says that `symbol` does nothing, and why.
    static func say(_ symbol: String, _ reason: String) {
        guard said.withLock({ $0.insert(symbol).inserted }) else { return }
        output.withLock { $0 }("CloudKit: \(symbol) does nothing on Linux: \(reason).")
    }
}
