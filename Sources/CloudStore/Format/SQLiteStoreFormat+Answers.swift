extension SQLiteStoreFormat {
    /// Version 7 added the size of each user's kept answers, and their order by age.
    static let answerTables = """
        CREATE INDEX answersByUser ON answers (user, number);
        CREATE TABLE answerTotals (
            user TEXT NOT NULL PRIMARY KEY, rows INTEGER NOT NULL, bytes INTEGER NOT NULL
        ) WITHOUT ROWID, STRICT;
        INSERT INTO answerTotals SELECT user, count(*), sum(length(answer)) FROM answers GROUP BY user;
        """
}
