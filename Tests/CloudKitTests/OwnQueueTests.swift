import CloudKit
import CloudKitAdditions
import CloudKitTesting
import Foundation
import System
import Testing

/// Operations on the app's own queues.
@Suite struct OwnQueueTests {
    private func filled() async throws -> TwoDevices {
        let devices = try await TwoDevices(TestCloud(execution: .threads))
        try await OperationTable.fill(devices)
        return devices
    }

    @Test(arguments: OperationTable.successes, BlockStyle.allCases)
    func onTheAppsQueueTheBlocksAreTheSame(operation: OperationCase, style: BlockStyle) async throws {
        let devices = try await filled()
        let made = try #require(try operation.make(devices) as? CKDatabaseOperation)
        made.database = devices.phone
        let said = await run([made], style, on: OperationQueue())
        #expect(said == operation.says(style))
    }

    @Test(arguments: OperationTable.successes)
    func onTheAppsQueueACancelledOperationEndsOnceAndSendsNothing(operation: OperationCase) async throws {
        let devices = try await filled()
        let made = try #require(try operation.make(devices) as? CKDatabaseOperation)
        made.database = devices.phone
        let before = devices.cloud.requestCount()
        let queue = OperationQueue()
        queue.isSuspended = true
        let recorder = BlockRecorder(.both)
        recorder.set(made)
        await withCheckedContinuation { continuation in
            made.completionBlock = {
                recorder.say("completion")
                continuation.resume()
            }
            queue.addOperation(made)
            made.cancel()
            queue.isSuspended = false
        }
        #expect(recorder.said.all == operation.failure(.both, 20) && devices.cloud.requestCount() == before)
    }

    /// Adds all to the queue, and waits for the last.
    private func run(
        _ operations: [CKDatabaseOperation], _ style: BlockStyle, on queue: OperationQueue
    ) async -> [String] {
        let recorder = BlockRecorder(style)
        for operation in operations { recorder.set(operation) }
        let count = Lock(operations.count)
        await withCheckedContinuation { continuation in
            for operation in operations {
                operation.completionBlock = {
                    recorder.say("completion")
                    let isLast = count.withLock { count in
                        count -= 1
                        return count == 0
                    }
                    if isLast { continuation.resume() }
                }
            }
            queue.addOperations(operations, waitUntilFinished: false)
        }
        return recorder.said.all
    }

    @Test func oneAtATimeMeansThatOneEndsBeforeTheNextBegins() async throws {
        let devices = try await filled()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let operations = (0..<5).map { number in
            let operation = CKModifyRecordsOperation(recordsToSave: [devices.record("n\(number)")])
            operation.database = devices.phone
            return operation
        }
        let said = await run(operations, .new, on: queue)
        #expect(
            said
                == (0..<5).flatMap { ["progress n\($0) 1.0", "save n\($0) 0", "result 0", "completion"] })
    }

    @Test func whatDependsOnAnotherBeginsAfterItsLastBlock() async throws {
        let devices = try await filled()
        let queue = OperationQueue()
        let save = CKModifyRecordsOperation(recordsToSave: [devices.record("first", title: "x")])
        let fetch = CKFetchRecordsOperation(recordIDs: [devices.id("first")])
        let zone = CKFetchRecordZonesOperation(recordZoneIDs: [devices.zoneID])
        for operation in [save, fetch, zone] { operation.database = devices.phone }
        fetch.addDependency(save)
        zone.addDependency(fetch)
        zone.queuePriority = .veryHigh
        let said = await run([zone, fetch, save], .new, on: queue)
        #expect(
            said.filter { $0 != "completion" } == [
                "progress first 1.0", "save first 0", "result 0", "progress first 1.0", "record first 0",
                "result 0", "zone todos 0", "result 0",
            ])
        // A queue begins what depends on an operation when that is finished, beside its completion block.
        #expect(said.filter { $0 == "completion" }.count == 3)
    }

    @Test func anOrdinaryOperationMayDependOnOneOfTheCloud() async throws {
        let devices = try await filled()
        let said = Collected<String>()
        let save = CKModifyRecordsOperation(recordsToSave: [devices.record("first")])
        save.database = devices.phone
        save.modifyRecordsResultBlock = { _ in said.append("saved") }
        await withCheckedContinuation { continuation in
            let after = BlockOperation {
                said.append("after")
                continuation.resume()
            }
            after.addDependency(save)
            OperationQueue().addOperation(after)
            let queue = OperationQueue()
            queue.qualityOfService = .background
            queue.addOperation(save)
        }
        #expect(said.all == ["saved", "after"])
    }

    @Test func withoutADatabaseTheConfigurationsPrivateDatabaseIsUsed() async throws {
        let devices = try await filled()
        let operation = CKFetchRecordZonesOperation(recordZoneIDs: [devices.zoneID])
        operation.configuration.container = devices.cloud.device(user: "ada").container
        let said = await run([operation], .new, on: OperationQueue())
        #expect(said == ["zone todos 0", "result 0", "completion"])
    }

    @Test func withoutAnyContainerItSaysWhatToWrite() async throws {
        let operation = CKFetchRecordZonesOperation(recordZoneIDs: [])
        let message = Lock("")
        await withCheckedContinuation { continuation in
            operation.fetchRecordZonesResultBlock = { result in
                if case .failure(let error) = result { message.withLock { $0 = error.localizedDescription } }
                #expect(result.code == .badContainer)
            }
            operation.completionBlock = { continuation.resume() }
            OperationQueue().addOperation(operation)
        }
        #expect(message.withLock { $0 }.contains("cloudkit.json"))
    }

    @Test func backgroundOperationsHaveAWeek() throws {
        for (quality, ends) in [
            (QualityOfService.default, true), (.utility, true), (.userInitiated, false),
            (.userInteractive, false),
        ] {
            let clock = ManualTimeSource()
            let timers = ManualTimerSource(clock: clock)
            let transport = SilentTransport()
            let connection = CloudConnection(
                transport: transport, execution: .inline,
                account: FixedAccount(CloudCredential(webAuthToken: "t")),
                timers: timers)
            let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "1")])
            operation.configuration.timeoutIntervalForRequest = 1e8
            operation.configuration.qualityOfService = quality
            CKContainer(identifier: "iCloud.test", connection: connection).privateCloudDatabase.add(operation)
            clock.advance(bySeconds: 604_800)
            timers.runDue()
            #expect(operation.isFinished == ends, "\(quality)")
        }
    }

    @Test func anOperationReportsItsStateToAQueue() async throws {
        let devices = try await filled()
        let operation = CKFetchRecordZonesOperation(recordZoneIDs: [devices.zoneID])
        operation.database = devices.phone
        let states = Collected<String>()
        operation.fetchRecordZonesResultBlock = { [unowned operation] _ in
            states.append("\(operation.isExecuting) \(operation.isFinished)")
        }
        #expect(
            operation.isReady && operation.isAsynchronous && !operation.isExecuting && !operation.isFinished)
        let queue = OperationQueue()
        _ = await run([operation], .old, on: queue)
        #expect(states.all == ["true false"] && operation.isFinished && !operation.isExecuting)
    }
}
