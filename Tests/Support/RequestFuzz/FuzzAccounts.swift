import CloudService
import Crypto

/// The users of a run, whose tokens are their names, and a server's key.
struct FuzzAccounts: ServiceAccounts, ServicePeople {
    static let keyID = "key"

    let list = ServiceAccountList(users: [
        "ada": ServiceUser(
            userRecordName: "_ada", givenName: "Ada", familyName: "Lovelace", emailAddress: "ada@example.com"),
        "mallory": ServiceUser(userRecordName: "_mallory", emailAddress: "mallory@example.com"),
        "eve": ServiceUser(userRecordName: "_eve", emailAddress: "eve@example.com"),
    ])
    let publicKey: P256PublicKey

    func user(webAuthToken: String, container: CloudService.Container) -> ServiceUser? {
        list.user(webAuthToken: webAuthToken, container: container)
    }

    func admits(apiToken: String?, container: CloudService.Container) -> Bool { apiToken == nil }

    func serverKey(_ keyID: String, container: CloudService.Container) -> ServiceServerKey? {
        keyID == Self.keyID ? ServiceServerKey(publicKey: publicKey, userRecordName: "_key") : nil
    }

    func person(_ key: ServiceUserKey, container: CloudService.Container) -> ServiceUser? {
        list.person(key, container: container)
    }

    func listedPeople(container: CloudService.Container, countMax: Int) -> [ServiceUser] {
        list.listedPeople(container: container, countMax: countMax)
    }

    func discoverability(webAuthToken: String, container: CloudService.Container) -> ServiceDiscoverability {
        list.discoverability(webAuthToken: webAuthToken, container: container)
    }

    func setDiscoverability(
        _ choice: ServiceDiscoverability, webAuthToken: String, container: CloudService.Container
    ) {
        list.setDiscoverability(choice, webAuthToken: webAuthToken, container: container)
    }
}
