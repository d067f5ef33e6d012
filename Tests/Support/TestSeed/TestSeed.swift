import Foundation

/// The seed of tests that draw their inputs.
///
/// A run of the tests depends on the commit alone, so the seed is fixed. `YAP_TEST_SEED=17` replaces it, as
/// `make explore` does.
package enum TestSeed {
    /// The seed of this run.
    package static let value = ProcessInfo.processInfo.environment["YAP_TEST_SEED"].flatMap(UInt64.init) ?? 1

    /// Different seeds for a test with several cases.
    package static func values(count: Int) -> [UInt64] {
        (0..<UInt64(count)).map { value &+ $0 }
    }
}
