import CloudKit
import CloudKitAdditions
import CloudKitTesting
import CloudServer
import CloudService
import Foundation

private struct Logger: Sendable { func info(_ text: String) {} }

private func testCloud(_ record: CKRecord) async throws {
    let cloud = TestCloud()
    let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")

    try await phone.container.privateCloudDatabase.save(record)
    cloud.fail(.modifyRecords, with: .requestRateLimited, retryAfterSeconds: 3, times: 1)
    cloud.clock.advance(bySeconds: 3)
    try await laptop.container.privateCloudDatabase.save(record)
}

private func dashboard(_ cloud: TestCloud) async throws {
    cloud.fail(.modifyRecords, with: .requestRateLimited, retryAfterSeconds: 3)
    print(try cloud.serveDashboard())
    try await Task.sleep(for: .seconds(600))
}

private func fetchChanges() async {}

private func notifications(_ container: CKContainer) async throws {
    try await container.privateCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "all"))
    for await event in container.notifications() {
        switch event {
        case .listening, .notification: await fetchChanges()
        case .interrupted(let error): show(error)
        }
    }
}

private func configuration() {
    var configuration = CloudKitConfiguration()
    configuration.containers["iCloud.com.example.todo"] = .init(server: "http://127.0.0.1:8080")
    configuration.defaultContainer = "iCloud.com.example.todo"
    CKContainer.configure(configuration)
}

private func signIn(_ password: String) async throws -> CKRecord.ID {
    let userID = try await CKContainer.default().signIn(account: "ada", password: password)
    return userID
}

private func inMemory() -> CloudService {
    let service = CloudService.inMemory(users: ["token": ServiceUser(userRecordName: "_ada")])
    return service
}

private func server() throws {
    let service = CloudService.inMemory(users: ["token": ServiceUser(userRecordName: "_ada")])
    let server = CloudServer(service)
    try server.start()
    print(server.url)
    server.stop()
}

private func log(_ service: CloudService, _ logger: Logger) -> CloudServer {
    var options = CloudServerOptions()
    options.log = LineLogSink { line in
        logger.info("\(line)")
    }
    let server = CloudServer(service, options: options)
    return server
}
