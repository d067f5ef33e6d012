import CloudStore
import CloudWire
import System
import Testing

@testable import CloudService

/// Who floods waits for his own; others hardly notice.
@Suite struct FairQueueTests {
    @Test func eachInTurnGivesOne() {
        var queue = FairQueue<String>()
        for number in 0..<3 { queue.append("a\(number)", of: "a", bytes: 10) }
        queue.append("b0", of: "b", bytes: 10)
        #expect(queue.popFirst() == "a0")
        queue.append("c0", of: "c", bytes: 10)
        #expect(queue.count == 4 && queue.ownersCount == 3)
        #expect((0..<5).map { _ in queue.popFirst() } == ["b0", "a1", "c0", "a2", nil])
        #expect(queue.count == 0 && queue.ownersCount == 0)
    }

    @Test func aLongLineCostsEachTurnLittle() {
        var queue = FairQueue<Int>()
        let count = 250_000
        for number in 0..<count { queue.append(number, of: "a", bytes: 1) }
        var sum = 0
        while let next = queue.popFirst() { sum += next }
        #expect(sum == count * (count - 1) / 2)
    }

    @Test func whoGaveALargeOneLetsTurnsPass() {
        var queue = FairQueue<String>()
        let turn = FairQueue<String>.turnBytes
        for number in 0..<3 { queue.append("a\(number)", of: "a", bytes: 3 * turn) }
        for number in 0..<9 { queue.append("b\(number)", of: "b", bytes: 10) }
        var order: [String] = []
        while let next = queue.popFirst() { order.append(next) }
        #expect(order == ["a0", "b0", "b1", "b2", "a1", "b3", "b4", "b5", "a2", "b6", "b7", "b8"])
    }

    @Test func whatIsPutBackComesFirst() {
        var queue = FairQueue<String>()
        for (name, owner) in [("a0", "a"), ("a1", "a"), ("b0", "b"), ("c0", "c"), ("a2", "a")] {
            queue.append(name, of: owner, bytes: 1)
        }
        let (first, second) = (queue.popFirst(), queue.popFirst())
        #expect(first == "a0" && second == "b0")
        queue.putBack([("a0", "a", 1), ("b0", "b", 1)])
        #expect(queue.count == 5)
        #expect((0..<6).map { _ in queue.popFirst() } == ["a0", "b0", "c0", "a1", "a2", nil])
    }

    @Test func everythingIsServedOnceInItsOwnersOrder() {
        let seed: UInt64 = 7
        let random = SeededRandomSource(seed: seed)
        var queue = FairQueue<(owner: Int, number: Int)>()
        var put = [Int](repeating: 0, count: 5)
        var taken = [Int](repeating: 0, count: 5)
        for _ in 0..<5_000 {
            if random.next(in: 0..<5) < 3 {
                let owner = random.next(in: 0..<5)
                queue.append((owner, put[owner]), of: "\(owner)", bytes: random.next(in: 0..<100_000))
                put[owner] += 1
            } else if let next = queue.popFirst() {
                #expect(next.number == taken[next.owner], "seed \(seed)")
                if random.next(in: 0..<4) == 0 {
                    queue.putBack([(next, "\(next.owner)", 10)])
                } else {
                    taken[next.owner] += 1
                }
            }
        }
        while let next = queue.popFirst() {
            #expect(next.number == taken[next.owner])
            taken[next.owner] += 1
        }
        #expect(put == taken && queue.count == 0)
    }

    private func job(_ owner: String) -> ServiceJob {
        let request = PreparedRequest(work: .answer(.nothing), bytes: 10, wantsExtras: false)
        return ServiceJob(
            bytes: 10, owner: owner, begin: { request }, finish: { _, _, _ in }, refuse: {})
    }

    /// What a reader that has nothing to do begins.
    private func begin(_ turns: inout ReaderQueue) throws -> ServiceJob {
        let job = turns.popFirst()
        return try #require(job)
    }

