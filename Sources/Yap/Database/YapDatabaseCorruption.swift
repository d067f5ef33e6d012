/// A damaged file that was renamed or deleted, so that an empty database could be created.
public struct YapDatabaseCorruption: Sendable {
    /// Why the file couldn't be opened.
    public let error: YapDatabaseError
    /// Where the file is now: its old path followed by a number and `.corrupt`. Its log, if there was one, is beside
    /// it. Nil if it was deleted.
    public let renamedPath: String?
}
