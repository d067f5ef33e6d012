extension SQLiteStoreFormat {
    /// What version 9 added: index entries count in what a user has. What is there is counted later, in steps: the
    /// service goes through the indexes of each type once more, and finds nothing missing.
    static let indexColumns = """
        ALTER TABLE records ADD COLUMN indexBytes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zones ADD COLUMN indexBytes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE usage ADD COLUMN indexBytes INTEGER NOT NULL DEFAULT 0;
        INSERT OR IGNORE INTO indexWork (type, content) SELECT DISTINCT type, x'010000' FROM indexParts;
        """
}
