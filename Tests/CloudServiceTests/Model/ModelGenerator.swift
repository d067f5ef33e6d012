import CloudWire
import System

/// Makes requests that are mostly sensible: they meet records that are there, with the tags and tokens that clients
/// have seen, and now and then what nobody has.
struct ModelGenerator {
    let random: SeededRandomSource
    /// How many names a zone's records have: few, and everything meets everything.
    let namesCount: Int
    /// Operations in a batch at most.
    let batchMax: Int

    static let zones = ["todos", "todos", "notes", "_defaultZone", "gone"]

    init(random: SeededRandomSource) {
        self.random = random
        namesCount = random.next(in: 3..<10)
        batchMax = random.next(in: 2..<8)
    }

    func chance(_ percent: Int) -> Bool { random.next(in: 0..<100) < percent }
    func pick<Element>(_ elements: [Element]) -> Element { elements[random.next(in: 0..<elements.count)] }

    func call(_ model: ModelCloud) -> ModelCall {
        let scope: DatabaseScope = chance(72) ? .private : chance(90) ? .public : .shared
        let user: String? = chance(3) ? nil : chance(scope == .public ? 50 : 80) ? "ada" : "bob"
        var call = ModelCall(
            body: body(model, scope, user), user: user, scope: scope, device: pick([nil, "phone", "tablet"]),
            extras: chance(85))
        if call.isWrite && chance(25) { call.operationID = "operation-\(random.next(in: 0..<1_000_000))" }
        return call
    }

    private func body(_ model: ModelCloud, _ scope: DatabaseScope, _ user: String?) -> ModelCall.Body {
        switch random.next(in: 0..<100) {
        case 0..<50: .modify(modify(model, scope, user))
        case 50..<56: .lookup(lookup(scope, user))
        case 56..<68: .query(query(model, scope, user))
        case 68..<84: .zoneChanges(zoneChanges(model, user))
        case 84..<90: .databaseChanges(databaseChanges(model, user))
        case 90..<96: .modifyZones(modifyZones(user))
        case 96..<98:
            .listZones(ZonesListRequest(syncToken: token(model, "database \(scope) _\(user ?? "")")))
        default: .lookupZones(ZonesLookupRequest(zones: (0..<3).map { _ in zoneID(user) }))
        }
    }

    // MARK: Names

    private func name() -> String {
        chance(1) ? pick(["", "é", String(repeating: "n", count: 256)]) : "r\(number())"
    }
    private func number() -> Int { random.next(in: 0..<namesCount) }

    private func zoneID(_ user: String?) -> ZoneID {
        let owner = chance(8) ? pick(["_ada", "_bob", "__defaultOwner__", "_\(user ?? "")"]) : nil
        return ZoneID(zoneName: pick(Self.zones), ownerRecordName: owner)
    }

    /// Mostly one that fits.
    private func token(_ model: ModelCloud, _ subject: String) -> String? {
        if chance(12) { return nil }
        let all = model.tokens.keys.sorted()
        let fitting = all.filter { model.tokens[$0]?.subject == subject }
        if chance(92), let newest = fitting.max(by: { seen($0, model) < seen($1, model) }) {
            return chance(60) ? newest : pick(fitting)
        }
        return all.isEmpty ? "nothing" : pick(all)
    }

    private func seen(_ token: String, _ model: ModelCloud) -> Int { model.tokens[token]?.seen ?? 0 }

    // MARK: Reading

    private func lookup(_ scope: DatabaseScope, _ user: String?) -> RecordsLookupRequest {
        var request = RecordsLookupRequest(records: [], zoneID: chance(80) ? zoneID(user) : nil)
        if scope == .public { request.zoneID = nil }
        for _ in 0..<random.next(in: 1..<6) {
            var item = RecordsLookupRequest.Item(recordName: "r\(number())")
            if chance(10) { item.zoneID = zoneID(user) }
            if chance(10) { item.desiredKeys = desiredKeys() }
            request.records.append(item)
        }
        if chance(10) { request.desiredKeys = desiredKeys() }
        if chance(10) { request.numbersAsStrings = true }
        return request
    }

    func desiredKeys() -> [String] { chance(20) ? [] : ["n", pick(["s", "list", "nothing"])] }

    private func zoneChanges(_ model: ModelCloud, _ user: String?) -> ChangesZoneRequest {
        var request = ChangesZoneRequest(zones: [])
        for _ in 0..<(chance(80) ? 1 : 3) {
            let zoneID = chance(90) ? ZoneID(zoneName: pick(["todos", "todos", "notes"])) : zoneID(user)
            var item = ChangesZoneRequest.Item(zoneID: zoneID)
            item.syncToken = token(model, "zone _\(user ?? "") \(zoneID.zoneName)")
            if chance(60) { item.options.resultsLimit = Int64(random.next(in: 1..<6)) }
            if chance(2) { item.options.resultsLimit = Int64(pick([0, -1])) }
            if chance(8) { item.options.desiredKeys = desiredKeys() }
            if chance(8) { item.options.desiredRecordTypes = [pick(["todo", "note"])] }
            request.zones.append(item)
        }
        if chance(10) { request.options.resultsLimit = Int64(random.next(in: 1..<20)) }
        return request
    }

    private func databaseChanges(_ model: ModelCloud, _ user: String?) -> ChangesDatabaseRequest {
        ChangesDatabaseRequest(
            syncToken: token(model, "database private _\(user ?? "")"),
            resultsLimit: chance(60) ? Int64(random.next(in: 0..<3)) : nil)
    }

