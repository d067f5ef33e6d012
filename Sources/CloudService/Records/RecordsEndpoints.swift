import CloudStore
import CloudWire
import System

/// The endpoints that save, delete and look up records.
struct RecordsEndpoints: Sendable {
    let limits: ServiceLimits
    let settings: ServiceSettings
    /// True if saves may add to the schema.
    let schemaMayGrow: Bool
    let clock: any TimeSource
    let random: any RandomSource
    let schemas: Schemas
    let quotas: Quotas
    let tickets: AssetTickets
    let unsaved: UnsavedFiles
    let watches: QueryWatches
    let answers: KeptAnswers
    let writing: ChangeWriter

    func modify(
        _ body: [UInt8], _ caller: ServiceCaller, _ operation: OperationID?
    ) throws -> ServiceWork {
        guard caller.user != nil else { throw ServiceError.authenticationRequired }
        let request = try RecordsModifyRequest(request: body)
        try limits.check(desired: [request.desiredKeys] + request.operations.map(\.desiredKeys))
        let batch = try ModifyBatch(
            request, caller: caller, limits: limits, settings: settings,
            newRecordName: { random.nextUUID().lowercased() })
        caller.trace?.changes(batch)
        let kept = KeptRecordsForm(
            batch: batch, numbersAsStrings: request.numbersAsStrings ?? false,
            namesMadeRecords: operation?.series != nil,
            currentRecords: { try self.readableRecords($0, caller, $1) })
        let receipts = try tickets.receipts(of: batch)
        let clientToken = try ClientChangeToken(request, caller)
        let operation = try operation?.identified(by: request)
        return answers.once(operation, kept) { writer in
            let schema = try self.schemas.schema(in: writer)
            let decider = ModifyDecider(
                batch: batch, limits: self.limits, schema: schema, schemaMayGrow: self.schemaMayGrow,
                access: try self.schemas.access(of: caller, schema: schema, in: writer),
                nowMilliseconds: self.clock.nowMilliseconds(), random: self.random,
                receipts: receipts, quota: try self.quotas.quota(of: caller, in: writer))
            let first = decider.firstLoad
            var loaded = try self.limits.load(first, writer)
            let changed = decider.changedLoad(loaded)
            if !changed.records.isEmpty { loaded.merge(try self.limits.load(changed, writer)) }
            try loaded.loadPushTasks(of: first.zones, from: writer)
            // An outline doesn't suffice for a record that a cascade deletes.
            var asked = Set(first.records + changed.records)
            let made = try self.recordsMadeBefore(batch, operation, loaded, writer)
            let outcomes = try decider.outcomes(loaded: loaded, made: made)
            var next = decider.nextLoad(for: outcomes, found: loaded, loaded: loaded, asked: asked)
            while let wanted = next {
                let found = try self.limits.load(wanted, writer, besides: loaded.dependantsCount)
                loaded.merge(found)
                asked.formUnion(wanted.outlines)
                asked.formUnion(wanted.records)
                next = decider.nextLoad(found: found, loaded: loaded, asked: asked)
            }
            try self.loadAncestors(decider.ancestorLoads(of: outcomes), into: &loaded, asked, writer)
            var decision = try decider.decide(outcomes: outcomes, loaded: loaded)
            try decider.refuseAtomicFailure(decision)
            try decision.usage.count(into: &decision.changes, writer)
            try self.watches.fire(
                by: &decision.changes, loaded: loaded, maker: caller.device, in: writer)
            if let clientToken, decision.results.contains(where: \.isDone),
                let zone = decision.zone(clientToken.zone, loaded)
            {
                decision.changes.answers.append(
                    clientToken.row(in: zone, nowMilliseconds: self.clock.nowMilliseconds()))
            }
            decision.changes.rowsMax = self.limits.rowsWrittenMax
            try self.writing.apply(decision.changes, to: writer)
            self.unsaved.forget(decision.changes.assets, of: caller)
            self.schemas.remember(decision.schema, as: decision.changes.schema)
            let zone = batch.tokenZone.flatMap { decision.zone($0, loaded) }
            return RecordsResponse(
                records: decision.results, syncToken: zone?.syncToken(in: batch.caller.scope))
        }
    }

