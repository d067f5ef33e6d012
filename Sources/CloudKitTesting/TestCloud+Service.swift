import CloudKit
internal import CloudService
internal import CloudStore
internal import CloudWire
import System

/// What the service can be made to do.
extension TestCloud {
    // MARK: Change tokens

    /// Expires all change tokens that were given until now: a fetch with one gets `changeTokenExpired` for the zone, or
    /// for the database, and has to fetch all anew. No fetch tells of deletions until now.
    public func expireChangeTokens() {
        let floors = try? state.withLock { $0.store }.write { writer in
            var floors: [String: Int64] = [:]
            var after: ZoneKey?
            while true {
                let page = try writer.zones(after: after, zonesMax: 500)
                var wanted = StoreLoad()
                wanted.databases = Set(page.rows.map(\.key.database)).sorted()
                wanted.usageOf = wanted.databases.map { UsageKey(scope: $0.scope, user: $0.owner) }
                wanted.assets.tombstoneBytesOf = page.rows.map(\.key)
                let loaded = try writer.load(wanted)
                let databases = loaded.databases
                var usage = loaded.usage
                var changes = StoreChanges()
                for var zone in page.rows where !zone.isDeleted {
                    // One more than any token says, and than any change has.
                    zone.counter += 1
                    zone.tombstoneFloor = zone.counter
                    let owner = UsageKey(scope: zone.key.database.scope, user: zone.key.database.owner)
                    let gone = StoredSize(
                        indexBytes: -(loaded.assets.tombstoneBytes[zone.key] ?? 0),
                        tombstones: -zone.size.tombstones)
                    usage[owner]?.size += gone
                    zone.size += gone
                    changes.zones.append(zone)
                    changes.prunedTombstones.append(PrunedTombstones(zone: zone.key, through: zone.counter))
                }
                for (key, var row) in databases.sorted(by: { $0.key < $1.key }) where floors[key.owner] == nil
                {
                    row.counter += 1
                    floors[key.owner] = row.counter
                    changes.databases.append(row)
                }
                changes.usage = usage.sorted { $0.key < $1.key }.map(\.value)
                try writer.apply(changes)
                guard page.moreComing, let last = page.rows.last else { return floors }
                after = last.key
            }
        }
        state.withLock { $0.databaseFloors.merge(floors ?? [:]) { $1 } }
    }

    /// The refusal of a database's token that is too old; a zone's is refused by the service.
    func refusal(ofTokenIn request: WireRequest) -> WireError? {
        let floors = state.withLock { $0.databaseFloors }
        guard !floors.isEmpty, let text = (try? ChangesDatabaseRequest(json: request.body))?.syncToken,
            let token = try? ChangeToken(text: text), case .database(let owner) = token.subject,
            let floor = floors[owner], token.counter < floor
        else { return nil }
        var error = WireError(ordered: .changeTokenExpired, retryAfterSeconds: nil)
        error.serverErrorCode = .badRequest
        error.reason = "client knowledge differs from server knowledge"
        return error
    }

    // MARK: Quota

    /// Says how much a user may keep in the private database; 0 makes it full: what grows it is refused with
    /// `quotaExceeded`, and what is deleted makes room.
    /// - Parameters:
    ///   - bytes: of records and files; nil: as much as usual.
    ///   - user: whose; nil: that of the public database.
    public func setQuota(bytes: Int64?, user: String? = nil) {
        let owner = user.map(Self.userRecordName) ?? ""
        service.quotas.order(bytes, of: owner)
        state.withLock { $0.dashboard }?.service.quotas.order(bytes, of: owner)
    }

    // MARK: The index

    /// Seconds by which queries come behind: they find a record by what it was then, as Apple's may do for a while
    /// after a save. Fetches by ID, changes and deletions don't. 0 at first; what was saved before keeps its time.
    ///
    /// With `.infinity` queries find nothing new until `catchUpIndex()`.
    public var indexLagSeconds: Double {
        get { Double(state.withLock { $0.store }.lagMilliseconds) / 1000 }
        set {
            let milliseconds = (max(0, newValue) * 1000).rounded()
            state.withLock { $0.store }.lagMilliseconds = Int64(exactly: milliseconds) ?? .max
        }
    }

    /// Lets queries find everything that was saved until now.
    public func catchUpIndex() {
        // A file that can't be written now is written by the next request, or that says so.
        try? state.withLock { $0.store }.catchUp(to: .max)
    }

    // MARK: Production

    /// Makes a cloud in which types, fields and indexes can't be added by saving: as Apple's production environment
    /// does, it refuses records with a type or field that isn't in the schema, and queries without an index.
    /// - Parameters:
    ///   - schema: in CloudKit's schema language, as `cktool export-schema` and `yap schema export` write it.
    ///   - seed: decides the names and ids that the service makes.
    ///   - execution: which thread runs operations.
    /// - Throws: `SchemaTextError` of the module CloudService, which says where the text is wrong.
    public convenience init(
        productionSchema schema: String, seed: UInt64 = 1, execution: Execution = .inline
    ) throws {
        let schema = try SchemaLanguage.parse(schema).complete
        let store = MemoryCloudStore()
        var changes = StoreChanges()
        changes.schema = schema.row(version: seed)
        try store.write { try $0.apply(changes) }
        self.init(memory: store, environment: "production", seed: seed, execution: execution)
    }

    /// Deploys the schema, as it is after all that was saved: makes a cloud in production with it, and without any
    /// records. Its devices are its own.
    /// - Throws: what reading the store throws.
    public func production() throws -> TestCloud {
        var wanted = StoreLoad()
        wanted.schema = true
        let schema = try store.read { try $0.load(wanted).schema }
        let memory = MemoryCloudStore()
        var changes = StoreChanges()
        changes.schema = schema
        try memory.write { try $0.apply(changes) }
        return TestCloud(memory: memory, environment: "production", seed: seed, execution: execution)
    }
}
