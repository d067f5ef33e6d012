import CloudService
import CloudStore
import CloudWire

/// Reads the stores of environments for operators, beside the service, and names the accounts of users.
struct HistoryStores: Sendable {
    /// Accounts that are tried to find those of record names.
    private static let accountsTriedMax = 10_000
    private static let accountsReadMax = 500

    let control: ControlStore
    let folder: DataFolder

    /// The store of an environment; nil when nothing was stored in it yet.
    ///
    /// - Throws: a `WireError` when there is no such container, or it can't be read now.
    func file(of container: CloudService.Container) throws -> StoreFile? {
        guard try control.containerExists(container.identifier) else {
            throw Refusal.noSuchContainer(container)
        }
        return try StoreFile(
            path: folder.storePath(container: container.identifier, environment: container.environment))
    }

    /// The names of the accounts whose users these are, as far as the first accounts have them. A record name can't be
    /// reversed.
    func accounts(of users: Set<String>, in container: String) throws -> [String: String] {
        var (names, after): ([String: String], String) = ([:], "")
        for _ in 0..<Self.accountsTriedMax / Self.accountsReadMax where names.count < users.count {
            let accounts = try control.accounts(
                beginning: "", after: after, countMax: Self.accountsReadMax)
            for account in accounts {
                let name = try control.userRecordName(of: account, container: container)
                if users.contains(name) { names[name] = account.name }
            }
            guard let last = accounts.last, accounts.count == Self.accountsReadMax else { break }
            after = last.name
        }
        return names
    }
}
