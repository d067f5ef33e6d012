import Foundation
import TestRun

/// A test process: it runs its tests one after the other, and reports to a file.
struct Lane {
    let child: ChildProcess
    private let output: String
    private let events: String
    private let title: String
    private var eventsFile: FileHandle?
    private var unread = Data()

    init(_ number: Int, _ units: [TestUnit], _ bundle: TestBundle) throws {
        output = bundle.files.temporary("\(number).output")
        events = bundle.files.temporary("\(number).events")
        title = units.map(\.name).joined(separator: " ")
        let stream = ["--event-stream-output-path", events, "--event-stream-version", "0"]
        let filters = units.flatMap(\.filters).flatMap { ["--filter", $0] }
        child = try bundle.start(["--no-parallel"] + stream + filters, output: output)
    }

    /// The events since the last call.
    mutating func readEvents() -> [TestEvent] {
        if eventsFile == nil { eventsFile = FileHandle(forReadingAtPath: events) }
        unread += eventsFile?.readDataToEndOfFile() ?? Data()
        guard let end = unread.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = String(decoding: unread[...end], as: UTF8.self).split(separator: "\n")
        unread = Data(unread[unread.index(after: end)...])
        return lines.compactMap { TestEvent(line: String($0)) }
    }

    /// Moves the output to the log. Returns it.
    func close(_ files: RunFiles) -> String {
        let text = RunFiles.text(of: output)
        files.log(text, under: title)
        try? eventsFile?.close()
        for path in [output, events] { try? FileManager.default.removeItem(atPath: path) }
        return text
    }
}
