import CloudStore
import CloudWire

/// The endpoints that list changes of a database and its zones.
struct ChangesEndpoints: Sendable {
    let limits: ServiceLimits

    func database(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        try page(of: ChangesDatabaseRequest(request: body), caller) { $0 }
    }

    /// The older form of `changes/database`.
    func zones(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        try page(of: ZonesChangesRequest(request: body).changes, caller) { ZonesChangesResponse($0) }
    }

    private func page(
        of request: ChangesDatabaseRequest, _ caller: ServiceCaller,
        response: @escaping @Sendable (ChangesDatabaseResponse) -> any JSONMessage
    ) throws -> ServiceWork {
        let zonesMax = try limits.pageMax(request.resultsLimit, caller)
        return .read { reader in
            let page = try ZonesPage(reader, caller, syncToken: request.syncToken, zonesMax: zonesMax)
            return .message(
                response(
                    ChangesDatabaseResponse(
                        zones: page.changedZones, syncToken: page.syncToken, moreComing: page.moreComing)))
        }
    }

    func zone(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        let request = try ChangesZoneRequest(request: body)
        try limits.check(count: request.zones.count, caller)
        let options = [request.options] + request.zones.map(\.options)
        try limits.check(desired: options.map(\.desiredKeys) + options.map(\.desiredRecordTypes))
        return limits.page(recordsMax: limits.itemsMax(for: caller)) { reader, budget in
            let results = try request.zones.map { item -> ChangesZoneResponse.Result in
                do {
                    let changes = try self.changes(
                        reader, caller, item: item, defaults: request.options, &budget)
                    return .changes(changes)
                } catch let error as WireError {
                    // The zone as the client named it, so that the client can match it.
                    return .error(error.inZone(item.zoneID))
                }
            }
            return ChangesZoneResponse(zones: results)
        }
    }

    /// The older form of `changes/zone`. An error of its one zone fails the request.
    func records(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        let item = try RecordsChangesRequest(request: body).item
        try limits.check(desired: [item.options.desiredKeys, item.options.desiredRecordTypes])
        return limits.page(recordsMax: limits.itemsMax(for: caller)) { reader, budget in
            let changes = try self.changes(
                reader, caller, item: item, defaults: ChangesZoneOptions(), &budget)
            return RecordsChangesResponse(
                records: changes.records, syncToken: changes.syncToken, moreComing: changes.moreComing,
                reverse: item.options.reverse)
        }
    }

    private func changes(
        _ reader: any CloudStoreReader, _ caller: ServiceCaller, item: ChangesZoneRequest.Item,
        defaults: ChangesZoneOptions, _ budget: inout AnswerBudget
    ) throws -> ZoneChanges {
        var fetch = WireDetail.Fetch(zoneName: item.zoneID.zoneName)
        defer { caller.trace?.fetched(fetch) }
        do {
            return try changes(reader, caller, item: item, defaults: defaults, &budget, &fetch)
        } catch let error as WireError {
            fetch.errorCode = error.serverErrorCode.rawValue
            fetch.tokenRefusal = error.tokenRefusal
            throw error
        }
    }

    private func changes(
        _ reader: any CloudStoreReader, _ caller: ServiceCaller, item: ChangesZoneRequest.Item,
        defaults: ChangesZoneOptions, _ budget: inout AnswerBudget, _ fetch: inout WireDetail.Fetch
    ) throws -> ZoneChanges {
        let key = try caller.key(of: item.zoneID)
        guard !key.isDefault else { throw ServiceError.badRequest("the default zone has no changes feed") }
        var wanted = StoreLoad()
        wanted.zones = [key]
        guard let zone = try reader.load(wanted).zones[key], !zone.isDeleted else {
            throw ServiceError.zoneNotFound(item.zoneID)
        }
        let known = try FeedPosition(
            item.syncToken, scope: caller.scope,
            subject: .zone(ownerRecordName: key.database.owner, zoneName: key.zoneName), epoch: zone.epoch,
            counter: zone.counter, floor: zone.tombstoneFloor)
        let recordsMax = min(
            try limits.pageMax(item.options.resultsLimit ?? defaults.resultsLimit, caller), budget.records)
        let isReversed = item.options.reverse ?? defaults.reverse ?? false
        fetch.sinceChange = known.counter
        let walk = FeedWalk(from: known, isReversed: isReversed, feedCounter: zone.counter)
        let page = try reader.changedRecords(
            RecordChangesQuery(
                zone: key, after: known.counter, tombstonesAfter: known.liveUntil, recordsMax: recordsMax,
                bytesMax: max(0, budget.bytes), through: walk.through, isNewestFirst: walk.isNewestFirst))
        fetch.toChange = walk.counter(behind: page)
        fetch.recordsCount = page.rows.count
        fetch.moreComing = page.moreComing
        budget.records -= page.rows.count
        budget.bytes -= page.rows.reduce(0) { $0 + $1.fields.count }
        let desiredTypes = item.options.desiredRecordTypes ?? defaults.desiredRecordTypes
        let desiredKeys = item.options.desiredKeys ?? defaults.desiredKeys
        let numbersAsStrings = item.options.numbersAsStrings ?? defaults.numbersAsStrings
        var changes = ZoneChanges(
            zoneID: key.zoneID,
            records: page.rows.filter { desiredTypes?.contains($0.recordType) ?? true }
                .map { $0.feedResult(desiredKeys: desiredKeys).with(numbersAsStrings: numbersAsStrings) },
            syncToken: walk.token(behind: page), moreComing: page.moreComing)
        changes.clientChangeToken = try clientChangeToken(of: zone, caller, reader)
        guard caller.wantsExtras, !page.moreComing else { return changes }
        // Of the same snapshot as the token. A newest-first walk ends at the zone's state at its beginning.
        if !walk.isNewestFirst { changes.checksum = zone.toldChecksum }
        changes.schemaVersion = try reader.schemaVersion().map { String($0, radix: 16) }
        return changes
    }

    private func clientChangeToken(
        of zone: ZoneRow, _ caller: ServiceCaller, _ reader: any CloudStoreReader
    ) throws -> [UInt8]? {
        guard caller.wantsExtras, let device = caller.device else { return nil }
        let key = ClientChangeToken.key(zone, device)
        var wanted = StoreLoad()
        wanted.answers = [key]
        return try reader.load(wanted).answers[key]?.answer
    }
}
