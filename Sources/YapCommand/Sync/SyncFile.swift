import CloudKit
import SQLite
import Yap
import YapCloudKit

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A device's database file, from which one sync or all are read.
struct SyncFile: Sendable {
    let path: String
    /// Registered name of the sync. Nil for all.
    let name: String?
    /// Key of an encrypted file.
    var encryptionKey: YapDatabaseOptions.EncryptionKey?

    private var device: DeviceFile { DeviceFile(path: path, encryptionKey: encryptionKey) }

    /// Reads the file with a connection of its own, on one snapshot.
    ///
    /// - Throws: `Failure` if the file, or the requested sync, can't be read.
    func read(
        _ limits: SyncInspection.Limits
    ) throws -> (inspection: SyncInspection, registrations: [SyncInspection.Registration]) {
        let inspection = try open(limits)
        return (inspection, try chosen(inspection))
    }

    /// Returns a text that changes with each commit, and for another file of the same name.
    ///
    /// - Throws: `Failure`, as `read` does.
    func version() throws -> String {
        let snapshot = try device.read { try $0.snapshot() }
        var status = stat()
        _ = stat(path, &status)
        return "\(status.st_ino)-\(snapshot)"
    }

    private func open(_ limits: SyncInspection.Limits) throws -> SyncInspection {
        try device.opening {
            try SyncInspection(path: path, encryptionKey: encryptionKey, limits: limits)
        }
    }

    /// Returns the requested registrations, which must be readable.
    private func chosen(_ inspection: SyncInspection) throws -> [SyncInspection.Registration] {
        let file = Shown.word(path)
        let all = inspection.registrations
        guard !all.isEmpty else {
            let others = inspection.otherExtensions.map(Shown.word).joined(separator: ", ")
            throw Failure.notThere(
                "\(file) has no sync: no YapDatabaseCloudKit was ever registered in it. "
                    + (others.isEmpty ? "It has no other extension either." : "Its extensions: \(others)."))
        }
        let chosen = all.filter { name == nil || $0.name == name }
        guard !chosen.isEmpty else {
            let names = all.map { Shown.word($0.name) }.joined(separator: ", ")
            throw Failure.notThere(
                "\(file) has no sync that is registered as \(Shown.word(name ?? "")): \(names).")
        }
        let unread = chosen.filter { $0.content == nil }
        if unread.count == chosen.count, let first = unread.first {
            throw Failure.failed(Self.unreadable(first))
        }
        return chosen
    }

    /// Returns why a registration's tables aren't read, and the remedy.
    static func unreadable(_ registration: SyncInspection.Registration) -> String {
        let version = registration.classVersion
        let known = YapDatabaseCloudKit.classVersion
        let what =
            "The tables of \(Shown.word(registration.name)) have version \(version), and this program reads \(known): "
        return what
            + (version < known
                ? "start the app once with this version of the library, which brings them up to it."
                : "use the yap of the library that wrote them.")
    }
}
