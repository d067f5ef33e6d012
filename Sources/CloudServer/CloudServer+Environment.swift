import CloudService
import CloudStore

extension CloudServer {
    /// Makes a server of one environment, with the dashboard and its API. The caller owns the store. There is no
    /// sign-in for apps.
    ///
    /// - Parameters:
    ///   - container: the only container served.
    ///   - folder: the folder of the server's own files.
    ///   - control: the accounts and administrators.
    ///   - pushesReady: called with the devices that have pending pushes, on a thread of the service.
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
