extension SQLiteStoreFormat {
    /// By what records are found. Part of version 3.
    static let indexTables = ""
}
