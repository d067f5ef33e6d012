extension SQLiteStoreFormat {
    /// Version 11 changed the word boundaries in text beyond ASCII. The service rebuilds the indexes of each
    /// type, in steps.
    static let indexesAnew = """
        INSERT OR IGNORE INTO indexWork (type, content) SELECT DISTINCT type, x'010000' FROM indexParts;
        """
}
