import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// A store whose writes wait until the test lets them go on.
private final class GatedStore: CloudStore {
    let gate = DispatchSemaphore(value: 0)
    let writeBegan = DispatchSemaphore(value: 0)
    private let store = MemoryCloudStore()

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try store.read(body)
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        writeBegan.signal()
        gate.wait()
        return try store.write(body)
    }
}

/// A store whose commits take long, and after which there is much to move.
private final class SlowStore: CloudStore {
    /// Microseconds of the writer's thread, so far.
    let microseconds = Lock(0)
    let commitMicroseconds = Lock(0)
    let checkpointed = DispatchSemaphore(value: 0)
    private let isDue = Lock(false)
    private let store = MemoryCloudStore()

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try store.read(body)
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        defer {
            microseconds.withLock { $0 += commitMicroseconds.withLock { $0 } }
            isDue.withLock { $0 = true }
        }
        return try store.write(body)
    }

    var checkpointIsDue: Bool { isDue.withLock { $0 } }

    func checkpoint() {
        isDue.withLock { $0 = false }
        checkpointed.signal()
    }
}

/// Accounts that answer when the test lets them.
private final class GatedAccounts: ServiceAccounts {
    let gate = DispatchSemaphore(value: 0)

    func user(webAuthToken: String, container: CloudService.Container) -> ServiceUser? {
        gate.wait()
        gate.signal()
        return TestService.ada
    }

    func admits(apiToken: String?, container: CloudService.Container) -> Bool { true }
}

@Suite struct CloudServiceThreadTests {
    private func save(_ name: String, in cloud: TestService) throws -> WireRequest {
        let message = RecordsModifyRequest(operations: [operation(.create, name)], zoneID: TestService.zone)
        return cloud.request("records/modify", try message.json())
    }

    private func service(
        _ store: any CloudStore = MemoryCloudStore(), accounts: any ServiceAccounts,
        groupLimits: GroupLimits = GroupLimits()
    ) -> TestService {
        let clock = ManualTimeSource()
        return TestService(
            service: CloudService(
                store: store, clock: clock, random: SeededRandomSource(seed: 1), accounts: accounts,
                groupLimits: groupLimits), clock: clock)
    }

    fileprivate func isSignalled(_ semaphore: DispatchSemaphore) -> Bool {
        semaphore.wait(timeout: .now() + 30) == .success
    }

    @Test func everyRequestIsAnsweredOnceAndWhatWasSavedIsThere() throws {
        let folder = try TemporaryFolder()
        let cloud = TestService(store: try SQLiteCloudStore(path: folder.file("store.db")))
        try cloud.zones(.create)
        let thread = CloudServiceThread(cloud.service)
        let requests = try (0..<200).map { try save("r\($0 % 150)", in: cloud) }
        let answers = Lock<[Int: [String]]>([:])
        DispatchQueue.concurrentPerform(iterations: requests.count) { index in
            thread.send(requests[index]) { response in
                let summaries =
                    (try? RecordsModifyResponse(json: response.body).records.summaries) ?? ["unreadable"]
                answers.withLock { $0[index, default: []] += summaries }
            }
        }
        thread.stop()
        let all = answers.withLock { $0 }
        #expect(all.count == 200 && all.values.allSatisfy { $0.count == 1 })
        #expect(all.values.filter { $0 == ["saved"] }.count == 150)
        #expect(all.values.filter { $0 == ["CONFLICT"] }.count == 50)
        #expect(try cloud.changes(resultsLimit: 400).records.count == 150)
    }

