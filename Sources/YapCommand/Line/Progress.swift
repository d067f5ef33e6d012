import System

/// Reports progress on the standard error: a line every few seconds, and none for quick work.
final class Progress {
    static let firstMilliseconds: Int64 = 2_000
    static let everyMilliseconds: Int64 = 5_000

    private let console: Console
    private let clock: any MonotonicSource
    private let signals = StopSignals()
    private let whatIsLeft: String
    private var nextMilliseconds: Int64

    /// Makes Ctrl-C and SIGTERM end the work at its next step, so that nothing is left half done.
    ///
    /// - Parameter whatIsLeft: Message printed when the user ends the work.
    init(
        _ console: Console, whatIsLeft: String = "nothing half is left",
        clock: any MonotonicSource = SystemMonotonicSource()
    ) {
        self.console = console
        self.whatIsLeft = whatIsLeft
        self.clock = clock
        nextMilliseconds = clock.elapsedMilliseconds() + Self.firstMilliseconds
    }

    /// Reports the progress, if it is time to.
    ///
    /// - Throws: `Failure.failed` if the program was asked to end.
    func step(_ text: @autoclosure () -> String) throws {
        if signals.isPending { throw Failure.failed("interrupted; \(whatIsLeft)") }
        let now = clock.elapsedMilliseconds()
        guard now >= nextMilliseconds else { return }
        nextMilliseconds = now + Self.everyMilliseconds
        console.note(text())
    }
}

/// Human-readable sizes.
enum SizeText {
    /// Returns bytes with a unit: `512 B`, `1.5 MB`. A MB is a million bytes.
    static func bytes(_ count: Int64) -> String {
        var value = Double(count)
        var units = ["B", "kB", "MB", "GB", "TB"][...]
        while value >= 999.95, units.count > 1 {
            value /= 1000
            units = units.dropFirst()
        }
        let tenths = Int64((value * 10).rounded())
        let number = units.first == "B" ? "\(count)" : "\(tenths / 10).\(tenths % 10)"
        return "\(number) \(units.first ?? "")"
    }
}
