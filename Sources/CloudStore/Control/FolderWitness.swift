import System

/// A small file outside of a data folder that stores the last known marks of the folder. It shows whether the
/// folder was restored: files inside the folder are restored with it and can't show that.
///
/// Public because a program that embeds `CloudServer` passes it.
public struct FolderWitness: Hashable, Sendable {
    /// Maximum number of stored identities of the folder. Each restore gives the folder a new identity.
    static let marksMax = 16
    private static let title = "yap witness 1"
    private static let bytesMax = 4096

    /// Path of the file.
    public let path: String

    /// Makes the value for a file, which may be missing.
    public init(path: String) {
        self.path = path
    }

    /// Returns the stored marks, latest first, or an empty array if the file doesn't exist.
    ///
    /// - Throws: `DataFolderError.failed` if the file can't be read or isn't a witness.
    func marks() throws -> [FolderMark] {
        guard !ControlStore.isAbsent(path) else { return [] }
        let bytes = try DataFolderError.translating {
            try OpenFile(path, .reading).read(bytesMax: Self.bytesMax)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(separator: "\n")
        guard lines.first == Substring(Self.title) else { throw notAWitness }
        return try lines.dropFirst().map { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let id = UInt64(words[0], radix: 16), let number = Int64(words[1]) else {
                throw notAWitness
            }
            return FolderMark(id: id, number: number)
        }
    }

    /// Stores a mark that is on the folder's disk. When this returns, the mark is on disk. After an error,
    /// the file is unchanged.
    ///
    /// - Throws: `DataFolderError`.
    func remember(_ mark: FolderMark) throws {
        let marks = [mark] + (try marks().filter { $0.id != mark.id }.prefix(Self.marksMax - 1))
        let lines = marks.map { "\(String($0.id, radix: 16)) \($0.number)\n" }.joined()
        try DataFolderError.translating {
            DraftFile.sweep(path)
            try DurableFile.write("\(Self.title)\n\(lines)".utf8, to: path)
        }
    }

    private var notAWitness: DataFolderError {
        .failed(path: path, reason: "it is no witness of a data folder")
    }
}

/// The result of a data folder's check when a server starts to serve it.
package enum FolderHistory: Hashable, Sendable {
    /// No sign of a restore was found.
    case isAsItWas
    /// The folder was restored. All its epochs were renewed.
    case wasPutBack(environments: Int)
    /// The witness can't be read. The folder is served as without a witness.
    case isUnknown(reason: String)
}

extension DataFolder {
    /// Default path of the witness: beside the folder, so that a restore of the folder doesn't change it.
    public var witnessPath: String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return "\(path).witness"
    }

    /// Compares the folder with its witness, and renews all epochs if the folder was restored. The caller has
    /// locked the folder and has opened no store.
    ///
    /// A mark is written to the folder's disk before it is written to the witness. So a witness that is ahead
    /// of the folder proves that the folder has lost data.
    ///
    /// - Throws: `DataFolderError`; `CloudStoreError` if the epochs can't be renewed. Then the folder must
    ///   not be served.
    package func compare(
        _ control: ControlStore, _ witness: FolderWitness, random: any RandomSource = SystemRandomSource()
    ) throws -> FolderHistory {
        let seen: [FolderMark]
        do {
            seen = try witness.marks()
        } catch {
            return .isUnknown(reason: "\(error)")
        }
        let own = try control.folderMarks.current()
        // A folder without a mark is older than its witness, which is created after the first mark.
        let isBehind = own.map { own in seen.contains { $0.id == own.id && $0.number > own.number } }
        guard isBehind ?? !seen.isEmpty else { return .isAsItWas }
        let count = try renewAll(random)
        // Last, so that a server that was killed before this renews the epochs again.
        try control.folderMarks.renew()
        return .wasPutBack(environments: count)
    }

    /// Increments the folder's mark, and then stores it in the witness.
    ///
    /// - Throws: `DataFolderError`, `CloudStoreError`. The folder may still be served.
    package func mark(_ control: ControlStore, _ witness: FolderWitness) throws {
        try witness.remember(control.folderMarks.advance())
    }
}
