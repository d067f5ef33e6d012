import ExtensionModel
import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing
import Yap

/// A file with all extensions, the model of its rows, and processes that write it.
final class ExtensionFile {
    /// Rows as large as this make batches of a few rows.
    static let fillerBytesMax = 400_000

    let path: String
    let draw: ItemDraw
    var replay: ItemReplay
    private let folder: TemporaryFolder

    init(seed: UInt64, fillerBytesMax: Int = ExtensionFile.fillerBytesMax) throws {
        folder = try TemporaryFolder()
        path = folder.file("test.yap")
        draw = ItemDraw(seed: seed, fillerBytesMax: fillerBytesMax)
        replay = ItemReplay(draw)
    }

    /// A copy of a closed file, with the model that it had.
    init(copying other: ExtensionFile) throws {
        folder = try TemporaryFolder()
        path = folder.file("test.yap")
        (draw, replay) = (other.draw, other.replay)
        try FileManager.default.copyItem(atPath: other.path, toPath: path)
    }

    /// Number of transactions in it.
    func count() throws -> Int {
        let instance = try ItemInstance(path: path, bits: 0)
        defer { try? instance.close() }
        return try instance.connection.blocking.read { try ItemJournal.count($0) }
    }

    /// Writes transactions in this process.
    func write(_ count: Int, bits: Int) throws {
        let instance = try ItemInstance(path: path, bits: bits)
        for _ in 0..<count { try instance.write(draw) }
        try instance.close()
    }

    /// Unregisters the extensions whose bit is set, and those that depend on them.
    func unregister(_ bits: Int) throws {
        let instance = try ItemInstance(path: path, bits: ItemExtensions.allBits)
        for one in instance.extensions.chosen(bits)
        where instance.database.registeredExtensionNames.contains(one.name) {
            try instance.database.blocking.unregister(one.name)
        }
        let names = instance.database.registeredExtensionNames
        var parts = ItemModel.Parts()
        if !names.contains(instance.extensions.undo.name) { parts.insert(.undoForgotten) }
        if !names.contains(instance.extensions.board.name) { parts.insert(.boardForgotten) }
        try instance.connection.blocking.readWrite { try ItemJournal.noteForgotten(parts, $0) }
        try instance.close()
    }

    /// Opens the file, registers all extensions, and compares them with the model. Nothing is left to be done then.
    func check(_ comment: String) throws {
        let instance = try ItemInstance(path: path, bits: ItemExtensions.allBits)
        // What follows from missed changes is done before a write.
        try instance.write(draw, isUndone: true)
        let differences = try instance.differences(&replay, requiresAll: true)
        #expect(differences == [], "\(comment)")
        try instance.close()
        try checkClosed(comment)
    }

    /// What the closed file says of rows that extensions still have to get.
    func notes() throws -> [String] {
        let connection = try Connection(path: path)
        defer { try? connection.close() }
        return try Self.notes(connection)
    }

    private static func notes(_ connection: Connection) throws -> [String] {
        let sql = """
            SELECT extension || ' ' || key || ' ' || CAST(data AS TEXT) FROM yap2
            WHERE key IN ('hasMissedCommits', 'filledThrough') ORDER BY 1
            """
        return try connection.withStatement(sql) { statement in
            var notes: [String] = []
            while try statement.step() { notes.append(statement.text(at: 0)) }
            return notes
        }
    }

    /// Looks at the tables of the closed file: it is sound, and no extension has rows to get.
    private func checkClosed(_ comment: String) throws {
        let connection = try Connection(path: path)
        #expect(try connection.integrityCheck() == [], "\(comment)")
        #expect(try Self.notes(connection) == [], "\(comment)")
        let hasLog = try connection.withStatement("SELECT 1 FROM sqlite_schema WHERE name = 'changes2'") {
            try $0.step()
        }
        if hasLog {
            let hasEntries = try connection.withStatement("SELECT 1 FROM changes2") { try $0.step() }
            #expect(!hasEntries, "\(comment): entries of the log are left")
        }
        try connection.close()
    }

    /// Starts the program of `Tests/Support/ExtensionChild`.
    ///
    /// - Parameter place: The write, sync or truncation at which it is killed.
    func child(bits: Int, lifeSeed: UInt64, transactions: Int, killedAt place: Int? = nil) throws
        -> ExtensionLife
    {
        let program = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            .appendingPathComponent("ExtensionChild").path
        let numbers = [Int(draw.fillerBytesMax), bits].map(String.init)
        let arguments =
            [path, "\(draw.seed)"] + numbers + ["\(lifeSeed)", "\(transactions)"]
            + (place.map { ["\($0)"] } ?? [])
        return ExtensionLife(try ChildProcess(program, arguments))
    }
}

/// A child process with extensions, and what it has printed.
final class ExtensionLife {
    private let process: ChildProcess
    private var output: [UInt8] = []

    init(_ process: ChildProcess) { self.process = process }

    /// The lines so far that are whole.
    var lines: [String] {
        String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
    }

    /// The last commit that was acknowledged.
    var acknowledged: Int? { lines.compactMap { Int($0) }.last }

    /// Waits until it has printed so many lines, or has ended.
    func wait(forLines count: Int) {
        while lines.count < count, let bytes = process.read() { output += bytes }
    }

    /// Waits for its end.
    ///
    /// - Parameter isKilled: Whether to kill it now.
    /// - Returns: Whether it was killed. Another end than its own last line is an issue.
    func end(isKilled: Bool = false, _ comment: String) -> Bool {
        if isKilled { process.kill() }
        while let bytes = process.read() { output += bytes }
        let signal = process.wait()
        if signal == SIGKILL { return true }
        if signal != 0 || lines.last != "end" {
            Issue.record("\(comment): the child ended with signal \(signal): \(lines.last ?? "nothing")")
        }
        return false
    }
}
