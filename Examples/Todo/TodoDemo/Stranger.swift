import CloudKit
import CloudKitAdditions
import ProcessSupport
import TodoKit

/// Another user of the same app, with the name of a zone and of its owner.
struct Stranger {
    struct Answer {
        let says: String
        let isRefused: Bool
    }

    let account: String
    let server: YapServer
    let folder: String

    func asksForTodos(of owner: String) async throws -> Answer {
        let victim = try await container(owner).signIn(account: owner, password: YapServer.password(owner))
        let own = container(account)
        try await own.signIn(account: account, password: YapServer.password(account))
        let zoneID = CKRecordZone.ID(zoneName: TodoList.collection, ownerName: victim.recordName)
        do {
            let zone = try await own.sharedCloudDatabase.recordZone(for: zoneID)
            return Answer(says: "was given \(zone): that must not be", isRefused: false)
        } catch let error as CKError where [.zoneNotFound, .permissionFailure].contains(error.code) {
            let words =
                "is refused: CKError \(error.code) (\(error.code.rawValue)), “\(error.localizedDescription)”"
            return Answer(says: words, isRefused: true)
        } catch {
            return Answer(says: "gets an error that is no refusal: \(error)", isRefused: false)
        }
    }

    private func container(_ account: String) -> CKContainer {
        var settings = CloudKitConfiguration.Container(server: "http://127.0.0.1:\(server.port)")
        settings.apiToken = server.apiToken
        settings.credentialFile = "\(folder)/\(account)/credentials.json"
        return CKContainer(identifier: YapServer.container, configuration: settings)
    }
}
