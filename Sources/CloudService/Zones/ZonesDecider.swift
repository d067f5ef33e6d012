import CloudStore
import CloudWire
import System

/// Decides a `zones/modify` request: in order, each operation separately. Pure.
struct ZonesDecider {
    struct Decision {
        var changes = StoreChanges()
        var results: [ZoneResult] = []
        /// The change of the owner's usage by deleted zones.
        var usage = UsageDeltas()
    }

    let operations: [ZoneOperation]
    /// The key of each operation's zone, or nil if the caller can't have a zone with that name.
    let keys: [ZoneKey?]
    let database: StoredDatabaseKey
    let limits: ServiceLimits
    /// The quota of the database.
    let bytesMax: Int64
    /// True if creating an existing zone is an error.
    let refusesExisting: Bool
    let random: any RandomSource
    let nowMilliseconds: Int64
    /// The device of the request, if it has a name.
    let maker: DeviceKey?

    func decide(loaded: StoreLoaded) -> Decision {
        var decision = Decision()
        var feed =
            loaded.databases[database] ?? DatabaseRow(key: database, epoch: random.nextEpoch(), counter: 0)
        for (operation, key) in zip(operations, keys) {
            let zoneID = operation.zone.zoneID
            guard let key else {
                decision.results.append(.error(ServiceError.zoneNotFound(zoneID)))
                continue
            }
            switch operation.operationType {
            case .create:
                decision.results.append(create(key, loaded, zoneID, &feed, &decision))
            case .delete:
                decision.results.append(delete(key, loaded.zones[key], zoneID, &feed, &decision))
            }
        }
        if !decision.changes.zones.isEmpty { decision.changes.databases = [feed] }
        decision.changes.addPushTasks(loaded: loaded, maker: maker)
        return decision
    }

    /// Creates a zone. An existing zone is returned unchanged, so that a request can be repeated.
    private func create(
        _ key: ZoneKey, _ loaded: StoreLoaded, _ zoneID: ZoneID, _ feed: inout DatabaseRow,
        _ decision: inout Decision
    ) -> ZoneResult {
        let row = loaded.zones[key]
        if key.isDefault || row.map({ !$0.isDeleted }) ?? false {
            guard !refusesExisting else { return .error(ServiceError.zoneExists(zoneID)) }
            // The token of the zone's beginning, so that a client that assumes it created the zone fetches
            // all of its contents.
            return .zone(key.wireZone(row.map { ZoneRow(key: key, epoch: $0.epoch) }))
        }
        if let error = nameError(key.zoneName) { return .error(error.inZone(zoneID)) }
        if row == nil {
            let owner = UsageKey(scope: database.scope, user: database.owner)
            var used = loaded.usage[owner]?.size ?? StoredSize()
            used += decision.usage.deltas[owner] ?? StoredSize()
            guard used.zones < Int64(limits.assets.privateZonesMax) else {
                return .error(ServiceError.tooManyZones(limits.assets.privateZonesMax, zoneID))
            }
            used.zones += 1
            guard used.quotaBytes(rowBytes: limits.assets.rowBytes) <= bytesMax else {
                var error = ServiceError.quotaExceeded
                error.zoneID = zoneID
                return .error(error)
            }
            decision.usage.countRow(of: key, 1)
        }
        feed.counter += 1
        let epoch = row.map { ZoneEpochs.epoch(after: $0.epoch) } ?? random.nextEpoch()
        let made = ZoneRow(key: key, epoch: epoch, databaseCounter: feed.counter)
        decision.changes.zones.append(made)
        return .zone(key.wireZone(made))
    }

    private func delete(
        _ key: ZoneKey, _ row: ZoneRow?, _ zoneID: ZoneID, _ feed: inout DatabaseRow,
        _ decision: inout Decision
    ) -> ZoneResult {
        guard !key.isDefault else {
            var error = ServiceError.badRequest("the default zone can't be deleted")
            error.zoneID = zoneID
            return .error(error)
        }
        guard var row, !row.isDeleted else { return .error(ServiceError.zoneNotFound(zoneID)) }
        decision.usage.clear(row)
        feed.counter += 1
        row.isDeleted = true
        row.deletedMilliseconds = nowMilliseconds
        row.checksum = StoreChecksum()
        row.size = StoredSize()
        row.databaseCounter = feed.counter
        decision.changes.zones.append(row)
        decision.changes.clearedZones.append(key)
        var zone = key.wireZone(nil)
        zone.atomic = nil
        zone.deleted = true
        return .zone(zone)
    }

    private func nameError(_ zoneName: String) -> WireError? {
        do {
            try ModifyBatch.checkName(zoneName, of: "zoneName", limits)
        } catch {
            return error
        }
        return zoneName.hasPrefix("_")
            ? ServiceError.badRequest("zoneName must not begin with an underscore") : nil
    }
}

extension RandomSource {
    /// Random bits, except for those of a feed that hasn't begun.
    func nextEpoch() -> UInt64 {
        let epoch = next()
        return epoch == FeedPosition.epochBeforeTheFirst ? 1 : epoch
    }
}
