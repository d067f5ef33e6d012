import CloudStore
import CloudWire
import OwnThreads
import SQLiteTestSupport
import StoreAudit
import System
import Testing

@testable import CloudService

/// Random requests, asked of the service and of a model of it: the answers must be the same.
@Suite(.onOwnThreads) struct ModelTests {
    static let seeds = Array(UInt64(1)...200)

    @Test(arguments: seeds) func theServiceAnswersAsItsModelOneByOne(_ seed: UInt64) throws {
        var run = try ModelRun(seed: seed, isSQLite: seed % 4 == 0)
        for _ in 0..<60 where run.isRight { try run.ask(count: 1) }
        try run.end()
    }

    @Test(arguments: seeds) func theServiceAnswersAsItsModelInGroups(_ seed: UInt64) throws {
        var run = try ModelRun(seed: seed, isSQLite: seed % 4 == 0)
        for _ in 0..<16 where run.isRight { try run.ask(count: run.generator.random.next(in: 1..<8)) }
        try run.end()
    }
}

/// A service and its model under the same requests.
struct ModelRun {
    let seed: UInt64
    let cloud: TestService
    let generator: ModelGenerator
    let groupLimits: GroupLimits
    var model: ModelCloud
    /// False after the first difference: what follows would only repeat it.
    private(set) var isRight = true
    private var stepsCount = 0
    private var named: [ModelCall] = []
    private let folder: TemporaryFolder
    private let isSQLite: Bool

    init(seed: UInt64, isSQLite: Bool) throws {
        self.seed = seed
        self.isSQLite = isSQLite
        let random = SeededRandomSource(seed: seed)
        generator = ModelGenerator(random: random)
        folder = try TemporaryFolder()
        var limits = ServiceLimits()
        var modelLimits = ModelLimits()
        if generator.chance(50) {
            limits.itemsMax = random.next(in: 4..<12)
            limits.itemsWithExtrasMax = random.next(in: 6..<20)
        }
        if generator.chance(30) { limits.cascadeRecordsMax = random.next(in: 1..<4) }
        limits.queryRowsExaminedMax = generator.pick([3, 20, 20_000])
        limits.querySearch.indexedRecordsMax = generator.pick([1, 3, 200])
        modelLimits.items = limits.itemsMax
        modelLimits.itemsWithExtras = limits.itemsWithExtrasMax
        modelLimits.cascade = limits.cascadeRecordsMax
        modelLimits.indexedAtOnce = limits.querySearch.indexedRecordsMax
        var groupLimits = GroupLimits()
        groupLimits.requestsMax = random.next(in: 1..<6)
        self.groupLimits = groupLimits
        let store: any CloudStore =
            isSQLite ? try SQLiteCloudStore(path: folder.file("store.db")) : MemoryCloudStore()
        let world = ModelWorld(generator)
        try world.prepare(store)
        cloud = TestService(
            store: store, seed: seed, limits: limits, groupLimits: groupLimits, environment: world.environment
        )
        model = ModelCloud(limits: modelLimits, schema: world.model)
        for user in ["ada", "bob"] {
            let operations = ["todos", "notes"].map {
                ZoneOperation(operationType: .create, zone: WireZone(zoneID: ZoneID(zoneName: $0)))
            }
            try ask([
                ModelCall(body: .modifyZones(.init(operations: operations)), user: user, scope: .private)
            ])
        }
    }

    /// Asks some requests, one by one or in groups.
    mutating func ask(count: Int) throws {
        if generator.chance(6) { try operate() }
        if generator.chance(1) { cloud.clock.advance(bySeconds: 90_000) }
        if generator.chance(30) { cloud.clock.advance(bySeconds: 1) }
        let calls = (0..<count).map { _ in
            // A named write comes again, as when its answer was lost, or its name comes with something else.
            if generator.chance(6), !named.isEmpty {
                var call = generator.pick(named)
                if generator.chance(20) { call.body = generator.call(model).body }
                return call
            }
            return generator.call(model)
        }
        named += calls.filter { $0.operationID != nil }
        try ask(calls)
    }

    private mutating func ask(_ calls: [ModelCall]) throws {
        guard calls.count > 1 else {
            for call in calls { try check([(call, cloud.service.respond(to: call.request(of: cloud)))]) }
            return
        }
        var waiting: [(ticket: ServiceTicket, call: ModelCall)] = []
        for call in calls { waiting.append((cloud.service.begin(try call.request(of: cloud)), call)) }
        while !waiting.isEmpty, isRight {
            let answers = cloud.service.commitGroup()
            let group = Array(waiting.prefix(groupLimits.requestsMax))
            waiting.removeFirst(group.count)
            guard answers.map(\.ticket) == group.map(\.ticket) else {
                isRight = false
                Issue.record("seed \(seed): a group answers \(answers.count) of \(group.count)")
                return
            }
            // What a group reads sees all that it writes.
            let all = zip(group, answers).map { ($0.call, $1.response) }
            try check(all.filter { $0.0.isWrite })
            try check(all.filter { !$0.0.isWrite })
        }
    }

    private mutating func check(_ exchanges: [(call: ModelCall, response: WireResponse)]) throws {
        let now = cloud.clock.nowMilliseconds()
        let answers = try exchanges.map {
            try model.answer($0.call, nowMilliseconds: now, response: $0.response)
        }
        for ((call, response), answer) in zip(exchanges, answers) where isRight {
            try check(call, response, model.told(answer, to: call, nowMilliseconds: now))
        }
    }

