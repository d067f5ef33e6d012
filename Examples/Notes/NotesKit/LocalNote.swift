import CloudKit
public import Foundation

/// The offline copy: the note, and what this device knows of the cloud.
public struct LocalNote: Codable, Hashable, Sendable {
    /// The text.
    public var text = ""
    /// When a person changed it; nil while nobody ever wrote anything.
    public var modified: Date?
    /// Whether it has changes that aren't in the cloud.
    public var isUnsent = false
    /// Whose it is; nil while nobody was signed in.
    public var owner: String?
    /// Whether the zone and the subscription are in the cloud.
    var isPrepared = false
    /// Whether the user deleted it from the cloud by hand.
    var isDeletedByUser = false
    /// Which version of the record this device has: its system fields, and none of its values.
    private var knownRecord: Data?
    /// Up to where it knows the zone.
    private var knownChanges: Data?

    /// Makes an empty copy.
    public init() {}

    var note: Note? { modified.map { Note(text: text, modified: $0) } }

    mutating func take(_ note: Note) {
        (text, modified, isUnsent) = (note.text, note.modified, false)
    }

    /// The record to save the note in: the version that this device knows, or a new one.
    func record() -> CKRecord {
        known() ?? CKRecord(recordType: Note.recordType, recordID: Note.recordID)
    }

    /// The record as this device knows it.
    func known() -> CKRecord? {
        guard let knownRecord, let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: knownRecord) else {
            return nil
        }
        unarchiver.requiresSecureCoding = true
        defer { unarchiver.finishDecoding() }
        return CKRecord(coder: unarchiver)
    }

    /// Remembers which version of the record this device has.
    mutating func know(_ record: CKRecord?) {
        knownRecord = record.map { record in
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            record.encodeSystemFields(with: archiver)
            archiver.finishEncoding()
            return archiver.encodedData
        }
    }

    /// Up to where this device knows the zone; nil for not at all.
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

    /// Forgets what it knows of the cloud: the zone isn't there any more.
    mutating func forgetCloud() {
        (isPrepared, knownRecord, knownChanges) = (false, nil, nil)
    }
}

/// Where the offline copy lies: a folder with a file for each user.
public struct NoteShelf: Sendable {
    private let folder: URL

    /// Names the folder, which must be there.
    public init(folder: URL) {
        self.folder = folder
    }

    private var file: URL { folder.appendingPathComponent("note.plist") }

    /// Where the copy of a user lies who isn't signed in now.
    private func file(of owner: String) -> URL {
        let name = Data(owner.utf8).base64EncodedString().replacingOccurrences(of: "/", with: "-")
        return folder.appendingPathComponent("note-\(name).plist")
    }

    /// The copy as it was left; an empty one when there is none.
    /// - Throws: What reading a file that is there throws.
    public func load() throws -> LocalNote { try load(file) }

    /// Keeps `note`.
    /// - Throws: What writing throws. The copy is then as it was before.
    public func save(_ note: LocalNote) throws { try save(note, file) }

    /// Puts `old` aside for its owner and takes out what `owner` left here.
    /// - Throws: What reading or writing a file throws.
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
