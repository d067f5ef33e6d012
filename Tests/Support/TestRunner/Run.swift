import Foundation
import TestRun

/// A run of tests in several processes, until they have ended or one is hung.
struct Run {
    static let stackLinesMax = 400

    var book: RunBook
    private var queue: WorkQueue
    private var lanes = [pid_t: Lane]()
    private var lanesCount = 0
    private let bundle: TestBundle
    private let files: RunFiles
    private let processesMax: Int

    init(_ bundle: TestBundle, _ book: RunBook, _ queue: WorkQueue, _ files: RunFiles) {
        (self.bundle, self.book, self.queue, self.files) = (bundle, book, queue, files)
        let environment = ProcessInfo.processInfo.environment
        // Many tests wait for a process or a disk: then another one has the processor.
        let given = environment["YAP_TEST_PROCESSES"].flatMap(Int.init)
        processesMax = max(1, given ?? 2 * ProcessInfo.processInfo.activeProcessorCount)
    }

    mutating func untilItsEnd() throws {
        var progress = Progress(at: Clock.seconds)
        var tableAt = 0.0
        while true {
            do {
                while lanes.count < processesMax, !queue.isEmpty { try startLane() }
            } catch {
                // The other processes are in sessions of their own, and would go on.
                return endAll(because: "a test process can't be started: \(error)")
            }
            if lanes.isEmpty { return }
            if EndSignals.wait(seconds: 0.1) {
                sayRunning(at: Clock.seconds)
                return endAll(because: "interrupted")
            }
            readEvents()
            collectEnded()
            let now = Clock.seconds
            if now - tableAt >= 1 {
                observeProcessors(at: now)
                tableAt = now
            }
            book.takeFailures().forEach(Output.say)
            progress.line(ended: book.endedCount, of: book.listed.count, at: now).map(Output.say)
            let hangs = book.hangs(at: now, slowdown: Machine.slowdown)
            if !hangs.isEmpty { return end(hangs, at: now) }
        }
    }

    private mutating func startLane() throws {
        let units = queue.next()
        lanesCount += 1
        let lane = try Lane(lanesCount, units, bundle)
        lanes[lane.child.id] = lane
        book.start(lane.child.id, tests: units.flatMap(\.tests), at: Clock.seconds)
    }

    private mutating func readEvents() {
        for id in lanes.keys {
            for event in lanes[id]?.readEvents() ?? [] { book.take(event, from: id) }
        }
    }

    private mutating func collectEnded() {
        for (id, lane) in lanes {
            guard let end = lane.child.end() else { continue }
            // Those that it wrote between the last reading and its end.
            for event in lanes[id]?.readEvents() ?? [] { book.take(event, from: id) }
            lanes[id] = nil
            ProcessTable.end([id], patience: 0)
            queue.putBack(book.end(id, end, output: lane.close(files)))
        }
    }

    private mutating func observeProcessors(at now: Double) {
        let table = ProcessTable()
        for id in lanes.keys { book.observe(id, processorSeconds: table.processorSeconds(of: id), at: now) }
    }

    // MARK: The end before the end

    private mutating func end(_ hangs: [RunBook.Hang], at now: Double) {
        Output.say("\nThe run ends, because a test is hung:")
        for hang in hangs { Output.say("  \(hang)") }
        sayRunning(at: now)
        for hang in hangs {
            book.note(hang)
            let children = ProcessTable().commandLines(of: hang.process)
            if !children.isEmpty { Output.say("Its children:") }
            for line in children { Output.say("  \(line)") }
            let lines = Stacks.of(hang.process, files)
            Output.say("\nThreads of process \(hang.process), \(hang.subject):")
            for line in lines.prefix(Self.stackLinesMax) { Output.say("  \(line)") }
            if lines.count > Self.stackLinesMax { Output.say("  … more in \(files.log)") }
        }
        endAll(because: nil)
    }

    private func sayRunning(at now: Double) {
        Output.say("Running tests:")
        for line in book.runningLines(at: now) { Output.say("  \(line)") }
    }

    private mutating func endAll(because words: String?) {
        ProcessTable.end(Array(lanes.keys))
        readEvents()
        for lane in lanes.values {
            _ = lane.child.waitForEnd(seconds: 5)
            _ = lane.close(files)
        }
        lanes = [:]
        if let words { book.addFailure(words) }
        book.takeFailures().forEach(Output.say)
    }
}
