import Foundation
import TestRun

/// TestRunner [--filter REGEX]... [--build-seconds N]: runs the tests of the bundle beside it in several processes,
/// ends the run if one is hung, and closes with the line `N passed, N failed`. The exit status is 1 if a test failed.
@main struct TestRunner {
    static func main() {
        EndSignals.block()
        do {
            exit(try run(RunnerOptions(Array(CommandLine.arguments.dropFirst()))) ? 0 : 1)
        } catch {
            Output.say("failed: the test runner: \(error)")
            Output.say("0 passed, 1 failed")
            exit(1)
        }
    }

    private static func run(_ options: RunnerOptions) throws -> Bool {
        let start = Clock.seconds
        let files = try RunFiles()
        let bundle = TestBundle(path: try TestBundle.find(), files: files)
        let all = try bundle.list()
        let tests = all.filter(options.chooses)
        let times = UnitTimes(path: files.folder + "/test-seconds")
        let book = RunBook(listed: tests, limits: Limits(environment: ProcessInfo.processInfo.environment))
        var run = Run(bundle, book, WorkQueue(tests, of: all, seconds: times.read()), files)
        try run.untilItsEnd()
        files.removeTemporary()
        times.add(run.book.secondsOfUnits)
        for name in LongTests.unknown(among: all) {
            run.book.addFailure("LongTests names \(name), which doesn't exist")
        }
        report(run.book, options, seconds: Clock.seconds - start, log: files.log)
        return run.book.failedCount == 0
    }

    private static func report(_ book: RunBook, _ options: RunnerOptions, seconds: Double, log: String) {
        Output.say("\nTests that worked longest:")
        for line in book.longestLines() { Output.say("  \(line)") }
        let build = Text.seconds(options.buildSeconds)
        Output.say("\nThe build took \(build), the run \(Text.seconds(seconds)).")
        if book.failedCount > 0 { Output.say("The whole output of the tests: \(log)") }
        for line in book.failedLines() { Output.say(line) }
        Output.say(book.lastLine)
    }
}
