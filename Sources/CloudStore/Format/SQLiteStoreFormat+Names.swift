extension SQLiteStoreFormat {
    /// Version 12 added names and the rows of files to the usage of users. The upgrade changes no row; the service
    /// counts the records of each type again, in steps.
    static let namesCounted = """
        INSERT OR IGNORE INTO indexWork (type, content) SELECT DISTINCT type, x'010000' FROM indexParts;
        """
}
