package import Yap

extension CloudSync {
    /// Applies a page as a fetch does, in the caller's transaction, to measure it without a network.
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
            try $0.ext(registeredName, as: YapDatabaseCloudKit.self).tables.checksums.differencesCount()
        }
    }

    /// Hands the stored merge log to the listener, on the caller's thread.
    package func handOutMergeLogInline() { cloudKit.handOutMergeLogInline() }
}

extension YapDatabaseCloudKit {
    /// Hands the stored merge log to the app, on the caller's thread.
    package func handOutMergeLogInline() { runner.handOutStoredLog() }
}
