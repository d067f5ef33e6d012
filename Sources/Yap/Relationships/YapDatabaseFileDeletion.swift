#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How a relationship deletes files.
///
/// It receives the text of the edge's destination, on a thread of the database and outside any transaction. It may
/// receive a text again after a crash, so a missing file must not be an error.
public struct YapDatabaseFileDeletion: Sendable {
    let delete: @Sendable (String) throws -> Void

    /// - Parameter delete: Deletes a file. If it throws, the deletion is tried again at the next registration.
    public init(_ delete: @escaping @Sendable (String) throws -> Void) { self.delete = delete }

    /// Deletes files by absolute paths. A relative path is an error, and so is a folder.
    ///
    /// Any writer of an object can name any file. Use `inFolder` if objects come from a server or another user.
    public static let atPaths = YapDatabaseFileDeletion { path in
        guard path.hasPrefix("/") else {
            throw YapDatabaseError(.invalidExtension, "the path of a file isn't absolute: \(path)")
        }
        try unlinkFile(path)
    }

    /// Deletes files in one folder by their names. A text with `/` is an error.
    ///
    /// - Parameter folder: Path of the folder.
    public static func inFolder(_ folder: String) -> YapDatabaseFileDeletion {
        YapDatabaseFileDeletion { name in
            guard !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != ".." else {
                throw YapDatabaseError(.invalidExtension, "not the name of a file in \(folder): \(name)")
            }
            try unlinkFile("\(folder)/\(name)")
        }
    }

    private static func unlinkFile(_ path: String) throws {
        // Doesn't remove whole folders, which would make a wrong path dangerous.
        if unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR { return }
        throw YapDatabaseError(.inputOutput, "\(path) can't be deleted: error \(errno)")
    }
}
