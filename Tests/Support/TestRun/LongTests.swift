/// The tests whose body may take five minutes.
package enum LongTests {
    /// The reason for each, by the name that `swift test list` prints.
    package static let reasons: [String: String] = [
        "ConvergenceTests.ConvergenceTests/devicesConvergeAndNoCommittedValueIsLost()":
            "500 seeds, whose traces make one hash",
        "FuzzTests.RequestFuzzTests/whateverIsAskedNothingBreaksAndOthersKeepWhatTheyHave()":
            "1,500 hostile requests, one after the other",
        "SimulationTests.SimulationTests/devicesEndEqualAndNothingIsLost()": "150 seeds of whole fleets",
    ]

    /// The names that no test has.
    package static func unknown(among tests: [TestID]) -> [String] {
        Set(reasons.keys).subtracting(tests.map(\.name)).sorted()
    }
}