    @Test func oneHasAQuarterOfTheReadersWhileOthersCome() throws {
        var turns = ReaderQueue(readersCount: 8)
        for _ in 0..<16 { turns.append(job("flood")) }
        // Alone it has all of them.
        let first = try (0..<8).map { _ in try begin(&turns) }
        turns.append(job("ada"))
        turns.end(first[0], microseconds: 10)
        let ada = try begin(&turns)
        #expect(ada.owner == "ada")
        turns.end(ada, microseconds: 10)
        for ended in first[1...5] {
            let none = turns.popFirst()
            #expect(none == nil, "more than two of eight are the flood's already")
            turns.end(ended, microseconds: 10)
        }
        var none = turns.popFirst()
        #expect(none == nil)
        turns.end(first[6], microseconds: 10)
        #expect(try begin(&turns).owner == "flood", "two of eight")
        none = turns.popFirst()
        #expect(none == nil)
        turns.append(job("bob"))
        #expect(try begin(&turns).owner == "bob")
    }

    @Test func longQueriesOfThreeUsersLeaveAReaderToOthers() throws {
        var turns = ReaderQueue(readersCount: 4)
        for name in ["a", "b", "c"] { for _ in 0..<4 { turns.append(job(name)) } }
        #expect(try (0..<3).map { _ in try begin(&turns).owner } == ["a", "b", "c"])
        let none = turns.popFirst()
        #expect(none == nil)
        turns.append(job("ada"))
        #expect(try begin(&turns).owner == "ada")
    }

    @Test func whoHeldTheWriterRestsThreeTimesAsLongAndNoMoreThanTwoSeconds() {
        var rests = WriterCooldowns()
        rests.notice("ada", at: 1_000)
        #expect(rests.next(at: 1_000) == nil)
        rests.begin("slow", after: 100, at: 1_000)
        rests.begin("slower", after: 5_000, at: 1_000)
        #expect(rests.contains("slow", at: 1_299) && !rests.contains("slow", at: 1_300))
        #expect(rests.contains("slower", at: 2_999) && !rests.contains("slower", at: 3_000))
        #expect(!rests.contains("quick", at: 1_000))
        #expect(rests.next(at: 1_100) == 200)
        #expect(rests.next(at: 1_300) == 1_700, "what is over is forgotten")
        #expect(rests.next(at: 3_000) == nil)
    }

    @Test func aLoneWriterHasNoCooldown() {
        var rests = WriterCooldowns()
        rests.notice("slow", at: 0)
        rests.begin("slow", after: 100, at: 0)
        #expect(!rests.contains("slow", at: 1))
        rests.notice("ada", at: 0)
        rests.notice("slow", at: 500)
        rests.begin("slow", after: 100, at: 999)
        #expect(rests.contains("slow", at: 1_000))
        rests.begin("other", after: 100, at: 1_499)
        #expect(rests.contains("other", at: 1_500))
        rests.begin("slow", after: 100, at: 2_000)
        #expect(!rests.contains("slow", at: 2_001), "ada was there too long ago")
    }

    @Test func aGroupSkipsOwnersInCooldownAndKeepsTheirOrder() {
        var writes = WriteQueue()
        for (number, user) in ["_slow", "_ada", "_slow", "_bob"].enumerated() {
            writes.append(write(user, number: number))
        }
        let group = writes.take(within: GroupLimits()) { $0 != "user _slow" }
        #expect(group.map(\.request.bytes) == [1, 3])
        #expect(writes.take(within: GroupLimits()) { $0 != "user _slow" }.isEmpty)
        #expect(writes.take(within: GroupLimits()).map(\.request.bytes) == [0, 2])
    }

