extension SQLiteStoreFormat {
    /// What version 10 added: what a deleted zone came to is known until its rows are gone. Of those that are there
    /// already nothing is known.
    static let clearingColumns = """
        ALTER TABLE clearings ADD COLUMN records INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE clearings ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
        """
}
