import SQLite
import Yap
import YapCloudKit

/// Rejects writes to a file that another process has open, if that process's extensions would have to be
/// registered again to catch up.
struct OpenFileGuard {
    private static let remedy = "End the app first, or add --while-open."

    let file: DeviceFile
    /// Names of the syncs in the file.
    let syncs: [String]
    /// Nil permits everything.
    let openers: OtherOpeners?

    /// - Throws: `Failure.refused` if the file has a sync, and another process has it open.
    func checkSyncs() throws {
        guard let sync = syncs.first, try isOpen() else { return }
        throw Failure.refused(
            "\(Shown.word(file.path)) has the sync \(Shown.word(sync)), and another process has the file open: rows "
                + "that are loaded now would be uploaded only when the app registers the sync again, at its next "
                + "start. " + Self.remedy)
    }

    /// - Parameter rowsCount: Number of rows to be written.
    /// - Throws: `Failure.refused` if an extension can't catch up with that many, and another process has the file
    ///   open.
    func checkExtensions(rowsCount: Int) throws {
        guard rowsCount > 0, try isOpen() else { return }
        let room = try file.read {
            try $0.fewestMissableRows(exceptOf: YapDatabaseCloudKit.className)
        }
        guard let room, rowsCount > room.rowsMax else { return }
        let name = Shown.word(room.name)
        let limit =
            room.catchesUp ? "catches up with at most \(room.rowsMax) more rows" : "can't catch up with rows"
        throw Failure.refused(
            "\(Shown.word(file.path)) has the extension \(name) (\(Shown.word(room.className))), which \(limit), and "
                + "another process has the file open: the app couldn't read \(name) until it registers it again, at "
                + "its next start. \(Self.remedy)")
    }

    private func isOpen() throws -> Bool {
        guard let openers else { return false }
        return try file.opening { try openers.exist() }
    }
}