    @Test func aLongWriteIsAGroupOfItsOwnWhileOthersWrite() {
        var writes = WriteQueue()
        let long = WriteQueue.longWriteBytes
        func groups(_ sent: [(user: String, bytes: Int)], resting: String = "") -> [[Int]] {
            for (user, bytes) in sent { writes.append(write(user, number: bytes)) }
            var groups: [[Int]] = []
            while true {
                let group = writes.take(within: GroupLimits()) { $0 != "user \(resting)" }
                guard !group.isEmpty else { return groups }
                groups.append(group.map(\.request.bytes))
            }
        }
        #expect(groups([("_ada", 1), ("_long", long), ("_bob", 2)]) == [[1, 2], [long]])
        #expect(groups([("_long", long), ("_ada", 1), ("_bob", 2)]) == [[1, 2], [long]])
        #expect(groups([("_long", long), ("_long", long + 1)]) == [[long, long + 1]], "no short one waits")
        #expect(
            groups([("_ada", 1), ("_long", long), ("_long", 3), ("_bob", 2)], resting: "_long") == [[1, 2]])
        #expect(groups([]) == [[long], [3]], "when the rest is over")
        func take(after sent: [(user: String, bytes: Int)]) -> [Int] {
            for (user, bytes) in sent { writes.append(write(user, number: bytes)) }
            return writes.take(within: GroupLimits()).map(\.request.bytes)
        }
        #expect(take(after: [("_long", long), ("_long", long), ("_ada", 1)]) == [long])
        #expect(take(after: [("_bob", 2)]) == [1, 2])
        #expect(take(after: [("_ada", 3)]) == [long], "short ones that go on coming don't keep it away")
        #expect(take(after: []) == [3])
    }

    private func write(_ user: String, number: Int) -> WaitingWrite {
        let request = PreparedRequest(
            work: .answer(.nothing), bytes: number, wantsExtras: false, userRecordName: user)
        let job = ServiceJob(
            bytes: number, owner: user, begin: { request }, finish: { _, _, _ in }, refuse: {})
        return WaitingWrite(job: job, request: request, body: { _ in .nothing })
    }

    @Test func whoseQuestionsTakeLongWaitsUntilTurnsHavePaidForThem() throws {
        var turns = ReaderQueue(readersCount: 1)
        for name in ["slow", "slow", "slow", "quick"] { turns.append(job(name)) }
        turns.end(try begin(&turns), microseconds: 20_000)
        func next12() throws -> [String] {
            try (0..<12).map { _ in
                let next = try begin(&turns)
                turns.end(next, microseconds: 100)
                turns.append(job("quick"))
                return next.owner
            }
        }
        #expect(try next12() == Array(repeating: "quick", count: 12))
        #expect(try next12().contains("slow"), "it is paid for")
    }

    @Test func debtIsKeptWhileOthersWaitAndClearedWhenTheQueueIsEmpty() throws {
        var queue = FairQueue<String>()
        for name in ["slow", "a", "b"] { queue.append(name, of: name, bytes: 10) }
        func take() -> String? { queue.popFirst() }
        #expect(take() == "slow")
        queue.charge("slow", bytes: 3 * FairQueue<String>.turnBytes)
        queue.append("slow", of: "slow", bytes: 10)
        queue.append("c", of: "c", bytes: 10)
        #expect((0..<4).map { _ in take() } == ["a", "b", "c", "slow"])
        queue.charge("slow", bytes: 3 * FairQueue<String>.turnBytes)
        for name in ["slow", "a"] { queue.append(name, of: name, bytes: 10) }
        #expect(take() == "slow", "nobody waited for it")
    }

    @Test func aTurnAmongManyIndebtedOwnersIsFoundInTwoRounds() {
        var queue = FairQueue<Int>()
        let count = 1_000
        for number in 0..<count {
            for _ in 0..<2 { queue.append(number, of: "\(number)", bytes: 10) }
        }
        for number in 0..<count {
            queue.charge("\(number)", bytes: (100 + number) * FairQueue<Int>.turnBytes)
        }
        var looks = 0
        let first = queue.popFirst { _ in
            looks += 1
            return true
        }
        #expect(first == 0, "it owes least")
        #expect(looks <= 4 * count)
        let none = queue.popFirst { _ in false }
        #expect(none == nil && queue.count == 2 * count - 1)
    }

    @Test func aGroupHoldsAWriteOfEachBeforeASecondOfOne() {
        var writes = WriteQueue()
        func write(_ user: String) -> WaitingWrite {
            let request = PreparedRequest(
                work: .answer(.nothing), bytes: 10, wantsExtras: false, userRecordName: user)
            let job = ServiceJob(
                bytes: 10, owner: "address", begin: { request }, finish: { _, _, _ in }, refuse: {})
            return WaitingWrite(job: job, request: request, body: { _ in .nothing })
        }
        for _ in 0..<300 { writes.append(write("_flood")) }
        for user in ["_ada", "_bob"] { writes.append(write(user)) }
        var limits = GroupLimits()
        limits.requestsMax = 4
        let users = writes.take(within: limits).map(\.request.userRecordName)
        #expect(users == ["_flood", "_ada", "_bob", "_flood"])
        #expect(limits.milliseconds(ownersCount: 1, isContested: false) == 8)
        #expect(limits.milliseconds(ownersCount: 3, isContested: true) == 6)
        #expect(limits.milliseconds(ownersCount: .max, isContested: true) == limits.milliseconds)
    }

    @Test func whoBroughtOneWriteWaitsForNoMoreOfTheFloodThanItsShare() {
        var writes = WriteQueue()
        func append(_ count: Int, _ user: String) {
            for _ in 0..<count {
                let request = PreparedRequest(
                    work: .answer(.nothing), bytes: 10, wantsExtras: false, userRecordName: user)
                let job = ServiceJob(
                    bytes: 10, owner: user, begin: { request }, finish: { _, _, _ in }, refuse: {})
                writes.append(WaitingWrite(job: job, request: request, body: { _ in .nothing }))
            }
        }
        func counts() -> [String: Int] {
            Dictionary(writes.take(within: GroupLimits()).map { ($0.owner, 1) }, uniquingKeysWith: +)
        }
        append(600, "flood")
        #expect(counts() == ["user flood": 256] && !writes.isContested, "alone it fills the group")
        append(1, "ada")
        #expect(counts() == ["user ada": 1, "user flood": 7] && writes.isContested)
        append(10, "ada")
        append(12, "bob")
        #expect(counts() == ["user ada": 10, "user bob": 10, "user flood": 10])
        // Where each has something there is one round after the other.
        append(20, "bob")
        #expect(counts() == ["user bob": 22, "user flood": 22])
        #expect(writes.isContested)
        while !writes.take(within: GroupLimits()).isEmpty {}
        for _ in 0..<Contention.loneTurnsMax {
            append(1, "flood")
            #expect(counts() == ["user flood": 1])
        }
        #expect(!writes.isContested, "whoever else there was is gone")
    }

    @Test func whoFloodsFillsHalfAndTheNextFindsRoom() {
        let limits = GroupLimits()
        var owned = [0, 0, 0]
        for owner in 0..<3 {
            while !limits.isFull(of: owned.reduce(0, +), 600, own: owned[owner]) { owned[owner] += 1 }
        }
        #expect(owned == [300, 150, 75])
        #expect(!limits.isFull(of: 525, 600, own: 0) && limits.isFull(of: 600, 600, own: 0))
    }

    @Test func aRequestWaitsInItsUsersLineOnceItsTokenWasLetIn() {
        let cloud = TestService()
        var request = cloud.request("users/caller", [], database: "public")
        request.peer = "2001:db8:1:2:3:4:5:6"
        #expect(cloud.service.rates.owner(of: request) == "address 2001:db8:1:2")
        #expect(cloud.service.respond(to: request).status == 200)
        #expect(cloud.service.rates.owner(of: request) == "user _ada")
        // What nobody knows stays in the line of its address, however it changes.
        for token in ["x", "y", nil] {
            var unknown = cloud.request("users/caller", [], database: "public", token: token)
            unknown.peer = "192.0.2.1"
            _ = cloud.service.respond(to: unknown)
            #expect(cloud.service.rates.owner(of: unknown) == "address 192.0.2.1")
        }
    }
}

