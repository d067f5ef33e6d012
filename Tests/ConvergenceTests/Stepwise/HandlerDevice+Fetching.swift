import CloudKit
import Simulation
import SyncDevices
import Yap
import YapCloudKit

/// How the app fetches.
extension HandlerDevice {
    /// Fetches the next page, and applies it with its token in one transaction.
    /// - Returns: Whether there are more; nil when it came to nothing.
    func fetchPage(of zoneID: CKRecordZone.ID, _ identifier: String?) throws -> Bool? {
        let app = try running()
        let pages = HandlerPages(blocks)
        let token = try pages.token(zoneID, identifier, app.connection)
        let page = FetchedPage.fetch(from: database, zoneID, since: token)
        if page.error?.code == .zoneNotFound { app.hasZones = false }
        return try pages.take(page, zoneID, identifier, app.connection)
    }
}
