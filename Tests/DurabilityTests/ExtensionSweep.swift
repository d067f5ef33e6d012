import ExtensionModel
import OwnThreads
import Testing
import Yap

/// What is swept: all extensions are registered in a file whose rows they lack, and then a transaction is written.
enum ExtensionSweep: CaseIterable, Sendable {
    /// They get all rows.
    case filling
    /// They get the rows that a process without them wrote.
    case catchingUp

    /// So large that a few rows are a batch.
    private static let fillerBytesMax = 400_000

    /// A file that is ready for it. Copies of it are used.
    func file(seed: UInt64) throws -> ExtensionFile {
        let file = try ExtensionFile(seed: seed, fillerBytesMax: Self.fillerBytesMax)
        if self == .catchingUp { try file.write(20, bits: ItemExtensions.allBits) }
        try file.write(20, bits: 0)
        let notes = try file.notes()
        switch self {
        case .filling: #expect(notes == [])
        case .catchingUp: #expect(notes.contains { $0.hasPrefix("index hasMissedCommits after ") })
        }
        return file
    }
}

/// One run of it, through a VFS.
final class ExtensionRun {
    private(set) var instance: ItemInstance?
    private(set) var errors: [any Error] = []
    /// Number of the transaction, if its commit was acknowledged.
    private(set) var acknowledged: Int?
    private let file: ExtensionFile

    init(_ file: ExtensionFile, vfsName: String) {
        self.file = file
        var options = YapDatabaseOptions()
        options.vfsName = vfsName
        options.busyTimeoutMilliseconds = 0
        instance = passing { try ItemInstance(path: file.path, options) }
        guard let instance else { return }
        for bit in instance.extensions.all.indices {
            passing { try instance.extensions.register(1 << bit, in: instance.database) }
        }
        acknowledged = passing { try instance.write(file.draw) }
    }

    @discardableResult
    private func passing<Result>(_ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch {
            errors.append(error)
            return nil
        }
    }

    /// Each error says what failed.
    func checkErrors(_ comment: String) {
        let expected: [YapDatabaseError.Code] = [.cannotOpen, .diskFull, .inputOutput]
        for error in errors {
            let code = (error as? YapDatabaseError)?.code
            #expect(code.map(expected.contains) ?? false, "\(comment): \(error)")
        }
    }

    /// Once the fault is over, the open database is right, and gets what it lacks.
    func checkOpen(_ comment: String) throws {
        guard let instance else { return }
        let found = try instance.differences(&file.replay)
        #expect(found == [], "\(comment), open")
        try instance.extensions.register(ItemExtensions.allBits, in: instance.database)
        try instance.write(file.draw)
        let complete = try instance.differences(&file.replay, requiresAll: true)
        #expect(complete == [], "\(comment), registered again")
    }

    /// Lets go of the file as a process does that ends.
    func close() {
        try? instance?.close()
        instance = nil
    }

    /// Checks the closed file through the operating system's VFS.
    func checkFile(_ comment: String) throws {
        try file.check(comment)
        #expect(file.replay.count >= acknowledged ?? 0, "\(comment): a commit is lost")
    }
}
