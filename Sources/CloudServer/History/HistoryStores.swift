import CloudService
import CloudStore
import CloudWire

/// Opens the stores of environments for reading, separately from the service, and finds the accounts of
/// users.
struct HistoryStores: Sendable {
    let control: ControlStore
    let folder: DataFolder

    /// Returns the store of an environment, or nil if nothing was stored in it yet.
    ///
    /// - Throws: a `WireError` if the container doesn't exist, or can't be read now.
    func file(of container: CloudService.Container) throws -> StoreFile? {
        guard try control.containers.exists(container.identifier) else {
            throw Refusal.noSuchContainer(container)
        }
        return try StoreFile(
            path: folder.storePath(container: container.identifier, environment: container.environment))
    }

    /// Finds the names of users' accounts, if they are among the first accounts.
    func accountNames(of users: Set<String>, in container: String) throws -> [String: String] {
        try control.accounts.find(userRecordNames: users, in: container).mapValues(\.name)
    }
}
