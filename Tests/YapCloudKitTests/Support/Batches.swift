@testable import YapCloudKit

extension YapDatabaseCloudKitTransaction {
    /// Takes the batch to send next.
    func takeBatch(_ database: DatabaseKey, itemsMax: Int, bytesMax: Int) throws -> SyncBatch {
        var limits = BatchLimits()
        (limits.itemsMax, limits.bytesMax) = (itemsMax, bytesMax)
        return try takeBatch(database, limits)
    }
}
