extension SQLiteStoreFormat {
    /// What version 7 added: how much each user's kept answers come to, and which of them are the oldest.
    static let answerTables = """
        CREATE INDEX answersByUser ON answers (user, number);
        CREATE TABLE answerTotals (
            user TEXT NOT NULL PRIMARY KEY, rows INTEGER NOT NULL, bytes INTEGER NOT NULL
        ) WITHOUT ROWID, STRICT;
        INSERT INTO answerTotals SELECT user, count(*), sum(length(answer)) FROM answers GROUP BY user;
        """
}
