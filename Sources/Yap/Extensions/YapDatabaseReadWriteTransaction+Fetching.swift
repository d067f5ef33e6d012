import SQLite

extension YapDatabaseReadWriteTransaction {
    /// Records that the transaction stores rows that an extension fetches page by page. Rows that they refer to may
    /// come later, so a missing row isn't a deleted one.
    ///
    /// - Parameter name: The extension's registered name.
    package func noteFetchedRows(ofExtension name: String) throws {
        mayLackRows = true
        try noteFetching(ofExtension: name)
    }

    /// Records that an extension fetched stored rows from elsewhere. Rows that the app itself stores in the
    /// transaction aren't included.
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

    /// Stores whether more pages of a part of an extension's fetch are to come. It is part of the commit.
    ///
    /// - Parameters:
    ///   - isComing: Whether more pages are to come.
    ///   - part: The unit of fetching, such as a zone.
    ///   - name: The extension's registered name.
    package func setMoreRowsComing(_ isComing: Bool, inPart part: String, ofExtension name: String) throws {
        // Rules that waited for the last page are evaluated in this transaction, even if no row changes.
        _ = try uses()
        let key = ConfigTable.moreRowsKey(part)
        try noting {
            guard isComing else { return try store.config.remove(extension: name, key: key) }
            try store.config.setText(ConfigTable.isComing, extension: name, key: key)
        }
    }

    /// Sets the parts that are currently fetched, for example for the signed-in user. The other parts stay
    /// pending, and the rules of relationships keep waiting for them.
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

    /// Makes the rules of relationships wait for more rows, including relationships that aren't registered
    /// here.
    private func holdRules() throws {
        let config = store.config
        for name in try config.extensionNames()
        where try config.text(extension: name, key: ConfigTable.classKey) == YapDatabaseRelationship.className
        {
            // In the first format, rules don't wait. In a later format, they may.
            let version = try config.text(extension: name, key: ConfigTable.classVersionKey)
            guard version == String(YapDatabaseRelationship.classVersion) else { continue }
            try store.sqlite.execute(RelationshipSQL(tables: StoredExtension(name, store).tables()).hold)
        }
    }

    /// Returns the pending pages of parts that extensions have begun to fetch.
    func comingRows() throws -> ComingRows {
        let names = Set(store.extensions.map { ExactString($0.registered.name) })
        return try noting { try store.config.comingRows { names.contains(ExactString($0)) } }
    }

    /// Returns true if any extension of the file fetches rows from elsewhere.
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
