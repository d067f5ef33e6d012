public import CloudKit
internal import Yap

extension YapDatabaseCloudKitTransaction {
    /// From now on the queue, the tags and the tokens are this user's own, and only this user's changes are sent.
    /// Those of the user before stay as they are; they go on when that user is named again.
    ///
    /// The first user that becomes known gets what was recorded before.
    ///
    /// - Parameters:
    ///   - userRecordID: The signed-in user, from `CKContainer.userRecordID()`.
    ///   - databaseIdentifier: Of which database's container that is.
    /// - Returns: Whether it is another user than before.
    @discardableResult
    public func useAccount(of userRecordID: CKRecord.ID, databaseIdentifier: String? = nil) throws -> Bool {
        try writing { _ in
            let before = try tables.accounts.currentAccount()
            let account = try tables.accounts.makeAccount(of: userRecordID.recordName, in: databaseIdentifier)
            queue.touch()
            guard account != before else { return false }
            try tables.accounts.makeCurrent(account)
            try zones.setFetchedParts()
            // What waits for a file may have lost its object with those of another user.
            staged.liftsMissingFiles = true
            return true
        }
    }
}
