extension SQLiteStoreFormat {
    /// The files of records, and how much each user has. Part of version 3.
    static let assetTables = ""
}
