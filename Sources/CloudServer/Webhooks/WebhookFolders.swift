import CloudService
import CloudStore

extension DataFolder {
    /// Returns the environments with pending webhook deliveries of an earlier process, if their files can be read.
    /// Blocks on files.
    func environmentsWithWebhooks(_ control: ControlStore) -> [CloudService.Container] {
        let identifiers = (try? control.containers.list().map(\.identifier)) ?? []
        return identifiers.flatMap { identifier in
            ["development", "production"].filter { hasWebhooks(identifier, $0) }
                .map { CloudService.Container(identifier: identifier, environment: $0) }
        }
    }

    private func hasWebhooks(_ identifier: String, _ environment: String) -> Bool {
        // A file of an earlier version has no webhooks, and no table of them.
        guard let path = try? storePath(container: identifier, environment: environment),
            let file = try? StoreFile(path: path),
            let webhooks = try? file.read({ try $0.notificationReader.webhooks() })
        else { return false }
        return !webhooks.isEmpty
    }
}
