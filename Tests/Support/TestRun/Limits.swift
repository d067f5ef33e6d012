/// Time limits. A test process that exceeds one of them is hung.
package struct Limits: Sendable {
    /// Maximum seconds in the body of a test, or in one case of a parameterized test.
    package var seconds = 120.0
    /// The same for the tests in `LongTests`.
    package var longSeconds = 300.0
    /// Maximum seconds without an event and without processor time.
    package var idleSeconds = 120.0
    /// Processor seconds that an idle process may use, for its timers.
    package var idleProcessorSeconds = 0.5

    package init(environment: [String: String] = [:]) {
        func number(_ name: String, _ standard: Double) -> Double {
            environment[name].flatMap(Double.init) ?? standard
        }
        seconds = number("YAP_TEST_SECONDS_MAX", seconds)
        longSeconds = number("YAP_TEST_LONG_SECONDS_MAX", longSeconds)
        idleSeconds = number("YAP_TEST_IDLE_SECONDS_MAX", idleSeconds)
    }

    /// The limits on a machine that has `slowdown` times the work that it can do at once.
    package func scaled(by slowdown: Double) -> Limits {
        var scaled = self
        scaled.seconds *= max(1, slowdown)
        scaled.longSeconds *= max(1, slowdown)
        return scaled
    }

    package func seconds(for test: TestID?) -> Double {
        guard let test, LongTests.reasons[test.name] != nil else { return seconds }
        return longSeconds
    }
}
