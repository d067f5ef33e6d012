import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap
import YapCloudKit

/// The documents' operation error block: the extension suspends itself, and the app decides what to do and resumes.
@Suite struct SeedsErrorTests {
    let cloud = TestCloud()
    let app: SeedsApp

    init() throws {
        app = try SeedsApp(cloud)
        app.makeZone()
    }

    /// What the block asked for, and how often it was called.
    struct Wishes {
        var codes: [CKError.Code] = []
        var isResumeNeeded = false
        var isFetchNeeded = false
    }

    private func register() throws -> (YapDatabaseCloudKit, Lock<Wishes>) {
        let wishes = Lock(Wishes())
        let operationErrorBlock: YapDatabaseCloudKit.OperationErrorBlock = {
            databaseIdentifier, operationError in
            let ckErrorCode = operationError.code
            wishes.withLock { wishes in
                wishes.codes.append(ckErrorCode)
                if ckErrorCode == .networkUnavailable || ckErrorCode == .networkFailure {
                    // When the internet may be available again, we can simply resume.
                    wishes.isResumeNeeded = true
                } else if ckErrorCode == .partialFailure {
                    // Some other device was first: pull, merge, resume.
                    wishes.isResumeNeeded = true
                    wishes.isFetchNeeded = true
                }
            }
        }
        let cloudKit = YapDatabaseCloudKit(
            app, recordHandler: SeedsBlocks.recordHandler, mergeBlock: SeedsBlocks.mergeBlock,
            operationErrorBlock: operationErrorBlock, options: .init(allowedCollections: ["todos"]))
        try app.database.blocking.register(cloudKit, withName: "cloudKit")
        return (cloudKit, wishes)
    }

    private func edit(_ name: String, _ change: (MyTodo) -> Void) throws {
        try app.readWrite { transaction in
            let todo =
                try transaction.object(MyTodo.self, forKey: name, inCollection: "todos")?.copy()
                ?? MyTodo(uuid: name, title: "")
            change(todo)
            try transaction.setObject(todo, forKey: name, inCollection: "todos")
        }
    }

    @Test("92. operationErrorBlock: without a network the app is notified once, and resumes when it returns")
    func operationErrorBlockWithoutNetwork() throws {
        let (cloudKit, wishes) = try register()
        cloud.disconnect(app.device)
        try edit("1") { $0.title = "eggs" }
        app.run()
        #expect(wishes.withLock { $0.codes } == [.networkUnavailable])
        #expect(cloudKit.suspendCount == 1)
        // Nothing is tried again by itself, whatever time passes.
        cloud.clock.advance(bySeconds: 3600)
        app.run()
        #expect(wishes.withLock { $0.codes.count } == 1)

        cloud.connect(app.device)
        if wishes.withLock({ $0.isResumeNeeded }) { cloudKit.resume() }
        app.run()
        #expect(app.server("1")?["title"] == "eggs")
        #expect(try app.queue().isEmpty)
        #expect(cloudKit.suspendCount == 0)
    }

    @Test("93. operationErrorBlock: after a partial failure the app pulls, merges, and resumes")
    func operationErrorBlockAfterAPartialFailure() throws {
        let (cloudKit, wishes) = try register()
        try edit("1") { $0.title = "eggs" }
        app.run()
        app.changeOnServer("1") { $0["note"] = "of the laptop" }
        try edit("1") { $0.isCompleted = true }
        app.run()
        #expect(wishes.withLock { $0.codes } == [.partialFailure])
        #expect(cloudKit.suspendCount == 1)
        #expect(try app.queue() == ["1 completed=1"])

        let results = Lock<[SeedsApp.FetchResult]>([])
        if wishes.withLock({ $0.isFetchNeeded }) {
            app.fetchRecordChanges { result, _ in results.withLock { $0.append(result) } }
        }
        #expect(results.withLock { $0 } == [.newData])
        if wishes.withLock({ $0.isResumeNeeded }) { cloudKit.resume() }
        app.run()
        #expect(app.server("1")?["completed"] == true && app.server("1")?["note"] == "of the laptop")
        #expect(try app.todo("1")?.note == "of the laptop")
        #expect(try app.queue().isEmpty)
        #expect(wishes.withLock { $0.codes.count } == 1)
    }

    @Test("108. a dry run: never resumed, the queue shows the pending changes, and none is sent")
    func dryRun() throws {
        let cloudKit = YapDatabaseCloudKit(
            app, recordHandler: SeedsBlocks.recordHandler, options: .init(allowedCollections: ["todos"]))
        cloudKit.suspend()
        try app.database.blocking.register(cloudKit, withName: "cloudKit")
        let requests = cloud.requestCount()
        try edit("1") { $0.title = "eggs" }
        try app.readWrite { try $0.removeObject(forKey: "1", inCollection: "todos") }
        app.run()
        #expect(try app.queue().count == 2 && app.queue().last == "-1")
        #expect(cloud.requestCount() == requests)
    }
}
