import CloudStore

/// Errors for unknown names, which list the existing names. Most are typing errors.
extension Failure {
    /// - Parameters:
    ///   - what: The kind of name, for example "account".
    ///   - names: The existing names.
    ///   - place: Where it was looked up, for example "in production of iCloud.com.example.todo". Nil for everywhere.
    ///   - remedy: The command that lists them, without the program.
    static func missing(
        _ what: String, named name: String, among names: [String], _ place: String? = nil, remedy: String,
        _ console: Console
    ) -> Failure {
        .notThere(
            "There is no \(what) \(name)\(place.map { " \($0)" } ?? ""). \(Nearest.sentence(names, to: name)). "
                + "See: \(ShellText.word(console.program)) \(remedy)")
    }
}

extension AccountTables {
    /// Returns the account with this name.
    ///
    /// - Throws: `Failure.notThere` with the existing accounts, closest first; `CloudStoreError`.
    func existing(named name: String, _ console: Console) throws -> ControlAccount {
        if let account = try find(named: name) { return account }
        throw Failure.missing(
            "account", named: name, among: try list().map(\.name), remedy: "account list", console)
    }
}
