import CloudService
import CloudStore
import Seams

extension CloudServer {
    /// Serves the containers of a data folder: one store file for each environment, opened by the first request for
    /// it, and closed again when too many are open.
    ///
    /// - Parameters:
    ///   - dataFolder: where the files are. Whoever serves it holds its lock.
    ///   - control: which containers there are.
    ///   - accounts: who may ask, and who a token's user is.
    ///   - signIn: what checks passwords.
    ///   - options: how to listen, and what to keep.
    public convenience init(
        dataFolder: DataFolder, control: ControlStore, accounts: any ServiceAccounts,
        signIn: any SignInChecker, options: CloudServerOptions = CloudServerOptions()
    ) {
        self.init(
            options: options, onlyContainer: nil, signIn: signIn, dataFolder: dataFolder,
            beginWebhooks: { webhooks in
                for container in dataFolder.environmentsWithWebhooks(control) { webhooks.look(at: container) }
            }
        ) { container, watch in
            guard try control.containerExists(container.identifier) else { return nil }
            let path = try dataFolder.storePath(
                container: container.identifier, environment: container.environment, makesFolders: true)
            let store = try SQLiteCloudStore(path: path)
            try CloudService(
                store: store, clock: options.clock, random: options.random, container: container
            ).adoptSchema()
            let watched: any CloudStore = watch.map { WatchedStore(store: store, watch: $0) } ?? store
            let service = CloudService(
                store: watched, clock: options.clock, random: options.random, container: container,
                accounts: accounts, limits: options.limits, groupLimits: options.groupLimits,
                settings: options.settings,
                assetFiles: try dataFolder.assetFiles(of: container, clock: options.clock),
                rates: options.rates)
            return OpenedService(service: service, close: { store.close() })
        }
    }
}
