extension SQLiteStoreFormat {
    /// What version 3 adds for pushes: query subscriptions and the collection of notifications. Part of version 3.
    static let notificationTables = ""
}
