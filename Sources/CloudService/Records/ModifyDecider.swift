import CloudStore
import CloudWire
import System

/// The outcome of a batch.
struct ModifyDecision {
    var changes = StoreChanges()
    /// One result for each operation, in their order.
    var results: [RecordResult] = []
    /// The schema including additions of the saved records. These are in `changes` too.
    var schema: Schema
    /// The changes to the users' usage.
    var usage = UsageDeltas()
}

/// Decides a whole `records/modify` batch. Pure: a function of the batch, the loaded rows, the time and
/// random bits.
struct ModifyDecider {
    let batch: ModifyBatch
    let limits: ServiceLimits
    /// The schema before the batch.
    let schema: Schema
    /// True if saves may add to the schema.
    let schemaMayGrow: Bool
    let access: Access
    let nowMilliseconds: Int64
    let random: any RandomSource
    let receipts: AssetReceipts
    let quota: Quota
    /// Maximum refused deletions whose error names the referring field.
    private static let namedMax = 8

    /// The first rows to load. For records that may fail the change tag check, the fields are loaded later.
    var firstLoad: StoreLoad {
        var load = StoreLoad()
        var zones = Set<ZoneKey>()
        for operation in batch.operations {
            guard case .success(let key) = operation.target else { continue }
            if operation.isConditional { load.outlines.append(key) } else { load.records.append(key) }
            if operation.kind == .delete || operation.kind == .forceDelete { load.dependantsOf.append(key) }
            if !key.zone.isDefault { zones.insert(key.zone) }
        }
        if let zone = batch.tokenZone, !zone.isDefault { zones.insert(zone) }
        load.zones = zones.sorted()
        load.databases = Set(load.zones.map(\.database)).sorted()
        return load
    }

    /// Returns the fields of records that will be changed, which `firstLoad` loaded as outlines.
    func changedLoad(_ loaded: StoreLoaded) -> StoreLoad {
        var load = StoreLoad()
        for operation in batch.operations where operation.isConditional {
            guard case .success(let key) = operation.target, let old = loaded.records[key],
                operation.changes(old)
            else { continue }
            load.records.append(key)
        }
        return load
    }

    /// Returns the outcome of each operation on its own, from the rows of `firstLoad` and `changedLoad`.
    ///
    /// - Parameter made: the new records that an earlier write of the series created and that were deleted
    ///   since.
    func outcomes(loaded: StoreLoaded, made: [RecordKey: MadeRecord] = [:]) throws -> [ModifyOutcome] {
        try checkChangedBytes(loaded)
        let single = ModifyOperationDecider(
            caller: batch.caller, limits: limits, access: access, settings: batch.settings,
            receipts: receipts)
        var growth = SchemaGrowth(schema, mayGrow: schemaMayGrow, limits: limits)
        let outcomes = try batch.operations.map { operation -> ModifyOutcome in
            switch operation.target {
            case .failure(let error): return .failed(error)
            case .success(let key):
                guard isThere(key.zone, loaded) else { return .failed(ServiceError.zoneNotFound) }
                var grown = growth
                let outcome = try single.outcome(
                    of: operation, key: key, stored: loaded.records[key], growth: &grown)
                // Schema additions of a rejected record don't affect other records.
                guard case .save(let draft) = outcome else { return outcome }
                if let made = made[key] { return .madeBefore(draft, made) }
                growth = grown
                return outcome
            }
        }
        let drafts = zip(batch.operations, outcomes).compactMap { operation, outcome in
            if case .save(let draft) = outcome, let key = try? operation.target.get() {
                (key, draft)
            } else {
                nil
            }
        }
        try limits.checkIndexEntries(of: drafts, growth.grown)
        let referencesCount = drafts.reduce(0) { $0 + $1.1.references.count }
        guard referencesCount <= limits.referencesOfRequestMax else {
            throw ServiceError.limitExceeded(
                "the records of the request have \(referencesCount) references; \(limits.referencesOfRequestMax) are "
                    + "allowed")
        }
        return outcomes
    }

    /// Rejects a batch that changes more bytes of stored records than a request may. Only records that the
    /// caller may change count.
    private func checkChangedBytes(_ loaded: StoreLoaded) throws {
        let sizes = batch.operations.compactMap { operation -> Int? in
            guard operation.kind.isSave, operation.kind != .create, let key = try? operation.target.get(),
                let old = loaded.records[key], access.refusal(of: operation, key: key, old: old) == nil
            else { return nil }
            return old.fields.count
        }
        let bytes = sizes.reduce(0, +)
        guard sizes.count > 1, bytes > limits.changedBytesMax else { return }
        throw ServiceError.limitExceeded(
            "the records that the request changes have \(bytes) bytes; \(limits.changedBytesMax) are allowed")
    }

