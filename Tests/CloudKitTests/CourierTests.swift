import CloudKit
import CloudWire
import Foundation
import System
import Testing

/// A server that answers when the test says so.
private final class HeldTransport: Transport {
    private struct Open: Sendable {
        var request: WireRequest
        var timeoutSeconds: Double
        var completion: @Sendable (Result<WireResponse, CKError>) -> Void
    }

    private let open = Lock<[Open]>([])
    private let seen = Lock<[String]>([])
    private let cancelled = Lock(0)

    /// The requests so far: the path's end, and what is acknowledged.
    var requests: [String] { seen.withLock { $0 } }
    var openRequest: WireRequest? { open.withLock { $0.first?.request } }
    var openTimeoutSeconds: Double? { open.withLock { $0.first?.timeoutSeconds } }
    var cancelCount: Int { cancelled.withLock { $0 } }
    var enforcesTimeouts: Bool { true }

    func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let end = request.path.split(separator: "/").last.map(String.init) ?? ""
        seen.withLock { $0.append(end + (request.queryItem("after").map { " after \($0)" } ?? "")) }
        open.withLock {
            $0.append(
                Open(request: request, timeoutSeconds: timeouts.shortestSeconds, completion: completion))
        }
        return { self.cancelled.withLock { $0 += 1 } }
    }

    func answer(_ result: Result<WireResponse, CKError>) {
        open.withLock { $0.isEmpty ? nil : $0.removeFirst() }?.completion(result)
    }

    func answer(_ status: Int = 200, _ json: String = "") {
        answer(.success(WireResponse(status: status, body: Array(json.utf8))))
    }
}

/// A device that listens, with a server, a clock and a list of what it heard.
private struct Bench {
    let transport = HeldTransport()
    let clock = ManualTimeSource()
    let timers: ManualTimerSource
    let container: CKContainer
    let heard = Collected<String>()

    init(
        account: any CloudAccount = FixedAccount(CloudCredential(webAuthToken: "t", deviceID: "phone"))
    ) {
        timers = ManualTimerSource(clock: clock)
        container = CKContainer(
            identifier: "iCloud.test",
            connection: CloudConnection(
                transport: transport, execution: .inline, account: account, timers: timers,
                random: SeededRandomSource(seed: 1)))
    }

    func listen(into heard: Collected<String>? = nil) -> @Sendable () -> Void {
        let heard = heard ?? self.heard
        return container.observeNotifications { event in
            switch event {
            case .listening(let wasForgotten): heard.append(wasForgotten ? "listening anew" : "listening")
            case .interrupted(let error): heard.append("interrupted \(error.code.rawValue)")
            case .notification(let notification): heard.append(notification.notificationID?.value ?? "?")
            case .waitEnded: break
            }
        }
    }

    func register(token: String = "k") {
        let url = "http://elsewhere:1/prefix/device/1/iCloud.test/development/courier?token=\(token)%2B1"
        transport.answer(
            200, #"{"apnsEnvironment":"development","apnsToken":"\#(token)","webcourierURL":"\#(url)"}"#)
    }

    func push(_ id: String) {
        clock.advance(bySeconds: 2)
        transport.answer(200, #"{"ck":{"cid":"iCloud.test","nid":"\#(id)","met":{"dbs":2,"sid":"s"}}}"#)
    }

    /// Lets the pause go by.
    func endPause() throws {
        let due = try #require(timers.nextDueMilliseconds)
        clock.advance(bySeconds: Double(due - clock.nowMilliseconds()) / 1000)
        timers.runDue()
    }
}

@Suite struct CourierTests {
    @Test func aDeviceRegistersAndWaitsInOneRequest() throws {
        let bench = Bench()
        let end = bench.listen()
        #expect(bench.transport.requests == ["create"])
        let body = String(decoding: bench.transport.openRequest?.body ?? [], as: UTF8.self)
        #expect(body == #"{"apnsEnvironment":"development","clientId":"phone"}"#)
        bench.register()
        #expect(bench.heard.all == ["listening"])
        let wait = try #require(bench.transport.openRequest)
        #expect(wait.method == "GET" && wait.path == "/device/1/iCloud.test/development/courier")
        #expect(
            wait.queryItem("token") == "k+1",
            "on the server that is configured, with the token as it was given")
        #expect(bench.transport.openTimeoutSeconds == 60)
        bench.clock.advance(bySeconds: 25)
        bench.timers.runDue()
        #expect(bench.transport.requests == ["create", "courier"], "nothing is asked while it waits")
        end()
    }

    /// A device at which users sign in and out.
    private final class ChangingAccount: CloudAccount {
        let current = Lock(CloudCredential(webAuthToken: "1", deviceID: "phone", userRecordName: "_ada"))
        func credential() -> CloudCredential { current.withLock { $0 } }
        func replace(_ token: String, with newToken: String) {}
    }

    @Test func whenAnotherUserSignsInTheDeviceRegistersForThatUser() {
        let account = ChangingAccount()
        let bench = Bench(account: account)
        let end = bench.listen()
        bench.register()
        account.current.withLock { $0.webAuthToken = "2" }
        bench.clock.advance(bySeconds: 25)
        bench.transport.answer()
        #expect(bench.transport.requests == ["create", "courier", "courier"], "a new token of the same user")
        account.current.withLock { $0.userRecordName = "_eve" }
        bench.clock.advance(bySeconds: 25)
        bench.transport.answer()
        #expect(bench.transport.requests.last == "create")
        bench.register(token: "e")
        #expect(bench.heard.all == ["listening", "listening anew"])
        #expect(bench.transport.openRequest?.queryItem("token") == "e+1")
        // Who signs out is no longer told anything.
        account.current.withLock { $0 = CloudCredential(deviceID: "phone") }
        bench.push("a")
        #expect(bench.transport.requests.last == "create")
        end()
    }

    @Test func aNotificationIsReportedAndAcknowledgedWithTheNextWait() {
        let bench = Bench()
        let end = bench.listen()
        bench.register()
        bench.push("a")
        bench.push("b")
        bench.clock.advance(bySeconds: 25)
        bench.transport.answer(200)
        #expect(bench.heard.all == ["listening", "a", "b"])
        #expect(
            bench.transport.requests == [
                "create", "courier", "courier after a", "courier after b", "courier",
            ])
        end()
    }

