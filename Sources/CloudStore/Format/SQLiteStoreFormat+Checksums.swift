extension SQLiteStoreFormat {
    /// What version 4 added. It changes no row, so it takes no longer in a large file: what is there is counted
    /// later, in steps, and until then a zone's checksum isn't told.
    static let checksumColumns = """
        ALTER TABLE zones ADD COLUMN identities INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zones ADD COLUMN contents INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zones ADD COLUMN isCounted INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE records ADD COLUMN identity INTEGER;
        ALTER TABLE records ADD COLUMN content INTEGER;
        """
}
