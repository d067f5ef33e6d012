extension SQLiteStoreFormat {
    /// What version 11 changed: the words of texts beyond ASCII are others. The service goes through the indexes of
    /// each type once more, in steps.
    static let indexesAnew = """
        INSERT OR IGNORE INTO indexWork (type, content) SELECT DISTINCT type, x'010000' FROM indexParts;
        """
}
