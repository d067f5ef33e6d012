import CloudStore
import CloudWire
import System

/// The endpoints that list, look up and change zones.
struct ZonesEndpoints: Sendable {
    let limits: ServiceLimits
    let settings: ServiceSettings
    let clock: any TimeSource
    let random: any RandomSource
    let quotas: Quotas
    let answers: KeptAnswers
    let writing: ChangeWriter

    func list(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        let request = try ZonesListRequest(request: body)
        switch caller.scope {
        case .public:
            let zone = ZoneKey(database: .publicDatabase, zoneName: ZoneID.defaultZoneName)
            return .answer(.message(ZonesResponse(zones: [.zone(zone.wireZone(nil))])))
        case .shared:
            return .answer(.message(ZonesResponse(zones: [])))
        case .private:
            return .read { reader in
                let page = try ZonesPage(
                    reader, caller, syncToken: request.syncToken, zonesMax: self.limits.itemsMax)
                var zones = page.rows.filter { !$0.isDeleted }.map { $0.key.wireZone($0) }
                if page.isFirst, let database = caller.database {
                    zones.insert(
                        ZoneKey(database: database, zoneName: ZoneID.defaultZoneName).wireZone(nil), at: 0)
                }
                return .message(
                    ZonesResponse(
                        zones: zones.map { .zone($0) }, moreComing: page.moreComing, syncToken: page.syncToken
                    ))
            }
        }
    }

    func lookup(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        let request = try ZonesLookupRequest(request: body)
        try limits.check(count: request.zones.count, caller)
        let keys = request.zones.map { try? caller.key(of: $0) }
        return .read { reader in
            var wanted = StoreLoad()
            wanted.zones = keys.compactMap { $0 }
            let loaded = try reader.load(wanted)
            let results = zip(request.zones, keys).map { zoneID, key -> ZoneResult in
                guard let key, key.isDefault || loaded.zones[key].map({ !$0.isDeleted }) ?? false else {
                    return .error(ServiceError.zoneNotFound(zoneID))
                }
                return .zone(key.wireZone(loaded.zones[key], scope: caller.scope))
            }
            return .message(ZonesResponse(zones: results))
        }
    }

    func modify(
        _ body: [UInt8], _ caller: ServiceCaller, _ operation: OperationID?
    ) throws -> ServiceWork {
        let request = try ZonesModifyRequest(request: body)
        try limits.check(count: request.operations.count, caller)
        guard let database = caller.database else { throw ServiceError.authenticationRequired }
        let keys = request.operations.map { try? caller.key(of: $0.zone.zoneID) }
        let named = keys.compactMap { $0 }
        guard Set(named).count == named.count else {
            throw ServiceError.badRequest("more than one operation on a zone")
        }
        let ordered = quotas.ordered(of: database.owner)
        return answers.once(operation, KeptMessageForm<ZonesResponse>()) { writer in
            var wanted = StoreLoad()
            wanted.databases = [database]
            wanted.zones = named
            wanted.usageOf = [UsageKey(scope: database.scope, user: database.owner)]
            let decider = ZonesDecider(
                operations: request.operations, keys: keys, database: database, limits: self.limits,
                bytesMax: ordered ?? self.limits.assets.privateBytesMax,
                refusesExisting: self.settings.existingZone == .error && !caller.wantsExtras,
                random: self.random, nowMilliseconds: self.clock.nowMilliseconds(), maker: caller.device)
            var loaded = try writer.load(wanted)
            try loaded.loadPushTasks(of: named, from: writer)
            self.quotas.addUsageElsewhere(of: wanted.usageOf, to: &loaded)
            var decision = decider.decide(loaded: loaded)
            try decision.usage.count(into: &decision.changes, writer)
            try self.writing.apply(decision.changes, to: writer)
            return ZonesResponse(zones: decision.results)
        }
    }
}
