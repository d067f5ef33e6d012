import CloudStore
import CloudWire
import SQLite
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

@Suite struct OperationIDTests {
    private func request(
        _ cloud: TestService, _ operations: [RecordOperation], id: String?, token: String = "ada",
        extras: Bool = true, atomic: Bool? = nil
    ) throws -> WireRequest {
        let message = RecordsModifyRequest(operations: operations, zoneID: TestService.zone, atomic: atomic)
        var request = cloud.request(
            "records/modify", try message.json(extras: true), token: token, extras: extras)
        if let id { request.headers.append((WireHeader.operation, id)) }
        return request
    }

    private func summaries(_ cloud: TestService, _ request: WireRequest) throws -> [String] {
        try cloud.read(cloud.service.respond(to: request), as: RecordsModifyResponse.self).records.summaries
    }

    private func code(_ cloud: TestService, _ request: WireRequest) throws -> ServerErrorCode {
        let response = cloud.service.respond(to: request)
        try #require(response.status != 200)
        return try WireError(json: response.body).serverErrorCode
    }

    @Test func aRepeatedWriteIsDoneOnceAndGetsTheSameAnswer() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let cloud = TestService(store: try SQLiteCloudStore(path: path))
        try cloud.zones(.create)
        let create = try request(cloud, [operation(.create, "a"), operation(.create, nil)], id: "op-1")
        let first = cloud.service.respond(to: create)
        #expect(
            try cloud.read(first, as: RecordsModifyResponse.self).records.summaries == ["saved", "saved"])
        cloud.clock.advance(bySeconds: 3600)
        #expect(cloud.service.respond(to: create).body == first.body)
        let restarted = TestService(store: try SQLiteCloudStore(path: path), seed: 2)
        #expect(restarted.service.respond(to: create).body == first.body, "another process, the same answer")
        #expect(try restarted.changes().records.count == 2)
    }

    @Test func twoOfOneNameInOneGroupAreOneWrite() throws {
        let cloud = TestService()
        try cloud.zones(.create)
        for _ in 0..<2 { _ = cloud.service.begin(try request(cloud, [operation(.create, "a")], id: "op")) }
        let answers = cloud.service.commitGroup()
        #expect(answers.count == 2 && answers[0].response.body == answers[1].response.body)
        #expect(try RecordsModifyResponse(json: answers[1].response.body).records.summaries == ["saved"])
    }

    @Test(arguments: StoreKind.allCases)
    func aRecordThatAWriteOfTheSeriesMadeIsNotMadeAgainAfterItsDeletion(_ kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let cloud = TestService(store: try kind.make(in: folder))
        try cloud.zones(.create)
        func respond(_ operations: [RecordOperation], _ id: String) throws -> [RecordResult] {
            let response = cloud.service.respond(to: try request(cloud, operations, id: id))
            return try cloud.read(response, as: RecordsModifyResponse.self).records
        }
        let made = try respond([operation(.create, "a"), operation(.create, "b")], "series-a.1")
        _ = try cloud.modify([operation(.forceDelete, "b")])
        cloud.clock.advance(bySeconds: 5)
        let other = [operation(.create, "b"), operation(.create, "c")]
        let again = try respond(other, "series-a.2")
        #expect(again[0] == made[1], "the answer of then")
        #expect(again[1].record != nil)
        #expect(try cloud.changes().records.feed.sorted() == ["a+", "c+"])
        #expect(try respond(other, "series-a.2") == again, "kept as others are")
        #expect(try respond([operation(.create, "b")], "series-b.3").summaries == ["saved"])
        #expect(try cloud.changes().records.feed.sorted() == ["a+", "b+", "c+"])
        #expect(try kind.findings(in: folder) == [])
    }

    @Test func theSameNameForAnotherRequestIsRefused() throws {
        let cloud = TestService()
        try cloud.zones(.create)
        #expect(try summaries(cloud, request(cloud, [operation(.create, "a")], id: "op")) == ["saved"])
        #expect(try code(cloud, request(cloud, [operation(.create, "b")], id: "op")) == .badRequest)
        var zones = try request(cloud, [operation(.create, "a")], id: "op")
        zones.path = zones.path.replacing("records/modify", with: "zones/modify")
        zones.body = Array(#"{"operations":[]}"#.utf8)
        #expect(try code(cloud, zones) == .badRequest)
        #expect(try cloud.lookup(["b"]).summaries == ["NOT_FOUND"])
        try cloud.zones(.create, token: "bob")
        let bobs = try request(cloud, [operation(.create, "b")], id: "op", token: "bob")
        #expect(try summaries(cloud, bobs) == ["saved"], "another user's names are another's")
    }

    @Test func whatANameIs() throws {
        let cloud = TestService()
        try cloud.zones(.create)
        for id in ["", String(repeating: "x", count: 65), "a b", "é"] {
            #expect(try code(cloud, request(cloud, [operation(.create, "a")], id: id)) == .badRequest)
        }
        let longest = String(repeating: "x", count: 64)
        #expect(try summaries(cloud, request(cloud, [operation(.create, "a")], id: longest)) == ["saved"])
        let foreign = try request(cloud, [operation(.create, "b")], id: "op", extras: false)
        #expect(try summaries(cloud, foreign) == ["saved"])
        #expect(try summaries(cloud, foreign) == ["CONFLICT"], "only our own clients name their writes")
    }

    @Test func aRefusalOfARecordIsKeptToo() throws {
        let cloud = TestService()
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "a")])
        let create = try request(cloud, [operation(.create, "a"), operation(.create, "b")], id: "op")
        let first = cloud.service.respond(to: create)
        #expect(
            try cloud.read(first, as: RecordsModifyResponse.self).records.summaries == [
                "CONFLICT", "ATOMIC_ERROR",
            ])
        #expect(cloud.service.respond(to: create).body == first.body)
    }

    /// An answer's bytes; of one that shows a server's record those without it, since it is told as it is now.
    private func told(_ response: WireResponse) throws -> [UInt8] {
        var answer = try RecordsModifyResponse(json: response.body)
        var shows = false
        answer.records = answer.records.map { result in
            guard case .error(var error) = result, error.serverErrorCode == .conflict else { return result }
            shows = true
            error.serverRecord = nil
            return .error(error)
        }
        return shows ? try answer.json(extras: true) : response.body
    }

    /// What is kept for a day must not be the records of others.
    @Test(arguments: StoreKind.allCases) func aKeptRefusalShowsTheRecordAsItIsNowAndKeepsNone(
        _ kind: StoreKind
    ) throws {
        let folder = try TemporaryFolder()
        let store = try kind.make(in: folder)
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        let large = Field(.string(String(repeating: "x", count: 500_000)))
        try cloud.modify([operation(.create, "a", ["text": large])])
        let create = try request(cloud, [operation(.create, "a"), operation(.create, "b")], id: "op")
        #expect(try summaries(cloud, create) == ["CONFLICT", "ATOMIC_ERROR"])
        #expect(try keptBytes(store) < 1_000)
        func shown() throws -> WireRecord? {
            let answer = try cloud.read(cloud.service.respond(to: create), as: RecordsModifyResponse.self)
            guard case .error(let error) = answer.records[0] else { return nil }
            #expect(error.serverErrorCode == .conflict)
            return error.serverRecord
        }
        #expect(try shown()?.fields["text"] == large)
        let small = Field(.string("new"))
        let saved = try cloud.modify([operation(.forceUpdate, "a", ["text": small])])[0].record
        #expect(try shown()?.fields["text"] == small)
        #expect(try shown()?.recordChangeTag == saved?.recordChangeTag)
        try cloud.modify([operation(.forceDelete, "a")])
        #expect(try shown() == nil)
        #expect(try cloud.lookup(["b"]).summaries == ["NOT_FOUND"], "it is not done now")
    }

    private func keptBytes(_ store: any CloudStore) throws -> Int {
        var query = OutdatedQuery(rowsMax: 1_000)
        query.answersBefore = .max
        let keys = try store.read { [query] in try $0.outdated(query).answers }
        var wanted = StoreLoad()
        wanted.answers = keys
        return try store.read { try $0.load(wanted) }.answers.values.reduce(0) { $0 + $1.answer.count }
    }

    @Test(arguments: StoreKind.allCases, [true, false]) func aUsersOldestAnswersGoWhenTheyAreTooMany(
        _ kind: StoreKind, byRows: Bool
    ) throws {
        let folder = try TemporaryFolder()
        let store = try kind.make(in: folder)
        var limits = ServiceLimits()
        if byRows { limits.answersMax = 3 } else { limits.answersBytesMax = 150 }
        let cloud = TestService(store: store, limits: limits)
        try cloud.zones(.create)
        try cloud.zones(.create, token: "bob")
        let bobs = try request(cloud, [operation(.create, "b")], id: "op", token: "bob")
        #expect(try summaries(cloud, bobs) == ["saved"])
        let trimmed = Lock(0)
        cloud.service.setPruneListener { counts in trimmed.withLock { $0 += counts.answers } }
        let requests = try (0..<10).map { try request(cloud, [operation(.create, "r\($0)")], id: "op\($0)") }
        for request in requests {
            #expect(try summaries(cloud, request) == ["saved"])
            cloud.clock.advance(bySeconds: 1)
        }
        #expect(try summaries(cloud, requests[9]) == ["saved"], "the newest is kept")
        #expect(try summaries(cloud, bobs) == ["saved"], "another user's stay")
        #expect(try summaries(cloud, requests[0]) == ["CONFLICT"], "the oldest are not")
        _ = try cloud.service.keepUp()
        #expect(trimmed.withLock { $0 } >= 5)
        #expect(try kind.findings(in: folder) == [])
    }

    @Test func requestsWithTryAgainAreRetried() throws {
        let store = ScriptedStore()
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        store.onApply = { _ in throw CloudStoreError.diskFull(path: "store") }
        let create = try request(cloud, [operation(.create, "a")], id: "op")
        #expect(try code(cloud, create) == .tryAgainLater)
        store.onApply = { _ in }
        #expect(try summaries(cloud, create) == ["saved"])
    }

    @Test func anAnswerIsKeptForADayAndThenDiscarded() throws {
        let store = MemoryCloudStore()
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        let create = try request(cloud, [operation(.create, "a")], id: "op")
        #expect(try summaries(cloud, create) == ["saved"])
        cloud.clock.advance(bySeconds: 86_399)
        try cloud.service.pruneOutdated()
        #expect(try summaries(cloud, create) == ["saved"])
        cloud.clock.advance(bySeconds: 2)
        #expect(try summaries(cloud, create) == ["CONFLICT"])
        cloud.clock.advance(bySeconds: 86_402)
        #expect(try cloud.service.pruneOutdated() == false)
        var query = OutdatedQuery(rowsMax: 10)
        query.answersBefore = .max
        let left = try store.read { [query] in try $0.outdated(query) }
        #expect(left.answers == [])
    }

    @Test func zonesAndSubscriptionsAreWrittenOnceToo() throws {
        let cloud = TestService()
        func twice(_ endpoint: String, _ message: some JSONMessage) throws -> WireResponse {
            var request = cloud.request(endpoint, try message.json())
            request.headers.append((WireHeader.operation, endpoint))
            let first = cloud.service.respond(to: request)
            #expect(cloud.service.respond(to: request).body == first.body)
            return first
        }
        try cloud.zones(.create)
        let zone = WireZone(zoneID: TestService.zone)
        let delete = ZonesModifyRequest(operations: [ZoneOperation(operationType: .delete, zone: zone)])
        let zones = try cloud.read(try twice("zones/modify", delete), as: ZonesModifyResponse.self).zones
        #expect(zones.count == 1)
        if case .zone(let gone)? = zones.first {
            #expect(gone.deleted == true)
        } else {
            Issue.record("\(zones)")
        }
        let subscription = WireSubscription(subscriptionID: "s", subscriptionType: .database)
        let make = SubscriptionsModifyRequest(
            operations: [SubscriptionOperation(operationType: .create, subscription: subscription)])
        #expect(try twice("subscriptions/modify", make).status == 200)
        let gone = SubscriptionsModifyRequest(
            operations: [SubscriptionOperation(operationType: .delete, subscription: subscription)])
        var request = cloud.request("subscriptions/modify", try gone.json())
        request.headers.append((WireHeader.operation, "delete"))
        let first = cloud.service.respond(to: request)
        #expect(String(decoding: first.body, as: UTF8.self).contains(#""deleted":true"#))
        #expect(cloud.service.respond(to: request).body == first.body)
    }

    @Test func aKeptAnswerIsSmallBesideWhatItAnswers() throws {
        let store = MemoryCloudStore()
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        let fields = ["text": Field(.string(String(repeating: "x", count: 500)))]
        let creates = (0..<200).map { operation(.create, "record-\($0)", fields) }
        let response = cloud.service.respond(to: try request(cloud, creates, id: "op"))
        #expect(response.status == 200 && response.body.count > 100_000)
        let key = OperationKey(database: .privateDatabase(of: "_ada"), user: "_ada", operationID: "op")
        var wanted = StoreLoad()
        wanted.answers = [key]
        let kept = try store.read { [wanted] in try $0.load(wanted) }.answers[key]
        #expect((kept?.answer.count ?? .max) < 200 * 24)
    }

    /// Whatever a batch comes to, the repeated one gets the same bytes, also when others have written meanwhile.
    @Test(arguments: [1, 2, 3] as [UInt64]) func theKeptAnswerIsTheFirstAnswerByteForByte(seed: UInt64) throws
    {
        let random = SeededRandomSource(seed: seed)
        let cloud = TestService(seed: seed)
        try cloud.zones(.create)
        let names = ["a", "b", "c", "d", "e"]
        let kinds: [RecordOperation.Kind] = [
            .create, .update, .forceUpdate, .replace, .forceReplace, .delete, .forceDelete,
        ]
        func fields() -> [String: Field] {
            var fields: [String: Field] = [:]
            for name in ["x", "y", "z"] where random.next(in: 0..<2) == 0 {
                switch random.next(in: 0..<4) {
                case 0: fields[name] = Field(value: nil, type: nil)
                case 1: fields[name] = Field(.string("text \(random.next(in: 0..<9))"), isEncrypted: true)
                case 2: fields[name] = Field(.int64(Int64(random.next(in: 0..<9))))
                default: fields[name] = reference(names[random.next(in: 0..<5)], .none)
                }
            }
            return fields
        }
        func operations() throws -> [RecordOperation] {
            try names.filter { _ in random.next(in: 0..<2) == 0 }.map { name in
                let tag = try cloud.lookup([name]).first?.record?.recordChangeTag
                var made = operation(
                    kinds[random.next(in: 0..<kinds.count)], random.next(in: 0..<8) == 0 ? nil : name,
                    tag: random.next(in: 0..<4) == 0 ? nil : tag,
                    type: random.next(in: 0..<4) == 0 ? nil : "todo",
                    fields(), parent: random.next(in: 0..<6) == 0 ? "a" : nil)
                if random.next(in: 0..<4) == 0 { made.desiredKeys = ["x"] }
                if random.next(in: 0..<9) == 0 { made.record.zoneID = ZoneID(zoneName: "none") }
                return made
            }
        }
        var seen = Set<String>()
        for round in 0..<150 {
            cloud.clock.advance(bySeconds: 1)
            let write = try request(
                cloud, try operations(), id: "op-\(round)", atomic: random.next(in: 0..<2) == 0)
            let first = cloud.service.respond(to: write)
            guard first.status == 200 else { continue }
            seen.formUnion(try RecordsModifyResponse(json: first.body).records.summaries)
            _ = try cloud.modify(try operations(), atomic: false)
            let again = cloud.service.respond(to: write)
            #expect(try told(again) == told(first), "seed \(seed), round \(round)")
        }
        #expect(
            seen.isSuperset(of: ["saved", "deleted", "CONFLICT", "ATOMIC_ERROR", "NOT_FOUND"]), "\(seen)")
    }
}
