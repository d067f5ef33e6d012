import CloudKit
public import Foundation

/// The offline copy: the note, and what this device knows of the cloud.
public struct LocalNote: Codable, Hashable, Sendable {
    /// The text.
    public var text = ""
    /// Time of the last edit; nil if the note was never written.
    public var modified: Date?
    /// True if it has changes that aren't in the cloud.
    public var isUnsent = false
    /// Record name of its user; nil if no user has signed in.
    public var owner: String?
    /// True if the zone and the subscription are in the cloud.
    var isPrepared = false
    /// True if the user deleted it from the cloud by hand.
    var isDeletedByUser = false
    /// Version of the record on this device: its system fields, without its values.
    private var knownRecord: Data?
    /// Change token of the zone.
    private var knownChanges: Data?

    /// Creates an empty copy.
    public init() {}

    var note: Note? { modified.map { Note(text: text, modified: $0) } }

    mutating func take(_ note: Note) {
        (text, modified, isUnsent) = (note.text, note.modified, false)
    }

    /// Returns the record to save the note in: the version that this device knows, or a new one.
    func record() -> CKRecord {
        known() ?? CKRecord(recordType: Note.recordType, recordID: Note.recordID)
    }

    /// Returns the record as this device knows it.
    func known() -> CKRecord? {
        guard let knownRecord, let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: knownRecord) else {
            return nil
        }
        unarchiver.requiresSecureCoding = true
        defer { unarchiver.finishDecoding() }
        return CKRecord(coder: unarchiver)
    }

    /// Stores the version of the record on this device.
    mutating func know(_ record: CKRecord?) {
        knownRecord = record.map { record in
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            record.encodeSystemFields(with: archiver)
            archiver.finishEncoding()
            return archiver.encodedData
        }
    }

    /// Change token of the zone; nil before the first fetch.
    var token: CKServerChangeToken? {
        get {
            knownChanges.flatMap {
                try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: $0)
            }
        }
        set {
            knownChanges = newValue.flatMap {
                try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true)
            }
        }
    }

    /// Discards what it knows of the cloud, because the zone was deleted.
    mutating func forgetCloud() {
        (isPrepared, knownRecord, knownChanges) = (false, nil, nil)
    }
}

/// The folder of the offline copy, with a file for each user.
public struct NoteShelf: Sendable {
    private let folder: URL

    /// Uses an existing folder.
    public init(folder: URL) {
        self.folder = folder
    }

    private var file: URL { folder.appendingPathComponent("note.plist") }

    /// Returns the file of a user who isn't signed in now.
    private func file(of owner: String) -> URL {
        let name = Data(owner.utf8).base64EncodedString().replacingOccurrences(of: "/", with: "-")
        return folder.appendingPathComponent("note-\(name).plist")
    }

    /// Reads the copy. Returns an empty one if it doesn't exist.
    /// - Throws: The error of reading an existing file.
    public func load() throws -> LocalNote { try load(file) }

    /// Stores `note`.
    /// - Throws: The error of writing. The copy is then unchanged.
    public func save(_ note: LocalNote) throws { try save(note, file) }

    /// Stores `old` for its owner, and returns the copy of `owner`.
    /// - Throws: The error of reading or writing a file.
    func swap(_ old: LocalNote, for owner: String) throws -> LocalNote {
        if let previous = old.owner { try save(old, file(of: previous)) }
        var note = try load(file(of: owner))
        note.owner = owner
        try save(note)
        return note
    }

    private func load(_ file: URL) throws -> LocalNote {
        guard FileManager.default.fileExists(atPath: file.path) else { return LocalNote() }
        return try PropertyListDecoder().decode(LocalNote.self, from: Data(contentsOf: file))
    }

    private func save(_ note: LocalNote, _ file: URL) throws {
        try PropertyListEncoder().encode(note).write(to: file, options: .atomic)
    }
}
