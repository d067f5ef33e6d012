import SQLite

extension YapDatabaseReadWriteTransaction {
    /// Notes that the transaction stores rows which an extension fetches from elsewhere, page by page: the rows to
    /// which they belong may come later, so that a row that isn't here is not a deleted one.
    ///
    /// - Parameter name: The extension's registered name.
    package func noteFetchedRows(ofExtension name: String) throws {
        mayLackRows = true
        try noteFetching(ofExtension: name)
    }

    /// Notes that an extension fetched stored rows from elsewhere. Those that the transaction itself stores are the
    /// app's own.
    ///
    /// - Parameter name: The extension's registered name.
    package func noteFetching(ofExtension name: String) throws {
        try noting {
            guard try store.config.text(extension: name, key: ConfigTable.fetchesRowsKey) == nil else {
                return
            }
            try store.config.setText("1", extension: name, key: ConfigTable.fetchesRowsKey)
        }
    }

    /// Notes whether more pages of a part of what an extension fetches are to come. It is part of the commit.
    ///
    /// - Parameters:
    ///   - isComing: Whether they are.
    ///   - part: What is fetched in one go, such as a zone.
    ///   - name: The extension's registered name.
    package func setMoreRowsComing(_ isComing: Bool, inPart part: String, ofExtension name: String) throws {
        // What waited for the last page is looked at in this transaction, also if no row changes.
        _ = try uses()
        let key = ConfigTable.moreRowsKey(part)
        try noting {
            guard isComing else { return try store.config.remove(extension: name, key: key) }
            try store.config.setText(ConfigTable.isComing, extension: name, key: key)
        }
    }

    /// Says which parts are fetched at present, for instance because another user is signed in. The others wait as they
    /// are, and so do the rules of relationships that wait for them.
    package func setFetchedParts(ofExtension name: String, _ isFetched: (String) -> Bool) throws {
        _ = try uses()
        var pauses = false
        try noting {
            for part in try store.config.partsWithMoreRows(extension: name) {
                let key = ConfigTable.moreRowsKey(part)
                let state = isFetched(part) ? ConfigTable.isComing : ConfigTable.isPaused
                if state == ConfigTable.isPaused, try store.config.text(extension: name, key: key) != state {
                    pauses = true
                }
                try store.config.setText(state, extension: name, key: key)
            }
            if pauses { try holdRules() }
        }
    }

    /// Holds the rules of relationships that wait for more rows, also of those that aren't registered here.
    private func holdRules() throws {
        let config = store.config
        for name in try config.extensionNames()
        where try config.text(extension: name, key: ConfigTable.classKey) == YapDatabaseRelationship.className
        {
            // In the first format no rule waits; a later one may be any.
            let version = try config.text(extension: name, key: ConfigTable.classVersionKey)
            guard version == String(YapDatabaseRelationship.classVersion) else { continue }
            try store.sqlite.execute(RelationshipSQL(tables: StoredExtension(name, store).tables()).hold)
        }
    }

    /// What is to come of that which extensions have begun to fetch.
    func comingRows() throws -> ComingRows {
        let names = Set(store.extensions.map { ExactString($0.registered.name) })
        return try noting { try store.config.comingRows { names.contains(ExactString($0)) } }
    }

    /// Whether any extension of the file fetches rows from elsewhere.
    func areRowsFetched() throws -> Bool { try noting { try store.config.areRowsFetched() } }

    private func noting<Result>(_ body: () throws -> Result) throws -> Result {
        try check()
        do {
            return try body()
        } catch let error as SQLiteError {
            throw store.noted(error)
        }
    }
}
