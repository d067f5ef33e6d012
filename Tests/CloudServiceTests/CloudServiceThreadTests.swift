import CloudService
import CloudStore
import CloudWire
import Dispatch
import SQLiteTestSupport
import Seams
import Testing

@Suite struct CloudServiceThreadTests {
    @Test func everyRequestIsAnsweredOnceAndWhatWasSavedIsThere() throws {
        let folder = try TemporaryFolder()
        let cloud = TestService(store: try SQLiteCloudStore(path: folder.file("store.db")))
        try cloud.zones(.create)
        let thread = CloudServiceThread(cloud.service)
        let requests = try (0..<200).map { index in
            let message = RecordsModifyRequest(
                operations: [operation(.create, "r\(index % 150)")], zoneID: TestService.zone)
            return cloud.request("records/modify", try message.json())
        }
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

    @Test func whoComesAfterTheEndIsToldToTryAgain() throws {
        let cloud = TestService()
        let thread = CloudServiceThread(cloud.service)
        thread.stop()
        thread.stop()
        let status = Lock(0)
        thread.send(cloud.request("zones/list", [])) { response in status.withLock { $0 = response.status } }
        #expect(status.withLock { $0 } == 503)
    }

    @Test func aThreadThatIsLetGoAnswersWhatItHasTaken() throws {
        let cloud = TestService()
        let answered = DispatchSemaphore(value: 0)
        var thread: CloudServiceThread? = CloudServiceThread(cloud.service)
        for _ in 0..<10 { thread?.send(cloud.request("zones/list", [])) { _ in answered.signal() } }
        thread = nil
        for _ in 0..<10 { #expect(answered.wait(timeout: .now() + 30) == .success) }
    }
}
