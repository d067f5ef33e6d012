import CloudService
import CloudStore
import System

extension CloudServer {
    /// Serves the containers of a data folder: one store file for each environment, opened by the first request for
    /// it, and closed again when too many are open.
    ///
    /// - Parameters:
    ///   - dataFolder: the folder of the files. The process that serves it holds its lock.
    ///   - control: the list of containers.
    ///   - accounts: authenticates requests and their users.
    ///   - signIn: checks passwords.
    ///   - witness: remembers the folder's progress. It lets the server detect a restored folder at its start and give
    ///     it new epochs. Nil skips the check.
    ///   - options: the address to listen on, limits and logging.
    public convenience init(
        dataFolder: DataFolder, control: ControlStore, accounts: any ServiceAccounts,
        signIn: any SignInChecker, witness: FolderWitness? = nil,
        options: CloudServerOptions = CloudServerOptions()
    ) {
        self.init(
            options: options, onlyContainer: nil, signIn: signIn, dataFolder: dataFolder, control: control,
            restores: witness.map { witness in
                { RestoreDetector(dataFolder, control, witness, random: options.random, log: $0) }
            },
            beginWebhooks: { webhooks in
                for container in dataFolder.environmentsWithWebhooks(control) { webhooks.look(at: container) }
            }, finder: { try control.containers.exists($0.identifier) }
        ) { container, watch in
            guard
                let hold = try dataFolder.hold(
                    container: container.identifier, environment: container.environment, in: control)
            else { return nil }
            let path = try dataFolder.storePath(
                container: container.identifier, environment: container.environment, makesFolders: true)
            let store = try SQLiteCloudStore(path: path)
            let sibling = try dataFolder.siblingStore(of: container)
            try CloudService(
                store: store, clock: options.clock, random: options.random, container: container
            ).schemaMaintenance.adoptSchema()
            let watched: any CloudStore = watch.map { WatchedStore(store: store, watch: $0) } ?? store
            let service = CloudService(
                store: watched, clock: options.clock, random: options.random, container: container,
                accounts: accounts, limits: options.limits, groupLimits: options.groupLimits,
                settings: options.settings,
                assetFiles: try dataFolder.assetFiles(of: container, clock: options.clock),
                usageElsewhere: { sibling.usage(of: $0) }, rates: options.rates)
            let held = Lock<DataFolderLock?>(hold)
            return OpenedService(
                service: service,
                close: {
                    sibling.close()
                    store.close()
                    held.withLock { $0 = nil }
                })
        }
    }
}

extension DataFolder {
    /// Reads the users' usage in the container's other environment.
    package func siblingStore(of container: CloudService.Container) throws -> SiblingStore {
        let sibling = container.sibling
        return SiblingStore(
            path: try storePath(container: sibling.identifier, environment: sibling.environment))
    }
}
