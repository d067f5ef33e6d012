public import CloudKit
public import Foundation

/// The note: one text, and when a person last changed it.
public struct Note: Hashable, Sendable {
    /// The version of the records that this app writes. An app that is older than a record leaves it alone.
    public static let version = 2

    /// What it says.
    public var text: String
    /// When a person changed it, on whichever device: the cloud knows only when it was saved.
    public var modified: Date

    /// Makes a note.
    public init(text: String, modified: Date) {
        self.text = text
        self.modified = modified
    }
}

/// Why a note of the cloud isn't shown, or isn't sent there.
public enum NoteProblem: Error, Hashable {
    /// A newer version of the app wrote it. This one doesn't touch it, so that nothing of it is lost.
    case newerVersionAvailable
    /// It isn't a note of this app.
    case unreadable
    /// The user deleted the app's data by hand. It is not sent again until they write something.
    case deletedByUser
    /// Other devices were faster again and again.
    case tooManyConflicts
}

extension Note {
    /// The record's type, its name, and the name of its zone: there is one note.
    public static let (recordType, recordName, zoneName) = ("note", "note", "notes")

    /// The zone of the note.
    public static var zoneID: CKRecordZone.ID { CKRecordZone.ID(zoneName: zoneName) }
    /// The note's record.
    public static var recordID: CKRecord.ID { CKRecord.ID(recordName: recordName, zoneID: zoneID) }

    /// Whether this app is too old for `record`, or `record` is none of its own.
    /// - Throws: `NoteProblem` if so.
    static func check(_ record: CKRecord) throws {
        guard let version: Int = record["version"] else { throw NoteProblem.unreadable }
        guard version <= Self.version else { throw NoteProblem.newerVersionAvailable }
    }

    /// Reads a record that was fetched with its file.
    /// - Throws: `NoteProblem` when this app can't or mustn't read it; what reading the file throws.
    public init(_ record: CKRecord) throws {
        try Self.check(record)
        guard let asset: CKAsset = record["text"], let file = asset.fileURL,
            let modified: Date = record["modified"]
        else { throw NoteProblem.unreadable }
        self.init(text: try String(contentsOf: file, encoding: .utf8), modified: modified)
    }

    /// Writes the note into `record`: its text, which may be long, as an asset of `file`.
    /// - Throws: What writing the file throws.
    func write(into record: CKRecord, file: URL) throws {
        try Data(text.utf8).write(to: file, options: .atomic)
        record["version"] = Self.version
        record["modified"] = modified
        record["text"] = CKAsset(fileURL: file)
    }
}
