import CloudStore

extension CloudService {
    /// Removes a webhook, with what waits to be sent to it.
    ///
    /// - Returns: false when there is none of this name.
    /// - Throws: `CloudStoreError`.
    package func removeWebhook(named name: String, _ writer: any CloudStoreWriter) throws -> Bool {
        guard try writer.notificationReader.webhooks().contains(where: { $0.name == name }) else {
            return false
        }
        var changes = StoreChanges()
        changes.notifications.removedWebhooks = [name]
        try apply(changes, to: writer)
        return true
    }
}
