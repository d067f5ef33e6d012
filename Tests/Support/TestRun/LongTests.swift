/// The tests whose body may take five minutes.
package enum LongTests {
    /// The reason for each, by the name that `swift test list` prints.
    package static let reasons: [String: String] = [:]

    /// The names that no test has.
    package static func unknown(among tests: [TestID]) -> [String] {
        Set(reasons.keys).subtracting(tests.map(\.name)).sorted()
    }
}