    // MARK: Writing

    private func modifyZones(_ user: String?) -> ZonesModifyRequest {
        ZonesModifyRequest(
            operations: (0..<random.next(in: 1..<4)).map { _ in
                var zoneID = zoneID(user)
                if chance(5) { zoneID.zoneName = "_mine" }
                return ZoneOperation(
                    operationType: chance(70) ? .create : .delete, zone: WireZone(zoneID: zoneID))
            })
    }

    private func modify(_ model: ModelCloud, _ scope: DatabaseScope, _ user: String?) -> RecordsModifyRequest
    {
        var request = RecordsModifyRequest(operations: [], zoneID: chance(95) ? zoneID(user) : nil)
        if chance(70) { request.zoneID = ZoneID(zoneName: pick(["todos", "todos", "notes"])) }
        if scope == .public, chance(95) { request.zoneID = nil }
        request.atomic = pick([nil, true, false, false])
        if chance(8) { request.desiredKeys = desiredKeys() }
        let count = chance(1) ? 60 : random.next(in: 1..<(batchMax + 1))
        var used = Set<String>()
        while request.operations.count < count {
            let name = count == 60 ? "many\(request.operations.count)" : name()
            // Twice the same is refused as a whole, which would be most batches.
            guard used.insert(name).inserted || chance(4) else {
                if used.count >= namesCount { break }
                continue
            }
            request.operations.append(operation(name, model, scope, user, request.zoneID))
        }
        return request
    }

    private func operation(
        _ name: String, _ model: ModelCloud, _ scope: DatabaseScope, _ user: String?, _ zoneID: ZoneID?
    ) -> RecordOperation {
        let kind = pick(
            [
                .create, .create, .update, .update, .forceUpdate, .forceUpdate, .replace, .forceReplace,
                .delete,
                .forceDelete,
            ] as [RecordOperation.Kind])
        var record = WireRecord(recordName: name, recordType: chance(97) ? "todo" : pick(["note", nil]))
        if chance(5) { record.zoneID = self.zoneID(user) }
        if kind == .create && chance(8) { record.recordName = nil }
        let database = scope == .public ? "" : "_\(user ?? "")"
        let zone = (record.zoneID ?? zoneID ?? ZoneID()).zoneName
        let old = model.databases[database]?.zones[zone]?.records[name]
        if let old, chance(90) { record.recordType = chance(50) ? old.type : nil }
        record.recordChangeTag = tag(old, kind, model)
        if kind != .delete && kind != .forceDelete { fill(&record, user) }
        var operation = RecordOperation(operationType: kind, record: record)
        if chance(5) { operation.desiredKeys = desiredKeys() }
        return operation
    }

    private func tag(_ old: ModelCloud.Record?, _ kind: RecordOperation.Kind, _ model: ModelCloud) -> String?
    {
        switch random.next(in: 0..<100) {
        case 0..<75: kind == .create ? nil : old?.tag
        case 75..<88: model.usedTags.isEmpty ? "1.1" : pick(model.usedTags.sorted())
        case 88..<90: "nonsense"
        default: nil
        }
    }

    private func fill(_ record: inout WireRecord, _ user: String?) {
        if chance(10) { record.parent = Reference(recordName: "r\(number())") }
        if chance(70) { record.fields["n"] = Field(.int64(Int64(random.next(in: -5..<100)))) }
        if chance(30) {
            record.fields["s"] = Field(
                value: .string(pick(["", "a", "é\u{1F600}"])), type: pick([nil, .string]))
        }
        if chance(15) { record.fields["d"] = Field(.double(Double(random.next(in: 0..<100)) / 8)) }
        if chance(15) { record.fields["t"] = Field(.timestamp(milliseconds: Int64(random.next(in: -9..<9)))) }
        if chance(15) { record.fields["list"] = Field(.list(.stringList, ["x", "y"].map { .string($0) })) }
        if chance(10) { record.fields["secret"] = Field(.encryptedBytes([1, 2, 3])) }
        if chance(25) { record.fields["target"] = Field(.reference(reference(user))) }
        if chance(8) {
            let references = (0..<random.next(in: 1..<4)).map { _ in FieldValue.reference(reference(user)) }
            record.fields["targets"] = Field(.list(.referenceList, references))
        }
        for name in ["n", "target", "targets", "list"] where chance(6) { record.fields[name] = .cleared }
        // A value of another type, or a field that nobody knows.
        guard chance(12) else { return }
        let name = chance(70) ? pick(["n", "s", "d", "t", "list", "secret", "target"]) : "new\(number())"
        record.fields[name] = pick([
            Field(.string("7")), Field(value: .string("7"), type: nil),
            Field(.string("x"), isEncrypted: true),
            Field(.int64(3)), Field(value: .int64(3), type: nil), Field(.double(2.5)), Field(.double(2)),
            Field(.bytes([1, 2])), Field(.encryptedBytes([3])), Field(.list(.stringList, [.string("z")])),
            Field(.list(.unknownList, [])), Field(.timestamp(milliseconds: 9)),
        ])
    }

    private func reference(_ user: String?) -> Reference {
        Reference(
            recordName: "r\(number())", zoneID: chance(6) ? zoneID(user) : nil,
            action: pick([Reference.Action.none, .validate, .deleteSelf, .deleteSelf]))
    }
}
