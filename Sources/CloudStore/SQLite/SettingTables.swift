import SQLite

/// Settings of a container, which stay when its data is erased. Owns `schema`, `userRoles` and `secrets`.
struct SettingTables {
    let connection: Connection

    func load(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        if wanted.schema { loaded.schema = try schema() }
        for user in wanted.rolesOf {
            let roles = try roles(of: user)
            if !roles.isEmpty { loaded.roles[user] = UserRolesRow(user: user, roles: roles) }
        }
        for name in wanted.assets.secrets { loaded.assets.secrets[name] = try secret(name) }
    }

    func apply(_ changes: StoreChanges) throws {
        for row in changes.secrets { try write(row) }
        if let row = changes.schema { try write(row) }
        for row in changes.roles { try write(row) }
    }

    func schemaVersion() throws -> UInt64? {
        try connection.withStatement("SELECT version FROM schema WHERE id = 1") { statement in
            try statement.step() ? UInt64(bitPattern: statement.int64(at: 0)) : nil
        }
    }

    func userRoles(after: String?, usersMax: Int) throws -> ChangesPage<UserRolesRow> {
        // One more user is read to find out whether there are others.
        let sql = """
            SELECT user, role FROM userRoles WHERE user IN
            (SELECT DISTINCT user FROM userRoles WHERE user > ?1 ORDER BY user LIMIT ?2) ORDER BY user, role
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(after ?? "", usersMax + 1, at: 1)
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

    private func schema() throws -> SchemaRow? {
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
            return try statement.rows { $0.text(at: 0) }
        }
    }

    private func secret(_ name: String) throws -> [UInt8]? {
        try connection.withStatement("SELECT value FROM secrets WHERE name = ?1") { statement in
            try statement.bind(name, at: 1)
            return try statement.step() ? statement.bytes(at: 0) : nil
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
        try connection.run("DELETE FROM userRoles WHERE user = ?1") { try $0.bind(row.user, at: 1) }
        for role in Set(row.roles).sorted() {
            try connection.run("INSERT INTO userRoles (user, role) VALUES (?1, ?2)") { statement in
                try statement.bind(row.user, role, at: 1)
            }
        }
    }

    private func write(_ row: SecretRow) throws {
        let sql = "INSERT OR REPLACE INTO secrets (name, value) VALUES (?1, ?2)"
        try connection.withStatement(sql) { statement in
            try statement.bind(row.name, at: 1)
            try statement.binding(row.value, at: 2) { try statement.run() }
        }
    }
}
