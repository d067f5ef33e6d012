import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The destination of log lines. Called on the log's own thread, and may block. While a server isn't running, it is
/// called on the thread that starts or stops the server.
public protocol LogSink: Sendable {
    /// Writes whole lines, each with its line end.
    func write(_ lines: [UInt8])
}

/// A log that writes to a file descriptor, such as standard output.
///
/// The descriptor is never reopened. To rotate log files, pipe the log into a program that does.
public struct DescriptorLogSink: LogSink {
    private let descriptor: Int32

    /// Writes to `descriptor`; 1 is standard output. The caller closes it.
    public init(descriptor: Int32 = 1) {
        self.descriptor = descriptor
    }

    /// Writes all of the lines. Lines that can't be written are lost.
    public func write(_ lines: [UInt8]) {
        var rest = lines[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
        Glibc.write(descriptor, bytes, count)
    #else
        Darwin.write(descriptor, bytes, count)
    #endif
}

/// Receives log lines from the event loops and writes them on a thread of its own. Lines that arrive faster
/// than the sink writes them are dropped, and their number is logged.
final class ServerLog: ThreadOwner {
    /// A line that isn't formatted yet.
    typealias Entry = @Sendable () -> [UInt8]

    private struct State {
        var entries: [Entry] = []
        var dropped = 0
        var droppedEver = 0
        var isEnding = false
    }

    private let sink: any LogSink
    private let entriesMax: Int
    private let clock: any TimeSource
    private let state = Lock(State())
    private let alarm = Alarm()
    private let ended = Alarm()
    private let thread = OwnedThread(name: "yap log")

    init(_ sink: any LogSink, entriesMax: Int, clock: any TimeSource) {
        self.sink = sink
        self.entriesMax = entriesMax
        self.clock = clock
    }

    /// Starts the thread. It lives until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) {
        try thread.start(start) { [self] in run() }
    }

    /// Number of lines dropped since the start.
    var droppedCount: Int { state.withLock { $0.droppedEver } }

    /// Adds a line. Doesn't block.
    func add(_ entry: @escaping Entry) {
        let isFirst = state.withLock { state in
            guard !state.isEnding, state.entries.count < entriesMax else {
                state.dropped += 1
                state.droppedEver += 1
                return false
            }
            state.entries.append(entry)
            return state.entries.count == 1
        }
        if isFirst { alarm.ring() }
    }

    /// Adds a line about an event that isn't a request.
    func add(event: String, _ members: [(key: StaticString, text: String)]) {
        let now = clock.nowMilliseconds()
        add {
            var line = LogLine()
            line.put("time", logTime(milliseconds: now))
            line.put("event", event)
            for member in members { line.put(member.key, member.text) }
            return line.finish()
        }
    }

    /// Writes the queued lines and ends the thread. Waits for a blocking sink up to `waitMilliseconds`.
    func stop(waitMilliseconds: Int64) {
        state.withLock { $0.isEnding = true }
        guard thread.hasStarted else { return writeAll() }
        alarm.ring()
        ended.wait(milliseconds: waitMilliseconds)
    }

    private func run() {
        var isEnding = false
        while !isEnding {
            alarm.wait(milliseconds: nil)
            isEnding = state.withLock { $0.isEnding }
            writeAll()
        }
        ended.ring()
    }

    /// Writes what was handed in. While the thread doesn't run, this blocks the caller.
    func writeAll() {
        while true {
            let (entries, dropped) = state.withLock { state in
                defer {
                    state.entries = []
                    state.dropped = 0
                }
                return (state.entries, state.dropped)
            }
            if entries.isEmpty && dropped == 0 { return }
            var lines: [UInt8] = []
            for entry in entries { lines.append(contentsOf: entry()) }
            if dropped > 0 { lines.append(contentsOf: droppedLine(dropped)) }
            sink.write(lines)
        }
    }

    private func droppedLine(_ count: Int) -> [UInt8] {
        var line = LogLine()
        line.put("time", logTime(milliseconds: clock.nowMilliseconds()))
        line.put("event", "lines dropped")
        line.put("count", count)
        return line.finish()
    }
}
