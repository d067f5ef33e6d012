/// A damaged file that was renamed or deleted, so that an empty database could be created.
public struct YapDatabaseCorruption: Sendable {
    /// Error that opening the file returned.
    public let error: YapDatabaseError
    /// Path of the renamed file: the old path followed by a number and `.corrupt`. Its log, if it had one, is beside
    /// it. Nil if the file was deleted.
    public let renamedPath: String?
}
