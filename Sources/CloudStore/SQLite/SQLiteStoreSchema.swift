import SQLite

extension SQLiteStoreTransaction {
    func schemaVersion() throws -> UInt64? {
        try connection.withStatement("SELECT version FROM schema WHERE id = 1") { statement in
            try statement.step() ? UInt64(bitPattern: statement.int64(at: 0)) : nil
        }
    }

    func userRoles(after: String?, usersMax: Int) throws -> ChangesPage<UserRolesRow> {
        // One user more than wanted tells whether there are others.
        let sql = """
            SELECT user, role FROM userRoles WHERE user IN
            (SELECT DISTINCT user FROM userRoles WHERE user > ?1 ORDER BY user LIMIT ?2) ORDER BY user, role
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(after ?? "", at: 1)
            try statement.bind(Int64(usersMax) + 1, at: 2)
            var page = ChangesPage<UserRolesRow>(rows: [], moreComing: false)
            while try statement.step() {
                let user = statement.text(at: 0)
                let role = statement.text(at: 1)
                if page.rows.last?.user == user {
                    page.rows[page.rows.count - 1].roles.append(role)
                } else {
                    page.rows.append(UserRolesRow(user: user, roles: [role]))
                }
            }
            page.moreComing = page.rows.count > usersMax
            page.rows = Array(page.rows.prefix(usersMax))
            return page
        }
    }

    func loadSchema(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        if wanted.schema { loaded.schema = try schemaRow() }
        for user in wanted.rolesOf {
            let roles = try roles(of: user)
            if !roles.isEmpty { loaded.roles[user] = UserRolesRow(user: user, roles: roles) }
        }
    }

    func applySchema(_ changes: StoreChanges) throws {
        if let row = changes.schema { try write(row) }
        for row in changes.roles { try write(row) }
    }

    /// Empties every table but the schema's and those of the operator's settings, whatever tables there are.
    func eraseData() throws {
        indexParts = [:]
        places = ZonePlaces()
        let sql = """
            SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            AND name NOT IN ('schema', 'userRoles', 'secrets', 'webhooks') ORDER BY name
            """
        let tables = try connection.withStatement(sql) { statement in
            var names: [String] = []
            while try statement.step() { names.append(statement.text(at: 0)) }
            return names
        }
        for table in tables { try connection.execute("DELETE FROM \"\(table)\"") }
        try connection.execute("UPDATE webhooks SET waiting = 0")
    }

    private func schemaRow() throws -> SchemaRow? {
        try connection.withStatement("SELECT version, content FROM schema WHERE id = 1") { statement in
            guard try statement.step() else { return nil }
            return SchemaRow(
                version: UInt64(bitPattern: statement.int64(at: 0)), content: statement.bytes(at: 1))
        }
    }

    private func roles(of user: String) throws -> [String] {
        try connection.withStatement("SELECT role FROM userRoles WHERE user = ?1 ORDER BY role") {
            statement in
            try statement.bind(user, at: 1)
            var roles: [String] = []
            while try statement.step() { roles.append(statement.text(at: 0)) }
            return roles
        }
    }

    private func write(_ row: SchemaRow) throws {
        let sql = "INSERT OR REPLACE INTO schema (id, version, content) VALUES (1, ?1, ?2)"
        try connection.withStatement(sql) { statement in
            try statement.bind(Int64(bitPattern: row.version), at: 1)
            try statement.binding(row.content, at: 2) { try statement.run() }
        }
    }

    private func write(_ row: UserRolesRow) throws {
        try connection.withStatement("DELETE FROM userRoles WHERE user = ?1") { statement in
            try statement.bind(row.user, at: 1)
            try statement.run()
        }
        for role in Set(row.roles).sorted() {
            try connection.withStatement("INSERT INTO userRoles (user, role) VALUES (?1, ?2)") { statement in
                try statement.bind(row.user, at: 1)
                try statement.bind(role, at: 2)
                try statement.run()
            }
        }
    }
}