    /// Decides the batch from all loaded rows.
    ///
    /// - Throws: `TRY_AGAIN_LATER` if too many rows of the user's deleted zones remain.
    func decide(outcomes: [ModifyOutcome], loaded: StoreLoaded) throws -> ModifyDecision {
        let keys = batch.operations.map { try? $0.target.get() }
        let saves = Set(batch.operations.indices.filter { batch.operations[$0].kind.isSave })
        var references = ModifyReferences(
            outcomes: outcomes, keys: keys, saves: saves, loaded: loaded, limits: limits)
        references.settle()
        let indexBytes = grownIndexBytes(outcomes, keys, loaded)
        while true {
            // The failed operations of an atomic zone neither use nor free space.
            let settled = failAtomicZones(references.outcomes, keys: keys)
            let refused = quota.refused(settled, indexBytes: indexBytes)
            guard !refused.isEmpty else {
                guard !quota.mustWait(settled, indexBytes: indexBytes) else {
                    throw ServiceError.deletedZonesInTheWay
                }
                return decision(settled, keys: keys, cascades: references.cascades, loaded: loaded)
            }
            for index in refused { references.fail(index, ServiceError.quotaExceeded) }
            references.settle()
        }
    }

    /// Returns the change of each outcome in the accounted size of names, index entries, references and files. Zero
    /// if the quota suffices for the upper bound, since splitting a long text into words takes longer than writing
    /// it.
    private func grownIndexBytes(
        _ outcomes: [ModifyOutcome], _ keys: [RecordKey?], _ loaded: StoreLoaded
    ) -> [Int64] {
        let drafts = outcomes.map { if case .save(let draft) = $0 { draft } else { nil as RecordDraft? } }
        let schema = schema.adding(outcomes.compactMap(\.schemaAdditions))
        let indexBytesMax = limits.indexBytesMax(of: drafts.compactMap(\.self), schema)
        guard quota.isNear(outcomes, indexBytes: indexBytesMax) else { return outcomes.map { _ in 0 } }
        return zip(drafts, keys).map { draft, key in
            guard let draft, let key else { return 0 }
            // As it will be written, except for the tag, which isn't assigned yet.
            let row = StoredRecord(
                key: key, recordType: draft.recordType, tagEpoch: .max, counter: .max, parent: draft.parent,
                created: draft.old?.created ?? stamp, modified: stamp, fields: [])
            let subject = QuerySubject(row: row, fields: draft.fields)
            let new = IndexEntries.row(
                subject, schema, references: draft.references, assets: draft.assets)
            return new.countedBytes - knownIndexBytes(draft.old, schema)
                - tombstoneBytes(of: draft, key, loaded)
        }
    }

    /// Returns the size of the tombstone that the record replaces.
    private func tombstoneBytes(of draft: RecordDraft, _ key: RecordKey, _ loaded: StoreLoaded) -> Int64 {
        guard draft.old == nil, let tombstone = loaded.records[key], tombstone.isDeleted else { return 0 }
        return tombstone.indexBytes + quota.rowBytes
    }

    /// Returns the `indexBytes` of a record, computed if no step has counted or built all of it yet.
    private func knownIndexBytes(_ old: StoredRecord?, _ schema: Schema) -> Int64 {
        guard let old, let subject = try? QuerySubject(row: old) else { return old?.indexBytes ?? 0 }
        return max(old.indexBytes, IndexEntries.row(subject, schema).countedBytes)
    }

    private var stamp: StoreStamp {
        StoreStamp(
            timestampMilliseconds: nowMilliseconds, userRecordName: batch.caller.user?.userRecordName ?? "",
            deviceID: batch.caller.deviceID)
    }

    private func isThere(_ zone: ZoneKey, _ loaded: StoreLoaded) -> Bool {
        zone.isDefault || loaded.zones[zone].map { !$0.isDeleted } ?? false
    }

