import CloudService
import CloudStore
import CloudWire

/// Opens the stores of environments for reading, beside the service, and finds the accounts of users.
struct HistoryStores: Sendable {
    let control: ControlStore
    let folder: DataFolder

    /// The store of an environment; nil when nothing was stored in it yet.
    ///
    /// - Throws: a `WireError` when there is no such container, or it can't be read now.
    func file(of container: CloudService.Container) throws -> StoreFile? {
        guard try control.containers.exists(container.identifier) else {
            throw Refusal.noSuchContainer(container)
        }
        return try StoreFile(
            path: folder.storePath(container: container.identifier, environment: container.environment))
    }

    /// Finds the names of users' accounts, as far as they are among the first accounts.
    func accountNames(of users: Set<String>, in container: String) throws -> [String: String] {
        try control.accounts.find(userRecordNames: users, in: container).mapValues(\.name)
    }
}
