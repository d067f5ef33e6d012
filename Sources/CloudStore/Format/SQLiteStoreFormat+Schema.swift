extension SQLiteStoreFormat {
    /// The schema, and who has which role. Part of version 3.
    static let schemaTables = ""
}