/// How many requests a second may come.
@Suite struct RateTests {
    private let clock = ManualTimeSource()

    private func service(_ configure: (inout ServiceRates) -> Void) -> CloudService {
        var rates = ServiceRates.unlimited
        configure(&rates)
        return CloudService(
            store: MemoryCloudStore(), clock: clock, random: SeededRandomSource(seed: 1),
            container: TestService.container, users: ["ada": TestService.ada, "bob": TestService.bob],
            rates: rates)
    }

    private func ask(_ service: CloudService, _ token: String?, peer: String = "192.0.2.1") -> WireResponse {
        var request = TestService().request(
            "records/lookup", Array(#"{"records":[{"recordName":"a"}]}"#.utf8), database: "public",
            token: token)
        request.peer = peer
        return service.respond(to: request)
    }

    @Test func aThrottledClientGetsARetryDelayAndOthersAreServed() throws {
        let service = service { $0.user = .init(perSecond: 2, burst: 4) }
        for left in [3, 2, 1, 0] {
            let response = ask(service, "ada")
            #expect(response.status == 200 && response.header("RateLimit-Limit") == "4")
            #expect(response.header("RateLimit-Remaining") == "\(left)")
        }
        let refused = ask(service, "ada")
        #expect(refused.status == 429 && refused.header("Retry-After") == "1")
        #expect(refused.header("RateLimit-Remaining") == "0" && refused.header("RateLimit-Reset") == "1")
        let error = try WireError(json: refused.body)
        #expect(error.serverErrorCode == .throttled && error.retryAfterSeconds == 1)
        #expect(ask(service, "bob").status == 200)
        // Who hasn't signed in has no user's limit.
        #expect(ask(service, nil).header("RateLimit-Limit") == nil)
        clock.advance(bySeconds: 0.5)
        #expect(ask(service, "ada").status == 200 && ask(service, "ada").status == 429)
        clock.advance(bySeconds: 1_000)
        #expect(ask(service, "ada").header("RateLimit-Remaining") == "3")
    }

    @Test func aUsersLargeAnswersCountAsSeveralRequestsAndNoOtherUserWaits() throws {
        let service = service { $0.user = .init(perSecond: 10, burst: 100) }
        let text = String(repeating: "x", count: 800_000)
        let record = #"{"recordName":"a","recordType":"T","fields":{"b":{"value":"\#(text)"}}}"#
        let operation = #"{"operationType":"forceUpdate","record":\#(record)}"#
        let save = TestService().request(
            "records/modify", Array(#"{"operations":[\#(operation)]}"#.utf8), database: "public", token: "ada"
        )
        #expect(service.respond(to: save).status == 200)
        clock.advance(bySeconds: 100)
        // An answer of 800 KB is 49 requests of 16 KB.
        #expect(ask(service, "ada").status == 200 && ask(service, "ada").status == 200)
        let third = ask(service, "ada")
        #expect(third.status == 200 && third.header("RateLimit-Remaining") == "1")
        let refused = ask(service, "ada")
        #expect(
            refused.status == 429 && refused.header("Retry-After") == "5", "47 are owed, 10 come a second")
        #expect(refused.header("RateLimit-Remaining") == "0")
        #expect(ask(service, "bob").status == 200)
        clock.advance(bySeconds: 5)
        #expect(ask(service, "ada").status == 200)
    }

    @Test func debtForAnswersIsAtMostAFullBucket() {
        var buckets = RateBuckets(.init(perSecond: 10, burst: 100))
        #expect(buckets.take("ada", at: 0).isTaken)
        buckets.charge("ada", thousandths: 1_000_000_000, at: 0)
        let refused = buckets.take("ada", at: 0)
        #expect(!refused.isTaken && refused.seconds == 11 && refused.remaining == 0)
        #expect(buckets.take("ada", at: 11_000).isTaken)
    }

    @Test func whoHasNotSignedInIsCountedByAddressAndGuessingCountsToo() throws {
        let service = service { $0.address = .init(perSecond: 1, burst: 3) }
        #expect(ask(service, nil).status == 200 && ask(service, "guess").status == 401)
        #expect(ask(service, "guess").status == 401 && ask(service, "guess").status == 429)
        #expect(ask(service, nil).status == 429 && ask(service, "ada").status == 200)
        #expect(ask(service, nil, peer: "192.0.2.2").status == 200)
        for host in ["1", "2", "3"] { #expect(ask(service, nil, peer: "2001:db8::\(host)").status == 200) }
        #expect(ask(service, nil, peer: "2001:db8:0:0:ffff::4").status == 429)
        #expect(ask(service, nil, peer: "2001:db8:0:1::4").status == 200)
    }

    @Test func aPollIsCountedToTheUserOfItsDevice() throws {
        let service = service { $0.user = .init(perSecond: 1, burst: 3) }
        let created = service.respond(
            to: WireRequest(
                path: "/device/1/\(TestService.container.identifier)/development/tokens/create",
                query: [("ckWebAuthToken", "ada")],
                body: try TokensCreateRequest(apnsEnvironment: .development, clientID: "phone").json()))
        let token = try TokensResponse(json: created.body).apnsToken
        func poll(by asker: String?) -> ServerErrorCode? {
            let prepared = service.devicePushes.prepareTake(
                apnsToken: token, acknowledging: nil, taking: .each, asker: asker)
            guard
                case .failure(let error) = DevicePushes.push(
                    from: prepared.work.answerAlone(in: service.store))
            else {
                return nil
            }
            return error.serverErrorCode
        }
        #expect(
            [poll(by: "192.0.2.1"), poll(by: "192.0.2.2"), poll(by: "192.0.2.1")] == [nil, nil, .throttled])
        #expect(poll(by: nil) == nil, "what the server asks by itself is nobody's")
        #expect(ask(service, "bob").status == 200)
        #expect(
            service.rates.owner(ofDevice: token, asker: "192.0.2.3")
                == "user \(TestService.ada.userRecordName)")
        #expect(service.rates.owner(ofDevice: "guessed", asker: "192.0.2.3") == "address 192.0.2.3")
    }

