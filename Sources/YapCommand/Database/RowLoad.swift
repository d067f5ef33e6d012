import SQLite
import Yap

/// Writes lines of a dump into a database, some rows in a transaction.
final class RowLoad {
    /// What becomes of a row that is there with other bytes.
    enum Existing { case refused, replaced, skipped }

    struct Counts {
        var lines = 0
        var inserted = 0
        var replaced = 0
        var unchanged = 0
        var skipped = 0
    }

    /// Maximum number of rows of a transaction, which other writers wait for.
    static let transactionRowsMax = 500
    /// Bytes from which a transaction gets no more rows.
    static let transactionBytesMax = 8 << 20

    private enum Decision { case insert, replace, leave, skip }

    private let path: String
    private let input: LineInput
    private let existing: Existing
    private let progress: Progress
    private(set) var counts = Counts()

    init(_ path: String, _ input: LineInput, _ existing: Existing, _ progress: Progress) {
        (self.path, self.input, self.existing, self.progress) = (path, input, existing, progress)
        // Ctrl-C is held back, and must end a wait for the next line too.
        input.whileWaiting = { try progress.step("waiting for lines") }
    }

    /// Forgets what was counted, and begins with the first line if the input can.
    func startAgain() {
        counts = Counts()
        _ = input.rewind()
    }

    /// Reads all lines, and compares them with the rows that are there. Writes nothing.
    ///
    /// - Parameter isNew: Whether there is no file yet.
    func check(isNew: Bool) throws {
        guard !isNew else { return try checkAll { _ in nil } }
        try DeviceFile(path: path).read { file in
            try checkAll { try file.storedBytes($0.key, inCollection: $0.collection) }
        }
    }

    private func checkAll(_ stored: (DumpLine) throws -> YapDatabaseReadWriteTransaction.StoredBytes?) throws
    {
        while let (line, number) = try nextLine() {
            count(try decide(line, number, try stored(line)), in: &counts)
            if number % Self.transactionRowsMax == 0 { try progress.step("checked \(number) lines") }
        }
    }

    /// Reads and writes all lines.
    func write(_ guardSync: SyncGuard) throws {
        let file = DeviceFile(path: path)
        var options = YapDatabaseOptions()
        options.observesOtherProcesses = false
        let database = try file.opening { try YapDatabase(path: path, options: options) { _ in } }
        let connection = database.newConnection()
        var isAny = true
        while isAny {
            let (batch, failure) = readBatch()
            if !batch.isEmpty {
                try guardSync.check(loaded: loadedText)
                let before = counts
                do {
                    try file.opening {
                        try connection.blocking.readWrite { transaction throws in
                            for (line, number) in batch { try write(line, number, transaction) }
                        }
                    }
                } catch {
                    counts = before
                    throw adding(loadedText, to: error)
                }
            }
            if let failure { throw adding(loadedText, to: failure) }
            isAny = !batch.isEmpty
            if isAny { try progress.step("loaded \(counts.lines) lines") }
        }
        try database.blocking.close()
    }

    private func write(
        _ line: DumpLine, _ number: Int, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        let stored = try transaction.storedBytes(forKey: line.key, inCollection: line.collection)
        let decision = try decide(line, number, stored)
        if decision == .insert || decision == .replace {
            try transaction.setStoredBytes(line.bytes, forKey: line.key, inCollection: line.collection)
        }
        count(decision, in: &counts)
    }

    /// The rows of the next transaction, and why the line after them can't be read.
    private func readBatch() -> (rows: [(DumpLine, Int)], failure: (any Error)?) {
        var (rows, bytesCount) = ([(DumpLine, Int)](), 0)
        do {
            while rows.count < Self.transactionRowsMax, bytesCount < Self.transactionBytesMax,
                let (line, number) = try nextLine()
            {
                rows.append((line, number))
                bytesCount += line.bytes.data.count + (line.bytes.metadata?.count ?? 0)
            }
            return (rows, nil)
        } catch {
            return (rows, error)
        }
    }

    private func nextLine() throws -> (DumpLine, Int)? {
        while let bytes = try input.next() {
            // A last line that is empty, or lines between.
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            do {
                return (try DumpLine(bytes), input.number)
            } catch let error as PlaceError {
                throw Failure.failed("line \(input.number), column \(error.column): \(error.text)")
            }
        }
        return nil
    }

    private func decide(
        _ line: DumpLine, _ number: Int, _ stored: YapDatabaseReadWriteTransaction.StoredBytes?
    ) throws -> Decision {
        guard let stored else { return .insert }
        if stored == line.bytes { return .leave }
        switch existing {
        case .replaced: return .replace
        case .skipped: return .skip
        case .refused:
            throw Failure.refused(
                "line \(number): the key \(Shown.word(line.key)) is in \(Shown.word(line.collection)) with another "
                    + "object or metadata: add --replace or --skip-existing.")
        }
    }

    private func count(_ decision: Decision, in counts: inout Counts) {
        counts.lines += 1
        switch decision {
        case .insert: counts.inserted += 1
        case .replace: counts.replaced += 1
        case .leave: counts.unchanged += 1
        case .skip: counts.skipped += 1
        }
    }

    private var loadedText: String? {
        counts.lines == 0 ? nil : "The first \(counts.lines) rows of the lines are in the file."
    }

    private func adding(_ text: String?, to error: any Error) -> any Error {
        guard let text else { return error }
        return switch error {
        case Failure.failed(let words): Failure.failed("\(words) \(text)")
        case Failure.refused(let words): Failure.refused("\(words) \(text)")
        default: error
        }
    }
}