    private mutating func check(
        _ call: ModelCall, _ response: WireResponse, _ expected: ModelAnswer
    ) throws {
        stepsCount += 1
        let expected = expected.comparable(extras: call.extras)
        let found = try answer(response, to: call).comparable(extras: call.extras)
        isRight = expected == found && model.contradictions.isEmpty
        guard !isRight else { return }
        Issue.record(
            """
            seed \(seed), step \(stepsCount): \(call.user ?? "nobody") \(call.scope) \(call.endpoint)
            \(try difference(call, expected, found))
            \(model.contradictions)
            """)
    }

    /// What the service has answered; to a query with all pages that follow.
    private func answer(_ response: WireResponse, to call: ModelCall) throws -> ModelAnswer {
        guard case .query(var request) = call.body, response.status == 200 else {
            return try ModelAnswer(response, to: call)
        }
        var page = try RecordsQueryResponse(json: response.body)
        var records = page.records
        var pagesCount = 1
        while let marker = page.continuationMarker {
            request.continuationMarker = marker
            var next = call
            next.body = .query(request)
            page = try RecordsQueryResponse(json: cloud.service.respond(to: next.request(of: cloud)).body)
            try #require(page.records.count <= request.resultsLimit ?? .max, "seed \(seed)")
            records += page.records
            pagesCount += 1
            try #require(pagesCount < 1_000, "seed \(seed): no end of \(request)")
        }
        guard request.query?.sortBy == nil else { return .records(records) }
        func place(_ result: RecordResult) -> String {
            "\(result.record?.zoneID?.zoneName ?? "")/\(result.recordName ?? "")"
        }
        return .records(records.sorted { place($0) < place($1) })
    }

    /// Where the two answers are not the same.
    private func difference(_ call: ModelCall, _ expected: ModelAnswer, _ found: ModelAnswer) throws -> String
    {
        guard case .modify(let request) = call.body, case .records(let expected) = expected,
            case .records(let found) = found, expected.count == found.count
        else {
            return """
                \(String(decoding: try call.bytes(), as: UTF8.self))
                the model says: \(expected.text)
                the service says: \(found.text)
                """
        }
        return zip(request.operations, zip(expected, found)).compactMap { operation, pair in
            guard pair.0 != pair.1 else { return nil }
            let record = String(decoding: (try? operation.record.json()) ?? [], as: UTF8.self)
            return """
                \(operation.operationType) \(record)
                  the model says: \(ModelAnswer.records([pair.0]).text)
                  the service says: \(ModelAnswer.records([pair.1]).text)
                """
        }.joined(separator: "\n")
    }

    /// What an operator does behind the clients' backs.
    private mutating func operate() throws {
        if generator.chance(50) { return try operateOnIndexes() }
        let zone = generator.pick(["todos", "notes"])
        let owner = generator.pick(["_ada", "_ada", "_bob"])
        if generator.chance(70) {
            try? cloud.service.zoneMaintenance.pruneTombstones(zoneName: zone, ofUser: owner)
            model.prune(zone, of: owner)
        } else {
            try? cloud.service.zoneMaintenance.resetEpoch(zoneName: zone, ofUser: owner)
            model.reset(zone, of: owner)
        }
    }

    /// Changes the indexes of a field, or lets the work that this left be done.
    private mutating func operateOnIndexes() throws {
        guard generator.chance(60) else {
            while try cloud.service.indexes.buildStep() {}
            model.unfinished = [:]
            return
        }
        let type = generator.pick(["todo", "todo", "note"])
        let fields = (model.schema.types[type] ?? [:]).filter { !$0.value.isEncrypted }
        guard !fields.isEmpty else { return }
        let name = generator.pick(fields.keys.sorted())
        let indexes = ModelWorld.indexes(generator, fields[name]?.type ?? .string)
        try cloud.service.store.write { writer in
            var schema = try cloud.service.schemas.schema(in: writer)
            schema.recordTypes[type]?.fields[name]?.indexes = ModelWorld.indexes(indexes)
            var changes = StoreChanges()
            changes.schema = schema.row(version: cloud.service.schemaMaintenance.random.next())
            try cloud.service.writing.apply(changes, to: writer)
        }
        model.schema.types[type]?[name]?.indexes = indexes
        model.noteNewIndex(of: name, type, recordsCount: model.recordCounts()[type] ?? 0)
    }

    /// Reads all that there is, and recounts the file.
    mutating func end() throws {
        if isSQLite {
            let findings = try StoreAudit.findings(path: folder.file("store.db"))
            #expect(findings == [], "seed \(seed)")
        }
        for user in ["ada", "bob"] {
            for zone in ["todos", "notes"] {
                let item = ChangesZoneRequest.Item(zoneID: ZoneID(zoneName: zone))
                try ask([ModelCall(body: .zoneChanges(.init(zones: [item])), user: user, scope: .private)])
            }
        }
        for scope in [DatabaseScope.private, .public] {
            for number in 0..<10 {
                let lookup = RecordsLookupRequest(records: [.init(recordName: "r\(number)")])
                try ask([ModelCall(body: .lookup(lookup), user: "ada", scope: scope)])
            }
        }
    }
}
