public import CloudKit
internal import Yap

extension YapDatabaseCloudKitTransaction {
    /// Uses the account of a user from now on. Each user has a separate queue, and separate tags and tokens. Only this
    /// user's changes are sent. Those of the previous user stay pending until that user's account is used again.
    ///
    /// The first known user owns the changes that were recorded before.
    ///
    /// - Parameters:
    ///   - userRecordID: The signed-in user, from `CKContainer.userRecordID()`.
    ///   - databaseIdentifier: Identifier of a database of that container.
    /// - Returns: Whether the user is another one than before.
    @discardableResult
    public func useAccount(of userRecordID: CKRecord.ID, databaseIdentifier: String? = nil) throws -> Bool {
        try writing { _ in
            let before = try tables.accounts.currentAccount()
            let account = try tables.accounts.makeAccount(of: userRecordID.recordName, in: databaseIdentifier)
            queue.touch()
            guard account != before else { return false }
            try tables.accounts.makeCurrent(account)
            try zones.setFetchedParts()
            // Changes that wait for a file may have lost their object when another user's objects were removed.
            staged.liftsMissingFiles = true
            return true
        }
    }
}