    /// Returns the current records that the caller may read, up to the number that one request may load.
    private func readableRecords(
        _ keys: [RecordKey], _ caller: ServiceCaller, _ reader: any CloudStoreReader
    ) throws -> [RecordKey: WireRecord] {
        var wanted = StoreLoad()
        wanted.records = keys
        wanted.bytesMax = limits.answerBytesMax
        let access = try schemas.access(of: caller, schema: try schemas.schema(in: reader), in: reader)
        let found = try reader.load(wanted).records
        return try keys.reduce(into: [:]) { records, key in
            guard let row = found[key] ?? access.ownUserRecord(key), !row.isDeleted,
                access.permissions(row).contains(.read)
            else { return }
            records[key] = try row.answer(desiredKeys: nil)
        }
    }

    private func loadAncestors(
        _ loads: AncestorLoads, into loaded: inout StoreLoaded, _ asked: Set<RecordKey>,
        _ reader: any CloudStoreReader
    ) throws {
        var (loads, asked) = (loads, asked)
        while true {
            var wanted = StoreLoad()
            wanted.outlines = try loads.next(in: loaded, asked: asked)
            guard !wanted.outlines.isEmpty else { return }
            loaded.merge(try limits.load(wanted, reader))
            asked.formUnion(wanted.outlines)
        }
    }

    func lookup(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        let request = try RecordsLookupRequest(request: body)
        try limits.check(desired: [request.desiredKeys] + request.records.map(\.desiredKeys))
        try limits.check(count: request.records.count, caller)
        let items = request.records.map { item -> (item: RecordsLookupRequest.Item, key: RecordKey?) in
            let zone = try? caller.key(of: item.zoneID ?? request.zoneID)
            return (item, zone.map { RecordKey(zone: $0, recordName: item.recordName) })
        }
        return .read { reader in
            var wanted = StoreLoad()
            wanted.records = items.compactMap(\.key)
            let tokenZone = caller.wantsSyncToken ? try? caller.key(of: request.zoneID) : nil
            wanted.zones = Set(wanted.records.map(\.zone) + [tokenZone].compactMap(\.self)).sorted()
            let loaded = try self.limits.load(wanted, reader)
            let access = try self.schemas.access(
                of: caller, schema: try self.schemas.schema(in: reader), in: reader)
            let results = items.map { item, key -> RecordResult in
                guard let key, key.zone.isDefault || loaded.zones[key.zone].map({ !$0.isDeleted }) ?? false
                else {
                    return .error(ServiceError.zoneNotFound.named(item.recordName))
                }
                guard let row = loaded.records[key] ?? access.ownUserRecord(key), !row.isDeleted,
                    access.permissions(row).contains(.read)
                else {
                    return .error(ServiceError.recordNotFound.named(item.recordName))
                }
                return row.result(desiredKeys: item.desiredKeys ?? request.desiredKeys)
            }
            return .message(
                RecordsResponse(
                    records: results,
                    syncToken: tokenZone.flatMap { loaded.zones[$0]?.syncToken(in: caller.scope) }),
                numbersAsStrings: request.numbersAsStrings ?? false)
        }
    }
}

extension ModifyDecision {
    /// Returns the zone after the write.
    fileprivate func zone(_ key: ZoneKey, _ loaded: StoreLoaded) -> ZoneRow? {
        changes.zones.first { $0.key == key } ?? loaded.zones[key]
    }
}

extension RecordResult {
    fileprivate var isDone: Bool {
        if case .error = self { false } else { true }
    }
}

extension StoreLoaded {
    /// Number of references to records in it.
    fileprivate var dependantsCount: Int { dependants.values.reduce(0) { $0 + $1.count } }
}