    @Test func aWaitEndedByTheServerIsReportedAndAnInterruptedOneIsNot() {
        let bench = Bench()
        let ended = Collected<String>()
        let end = bench.container.privateCloudDatabase.observeNotifications { event in
            if case .waitEnded = event { ended.append("ended") }
        }
        bench.register()
        for _ in 1...2 {
            bench.clock.advance(bySeconds: 25)
            bench.transport.answer()
        }
        #expect(ended.all == ["ended", "ended"])
        bench.push("a")
        bench.transport.answer(.failure(CKError(.networkFailure)))
        #expect(ended.all.count == 2)
        end()
    }

    @Test func aRepeatedNotificationIsReportedOnceAndDoesNotLoop() throws {
        let bench = Bench()
        let end = bench.listen()
        bench.register()
        bench.push("a")
        bench.push("a")
        #expect(bench.heard.all == ["listening", "a"])
        #expect(bench.transport.requests == ["create", "courier", "courier after a"], "it pauses first")
        try bench.endPause()
        #expect(bench.transport.requests.last == "courier after a")
        end()
    }

    @Test func afterALostConnectionItRegistersAgainAndSaysThatItListens() throws {
        let bench = Bench()
        let end = bench.listen()
        bench.register()
        bench.push("a")
        bench.transport.answer(.failure(CKError(.networkFailure)))
        #expect(bench.heard.all == ["listening", "a", "interrupted 4"])
        try bench.endPause()
        bench.transport.answer(.failure(CKError(.networkUnavailable)))
        try bench.endPause()
        bench.register()
        #expect(bench.heard.all == ["listening", "a", "interrupted 4", "listening"], "told once")
        #expect(
            bench.transport.requests == [
                "create", "courier", "courier after a", "register", "register", "courier after a",
            ], "what was not acknowledged still is")
        end()
    }

    @Test func pausesGrowAndObeyTheServer() throws {
        let bench = Bench()
        let end = bench.listen()
        var pauses: [Int64] = []
        for _ in 0..<10 {
            bench.transport.answer(.failure(CKError(.networkUnavailable)))
            pauses.append(try #require(bench.timers.nextDueMilliseconds) - bench.clock.nowMilliseconds())
            try bench.endPause()
        }
        #expect(pauses[0] <= 1000 && pauses[3] >= 4000 && pauses.allSatisfy { $0 <= 60_000 }, "\(pauses)")
        bench.transport.answer(503, #"{"serverErrorCode":"TRY_AGAIN_LATER","retryAfter":100}"#)
        let asked = try #require(bench.timers.nextDueMilliseconds) - bench.clock.nowMilliseconds()
        #expect(asked == 100_000)
        end()
    }

    @Test(arguments: [404, 400, 403])
    func aTokenThatIsRefusedIsMadeAnew(status: Int) throws {
        let bench = Bench()
        let end = bench.listen()
        bench.register()
        let code = [404: "NOT_FOUND", 400: "BAD_REQUEST", 403: "ACCESS_DENIED"][status] ?? ""
        bench.transport.answer(status, #"{"serverErrorCode":"\#(code)"}"#)
        try bench.endPause()
        bench.register(token: "l")
        #expect(bench.heard.all.first == "listening" && bench.heard.all.last == "listening anew")
        #expect(bench.transport.requests == ["create", "courier", "create", "courier"])
        #expect(bench.transport.openRequest?.queryItem("token") == "l+1")

        bench.transport.answer(.failure(CKError(.networkFailure)))
        try bench.endPause()
        bench.transport.answer(404, #"{"serverErrorCode":"NOT_FOUND"}"#)
        #expect(bench.transport.requests.suffix(2) == ["register", "create"])
        end()
    }

    @Test func anAnswerThatCannotBeReadIsAFailureAndWaitsThatAreNoneArePaused() throws {
        let bench = Bench()
        let end = bench.listen()
        bench.register()
        bench.transport.answer(200, "rubbish")
        #expect(bench.heard.all == ["listening", "interrupted 34"])
        try bench.endPause()
        bench.register()
        for _ in 0..<3 {
            bench.transport.answer(200)
            #expect(bench.transport.openRequest == nil, "an empty answer at once is no wait")
            try bench.endPause()
        }
        #expect(bench.transport.openRequest != nil)
        end()
    }

    @Test func anUnreadableNotificationIsAcknowledgedReportedOnceAndSkipped() throws {
        let bench = Bench()
        let end = bench.listen()
        bench.register()
        bench.clock.advance(bySeconds: 2)
        let damaged = #"{"ck":{"nid":"x","met":7}}"#
        bench.transport.answer(200, damaged)
        #expect(bench.heard.all == ["listening", "interrupted 34", "listening"], "so that it fetches")
        #expect(bench.transport.requests == ["create", "courier", "courier after x"])
        bench.transport.answer(200, damaged)
        #expect(bench.heard.all.count == 3, "told once")
        try bench.endPause()
        #expect(bench.transport.requests.last == "courier after x")
        bench.push("b")
        #expect(bench.heard.all.last == "b" && bench.transport.requests.last == "courier after b")
        // One of a kind that we don't know says nothing.
        bench.clock.advance(bySeconds: 2)
        bench.transport.answer(200, #"{"ck":{"nid":"later","new":{"dbs":2}}}"#)
        #expect(bench.heard.all.last == "b" && bench.transport.requests.last == "courier after later")
        end()
    }

    @Test func anUnreadableNotificationAcknowledgesAllPendingOnes() throws {
        let bench = Bench()
        let end = bench.listen()
        func acknowledges() -> Bool? { bench.transport.openRequest.map { $0.wantsExtras } }
        bench.register()
        #expect(acknowledges() == true)
        bench.clock.advance(bySeconds: 2)
        bench.transport.answer(200, #"{"ck":{"nid":"x","#)
        #expect(bench.heard.all == ["listening", "interrupted 34"])
        try bench.endPause()
        bench.register()
        #expect(acknowledges() == false, "the server takes what it sends now as all that waited")
        bench.push("a")
        #expect(bench.heard.all == ["listening", "interrupted 34", "listening", "listening", "a"])
        #expect(acknowledges() == true && bench.transport.requests.last == "courier after a")
        end()
    }

    @Test func severalObserversShareOneWaitAndTheLastEndsIt() {
        let bench = Bench()
        let second = Collected<String>()
        let end = bench.listen()
        bench.register()
        let endSecond = bench.listen(into: second)
        bench.push("a")
        #expect(second.all == ["listening", "a"] && bench.heard.all == ["listening", "a"])
        end()
        bench.push("b")
        #expect(second.all == ["listening", "a", "b"] && bench.heard.all == ["listening", "a"])
        #expect(bench.transport.cancelCount == 0)
        endSecond()
        #expect(bench.transport.cancelCount == 1)
        bench.push("c")
        #expect(second.all.last == "b" && bench.transport.requests.count == 4)
        let third = bench.listen()
        #expect(bench.transport.requests.last == "create", "a new beginning")
        third()
    }

    @Test func aDatabaseReceivesItsOwnNotificationsOnly() {
        let bench = Bench()
        let own = Collected<String>()
        let end = bench.container.sharedCloudDatabase.observeNotifications { event in
            if case .notification = event { own.append("shared") }
        }
        bench.register()
        bench.push("a")
        bench.transport.answer(200, #"{"ck":{"cid":"iCloud.other","nid":"b","met":{"dbs":3}}}"#)
        bench.transport.answer(200, #"{"ck":{"nid":"c","met":{"dbs":3}}}"#)
        #expect(own.all == ["shared"])
        end()
    }
}
