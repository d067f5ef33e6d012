import SQLite
import Yap

/// Writes lines of a dump to a database, several rows in a transaction.
final class RowLoad {
    /// What to do with an existing row that has other bytes.
    enum Existing { case refused, replaced, skipped }

    struct Counts {
        var lines = 0
        var inserted = 0
        var replaced = 0
        var unchanged = 0
        var skipped = 0
    }

    /// Maximum rows of a transaction, because other writers wait for it.
    static let transactionRowsMax = 500
    /// Bytes from which a transaction gets no more rows.
    static let transactionBytesMax = 8 << 20

    private enum Decision { case insert, replace, leave, skip }

    private let file: DeviceFile
    private let input: LineInput
    private let existing: Existing
    private let progress: Progress
    private let checkedRowsMax: Int
    private(set) var counts = Counts()

    /// - Parameter checkedRowsMax: Maximum rows that `check` reads.
    init(
        _ file: DeviceFile, _ input: LineInput, _ existing: Existing, _ progress: Progress,
        checkedRowsMax: Int = RowDigests.rowsMaxDefault
    ) {
        (self.file, self.input, self.existing, self.progress) = (file, input, existing, progress)
        self.checkedRowsMax = checkedRowsMax
        // Ctrl-C is blocked, and must also end a wait for the next line.
        input.whileWaiting = { try progress.step("waiting for lines") }
    }

    /// Resets the counts, and returns to the first line if the input supports it.
    func startAgain() {
        counts = Counts()
        _ = input.rewind()
    }

    /// Reads all lines, and compares them with the existing rows. Writes nothing.
    ///
    /// - Parameter isNew: Whether the file doesn't exist yet.
    func check(isNew: Bool) throws {
        guard !isNew else { return try checkAll { _ in nil } }
        try file.read { file in
            try checkAll { try file.storedBytes($0.key, inCollection: $0.collection) }
        }
    }

    private func checkAll(_ stored: (DumpLine) throws -> YapDatabaseReadWriteTransaction.StoredBytes?) throws
    {
        var digests = RowDigests(rowsMax: checkedRowsMax)
        while let (line, number) = try nextLine() {
            let name = try RowDigests.Digest(collection: line.collection, key: line.key)
            let said = try RowDigests.Digest(line.bytes)
            let earlier = digests.row(name)
            let row = try earlier ?? stored(line).map { try RowDigests.Digest($0) }
            let decision = try decide(line, number, row.map { $0 == said }, isOfLine: earlier != nil)
            count(decision)
            try digests.set(decision == .skip ? row ?? said : said, for: name, line: number)
            if number % Self.transactionRowsMax == 0 { try progress.step("checked \(number) lines") }
        }
    }

    /// Reads and writes all lines.
    func write(_ openFile: OpenFileGuard) throws {
        let database = try file.opening { try file.openForWriting() }
        let connection = database.newConnection()
        do {
            while try writeBatch(connection, openFile) { try progress.step("loaded \(counts.lines) lines") }
        } catch {
            throw adding(loadedText, to: error)
        }
        try database.blocking.close()
    }

    /// Writes the rows of the next transaction. Returns false if there are none.
    private func writeBatch(_ connection: YapDatabaseConnection, _ openFile: OpenFileGuard) throws -> Bool {
        let (batch, failure) = readBatch()
        if !batch.isEmpty {
            try openFile.checkSyncs()
            let before = counts
            do {
                try file.opening {
                    try connection.blocking.readWrite { transaction throws in
                        for (line, number) in batch { try write(line, number, transaction) }
                        // Before the commit, because an app may have opened the file since the last one.
                        let writtenCount =
                            counts.inserted + counts.replaced - before.inserted - before.replaced
                        try openFile.checkExtensions(rowsCount: writtenCount)
                    }
                }
            } catch {
                counts = before
                throw error
            }
        }
        if let failure { throw failure }
        return !batch.isEmpty
    }

    private func write(
        _ line: DumpLine, _ number: Int, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        let stored = try transaction.storedBytes(forKey: line.key, inCollection: line.collection)
        let decision = try decide(line, number, stored.map { $0 == line.bytes }, isOfLine: false)
        if decision == .insert || decision == .replace {
            try transaction.setStoredBytes(line.bytes, forKey: line.key, inCollection: line.collection)
        }
        count(decision)
    }

    /// Returns the rows of the next transaction, and the error of the line after them.
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
            // An empty last line, or an empty line in between.
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            do {
                return (try DumpLine(bytes), input.number)
            } catch let error as PlaceError {
                throw Failure.failed("line \(input.number), column \(error.column): \(error.text)")
            }
        }
        return nil
    }

    /// - Parameters:
    ///   - isSame: Whether the existing row has the line's bytes. Nil if there is none.
    ///   - isOfLine: Whether the row is known to be from an earlier line.
    private func decide(_ line: DumpLine, _ number: Int, _ isSame: Bool?, isOfLine: Bool) throws -> Decision {
        guard let isSame else { return .insert }
        if isSame { return .leave }
        switch existing {
        case .replaced: return .replace
        case .skipped: return .skip
        case .refused:
            let (key, collection) = (Shown.word(line.key), Shown.word(line.collection))
            throw Failure.refused(
                "line \(number): the key \(key) is in \(collection) with another object or metadata"
                    + (isOfLine ? " by an earlier line" : "") + ": add --replace or --skip-existing.")
        }
    }

    private func count(_ decision: Decision) {
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
        func joined(_ words: String) -> String { words + (words.hasSuffix(".") ? " " : ". ") + text }
        return switch error {
        case Failure.failed(let words): Failure.failed(joined(words))
        case Failure.refused(let words): Failure.refused(joined(words))
        default: error
        }
    }
}
