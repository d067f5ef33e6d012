extension MemoryTransaction {
    func schemaVersion() throws -> UInt64? { tables.schema?.version }

    func userRoles(after: String?, usersMax: Int) throws -> ChangesPage<UserRolesRow> {
        let behind = tables.roles.values
            .filter { row in after.map { $0 < row.user } ?? true }
            .sorted { $0.user < $1.user }
        return ChangesPage(rows: Array(behind.prefix(usersMax)), moreComing: behind.count > usersMax)
    }

    func loadSchema(_ wanted: StoreLoad, into loaded: inout StoreLoaded) {
        if wanted.schema { loaded.schema = tables.schema }
        for user in wanted.rolesOf { loaded.roles[user] = tables.roles[user] }
    }

    func applySchema(_ changes: StoreChanges) {
        if let row = changes.schema { tables.schema = row }
        for row in changes.roles {
            let roles = Set(row.roles).sorted()
            tables.roles[row.user] = roles.isEmpty ? nil : UserRolesRow(user: row.user, roles: roles)
        }
    }

    func eraseData() {
        var kept = MemoryTables()
        kept.schema = tables.schema
        kept.roles = tables.roles
        kept.secrets = tables.secrets
        kept.notifications.webhooks = tables.notifications.webhooks.mapValues { row in
            var row = row
            row.waitingCount = 0
            return row
        }
        tables = kept
    }
}
