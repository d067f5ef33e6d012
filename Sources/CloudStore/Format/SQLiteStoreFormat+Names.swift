extension SQLiteStoreFormat {
    /// What version 12 changed: names and files' rows count in what a user has. No row changes here; the service goes
    /// through the records of each type once more, in steps.
    static let namesCounted = """
        INSERT OR IGNORE INTO indexWork (type, content) SELECT DISTINCT type, x'010000' FROM indexParts;
        """
}
