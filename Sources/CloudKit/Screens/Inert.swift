import Foundation
internal import System

/// Symbols that need a screen do nothing here, and print that when they are called: once a process, to the standard
/// error.
package enum Inert {
    private static let said = Lock<Set<String>>([])
    private static let output = Lock<@Sendable (String) -> Void> { line in
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// Replaces the standard error, and discards what was printed.
    package static func redirect(to output: @escaping @Sendable (String) -> Void) {
        said.withLock { $0 = [] }
        // The previous closure is released after the lock.
        _ = Self.output.withLock { current in
            defer { current = output }
            return current
        }
    }

    /// Prints that `symbol` does nothing, with the reason.
    static func say(_ symbol: String, _ reason: String) {
        guard said.withLock({ $0.insert(symbol).inserted }) else { return }
        output.withLock { $0 }("CloudKit: \(symbol) does nothing on Linux: \(reason).")
    }
}