    @Test func aReadThatBeginsAfterAnAnswerSeesWhatWasAnswered() throws {
        let folder = try TemporaryFolder()
        let cloud = TestService(store: try SQLiteCloudStore(path: folder.file("store.db")))
        try cloud.zones(.create)
        let thread = CloudServiceThread(cloud.service)
        let found = Lock<[String]>([])
        let done = DispatchSemaphore(value: 0)
        for index in 0..<100 {
            let lookup = cloud.request(
                "records/lookup",
                try RecordsLookupRequest(records: [.init(recordName: "r\(index)")], zoneID: TestService.zone)
                    .json())
            thread.send(try save("r\(index)", in: cloud)) { _ in
                thread.send(lookup) { response in
                    let summaries = try? RecordsLookupResponse(json: response.body).records.summaries
                    found.withLock { $0 += summaries ?? ["unreadable"] }
                    done.signal()
                }
            }
        }
        for _ in 0..<100 { #expect(isSignalled(done)) }
        thread.stop()
        #expect(found.withLock { $0 } == Array(repeating: "saved", count: 100))
    }

    @Test func aReadDoesNotWaitForAWrite() throws {
        let store = GatedStore()
        let cloud = TestService(store: store)
        let thread = CloudServiceThread(cloud.service, readerCount: 1)
        let written = DispatchSemaphore(value: 0)
        let read = DispatchSemaphore(value: 0)
        thread.send(try save("a", in: cloud)) { _ in written.signal() }
        #expect(isSignalled(store.writeBegan))
        thread.send(cloud.request("zones/list", [])) { _ in read.signal() }
        #expect(isSignalled(read))
        #expect(written.wait(timeout: .now()) == .timedOut)
        store.gate.signal()
        #expect(isSignalled(written))
        thread.stop()
    }

    @Test func theLogHasTheCallerAndTheSizeOfTheCommitGroup() throws {
        let store = GatedStore()
        let cloud = TestService(store: store)
        let thread = CloudServiceThread(cloud.service, readerCount: 1)
        let notes = Lock<[WireNote]>([])
        let done = DispatchSemaphore(value: 0)
        @Sendable func note(_ response: WireResponse) {
            notes.withLock { $0.append(response.note) }
            done.signal()
        }
        thread.send(try save("a", in: cloud), completion: note)
        #expect(isSignalled(store.writeBegan))
        for name in ["b", "c"] { thread.send(try save(name, in: cloud), completion: note) }
        // One reader, and two lines whose turns change: when it answers the second of this line, it has handed both
        // writes of the other on.
        thread.send(cloud.request("zones/list", [], token: "mallory")) { _ in }
        var refused = cloud.request("zones/list", [], token: "mallory")
        refused.requestID = "THE-SERVERS-NAME"
        thread.send(refused) { response in
            note(response)
            #expect((try? WireError(json: response.body))?.uuid == "THE-SERVERS-NAME")
        }
        #expect(isSignalled(done))
        for _ in 0..<2 { store.gate.signal() }
        for _ in 0..<3 { #expect(isSignalled(done)) }
        thread.stop()
        #expect(notes.withLock { $0 }.map(\.userRecordName) == [nil, "_ada", "_ada", "_ada"])
        #expect(notes.withLock { $0 }.map(\.groupRequests) == [0, 1, 2, 2])
        #expect(notes.withLock { $0 }.map(\.errorCode) == ["AUTHENTICATION_FAILED", nil, nil, nil])
    }

    @Test func whoSendsDoesNotWaitForTheAccounts() throws {
        let accounts = GatedAccounts()
        let cloud = service(accounts: accounts)
        let thread = CloudServiceThread(cloud.service)
        let answered = DispatchSemaphore(value: 0)
        for _ in 0..<5 { thread.send(cloud.request("zones/list", [])) { _ in answered.signal() } }
        #expect(answered.wait(timeout: .now()) == .timedOut)
        accounts.gate.signal()
        for _ in 0..<5 { #expect(isSignalled(answered)) }
        thread.stop()
    }

    @Test func theQueueIsLimitedAndTheNextRequestGetsTryAgain() throws {
        var limits = GroupLimits()
        // One user may fill half.
        limits.waitingRequestsMax = 6
        let accounts = GatedAccounts()
        let cloud = service(accounts: accounts, groupLimits: limits)
        let thread = CloudServiceThread(cloud.service)
        let statuses = Lock<[Int]>([])
        for _ in 0..<5 {
            thread.send(cloud.request("zones/list", [])) { response in
                statuses.withLock { $0.append(response.status) }
            }
        }
        #expect(statuses.withLock { $0 } == [503, 503])
        accounts.gate.signal()
        thread.stop()
        #expect(statuses.withLock { $0 } == [503, 503, 200, 200, 200])
    }

    @Test func theBytesOfWhatWaitsHaveALimit() throws {
        var limits = GroupLimits()
        limits.waitingBytesMax = 100
        let accounts = GatedAccounts()
        let cloud = service(accounts: accounts, groupLimits: limits)
        let thread = CloudServiceThread(cloud.service)
        let body = Array("{\"x\":\"\(String(repeating: "y", count: 100))\"}".utf8)
        let statuses = Lock<[Int]>([])
        for _ in 0..<2 {
            thread.send(cloud.request("zones/list", body)) { response in
                statuses.withLock { $0.append(response.status) }
            }
        }
        #expect(statuses.withLock { $0 } == [503])
        accounts.gate.signal()
        thread.stop()
        #expect(statuses.withLock { $0 } == [503, 200])
    }

    @Test func withoutThreadsEachRequestGetsTryAgainUntilThreadsStart() throws {
        let cloud = TestService()
        let isAllowed = Lock(false)
        let thread = CloudServiceThread(
            cloud.service, readerCount: 2,
            source: ThreadSource { _ in isAllowed.withLock { $0 } ? nil : EAGAIN })
        let status = Lock(0)
        thread.send(cloud.request("zones/list", [])) { response in status.withLock { $0 = response.status } }
        #expect(status.withLock { $0 } == 503)
        isAllowed.withLock { $0 = true }
        let answered = DispatchSemaphore(value: 0)
        thread.send(cloud.request("zones/list", [])) { response in
            status.withLock { $0 = response.status }
            answered.signal()
        }
        #expect(isSignalled(answered))
        #expect(status.withLock { $0 } == 200)
        thread.stop()
    }

    @Test func requestsAfterTheStopGetTryAgain() throws {
        let cloud = TestService()
        let thread = CloudServiceThread(cloud.service)
        thread.stop()
        thread.stop()
        let status = Lock(0)
        thread.send(cloud.request("zones/list", [])) { response in status.withLock { $0 = response.status } }
        #expect(status.withLock { $0 } == 503)
    }

    @Test func aReleasedThreadCompletesItsRequests() throws {
        let cloud = TestService()
        let answered = DispatchSemaphore(value: 0)
        var thread: CloudServiceThread? = CloudServiceThread(cloud.service)
        for _ in 0..<10 { thread?.send(cloud.request("zones/list", [])) { _ in answered.signal() } }
        thread = nil
        for _ in 0..<10 { #expect(isSignalled(answered)) }
    }
}

extension CloudServiceThreadTests {
    @Test func aWriteThatWasGivenUpIsNeverDone() throws {
        let store = GatedStore()
        let cloud = TestService(store: store)
        let thread = CloudServiceThread(cloud.service, readerCount: 1)
        let done = DispatchSemaphore(value: 0)
        let answers = Lock<[String: Int]>([:])
        func send(_ name: String) throws -> ServiceCancellation {
            let cancellation = ServiceCancellation()
            let request = cloud.request(
                "records/modify", try RecordsModifyRequest(operations: [operation(.create, name)]).json())
            thread.send(request, cancellation: cancellation) { response in
                answers.withLock { $0[name] = response.status }
                done.signal()
            }
            return cancellation
        }
        let begun = try send("begun")
        #expect(isSignalled(store.writeBegan))
        let waiting = try send("waiting")
        let last = try send("last")
        // The one reader reads them in turn: when this is answered, the others wait for the writer.
        let read = DispatchSemaphore(value: 0)
        thread.send(try cloud.request("zones/list", ZonesListRequest().json())) { _ in read.signal() }
        #expect(isSignalled(read))
        #expect(!begun.cancel(), "it is being written")
        #expect(waiting.cancel())
        for _ in 0..<10 { store.gate.signal() }
        for _ in 0..<3 { #expect(isSignalled(done)) }
        #expect(answers.withLock { $0 } == ["begun": 200, "waiting": 503, "last": 200])
        #expect(!last.cancel())
        thread.stop()
        let found = try cloud.lookup(["begun", "waiting", "last"], zone: nil).summaries
        #expect(found == ["saved", "NOT_FOUND", "saved"])
    }

    @Test func aReadThatWasGivenUpIsAnsweredWithoutBeingDone() throws {
        let cloud = TestService()
        let thread = CloudServiceThread(cloud.service, readerCount: 1)
        let cancellation = ServiceCancellation()
        #expect(cancellation.cancel())
        let status = Lock(0)
        let done = DispatchSemaphore(value: 0)
        thread.send(cloud.request("zones/list", []), cancellation: cancellation) { response in
            status.withLock { $0 = response.status }
            done.signal()
        }
        #expect(isSignalled(done))
        #expect(status.withLock { $0 } == 503)
        thread.stop()
    }

    /// Whether the time goes into the decision, or into writing the log.
    @Test(arguments: [false, true])
    func whoHeldTheWriterForLongWritesAgainWhenOthersHaveHadTheirTurns(isInTheCommit: Bool) {
        let store = SlowStore()
        let cloud = TestService(store: store)
        let clock = ManualMonotonicSource()
        let threads = ServiceThreads(
            cloud.service, readerCount: 1,
            threadTime: { store.microseconds.withLock { $0 } }, monotonicClock: clock)
        #expect(threads.start())
        let done = Lock<[String]>([])
        let answered = DispatchSemaphore(value: 0)
        func send(_ user: String, taking time: Int = 0) {
            let request = PreparedRequest(
                work: .write { _ in
                    store.microseconds.withLock { $0 += isInTheCommit ? min(time, 1) : time }
                    store.commitMicroseconds.withLock { $0 = isInTheCommit ? time : 0 }
                    return .nothing
                }, bytes: 10, wantsExtras: false, userRecordName: user)
            threads.take(
                ServiceJob(
                    bytes: 10, owner: user, begin: { request },
                    finish: { _, _, _ in
                        done.withLock { $0.append(user) }
                        answered.signal()
                    }, refuse: { Issue.record("refused") }))
        }
        send("ada")
        #expect(isSignalled(answered))
        send("slow", taking: 100_000)
        #expect(isSignalled(answered))
        send("slow", taking: 100_000)
        send("ada")
        #expect(isSignalled(answered))
        #expect(done.withLock { $0 } == ["ada", "slow", "ada"])
        clock.advance(byMilliseconds: 300)
        send("ada")
        for _ in 0..<2 { #expect(isSignalled(answered)) }
        #expect(done.withLock { $0.sorted() } == ["ada", "ada", "ada", "slow", "slow"])
        // At the end nobody rests.
        send("slow")
        threads.askToEnd()
        threads.waitForEnd()
        #expect(done.withLock { $0.count } == 6)
    }

    @Test func aReadersThreadCheckpointsWhileTheWriterContinues() throws {
        let store = SlowStore()
        let cloud = TestService(store: store)
        let thread = CloudServiceThread(cloud.service, readerCount: 1)
        let answered = DispatchSemaphore(value: 0)
        thread.send(cloud.request("zones/modify", Array(#"{"operations":[]}"#.utf8))) { _ in answered.signal()
        }
        #expect(isSignalled(answered))
        #expect(isSignalled(store.checkpointed))
        thread.stop()
    }
}
