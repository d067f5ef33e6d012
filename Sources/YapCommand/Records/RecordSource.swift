import CloudService
import CloudStore
import CloudWire

/// One database of a container's environment, read from the server's files.
struct RecordSource {
    static let pageRecordsMax = 500
    static let pageBytesMax = 8 << 20
    static let zonesMax = 500

    /// Options of every command that reads a database.
    static let options: [Command.Option] = [
        .container, .environment,
        Command.Option(name: "account", value: "NAME", help: "the private database of this account"),
        Command.Option(name: "public", help: "the public database"),
        Command.Option(name: "zone", value: "NAME", help: "this zone only (default: every zone)"),
        Command.dataOption,
    ]

    let database: StoredDatabaseKey
    let zoneNames: [String]
    private let file: StoreFile?
    /// Description of the place: the environment and the container.
    private let place: String

    /// Finds the database that the options name.
    init(_ invocation: Invocation, _ console: Console) throws {
        let control = try invocation.control(console)
        let container = try invocation.container(in: control, console)
        switch (invocation.value("account"), invocation.has("public")) {
        case (let name?, false):
            let account = try control.accounts.existing(named: name, console)
            database = .privateDatabase(
                of: try control.accounts.userRecordName(of: account, container: container))
        case (nil, true): database = .publicDatabase
        default: throw Failure.usage("say which database: either --account NAME or --public")
        }
        let environment = try invocation.environment()
        let path = try invocation.dataFolder(console).storePath(
            container: container, environment: environment)
        file = try StoreFile(path: path)
        place = "\(environment) of \(container)"
        zoneNames = try Self.zoneNames(in: database, file, only: invocation.value("zone"))
    }

    /// Opens the database that a command changes as its `--account`. A service has opened the file before, and has
    /// upgraded it.
    init(changing data: EnvironmentData, _ invocation: Invocation, _ console: Console) throws {
        let account = try data.control.accounts.existing(named: try invocation.required("account"), console)
        let container = data.container
        database =
            invocation.has("public")
            ? .publicDatabase
            : .privateDatabase(
                of: try data.control.accounts.userRecordName(of: account, container: container.identifier))
        file = try StoreFile(
            path: data.folder.storePath(
                container: container.identifier, environment: container.environment))
        place = "\(container.environment) of \(container.identifier)"
        zoneNames = try Self.zoneNames(in: database, file, only: invocation.value("zone"))
    }

    init(
        _ file: StoreFile?, database: StoredDatabaseKey, zoneNames: [String],
        place: String = "The environment"
    ) {
        self.file = file
        self.database = database
        self.zoneNames = zoneNames
        self.place = place
    }

    /// Returns the names in the environment's schema.
    ///
    /// - Throws: `CloudStoreError`, and errors of the schema.
    func nameCheck() throws -> SchemaNameCheck {
        var wanted = StoreLoad()
        wanted.schema = true
        let row = try file?.read { try $0.load(wanted).schema }
        return SchemaNameCheck(schema: try row.map(Schema.init) ?? .initial, place: place)
    }

    /// Visits the records by zone and by name. Each page is read in one snapshot. `body` returns false to
    /// stop.
    func forEach(_ body: (WireRecord) throws -> Bool) throws {
        guard let file else { return }
        for zone in zoneNames.map({ ZoneKey(database: database, zoneName: $0) }) {
            var after: String?
            while true {
                let page = try file.read {
                    try $0.records(
                        in: zone, after: after, recordsMax: Self.pageRecordsMax, bytesMax: Self.pageBytesMax)
                }
                for row in page.rows {
                    guard try body(row.wireRecord()) else { return }
                }
                guard page.moreComing, let last = page.rows.last else { break }
                after = last.key.recordName
            }
        }
    }

    /// Visits the records that an index finds, in the requested order. `body` returns false to stop. Returns false if
    /// no index serves the query; then every record has to be read.
    func forEach(
        _ recordType: String, _ conditions: [RecordCondition], _ orders: [RecordOrder], _ schema: Schema,
        _ body: (WireRecord) throws -> Bool
    ) throws -> Bool {
        guard let file else { return true }
        guard let asked = RecordIndexQuery(recordType, conditions, orders, schema) else { return false }
        var query = OperatorQuery(asked.query, database: database, zoneNames: zoneNames)
        var isFirst = true
        while true {
            let page: (rows: [StoredRecord], moreComing: Bool)
            do {
                page = try file.read { try query.page(in: $0) }
            } catch is WireError where isFirst {
                return false
            }
            isFirst = false
            for row in page.rows {
                guard try body(row.wireRecord()) else { return true }
            }
            guard page.moreComing else { return true }
        }
    }

    /// Returns the records with this name in all zones.
    func records(named name: String) throws -> [WireRecord] {
        guard let file else { return [] }
        var wanted = StoreLoad()
        let keys = zoneNames.map {
            RecordKey(zone: ZoneKey(database: database, zoneName: $0), recordName: name)
        }
        wanted.records = keys
        let loaded = try file.read { try $0.load(wanted) }
        return try keys.compactMap { key in
            try loaded.records[key].flatMap { $0.isDeleted ? nil : try $0.wireRecord() }
        }
    }

    /// Returns the zones to search: the chosen one, or all.
    private static func zoneNames(
        in database: StoredDatabaseKey, _ file: StoreFile?, only zone: String?
    ) throws -> [String] {
        let zones = try zoneNames(in: database, file)
        guard let zone else { return zones }
        guard zones.contains(zone) else {
            throw Failure.notThere(
                "There is no zone \(zone). There are: \(Nearest.list(zones, to: zone) ?? "none").")
        }
        return [zone]
    }

    /// Returns the default zone, and the custom zones by name.
    static func zoneNames(in database: StoredDatabaseKey, _ file: StoreFile?) throws -> [String] {
        guard let file, database != .publicDatabase else { return [ZoneID.defaultZoneName] }
        var names = [ZoneID.defaultZoneName]
        var after: ZoneKey? = ZoneKey(database: database, zoneName: "")
        while true {
            let page = try file.read { try $0.zones(after: after, zonesMax: zonesMax) }
            let own = page.rows.filter { $0.key.database == database }
            names += own.filter { !$0.isDeleted }.map(\.key.zoneName)
            guard page.moreComing, own.count == page.rows.count, let last = page.rows.last else {
                return names
            }
            after = last.key
        }
    }
}
