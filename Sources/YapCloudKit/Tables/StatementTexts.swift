internal import CloudKit
internal import SQLite

/// The texts of the statements on the tables of one registered name. Each is built once, because building and hashing
/// them took a third of the time of a tracked write.
///
/// Each handle has its own, and only one thread at a time uses a handle.
final class StatementTexts {
    /// Place of a text in the sources.
    struct Site: Hashable {
        private let file: UnsafePointer<UInt8>
        private let line: UInt
        private let column: UInt

        init(_ file: StaticString, _ line: UInt, _ column: UInt) {
            self.file = file.utf8Start
            self.line = line
            self.column = column
        }
    }

    private let name: String
    /// The last zone and the last database that were read. The next ones are nearly always the same.
    private var zone: CKRecordZone.ID?
    private var database: (column: String, key: DatabaseKey)?
    let assets: AssetFolder
    let files: CloudFilePaths
    private var tables: [String: String] = [:]
    private var texts: [Site: String] = [:]

    init(name: String, database: String) {
        self.name = name
        assets = AssetFolder(database: database, registeredName: name)
        files = CloudFilePaths(database: database, registeredName: name)
    }

    func zone(name: String, owner: String) -> CKRecordZone.ID {
        if let zone, zone.zoneName == name, zone.ownerName == owner { return zone }
        let new = CKRecordZone.ID(zoneName: name, ownerName: owner)
        zone = new
        return new
    }

    func database(_ column: String) -> DatabaseKey {
        if let database, database.column == column { return database.key }
        let key = DatabaseKey(column: column)
        database = (column, key)
        return key
    }

    /// Returns a table's name for SQL.
    func table(_ kind: String) -> String {
        if let known = tables[kind] { return known }
        let table = Connection.quoted("cloudKit_\(kind)_\(name)")
        tables[kind] = table
        return table
    }

    /// Returns the text at a place of the sources, which must be the same each time.
    func text(_ site: Site, _ make: () -> String) -> String {
        if let known = texts[site] {
            assert(known == make(), "a statement whose text changes from call to call: \(known)")
            return known
        }
        let text = make()
        texts[site] = text
        return text
    }
}
