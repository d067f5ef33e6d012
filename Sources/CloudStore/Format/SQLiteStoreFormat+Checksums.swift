extension SQLiteStoreFormat {
    /// Version 4 added checksums. The upgrade changes no row, so it is as fast in a large file. Existing records are
    /// counted later in steps; until then, a zone's checksum isn't sent.
    static let checksumColumns = """
        ALTER TABLE zones ADD COLUMN identities INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zones ADD COLUMN contents INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zones ADD COLUMN isCounted INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE records ADD COLUMN identity INTEGER;
        ALTER TABLE records ADD COLUMN content INTEGER;
        """
}
