extension SQLiteStoreFormat {
    /// Query subscriptions and the collection of notifications. Part of version 3.
    ///
    /// Query subscriptions are found by their record type. `notificationsUnread` has the one notification of
    /// a zone or database subscription that represents all its changes.
    static let notificationTables = """
        ALTER TABLE subscriptions ADD COLUMN type TEXT;
        ALTER TABLE subscriptions ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX watchers ON subscriptions (scope, owner, type, number) WHERE type IS NOT NULL;
        ALTER TABLE pushes ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE pushes ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE pushes ADD COLUMN content BLOB;
        CREATE TABLE watches (
            scope INTEGER NOT NULL, owner TEXT NOT NULL, type TEXT NOT NULL,
            version INTEGER NOT NULL, count INTEGER NOT NULL, lastNumber INTEGER NOT NULL,
            PRIMARY KEY (scope, owner, type)
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE firedChanges (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL, owner TEXT NOT NULL, zone TEXT NOT NULL, name TEXT NOT NULL,
            type TEXT NOT NULL, reason INTEGER NOT NULL, makerUser TEXT, makerDevice TEXT,
            atMilliseconds INTEGER NOT NULL, fields BLOB NOT NULL, watchers BLOB NOT NULL
        ) STRICT;
        CREATE TABLE notifications (
            user TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL,
            kind INTEGER NOT NULL, scope INTEGER NOT NULL, owner TEXT NOT NULL, subscription TEXT NOT NULL,
            atMilliseconds INTEGER NOT NULL, isRead INTEGER NOT NULL, maker TEXT, content BLOB NOT NULL,
            PRIMARY KEY (user, number)
        ) WITHOUT ROWID, STRICT;
        CREATE UNIQUE INDEX notificationNames ON notifications (user, id);
        CREATE INDEX notificationsUnread ON notifications (user, scope, owner, subscription)
            WHERE kind = 2 AND isRead = 0;
        CREATE INDEX notificationsMade ON notifications (atMilliseconds);
        CREATE TABLE notificationFeeds (
            user TEXT NOT NULL PRIMARY KEY, epoch INTEGER NOT NULL, counter INTEGER NOT NULL,
            floor INTEGER NOT NULL, count INTEGER NOT NULL, unread INTEGER NOT NULL
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE webhooks (
            name TEXT NOT NULL PRIMARY KEY, url TEXT NOT NULL, secret BLOB NOT NULL,
            scope INTEGER, type TEXT, madeMilliseconds INTEGER NOT NULL,
            waiting INTEGER NOT NULL, delivered INTEGER NOT NULL, failed INTEGER NOT NULL,
            abandoned INTEGER NOT NULL, dropped INTEGER NOT NULL,
            failuresInRow INTEGER NOT NULL, pausedUntilMilliseconds INTEGER NOT NULL,
            lastMilliseconds INTEGER NOT NULL, lastResult TEXT NOT NULL
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE webhookDeliveries (
            number INTEGER PRIMARY KEY AUTOINCREMENT, webhook TEXT NOT NULL, notification TEXT NOT NULL,
            madeMilliseconds INTEGER NOT NULL, attempts INTEGER NOT NULL, dueMilliseconds INTEGER NOT NULL,
            body BLOB NOT NULL
        ) STRICT;
        CREATE INDEX deliveriesDue ON webhookDeliveries (webhook, dueMilliseconds, number);
        """
}
