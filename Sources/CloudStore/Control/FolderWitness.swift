import System

/// A small file outside of a data folder that remembers how far the folder had come. What is put back with the folder
/// can't tell that it was put back; this can.
///
/// Public because a program that embeds `CloudServer` passes it.
public struct FolderWitness: Hashable, Sendable {
    /// So many identities of the folder are remembered: each restore gives it another one.
    static let marksMax = 16
    private static let title = "yap witness 1"
    private static let bytesMax = 4096

    /// Where the file is.
    public let path: String

    /// Names the file, which may not be there yet.
    public init(path: String) {
        self.path = path
    }

    /// What it has seen, the latest first; nothing when there is no file.
    ///
    /// - Throws: `DataFolderError.failed` when it can't be read, or is no witness.
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

    /// Remembers a mark that the folder has on its disk. It is on the disk when this returns, or the file is as it was.
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

/// What a data folder was found to be when a server began to serve it.
package enum FolderHistory: Hashable, Sendable {
    /// Nothing speaks against its being as the last server left it.
    case isAsItWas
    /// It was put back: everything in it has new epochs now.
    case wasPutBack(environments: Int)
    /// The witness can't be read. The folder is served as it would be without one.
    case isUnknown(reason: String)
}

extension DataFolder {
    /// The witness's usual place: beside the folder, so that it stays when the folder is put back.
    public var witnessPath: String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return "\(path).witness"
    }

    /// Compares the folder with its witness, and renews all epochs if the folder was restored. The caller has locked
    /// the folder and has opened no store.
    ///
    /// A folder is marked on its disk before the witness hears of it. So a witness that has seen more than the folder
    /// has can only mean that the folder has lost what was on its disk.
    ///
    /// - Throws: `DataFolderError`, `CloudStoreError` when epochs can't be renewed: nothing may be served then.
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
        // A folder without a mark is of before its witness, which has been there only since it had one.
        let isBehind = own.map { own in seen.contains { $0.id == own.id && $0.number > own.number } }
        guard isBehind ?? !seen.isEmpty else { return .isAsItWas }
        let count = try renewAll(random)
        // Last: a server that is killed before this renews once more.
        try control.folderMarks.renew()
        return .wasPutBack(environments: count)
    }

    /// Marks the folder, and then tells the witness.
    ///
    /// - Throws: `DataFolderError`, `CloudStoreError`. What is served may be served on.
    package func mark(_ control: ControlStore, _ witness: FolderWitness) throws {
        try witness.remember(control.folderMarks.advance())
    }
}
