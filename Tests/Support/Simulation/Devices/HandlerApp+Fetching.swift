import CloudKit
import Foundation
import SyncDevices
import Yap
import YapCloudKit

/// How the app fetches.
extension HandlerApp {
    /// Fetches the next page, and applies it with its token in one transaction.
    /// - Parameter completion: Called with whether there are more; nil when it came to nothing.
    func fetchPage(
        of zoneID: CKRecordZone.ID, _ identifier: String?, completion: @escaping (Bool?) -> Void
    ) {
        do {
            let token = try pages.token(zoneID, identifier, connection)
            let app = WeakSingleThreaded(value: self)
            let end = SingleThreaded(value: completion)
            FetchedPage.fetch(from: cloudDatabase, zoneID, since: token) { page in
                end.value(app.value?.take(page, zoneID, identifier))
            }
        } catch {
            fail(with: error)
            completion(nil)
        }
    }

    private func fail(with error: any Error) {
        device.world.attempt(orExcusedBy: device.isDiskFaulty || process.isDead) { throw error }
    }

    private func take(_ page: FetchedPage, _ zoneID: CKRecordZone.ID, _ identifier: String?) -> Bool? {
        if page.error?.code == .zoneNotFound { hasZones = false }
        do {
            return try pages.take(page, zoneID, identifier, connection) { device.noteSentAgain($0) }
        } catch {
            fail(with: error)
            return nil
        }
    }
}
