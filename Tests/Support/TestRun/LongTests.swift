/// The tests whose body may take five minutes.
package enum LongTests {
    /// The reason for each, by the name that `swift test list` prints.
    package static let reasons: [String: String] = [
        "ConvergenceTests.ConvergenceTests/devicesConvergeAndNoCommittedValueIsLost()":
            "168 seeds, whose traces make one hash",
        "FuzzTests.RequestFuzzTests/whateverIsAskedNothingBreaksAndOthersKeepWhatTheyHave()":
            "600 hostile requests, one after the other",
        "SimulationTests.SimulationTests/devicesEndEqualAndNothingIsLost()": "75 seeds of whole fleets",
    ]

    /// The suites that work for more than half a minute. They begin first when nothing is known of an earlier run.
    package static let suites: Set<String> = [
        "CloudServerTests.BoundsTests", "CloudServiceTests.RandomQueryTests", "CloudServiceTests.ReplayTests",
        "CloudServiceTests.ServiceFaultTests", "CloudStoreTests.PowerLossTests",
        "ConvergenceTests.ConvergenceTests", "ConvergenceTests.FleetTests", "ConvergenceTests.MutantTests",
        "DurabilityTests.ExtensionFaultTests", "DurabilityTests.ExtensionKillTests",
        "DurabilityTests.FaultTests", "DurabilityTests.PowerLossTests", "DurabilityTests.SyncKillTests",
        "EndToEndTests.CutTests", "SimulationTests.SimulationTests", "YapCloudKitTests.RandomUploadTests",
        "YapTests.AllExtensionsModelTests", "YapTests.noBytesMakeTheDecoderCrash()",
    ]

    /// The names that no test has.
    package static func unknown(among tests: [TestID]) -> [String] {
        Set(reasons.keys).subtracting(tests.map(\.name)).sorted()
    }
}
