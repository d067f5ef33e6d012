import CloudService
import CloudStore

extension CloudServer {
    /// Puts one environment of a container on a port, with the dashboard and its API. The store is the caller's; there
    /// is no sign-in for apps.
    ///
    /// - Parameters:
    ///   - container: the only one that is served.
    ///   - folder: of the server's own files.
    ///   - control: which accounts and administrators there are.
    ///   - pushesReady: hears for which devices pushes wait. Called on a thread of the service.
    package convenience init(
        _ service: CloudService, of container: CloudService.Container, folder: DataFolder,
        control: ControlStore, options: CloudServerOptions,
        pushesReady: @escaping @Sendable ([String]) -> Void
    ) {
        self.init(
            options: options, onlyContainer: nil, signIn: nil, dataFolder: folder, control: control,
            finder: { $0 == container }
        ) { asked, _ in
            guard asked == container else { return nil }
            return OpenedService(service: service, close: {}, pushesReady: pushesReady)
        }
    }
}
