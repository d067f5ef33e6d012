import CloudKit
internal import CloudService
internal import CloudStore
internal import CloudWire
import System

/// Control of the service.
extension TestCloud {
    // MARK: Change tokens

    /// Expires all change tokens. The next fetch with one gets `changeTokenExpired` for the zone or the database, and
    /// must fetch everything again. Earlier deletions are then not reported.
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
                    // Greater than the number in any token or change.
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

    /// Returns the error of an expired database token. The service itself rejects expired zone tokens.
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

    /// Sets the quota of a private database, or of the public one. With 0 it is full: saves that enlarge it fail with
    /// `quotaExceeded`, and deletions make room.
    /// - Parameters:
    ///   - bytes: maximum bytes of records and files; nil for the default.
    ///   - user: the user of the private database; nil for the public database.
    public func setQuota(bytes: Int64?, user: String? = nil) {
        let owner = user.map(Self.userRecordName) ?? ""
        service.quotas.order(bytes, of: owner)
        state.withLock { $0.dashboard }?.service.quotas.order(bytes, of: owner)
    }

    // MARK: The index

    /// Seconds after which queries find a save, as Apple's may lag behind. Fetches by ID, changes and deletions don't
    /// lag. The default is 0. A change doesn't affect earlier saves.
    ///
    /// With `.infinity`, queries find nothing new until `catchUpIndex()`.
    public var indexLagSeconds: Double {
        get { Double(state.withLock { $0.store }.lagMilliseconds) / 1000 }
        set {
            let milliseconds = (max(0, newValue) * 1000).rounded()
            state.withLock { $0.store }.lagMilliseconds = Int64(exactly: milliseconds) ?? .max
        }
    }

    /// Makes all earlier saves visible to queries.
    public func catchUpIndex() {
        // If the file can't be written now, the next request writes it or reports the error.
        try? state.withLock { $0.store }.catchUp(to: .max)
    }

    // MARK: Production

    /// Makes a cloud in production with a schema. As in Apple's production environment, a save can't add types, fields
    /// or indexes: records with a type or field outside of the schema fail, and so do queries without an index.
    /// - Parameters:
    ///   - schema: a text in CloudKit's schema language, as `cktool export-schema` and `yap schema export` write it.
    ///   - seed: the seed of the names and IDs that the service makes.
    ///   - execution: the threads that run operations.
    /// - Throws: `SchemaTextError` of the module CloudService, with the position of the error in the text.
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

    /// Deploys the schema: makes an empty cloud in production with the types, fields and indexes that saves have added
    /// here. It has devices of its own.
    /// - Throws: the errors of reading the store.
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
