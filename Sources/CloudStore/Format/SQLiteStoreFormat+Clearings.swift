extension SQLiteStoreFormat {
    /// Version 10 added the usage of a deleted zone, which is kept until its rows are removed. It is unknown for zones
    /// that were deleted before.
    static let clearingColumns = """
        ALTER TABLE clearings ADD COLUMN records INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE clearings ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
        """
}
