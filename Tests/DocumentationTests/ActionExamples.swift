import Foundation
import Yap

extension Todo: YapDatabaseActionSource {
    var actions: [YapDatabaseAction] { isUploaded ? [] : [YapDatabaseAction("upload", at: due)] }
}

private typealias Uploads = YapDatabaseActionManager<Todo>

private func action(_ todo: Todo) -> YapDatabaseAction {
    let upload = YapDatabaseAction("upload", at: todo.due, retryAfterSeconds: 60, requiresNetwork: true)
    return upload
}

private func markUploaded(_ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {}

private func manager(_ database: YapDatabase, _ connection: YapDatabaseConnection) async throws {
    let uploads = YapDatabaseActionManager("uploads", of: Todo.self, in: "todos", version: "1") { todo in
        todo.isUploaded ? [] : [YapDatabaseAction("upload", at: todo.due, requiresNetwork: true)]
    }
    try await database.register(uploads)
    try await database.run(uploads) { action in
        try await upload(action.object)
        try await connection.readWrite { try markUploaded(action.key, $0) }
    }
}

private func clock(_ database: YapDatabase, _ uploads: Uploads) async throws {
    let clock = YapDatabaseManualClock(Date(timeIntervalSince1970: 1_700_000_000))
    let running = Task {
        try await database.run(uploads, clock: .manual(clock)) { try await upload($0.object) }
    }
    clock.advance(bySeconds: 60)
    running.cancel()
}

private func runner(_ database: YapDatabase, _ uploads: Uploads, _ network: AsyncStream<Bool>) async {
    let runner = YapDatabaseActionRunner(uploads, in: database)
    async let _ = runner.run { action in try await upload(action.object) }
    for await isReachable in network { runner.isReachable = isReachable }
}

private func run(_ database: YapDatabase, _ uploads: Uploads) async throws {
    try await database.run(uploads) { action in try await upload(action.object) }
}