    @Test func aContainersRateIsSharedAndNotUsedByRejectedRequests() throws {
        let service = service {
            $0.container = .init(perSecond: 1, burst: 6)
            $0.user = .init(perSecond: 1, burst: 4)
        }
        for _ in 0..<20 { _ = ask(service, "ada") }
        #expect(ask(service, "bob").status == 200 && ask(service, "bob").status == 200)
        let refused = ask(service, "bob")
        #expect(refused.status == 503 && refused.header("Retry-After") != nil)
        #expect(try WireError(json: refused.body).serverErrorCode == .tryAgainLater)
    }

    @Test func manyOwnersTakeNoMoreMemoryThanSome() {
        var buckets = RateBuckets(.init(perSecond: 1, burst: 2))
        for number in 0..<(RateBuckets.entriesMax + 1_000) { _ = buckets.take("\(number)", at: 0) }
        #expect(buckets.count <= RateBuckets.entriesMax + 1)
        // Those beyond share one place until there is room again.
        #expect(!buckets.take("new", at: 0).isTaken)
        #expect(buckets.take("new", at: 3_000).isTaken && buckets.count <= 2)
    }

    @Test func uncountableRatesAreClampedToTheMaximum() {
        var buckets = RateBuckets(.init(perSecond: .max, burst: .max))
        #expect(buckets.take("a", at: 0).isTaken && buckets.take("a", at: .max).isTaken)
    }

    @Test func aClockThatWasSetBackGivesNothing() {
        var buckets = RateBuckets(.init(perSecond: 1, burst: 1))
        #expect(buckets.take("a", at: 10_000).isTaken && !buckets.take("a", at: 0).isTaken)
        #expect(!buckets.take("a", at: 500).isTaken && buckets.take("a", at: 1_000).isTaken)
    }
}
