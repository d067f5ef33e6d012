package import Yap

extension CloudSync {
    /// Applies a page as a fetch does, in the caller's transaction: so that applying can be measured without a network.
    package func apply(
        _ page: SyncPage, in transaction: YapDatabaseReadWriteTransaction, name: String = "cloudKit"
    ) throws {
        let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
        ext.isByEngine = true
        try cloudKit.runner.zoneHandler?.applyPage(transaction, ext, DatabaseKey(nil), page)
    }

    /// `differencesFound` on the caller's thread.
    package func differencesFoundInline() throws -> Int {
        try connection.blocking.read {
            try $0.ext(registeredName, as: YapDatabaseCloudKit.self).tables.differencesCount()
        }
    }

    /// Tells the listener what the merge log holds, on the caller's thread.
    package func handOutMergeLogInline() { cloudKit.handOutMergeLogInline() }
}

extension YapDatabaseCloudKit {
    /// Tells the app what the merge log holds, on the caller's thread.
    package func handOutMergeLogInline() { runner.handOutStoredLog() }
}