    /// Returns the next rows to load: unknown targets of saved references, and unknown records that refer to
    /// deleted ones. Nil if everything is loaded.
    ///
    /// Considers only what was `found` in the last step, so that a long chain of references isn't traversed
    /// in each step.
    func nextLoad(
        for outcomes: [ModifyOutcome] = [], found: StoreLoaded, loaded: StoreLoaded, asked: Set<RecordKey>
    ) -> StoreLoad? {
        var records = Set<RecordKey>()
        var dependantsOf = Set<RecordKey>()
        // A record that prevents a deletion, with its fields, since the error names the field.
        var named: [RecordKey: RecordKey] = [:]
        var crowded = Set<RecordKey>()
        for outcome in outcomes {
            guard case .save(let draft) = outcome else { continue }
            for reference in draft.references where reference.kind != .deleteSelf {
                records.insert(reference.target)
            }
            crowded.formUnion(draft.newDeleteSelfTargets)
        }
        // Beyond the limit every cascade fails, so further dependants needn't be known. Operations aren't
        // counted, as targets and as sources.
        if loaded.dependants.count <= limits.cascadeRecordsMax + 2 * batch.operations.count {
            for reference in found.dependants.values.joined() {
                records.insert(reference.source)
                if reference.kind == .validate {
                    named[reference.target] = named[reference.target] ?? reference.source
                }
                if reference.kind == .deleteSelf && loaded.dependants[reference.source] == nil {
                    dependantsOf.insert(reference.source)
                }
            }
        }
        var load = StoreLoad()
        // Neither targets nor cascaded records need their fields.
        load.records = Set(named.sorted { $0.key < $1.key }.prefix(Self.namedMax).map(\.value))
            .subtracting(asked).sorted()
        load.outlines = records.subtracting(asked).subtracting(load.records).sorted()
        load.dependantsOf = dependantsOf.sorted()
        load.deleteSelfCountsOf = crowded.sorted()
        load.deleteSelfCountMax = limits.deleteSelfReferencesMax + batch.operations.count + 1
        return load.records.isEmpty && load.outlines.isEmpty && load.dependantsOf.isEmpty && crowded.isEmpty
            ? nil : load
    }

    /// Returns the last rows to load: the ancestors of the records that get a new parent.
    func ancestorLoads(of outcomes: [ModifyOutcome]) -> AncestorLoads {
        AncestorLoads(
            outcomes: outcomes, keys: batch.operations.map { try? $0.target.get() }, limits: limits)
    }

    private func failAtomicZones(_ outcomes: [ModifyOutcome], keys: [RecordKey?]) -> [ModifyOutcome] {
        var failedZones = Set<ZoneKey>()
        for (outcome, key) in zip(outcomes, keys) {
            if case .failed = outcome, let zone = key?.zone, batch.isAtomic(in: zone) {
                failedZones.insert(zone)
            }
        }
        // An operation with an unreadable zone or name fails the atomic operations beside it.
        let failsAll = zip(outcomes, keys).contains { $1 == nil } && batch.isAtomicWhereItCan
        return zip(outcomes, keys).map { outcome, key in
            if case .failed = outcome { return outcome }
            guard let zone = key?.zone, !zone.isDefault else { return outcome }
            return failedZones.contains(zone) || failsAll ? .failed(ServiceError.atomicFailure) : outcome
        }
    }

    private func decision(
        _ outcomes: [ModifyOutcome], keys: [RecordKey?], cascades: [Int: [StoredRecord]], loaded: StoreLoaded
    ) -> ModifyDecision {
        let additions = outcomes.compactMap(\.schemaAdditions)
        let schema = schema.adding(additions)
        var writing = ModifyWriting(
            loaded: loaded, random: random, stamp: stamp, maker: batch.caller.device, schema: schema)
        var results: [RecordResult] = []
        for (index, outcome) in outcomes.enumerated() {
            let operation = batch.operations[index]
            switch outcome {
            case .failed(let error):
                results.append(.error(error.named(operation.record.recordName)))
            case .nothingToDelete:
                results.append(.tombstone(tombstone(operation, keys[index], recordType: nil)))
            case .delete(let row):
                writing.delete(row)
                for row in cascades[index] ?? [] { writing.delete(row) }
                results.append(.tombstone(tombstone(operation, keys[index], recordType: row.recordType)))
            case .save(let draft):
                guard let key = keys[index] else { continue }
                results.append(saved(writing.save(draft, key: key), draft, operation))
            case .madeBefore(let draft, let made):
                guard let key = keys[index] else { continue }
                results.append(saved(made.row(of: draft, key: key), draft, operation))
            }
        }
        let usage = writing.usage
        var changes = writing.finished()
        if !additions.isEmpty { changes.schema = schema.row(version: random.next()) }
        return ModifyDecision(changes: changes, results: results, schema: schema, usage: usage)
    }

    private func saved(
        _ row: StoredRecord, _ draft: RecordDraft, _ operation: ModifyBatch.Operation
    ) -> RecordResult {
        let record = row.wireRecord(
            fields: access.visible(draft.fields, of: row, to: operation), desiredKeys: operation.desiredKeys)
        return RecordResult.record(record).with(numbersAsStrings: operation.numbersAsStrings)
    }

    private func tombstone(
        _ operation: ModifyBatch.Operation, _ key: RecordKey?, recordType: String?
    ) -> Tombstone {
        Tombstone(
            recordName: operation.record.recordName ?? "", zoneID: key?.zone.zoneID, recordType: recordType)
    }
}
